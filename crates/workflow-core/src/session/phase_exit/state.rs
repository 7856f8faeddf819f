//! The states of leaving a phase, and what they wait for.

use serde_json::json;

use crate::definition::RunCheck;
use crate::effect::{Effect, Effects, Mark, ToolAnswer};
use crate::policy::gate_report::Report;
use crate::run::Actor;
use crate::session::ids::Ids;
use crate::session::phase::ResolvedPhase;
use crate::session::questions::QuestionTable;
use crate::session::run::ActiveRun;
use crate::types::{GateRunId, Millis, QuestionId, RequestId};

/// The progress of leaving the phase.
#[derive(Debug, Clone, Default)]
pub(crate) enum PhaseExit {
    /// No call of `next` is pending.
    #[default]
    Idle,
    /// A question to a person is open.
    Asking {
        question: QuestionId,
        about: ExitQuestion,
    },
    /// The gate runs.
    RunningGate {
        request: Option<RequestId>,
        gate: GateRunId,
        /// True if the phase is approved, and only the gate runs again.
        approved: bool,
        in_widget: bool,
    },
    /// A decision that was made outside of the host is looked up.
    ReadingApproval {
        pending: PendingApproval,
        if_undecided: IfUndecided,
    },
}

/// The subject of a question to a person.
#[derive(Debug, Clone)]
pub(crate) enum ExitQuestion {
    /// Trust in the commands of the gate.
    Trust {
        request: Option<RequestId>,
        commands: Vec<RunCheck>,
        /// True if the phase is approved, and only the gate runs again.
        approved: bool,
    },
    /// The approval.
    Approval(PendingApproval),
    /// The comment on this choice.
    Comment(PendingApproval, String),
}

/// An exit from a phase that needs approval.
#[derive(Debug, Clone)]
pub(crate) struct PendingApproval {
    /// The request that is answered with the outcome; `None` for an answer in a terminal.
    pub(super) request: Option<RequestId>,
    /// The result of the gate, if there is one.
    pub(super) reports: Vec<Report>,
    /// When the gate finished; `None` if it must run again.
    pub(super) checked: Option<Millis>,
}

/// The next step if no decision was made outside of the host.
#[derive(Debug, Clone, Copy)]
pub(crate) enum IfUndecided {
    Ask,
    /// Pause the run, for this reason.
    Pause(&'static str),
}

/// The next step of the session.
#[derive(Debug)]
pub(crate) enum ExitOutcome {
    /// The answer comes later.
    Wait,
    /// The run stays in the phase.
    Stay(ToolAnswer),
    /// The gate did not pass, with these reports.
    NotPassed(Vec<Report>),
    /// The run stays in the phase, because a person chose another answer than the one that approves. The answer is for
    /// the agent.
    Declined(ToolAnswer),
    /// The run leaves the phase. Its gate passed with these reports.
    Advance(Vec<Report>),
}

/// A step of an exit.
#[derive(Debug)]
pub(crate) struct ExitStep {
    /// The request that is answered; `None` if an answer in a terminal started the exit.
    pub(crate) request: Option<RequestId>,
    pub(crate) outcome: ExitOutcome,
    /// The actions since then belong to the answer.
    pub(crate) since: Mark,
}

/// The parts of the session that leaving a phase needs.
#[derive(Debug)]
pub(crate) struct ExitContext<'a> {
    pub(crate) run: Option<&'a mut ActiveRun>,
    pub(crate) questions: &'a mut QuestionTable,
    pub(crate) ids: &'a mut Ids,
    pub(crate) project_trusted: bool,
    /// The actor that moves the run, if it leaves the phase.
    pub(crate) actor: Actor,
}

/// The activity of an exit from a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExitActivity {
    /// A person is asked for trust in the commands of the gate.
    AwaitingTrust,
    /// The gate runs.
    RunningGate,
    /// A person is asked for approval.
    AwaitingApproval,
}

