//! Leaving a phase: trust in the gate's commands, the gate, and the approval of a person.
//!
//! `next` may take long, while the session continues. Whatever moves the run or ends the session cancels it.
//!
//! A person approves in the host's dialog, or outside of the host. Either decision is about one approval request, which
//! has a nonce, and about the file that was shown.

mod approval;
mod gate;
mod state;
pub(super) mod texts;

use serde_json::json;

use self::approval::{pause_for_approval, wants_comment};
use self::gate::{could_not_run, not_trusted, redact};
pub(crate) use self::state::{ExitActivity, ExitContext, ExitOutcome, ExitStep, PhaseExit};
use self::state::{ExitQuestion, IfUndecided, PendingApproval};
use super::phase::ResolvedPhase;
use super::questions::{QuestionTopic, TIMED_OUT};
use super::run::ActiveRun;
use crate::effect::{Effect, Effects, ToolAnswer};
use crate::event::{Answer, ApprovalDecision};
use crate::policy::gate_report::{CheckError, Report};
use crate::types::{GateRunId, RequestId};
use crate::white_space::trim;

const UNANSWERED: &str = "no answer in time";

impl PhaseExit {
    /// Starts to leave the phase.
    pub(crate) fn begin(
        &mut self,
        request: RequestId,
        context: &mut ExitContext<'_>,
        out: &mut Effects,
    ) -> ExitOutcome {
        if !matches!(self, Self::Idle) {
            return ExitOutcome::Stay(exit_in_progress());
        }
        if let Some(run) = context.run.as_deref_mut() {
            run.set_user_answer(None);
        }
        let Some(phase) = context.phase() else {
            return ExitOutcome::Advance(Vec::new());
        };
        if !phase.phase.gate.is_empty() {
            self.start_gate(Some(request), false, context, out)
        } else if phase.phase.approve.is_some() {
            let pending = PendingApproval {
                request: Some(request),
                reports: Vec::new(),
                checked: Some(out.now()),
            };
            self.need_approval(pending, context, out)
        } else {
            ExitOutcome::Advance(Vec::new())
        }
    }

    /// Starts to follow an answer that a person gave outside of the host while no exit is in progress. Its gate runs
    /// again.
    pub(crate) fn begin_answered(
        &mut self,
        context: &mut ExitContext<'_>,
        out: &mut Effects,
    ) -> ExitOutcome {
        let pending = PendingApproval {
            request: None,
            reports: Vec::new(),
            checked: None,
        };
        self.look_up(pending, IfUndecided::Pause(UNANSWERED), context, out)
    }

    /// Starts to follow the answer that a person gives by a command while no question is open. The gate runs again.
    pub(crate) fn begin_command(
        &mut self,
        request: RequestId,
        choice: &str,
        comment: Option<String>,
        context: &mut ExitContext<'_>,
        out: &mut Effects,
    ) -> ExitOutcome {
        let pending = PendingApproval {
            request: Some(request),
            reports: Vec::new(),
            checked: None,
        };
        self.decide(pending, Answer::Chosen(choice), comment, context, out)
    }

    /// Asks for trust in the commands of the gate, or reports that it cannot run.
    pub(crate) fn on_gate_not_trusted(
        &mut self,
        gate: GateRunId,
        context: &mut ExitContext<'_>,
        out: &mut Effects,
    ) -> Option<ExitStep> {
        let (request, approved) = self.take_gate(gate, out)?;
        let why = if !context.project_trusted {
            "the user does not trust the project in this host".to_owned()
        } else if !context.questions.can_ask() {
            context.questions.why_not("this host cannot ask")
        } else {
            let run = context.active_run();
            let commands = run.map(|run| run.commands_to_trust()).unwrap_or_default();
            let location = context.phase().map(ResolvedPhase::location);
            let location = location.unwrap_or_default();
            let project = context.run.as_deref().map(ActiveRun::project_commands);
            let text = project.map(|project| {
                project.question(
                    &format!(
                        "{location}\n\nThis phase is left only after its checks, which run commands of this project."
                    ),
                    "Yes: they run now and later, until one of them changes.\nNo: nothing runs, and the workflow stays in this phase.",
                )
            });
            let text = text.unwrap_or_default();
            context.questions.close_all(QuestionTopic::StartTrust, out);
            *self = Self::Asking {
                question: context.questions.ask(QuestionTopic::Trust, text, out),
                about: ExitQuestion::Trust {
                    request,
                    commands,
                    approved,
                },
            };
            return None;
        };
        let reports = not_trusted(context, &why);
        Some(self.finish_gate(request, false, reports, context, out))
    }

