//! What a host can be shown of a session's run.

use crate::Session;
use crate::definition::Bound;
use crate::policy::Pace;
use crate::run::RunState;
use crate::session::Run;
pub use crate::standing::Crumb;
use crate::standing::Standing;

/// A session's run, resolved.
#[derive(Debug)]
pub struct View<'a> {
    /// The state as it is stored.
    pub state: &'a RunState,
    /// What holds where it stands; `None` if the run ended or does not fit its definitions.
    pub place: Option<PlaceView<'a>>,
    /// How far pushing went.
    pub pace: Pace,
    /// Seconds until the agent is pushed on, if that is counting down.
    pub countdown: Option<u32>,
}

/// What holds where a run stands.
#[derive(Debug)]
pub struct PlaceView<'a> {
    /// The root workflow's name.
    pub workflow_name: &'a str,
    /// The scopes, root first.
    pub breadcrumb: &'a [Crumb],
    /// The phase's id.
    pub phase_id: &'a str,
    /// The phase's name.
    pub phase_name: &'a str,
    /// The phase's emoji.
    pub phase_emoji: &'a str,
    /// The place in the innermost scope, from 1, and how many entries it has.
    pub progress: (usize, usize),
    /// The status line.
    pub status: &'a str,
    /// Pushes in a row without an advance.
    pub max: Bound,
    /// Pushes in a row in which the agent called no tool.
    pub max_stale: Bound,
    /// Whether the phase waits for the user.
    pub waits: bool,
}

impl Session {
    /// The run as it stands, if there is one.
    #[must_use]
    pub fn view(&self) -> Option<View<'_>> {
        let Run {
            state,
            standing,
            pace,
            ..
        } = self.run.as_ref()?;
        let place = standing.as_ref().ok().filter(|_| state.active);
        Some(View {
            state,
            place: place.map(place_view),
            pace: *pace,
            countdown: self
                .countdown
                .as_ref()
                .map(|countdown| countdown.seconds_left),
        })
    }
}

fn place_view(standing: &Standing) -> PlaceView<'_> {
    PlaceView {
        workflow_name: &standing.workflow_name,
        breadcrumb: &standing.breadcrumb,
        phase_id: &standing.phase.id,
        phase_name: &standing.phase.name,
        phase_emoji: &standing.phase.emoji,
        progress: standing.progress,
        status: &standing.status,
        max: standing.auto_continue.max,
        max_stale: standing.auto_continue.max_stale,
        waits: standing.auto_continue.wait,
    }
}