impl ExitContext<'_> {
    /// The phase that is left.
    pub(super) fn phase(&self) -> Option<&ResolvedPhase> {
        self.run.as_deref()?.phase()
    }

    pub(super) fn active_run(&mut self) -> Option<&mut ActiveRun> {
        self.run.as_deref_mut().filter(|run| run.phase().is_some())
    }
}

impl PhaseExit {
    /// The event that leaving the phase waits for; `None` if no exit is in progress.
    pub(crate) fn activity(&self) -> Option<ExitActivity> {
        match self {
            Self::Idle => None,
            Self::Asking {
                about: ExitQuestion::Trust { .. },
                ..
            } => Some(ExitActivity::AwaitingTrust),
            Self::RunningGate { .. } => Some(ExitActivity::RunningGate),
            Self::ReadingApproval { .. } | Self::Asking { .. } => {
                Some(ExitActivity::AwaitingApproval)
            }
        }
    }

    /// Returns true if a person is asked for trust in the commands of the gate.
    pub(crate) fn awaits_trust(&self) -> bool {
        self.activity() == Some(ExitActivity::AwaitingTrust)
    }

    /// The open question for approval.
    pub(crate) fn approval_question(&self) -> Option<QuestionId> {
        match self {
            Self::Asking {
                question,
                about: ExitQuestion::Approval(_) | ExitQuestion::Comment(..),
            } => Some(*question),
            Self::Asking { .. }
            | Self::Idle
            | Self::RunningGate { .. }
            | Self::ReadingApproval { .. } => None,
        }
    }

    /// Returns true if this request is the call of `next` in progress.
    pub(crate) fn is_for(&self, request: RequestId) -> bool {
        self.request() == Some(request)
    }

    /// The request of the exit in progress.
    pub(super) fn request(&self) -> Option<RequestId> {
        match self {
            Self::Idle => None,
            Self::RunningGate { request, .. } => *request,
            Self::ReadingApproval { pending, .. } => pending.request,
            Self::Asking { about, .. } => about.request(),
        }
    }

    /// Leaves the state of this gate run.
    pub(super) fn take_gate(
        &mut self,
        id: GateRunId,
        out: &mut Effects,
    ) -> Option<(Option<RequestId>, bool)> {
        let Self::RunningGate {
            request,
            gate,
            approved,
            in_widget,
        } = *self
        else {
            return None;
        };
        if gate != id {
            return None;
        }
        *self = Self::Idle;
        if in_widget {
            out.clear_widget();
        }
        Some((request, approved))
    }

    /// Leaves the state of an open question.
    pub(super) fn take_question(&mut self) -> Option<ExitQuestion> {
        match std::mem::take(self) {
            Self::Asking { about, .. } => Some(about),
            other => {
                *self = other;
                None
            }
        }
    }

    /// Stops the gate and withdraws the question. Returns the request of the exit in progress, and its answer.
    pub(crate) fn cancel(
        &mut self,
        why: &str,
        run: Option<&mut ActiveRun>,
        questions: &mut QuestionTable,
        out: &mut Effects,
    ) -> Option<(Option<RequestId>, ToolAnswer)> {
        let is_leaving = !matches!(self, Self::Idle);
        let answer = is_leaving.then(|| (self.request(), cancelled(why)));
        match std::mem::take(self) {
            Self::Asking { question, .. } => questions.close(question, out),
            Self::RunningGate {
                gate, in_widget, ..
            } => {
                out.perform(Effect::CancelGate { gate });
                if in_widget {
                    out.clear_widget();
                }
            }
            Self::ReadingApproval { .. } | Self::Idle => {}
        }
        if let Some(run) = run {
            run.clear_dialog_approval(out);
        }
        answer
    }
}

impl ExitQuestion {
    /// The request of the exit in progress.
    fn request(&self) -> Option<RequestId> {
        match self {
            Self::Trust { request, .. } => *request,
            Self::Approval(pending) | Self::Comment(pending, _) => pending.request,
        }
    }
}

/// The answer to a call of `next` that was cancelled.
pub(super) fn cancelled(why: &str) -> ToolAnswer {
    ToolAnswer::error(
        format!("Leaving the phase was cancelled: {why}."),
        json!({ "advanced": false }),
    )
}