    /// Shows the progress of the gate.
    pub(crate) fn on_gate_progress(
        &mut self,
        id: GateRunId,
        text: &str,
        shows_widgets: bool,
        out: &mut Effects,
    ) {
        if let Self::RunningGate {
            gate, in_widget, ..
        } = self
            && *gate == id
            && shows_widgets
        {
            *in_widget = true;
            out.show_widget(format!("⏳ {text}"));
        }
    }

    /// Continues with the result of the gate. A report of a gate that was cancelled changes nothing.
    pub(crate) fn on_gate_finished(
        &mut self,
        gate: GateRunId,
        mut reports: Vec<Report>,
        context: &mut ExitContext<'_>,
        out: &mut Effects,
    ) -> Option<ExitStep> {
        let (request, approved) = self.take_gate(gate, out)?;
        // A gate without a report has not passed.
        if reports.is_empty() {
            let reason = "it ended without a result".to_owned();
            reports = could_not_run(context, |_| true, CheckError::Start, reason);
        }
        if let Some(phase) = context.phase() {
            redact(&mut reports, &phase.results);
        }
        Some(self.finish_gate(request, approved, reports, context, out))
    }

    /// Continues with the decision that was looked up.
    pub(crate) fn on_approval_read(
        &mut self,
        decision: Option<&ApprovalDecision>,
        comment: Option<String>,
        context: &mut ExitContext<'_>,
        out: &mut Effects,
    ) -> Option<ExitStep> {
        let (pending, if_undecided) = match std::mem::take(self) {
            Self::ReadingApproval {
                pending,
                if_undecided,
            } => (pending, if_undecided),
            other => {
                *self = other;
                return None;
            }
        };
        let request = pending.request;
        let since = out.mark();
        let outcome = match (decision, if_undecided) {
            (Some(ApprovalDecision::Chosen(choice)), _) => {
                self.decide(pending, Answer::Chosen(choice), comment, context, out)
            }
            (Some(ApprovalDecision::Outdated), _) => {
                self.decide(pending, Answer::Outdated, None, context, out)
            }
            (None, IfUndecided::Ask) => self.ask_approval(pending, "", context, out),
            (None, IfUndecided::Pause(why)) => pause_for_approval(why, context, out),
        };
        Some(ExitStep {
            request,
            outcome,
            since,
        })
    }

