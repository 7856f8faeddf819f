//! The exit from a phase in progress, and what it waits for.
//!
//! `next` may take long, while the session continues. Whatever moves the run or ends the session cancels it.

use super::controls::Control;
use super::step_answers::not_left;
use crate::condition::RunCondition;
use crate::effect::{Effects, Mark, ToolAnswer};
use crate::policy::gate_report::Report;
use crate::run::Actor;
use crate::types::{GateRunId, Millis, RequestId};

/// The call of `next` in progress, or the answer of the user that leaves the phase, and what it waits for.
#[derive(Debug, Clone, Default)]
pub(crate) struct PhaseExit(Option<(Exit, Awaited)>);

/// An exit from a phase.
#[derive(Debug, Clone)]
pub(crate) struct Exit {
    pub(super) by: ExitBy,
    /// The actions since then belong to the answer, if it comes later than the request.
    pub(super) since: Option<Mark>,
    /// The result of the gate, if there is one.
    pub(super) reports: Vec<Report>,
    /// When the gate finished; `None` if it must run again.
    pub(super) checked: Option<Millis>,
    /// True if the phase is approved, and only the gate runs again.
    pub(super) approved: bool,
}

/// Who leaves a phase.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ExitBy {
    /// The agent, with this call of `next`.
    Agent(RequestId),
    /// The user, with this command.
    User {
        /// `None` if the user answered in a terminal.
        request: Option<RequestId>,
        control: Control,
    },
}

/// What an exit waits for.
#[derive(Debug, Clone)]
pub(crate) enum Awaited {
    /// The gate.
    Gate { gate: GateRunId, in_widget: bool },
    /// The answer to the question for trust in the commands of the gate.
    Trust,
    /// The answer to the question for approval, or for a comment on it.
    Approval,
    /// What was changed since the start of the run, before this end.
    Change(ExitOutcome),
    /// The decision that was made outside of the host. If none was made, the run pauses for this reason; without one the
    /// user is asked.
    Decision(Option<&'static str>),
}

/// The next step of an exit: what it waits for, or how it ends.
pub(super) type Next = Result<Awaited, ExitOutcome>;

/// The end of an exit.
#[derive(Debug, Clone)]
pub(crate) enum ExitOutcome {
    /// The run stays in the phase.
    Stay(ToolAnswer),
    /// The gate did not pass, with these reports.
    NotPassed(Vec<Report>),
    /// The run stays in the phase, because the user chose another answer than the one that approves. The answer is for
    /// the agent.
    Declined(ToolAnswer),
    /// The run leaves the phase. Its gate passed with these reports.
    Advance(Vec<Report>),
}

impl ExitOutcome {
    pub(super) fn no_phase() -> Self {
        Self::Stay(not_left("the run is in no phase any more"))
    }

    pub(super) fn no_approval() -> Self {
        Self::Stay(not_left("the phase needs no approval any more"))
    }
}

impl ExitBy {
    pub(super) fn user(request: Option<RequestId>, control: Control) -> Self {
        Self::User { request, control }
    }

    /// The actor that moves the run; `jumps` is the limit of the agent. An answer in a terminal, like one in a dialog,
    /// follows the call of the agent.
    pub(super) fn actor(self, jumps: u32) -> Actor {
        match self {
            Self::User {
                request: Some(_), ..
            } => Actor::User,
            Self::User { request: None, .. } | Self::Agent(_) => Actor::Agent { jumps },
        }
    }

    fn request(self) -> Option<RequestId> {
        match self {
            Self::Agent(request) => Some(request),
            Self::User { request, .. } => request,
        }
    }
}

impl Exit {
    /// An exit that begins now.
    pub(super) fn new(by: ExitBy) -> Self {
        Self {
            by,
            since: None,
            reports: Vec::new(),
            checked: None,
            approved: false,
        }
    }
}

impl PhaseExit {
    /// Has an exit wait.
    pub(super) fn wait(&mut self, exit: Exit, awaited: Awaited) {
        self.0 = Some((exit, awaited));
    }

    /// Takes the exit, which continues now, if it waits for something that fits. A line about its gate is cleared.
    pub(super) fn take(
        &mut self,
        fits: impl FnOnce(&Awaited) -> bool,
        out: &mut Effects,
    ) -> Option<(Exit, Awaited)> {
        let (mut exit, awaited) = self.0.take_if(|(_, awaited)| fits(awaited))?;
        if matches!(awaited, Awaited::Gate { in_widget, .. } if in_widget) {
            out.clear_widget();
        }
        exit.since = Some(out.mark());
        Some((exit, awaited))
    }

    /// Shows the progress of the gate.
    pub(super) fn on_gate_progress(&mut self, id: GateRunId, text: &str, out: &mut Effects) {
        if let Some((_, Awaited::Gate { gate, in_widget })) = &mut self.0
            && *gate == id
        {
            *in_widget = true;
            out.show_widget(format!("⏳ {text}"));
        }
    }

    /// What leaving the phase waits for; `None` if no exit is in progress.
    pub(super) fn condition(&self) -> Option<RunCondition> {
        Some(match self.0.as_ref()?.1 {
            Awaited::Trust => RunCondition::AwaitsTrust,
            Awaited::Gate { .. } | Awaited::Change(_) => RunCondition::RunningGate,
            Awaited::Approval | Awaited::Decision(_) => RunCondition::AwaitsApproval,
        })
    }

    /// The actor that moves the run when the exit is over; `jumps` is the limit of the agent.
    pub(super) fn actor(&self, jumps: u32) -> Actor {
        let exit = self.0.as_ref();
        exit.map_or(Actor::Agent { jumps }, |(exit, _)| exit.by.actor(jumps))
    }

    /// Returns true if the user leaves the phase.
    pub(super) fn is_by_user(&self) -> bool {
        matches!(&self.0, Some((exit, _)) if matches!(exit.by, ExitBy::User { .. }))
    }

    /// Returns true if a question for approval is open.
    pub(super) fn asks_for_approval(&self) -> bool {
        matches!(&self.0, Some((_, awaited)) if awaited.is_approval())
    }

    /// Returns true if this request is the call of `next` in progress.
    pub(super) fn is_for(&self, request: RequestId) -> bool {
        matches!(&self.0, Some((exit, _)) if exit.by.request() == Some(request))
    }
}

impl Awaited {
    /// True for a question for approval.
    pub(super) fn is_approval(&self) -> bool {
        matches!(self, Self::Approval)
    }

    /// True for an open question.
    pub(super) fn is_question(&self) -> bool {
        matches!(self, Self::Trust | Self::Approval)
    }
}
