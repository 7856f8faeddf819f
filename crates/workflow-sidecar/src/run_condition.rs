//! Runs that are read from stored entries, and their condition for exit codes: it can continue, it waits for a person, or it is stopped at a limit.

use workflow_core::definition::Loaded;
use workflow_core::diagnostic::Diagnostic;
use workflow_core::event::Entry;
use workflow_core::reminders::PauseReason;
use workflow_core::run::Path;
use workflow_core::session::Abilities;
use workflow_core::session::View;
use workflow_core::{Effects, Session};

use crate::store::Run;

/// The condition of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunCondition {
    /// It can continue, is finished, or does not exist.
    Fine,
    /// It waits for a person.
    Waits,
    /// It is stopped at a limit.
    Limit,
}

/// Restores a session from its entries; returns it with the diagnostics.
pub(crate) fn restored_session(
    entries: &[Entry<'_>],
    loaded: &Loaded,
) -> (Session, Vec<Diagnostic>) {
    let mut session = Session::new(Abilities::default(), 0);
    // Any time will do: no run is started, and nothing counts down.
    let mut out = Effects::at(0);
    session.handle_session(entries, loaded, &mut out);
    (session, out.diagnostics)
}

/// Formats the path of a run without its definition.
pub(crate) fn stored_path(path: &Path) -> String {
    let segments = path.segments().iter();
    let parts: Vec<String> = segments
        .map(|segment| format!("{} [{}]", segment.workflow_key, segment.phase_index + 1))
        .collect();
    parts.join(" > ")
}

/// Returns the condition of a session's run.
pub(crate) fn run_condition(view: &View<'_>) -> RunCondition {
    if !view.state.active {
        return RunCondition::Fine;
    }
    match view.counters.paused {
        Some(
            PauseReason::Max | PauseReason::MaxStale | PauseReason::Visits | PauseReason::Budget,
        ) => RunCondition::Limit,
        Some(PauseReason::Error | PauseReason::Question | PauseReason::Approval) => {
            RunCondition::Waits
        }
        None if view.counters.paused_by_owner => RunCondition::Waits,
        None if view.phase.as_ref().is_some_and(|phase| phase.waits) => RunCondition::Waits,
        None => RunCondition::Fine,
    }
}

/// The run of a session for the index.
pub(crate) fn run_of(session: &Session) -> Option<Run> {
    let view = session.view()?;
    let phase = view.phase.as_ref();
    let (state, waiting) = state_of(&view);
    Some(Run {
        task_id: view.state.task_id.clone(),
        workflow: view.state.workflow_key.clone(),
        phase: phase.map_or_else(String::new, |phase| phase.name.to_owned()),
        task: view.state.task_description.clone(),
        status: view.status.clone().unwrap_or_default(),
        state: state.to_owned(),
        waiting: waiting.to_owned(),
        is_active: view.state.active,
    })
}

/// Returns the name of a run's state, and what it waits for.
fn state_of(view: &View<'_>) -> (&'static str, &'static str) {
    if !view.state.active {
        let is_cancelled = view.state.cancelled;
        return (
            if is_cancelled {
                "cancelled"
            } else {
                "complete"
            },
            "",
        );
    }
    match (&view.phase, view.counters.paused) {
        (_, Some(PauseReason::Approval)) => ("waits", "approval"),
        (_, Some(PauseReason::Question)) => ("waits", "an answer to the agent"),
        (_, Some(PauseReason::Error)) => ("stopped", "the model failed"),
        (_, Some(PauseReason::Visits)) => ("stopped", "a limit of visits"),
        (_, Some(PauseReason::Budget)) => ("stopped", "a budget"),
        (_, Some(PauseReason::Max | PauseReason::MaxStale)) => ("stopped", "a message"),
        (_, None) if view.counters.paused_by_owner => ("paused", "/workflow-resume"),
        (None, None) => ("stale", "its definition"),
        (Some(phase), None) if phase.waits => ("waits", "the user"),
        (Some(_), None) => ("active", ""),
    }
}