    /// Continues with the answer to the open question.
    pub(crate) fn on_answer(
        &mut self,
        answer: Answer<'_>,
        context: &mut ExitContext<'_>,
        out: &mut Effects,
    ) -> Option<ExitStep> {
        let since = out.mark();
        let (request, outcome) = match self.take_question()? {
            ExitQuestion::Trust {
                request,
                commands,
                approved,
            } if answer == Answer::Confirmed(true) => {
                // The yes is about the commands that were shown: if they changed since, the question is repeated.
                let run = context.active_run();
                let needed = run.map(|run| run.commands_to_trust()).unwrap_or_default();
                let untrusted = if needed == commands {
                    Vec::new()
                } else {
                    needed
                };
                out.perform(Effect::TrustCommands { commands });
                let outcome = self.run_gate(request, approved, untrusted, context, out);
                (request, outcome)
            }
            ExitQuestion::Trust { request, .. } => {
                let reports = not_trusted(context, "the user did not agree");
                return Some(self.finish_gate(request, false, reports, context, out));
            }
            ExitQuestion::Approval(pending) => {
                let request = pending.request;
                let outcome = match answer {
                    Answer::Chosen(choice) if wants_comment(choice, context) => {
                        self.ask_comment(pending, choice, context, out)
                    }
                    answer => self.decide(pending, answer, None, context, out),
                };
                (request, outcome)
            }
            ExitQuestion::Comment(pending, choice) => {
                // The decision is made; a dialog that is dismissed leaves out the comment only.
                let comment = match answer {
                    Answer::Chosen(comment) => trim(comment),
                    _ => "",
                };
                let comment = (!comment.is_empty()).then(|| comment.to_owned());
                let request = pending.request;
                let answer = Answer::Chosen(&choice);
                let outcome = self.decide(pending, answer, comment, context, out);
                (request, outcome)
            }
        };
        Some(ExitStep {
            request,
            outcome,
            since,
        })
    }

    /// Continues with the decision that a person made by a command while the question is open.
    pub(crate) fn on_command(
        &mut self,
        choice: &str,
        comment: Option<String>,
        context: &mut ExitContext<'_>,
        out: &mut Effects,
    ) -> Option<ExitStep> {
        let since = out.mark();
        match self.take_question()? {
            ExitQuestion::Approval(pending) | ExitQuestion::Comment(pending, _) => {
                let request = pending.request;
                let answer = Answer::Chosen(choice);
                let outcome = self.decide(pending, answer, comment, context, out);
                Some(ExitStep {
                    request,
                    outcome,
                    since,
                })
            }
            ExitQuestion::Trust { .. } => None,
        }
    }

    /// Continues after the open question was settled outside of the host: looks the approval up, or runs the gate, which
    /// asks again if its commands are not those that were trusted.
    pub(crate) fn on_settled_elsewhere(
        &mut self,
        context: &mut ExitContext<'_>,
        out: &mut Effects,
    ) -> Option<ExitStep> {
        let since = out.mark();
        if let Self::Asking { question, .. } = self {
            context.questions.close(*question, out);
        }
        let (request, outcome) = match self.take_question()? {
            ExitQuestion::Trust {
                request, approved, ..
            } => (request, self.start_gate(request, approved, context, out)),
            ExitQuestion::Approval(pending) | ExitQuestion::Comment(pending, _) => (
                pending.request,
                self.look_up(pending, IfUndecided::Ask, context, out),
            ),
        };
        Some(ExitStep {
            request,
            outcome,
            since,
        })
    }

    /// Continues after the open question timed out.
    pub(crate) fn on_timeout(
        &mut self,
        context: &mut ExitContext<'_>,
        out: &mut Effects,
    ) -> Option<ExitStep> {
        let since = out.mark();
        let (request, outcome) = match self.take_question()? {
            ExitQuestion::Trust { request, .. } => {
                let reports = not_trusted(context, TIMED_OUT);
                return Some(self.finish_gate(request, false, reports, context, out));
            }
            ExitQuestion::Comment(pending, choice) => {
                let request = pending.request;
                let answer = Answer::Chosen(&choice);
                let outcome = self.decide(pending, answer, None, context, out);
                (request, outcome)
            }
            ExitQuestion::Approval(pending) => {
                let request = pending.request;
                let if_undecided = IfUndecided::Pause(UNANSWERED);
                let outcome = self.look_up(pending, if_undecided, context, out);
                (request, outcome)
            }
        };
        Some(ExitStep {
            request,
            outcome,
            since,
        })
    }
}

fn exit_in_progress() -> ToolAnswer {
    ToolAnswer::error(
        "Not advanced: an earlier call of workflow_step is still leaving this phase. Wait for its answer.",
        json!({ "active": true, "advanced": false }),
    )
}
