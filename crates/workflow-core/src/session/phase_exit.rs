//! Leaving a phase: trust in the gate's commands, the gate, and the approval of a person.
//!
//! `next` may take long, while the session continues. Whatever moves the run or ends the session cancels it.
//!
//! A person approves in the host's dialog, or outside of the host. Either decision is about one approval request, which
//! has a nonce, and about the file that was shown.

use serde_json::json;

use super::ids::Ids;
use super::leave::meaning_of;
use super::phase::ResolvedPhase;
use super::questions::{QuestionTable, QuestionText, TIMED_OUT, Topic};
use super::run::ActiveRun;
use crate::definition::{Approval, Check, Gate, RunCheck};
use crate::diagnostic::visible;
use crate::effect::{AnswerKind, Effect, Effects, GateRun, ToolAnswer};
use crate::event::{Answer, ApprovalDecision};
use crate::policy::STEP_TOOL;
use crate::policy::gate_report::{CheckError, CheckVerdict, Report, not_passed};
use crate::policy::results::Results;
use crate::reminders::PauseReason;
use crate::run::{Mover, StoredGate, entry_type, phase_name};
use crate::text::shortened;
use crate::types::{GateRunId, Millis, QuestionId, RequestId};
use crate::white_space::trim;

/// The time for which the result of a gate is valid while a person decides. After that the gate runs again.
const GATE_VALID_FOR: Millis = 10 * 60 * 1000;

/// UTF-16 units of the agent's summary in a question.
const MAX_SUMMARY: u32 = 2000;

const CHANGED: &str =
    "Your earlier answer does not count, because what it was about has changed. Please look again.";
const NO_PHASE: &str = "the run is in no phase any more";
const NO_APPROVAL: &str = "the phase needs no approval any more";
const DISMISSED: &str = "the question was closed without an answer";
const UNANSWERED: &str = "no answer in time";

/// The progress of leaving the phase.
#[derive(Debug, Clone, Default)]
pub(crate) enum PhaseExit {
    /// No call of `next` is pending.
    #[default]
    Idle,
    /// A question to a person is open: trust in the commands of the gate.
    AwaitingTrust {
        request: Option<RequestId>,
        question: QuestionId,
        commands: Vec<RunCheck>,
        /// True if the phase is approved, and only the gate runs again.
        approved: bool,
    },
    /// The gate runs.
    RunningGate {
        request: Option<RequestId>,
        gate: GateRunId,
        approved: bool,
        in_widget: bool,
    },
    /// A decision that was made outside of the host is looked up.
    ReadingApproval {
        pending: PendingApproval,
        if_undecided: IfUndecided,
    },
    /// A question to a person is open: approval.
    AwaitingApproval {
        pending: PendingApproval,
        question: QuestionId,
    },
    /// A person has answered, and is asked for a comment.
    AwaitingComment {
        pending: PendingApproval,
        choice: String,
        question: QuestionId,
    },
}

/// An exit from a phase that needs approval.
#[derive(Debug, Clone)]
pub(crate) struct PendingApproval {
    /// The request that is answered with the outcome; `None` for an answer in a terminal.
    request: Option<RequestId>,
    /// The result of the gate, if there is one.
    reports: Vec<Report>,
    /// When the gate finished; `None` if it must run again.
    checked: Option<Millis>,
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
    /// The run stays in the phase, because its gate did not pass. The answer is for the agent.
    NotPassed(ToolAnswer, Vec<Report>),
    /// The run stays in the phase, because a person chose another answer than the one that approves. The answer is for
    /// the agent.
    Declined(ToolAnswer),
    /// The run leaves the phase. Its gate passed with these reports.
    Advance(Vec<Report>),
}

/// A step of an exit: its outcome, and what was collected for the answer.
#[derive(Debug)]
pub(crate) struct ExitStep {
    /// The request that is answered; `None` if an answer in a terminal started the exit.
    pub(crate) request: Option<RequestId>,
    pub(crate) outcome: ExitOutcome,
    pub(crate) collected: Effects,
    /// The comment of the person who decided.
    pub(crate) comment: Option<String>,
}

/// The parts of the session that leaving a phase needs.
#[derive(Debug)]
pub(crate) struct ExitContext<'a> {
    pub(crate) run: Option<&'a mut ActiveRun>,
    pub(crate) questions: &'a mut QuestionTable,
    pub(crate) ids: &'a mut Ids,
    pub(crate) project_trusted: bool,
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
    fn active_run(&mut self) -> Option<&mut ActiveRun> {
        self.run.as_deref_mut().filter(|run| run.phase().is_some())
    }
}

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
        let Some(phase) = context.active_run().and_then(|run| run.phase()) else {
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

    /// Starts to leave a phase that a person has approved: only its gate is missing.
    pub(crate) fn begin_approved(
        &mut self,
        request: RequestId,
        context: &mut ExitContext<'_>,
        out: &mut Effects,
    ) -> ExitOutcome {
        let phase = context.active_run().and_then(|run| run.phase());
        if phase.is_none_or(|phase| phase.phase.gate.is_empty()) {
            ExitOutcome::Advance(Vec::new())
        } else {
            self.start_gate(Some(request), true, context, out)
        }
    }

    /// What leaving the phase waits for; `None` if no exit is in progress.
    pub(crate) fn activity(&self) -> Option<ExitActivity> {
        match self {
            Self::Idle => None,
            Self::AwaitingTrust { .. } => Some(ExitActivity::AwaitingTrust),
            Self::RunningGate { .. } => Some(ExitActivity::RunningGate),
            Self::ReadingApproval { .. }
            | Self::AwaitingApproval { .. }
            | Self::AwaitingComment { .. } => Some(ExitActivity::AwaitingApproval),
        }
    }

    /// Returns true if a person is asked for trust in the commands of the gate.
    pub(crate) fn awaits_trust(&self) -> bool {
        matches!(self, Self::AwaitingTrust { .. })
    }

    /// The open question for approval.
    pub(crate) fn approval_question(&self) -> Option<QuestionId> {
        match self {
            Self::AwaitingApproval { question, .. } | Self::AwaitingComment { question, .. } => {
                Some(*question)
            }
            Self::Idle
            | Self::AwaitingTrust { .. }
            | Self::RunningGate { .. }
            | Self::ReadingApproval { .. } => None,
        }
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
            let place = context.active_run().and_then(|run| run.phase());
            let place = place.map_or_else(String::new, ResolvedPhase::place);
            let run = context.run.as_deref();
            let listed = run.map(ActiveRun::listed_commands).unwrap_or_default();
            let mut text = QuestionText::trust(
                "Run commands of this project?",
                &format!(
                    "{place}\n\nThis phase is left only after its checks, which run commands of this project. You are asked because a \
                     project can change its commands. The workflow runs:"
                ),
                listed.iter().cloned(),
            );
            text.message.push_str(
                "\n\nYes: they run now and later, until one of them changes.\nNo: nothing runs, and the workflow stays in this phase.",
            );
            *self = Self::AwaitingTrust {
                request,
                question: context.questions.ask(Topic::Trust, text, out),
                commands,
                approved,
            };
            return None;
        };
        let reports = not_trusted(context, &why);
        Some(self.finish_gate(request, false, reports, context, out.now()))
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
        if let Some(phase) = context.active_run().and_then(|run| run.phase()) {
            redact(&mut reports, &phase.results);
        }
        Some(self.finish_gate(request, approved, reports, context, out.now()))
    }

    /// Continues with the decision that was looked up.
    pub(crate) fn on_approval_read(
        &mut self,
        decision: Option<&ApprovalDecision>,
        comment: Option<String>,
        context: &mut ExitContext<'_>,
        now: Millis,
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
        let mut collected = Effects::at(now);
        let out = &mut collected;
        let outcome = match (decision, if_undecided) {
            (Some(ApprovalDecision::Chosen(choice)), _) => {
                self.decide(pending, Answer::Chosen(choice), context, out)
            }
            (Some(ApprovalDecision::Outdated), _) => {
                self.decide(pending, Answer::Outdated, context, out)
            }
            (None, IfUndecided::Ask) => self.ask_approval(pending, "", context, out),
            (None, IfUndecided::Pause(why)) => pause_for_approval(why, context, out),
        };
        let counts = matches!(decision, Some(ApprovalDecision::Chosen(_)));
        Some(ExitStep {
            request,
            outcome,
            collected,
            comment: comment.filter(|_| counts),
        })
    }

    /// Continues with the answer to the open question.
    pub(crate) fn on_answer(
        &mut self,
        answer: Answer<'_>,
        context: &mut ExitContext<'_>,
        now: Millis,
    ) -> Option<ExitStep> {
        let mut collected = Effects::at(now);
        let (request, outcome) = match self.take_question()? {
            TakenQuestion::Trust {
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
                collected.perform(Effect::TrustCommands { commands });
                let outcome = self.run_gate(request, approved, untrusted, context, &mut collected);
                (request, outcome)
            }
            TakenQuestion::Trust { request, .. } => {
                let reports = not_trusted(context, "the user did not agree");
                return Some(self.finish_gate(request, false, reports, context, now));
            }
            TakenQuestion::Approval(pending) => {
                let request = pending.request;
                let outcome = match answer {
                    Answer::Chosen(choice) if wants_comment(choice, context) => {
                        self.ask_comment(pending, choice, context, &mut collected)
                    }
                    answer => self.decide(pending, answer, context, &mut collected),
                };
                (request, outcome)
            }
            TakenQuestion::Comment(pending, choice) => {
                // The decision is made; a dialog that is dismissed leaves out the comment only.
                let comment = match answer {
                    Answer::Chosen(comment) => trim(comment),
                    _ => "",
                };
                return Some(self.decided(pending, &choice, comment, context, now));
            }
        };
        Some(ExitStep {
            request,
            outcome,
            collected,
            comment: None,
        })
    }

    /// Continues with the decision that a person made by a command while the question is open.
    pub(crate) fn on_command(
        &mut self,
        choice: &str,
        comment: &str,
        context: &mut ExitContext<'_>,
        now: Millis,
    ) -> Option<ExitStep> {
        match self.take_question()? {
            TakenQuestion::Approval(pending) | TakenQuestion::Comment(pending, _) => {
                Some(self.decided(pending, choice, comment, context, now))
            }
            TakenQuestion::Trust { .. } => None,
        }
    }

    /// Continues with a decision and its comment.
    fn decided(
        &mut self,
        pending: PendingApproval,
        choice: &str,
        comment: &str,
        context: &mut ExitContext<'_>,
        now: Millis,
    ) -> ExitStep {
        let mut collected = Effects::at(now);
        let request = pending.request;
        let outcome = self.decide(pending, Answer::Chosen(choice), context, &mut collected);
        ExitStep {
            request,
            outcome,
            collected,
            comment: Some(comment.to_owned()).filter(|comment| !comment.is_empty()),
        }
    }

    /// Asks the person who has answered for a comment.
    fn ask_comment(
        &mut self,
        pending: PendingApproval,
        choice: &str,
        context: &mut ExitContext<'_>,
        out: &mut Effects,
    ) -> ExitOutcome {
        let text = QuestionText {
            title: format!("{choice}: your comment for the agent"),
            placeholder: Some("may be empty".to_owned()),
            ..QuestionText::default()
        };
        *self = Self::AwaitingComment {
            pending,
            choice: choice.to_owned(),
            question: context.questions.ask(Topic::Approval, text, out),
        };
        ExitOutcome::Wait
    }

    /// Continues after the open question was settled outside of the host: looks the approval up, or runs the gate, which
    /// asks again if its commands are not those that were trusted.
    pub(crate) fn on_settled_elsewhere(
        &mut self,
        context: &mut ExitContext<'_>,
        now: Millis,
    ) -> Option<ExitStep> {
        let mut collected = Effects::at(now);
        if let Self::AwaitingTrust { question, .. }
        | Self::AwaitingApproval { question, .. }
        | Self::AwaitingComment { question, .. } = self
        {
            context.questions.close(*question, &mut collected);
        }
        let (request, outcome) = match self.take_question()? {
            TakenQuestion::Trust {
                request, approved, ..
            } => (
                request,
                self.start_gate(request, approved, context, &mut collected),
            ),
            TakenQuestion::Approval(pending) | TakenQuestion::Comment(pending, _) => (
                pending.request,
                self.look_up(pending, IfUndecided::Ask, context, &mut collected),
            ),
        };
        Some(ExitStep {
            request,
            outcome,
            collected,
            comment: None,
        })
    }

    /// Continues after the open question timed out.
    pub(crate) fn on_timeout(
        &mut self,
        context: &mut ExitContext<'_>,
        now: Millis,
    ) -> Option<ExitStep> {
        match self.take_question()? {
            TakenQuestion::Trust { request, .. } => {
                let reports = not_trusted(context, TIMED_OUT);
                Some(self.finish_gate(request, false, reports, context, now))
            }
            TakenQuestion::Comment(pending, choice) => {
                Some(self.decided(pending, &choice, "", context, now))
            }
            TakenQuestion::Approval(pending) => {
                let request = pending.request;
                let mut collected = Effects::at(now);
                let outcome = self.look_up(
                    pending,
                    IfUndecided::Pause(UNANSWERED),
                    context,
                    &mut collected,
                );
                Some(ExitStep {
                    request,
                    outcome,
                    collected,
                    comment: None,
                })
            }
        }
    }

    /// Returns true if this request is the call of `next` in progress.
    pub(crate) fn is_for(&self, request: RequestId) -> bool {
        self.request() == Some(request)
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
            Self::AwaitingTrust { question, .. }
            | Self::AwaitingApproval { question, .. }
            | Self::AwaitingComment { question, .. } => {
                questions.close(question, out);
            }
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

    /// The request of the exit in progress.
    fn request(&self) -> Option<RequestId> {
        match self {
            Self::Idle => None,
            Self::AwaitingTrust { request, .. } | Self::RunningGate { request, .. } => *request,
            Self::ReadingApproval { pending, .. }
            | Self::AwaitingApproval { pending, .. }
            | Self::AwaitingComment { pending, .. } => pending.request,
        }
    }

    /// Leaves the state of this gate run.
    fn take_gate(&mut self, id: GateRunId, out: &mut Effects) -> Option<(Option<RequestId>, bool)> {
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
    fn take_question(&mut self) -> Option<TakenQuestion> {
        match std::mem::take(self) {
            Self::AwaitingTrust {
                request,
                commands,
                approved,
                ..
            } => Some(TakenQuestion::Trust {
                request,
                commands,
                approved,
            }),
            Self::AwaitingApproval { pending, .. } => Some(TakenQuestion::Approval(pending)),
            Self::AwaitingComment {
                pending, choice, ..
            } => Some(TakenQuestion::Comment(pending, choice)),
            other => {
                *self = other;
                None
            }
        }
    }

    /// Runs the gate, if its commands are trusted.
    fn start_gate(
        &mut self,
        request: Option<RequestId>,
        approved: bool,
        context: &mut ExitContext<'_>,
        out: &mut Effects,
    ) -> ExitOutcome {
        let run = context.active_run();
        let commands = run.map(|run| run.commands_to_trust()).unwrap_or_default();
        self.run_gate(request, approved, commands, context, out)
    }

    /// Runs the gate; `commands` are those that need the user's trust.
    fn run_gate(
        &mut self,
        request: Option<RequestId>,
        approved: bool,
        commands: Vec<RunCheck>,
        context: &mut ExitContext<'_>,
        out: &mut Effects,
    ) -> ExitOutcome {
        let gate = context.run.as_deref().and_then(|run| {
            let phase = run.phase()?;
            Some((
                phase.phase.gate.clone(),
                run.baseline().map(ToOwned::to_owned),
            ))
        });
        let Some((gates, baseline)) = gate else {
            return ExitOutcome::Stay(cancelled(NO_PHASE));
        };
        let id = context.ids.gate_run();
        out.perform(Effect::RunGate(GateRun {
            id,
            gates,
            baseline,
            commands,
        }));
        *self = Self::RunningGate {
            request,
            gate: id,
            approved,
            in_widget: false,
        };
        ExitOutcome::Wait
    }

    /// Stores the reports of the gate, and continues with the approval or the next phase if it passed.
    fn finish_gate(
        &mut self,
        request: Option<RequestId>,
        approved: bool,
        reports: Vec<Report>,
        context: &mut ExitContext<'_>,
        now: Millis,
    ) -> ExitStep {
        let mut collected = Effects::at(now);
        let outcome = self.gate_outcome(request, approved, reports, context, &mut collected);
        ExitStep {
            request,
            outcome,
            collected,
            comment: None,
        }
    }

    fn gate_outcome(
        &mut self,
        request: Option<RequestId>,
        approved: bool,
        reports: Vec<Report>,
        context: &mut ExitContext<'_>,
        out: &mut Effects,
    ) -> ExitOutcome {
        let Some(run) = context.active_run() else {
            return ExitOutcome::Stay(cancelled(NO_PHASE));
        };
        let Some(phase) = run.phase() else {
            return ExitOutcome::Stay(cancelled(NO_PHASE));
        };
        let name = phase.phase.name.clone();
        // A host may keep the newest entry only, so it contains everything about the phase.
        let stored = StoredGate {
            baseline: run.baseline().map(ToOwned::to_owned),
            ..StoredGate::of_reports(run.state(), &phase.phase.id, &reports)
        };
        out.append_entry(entry_type::GATE, &stored);
        let has_passed = !reports.is_empty() && reports.iter().all(Report::has_passed);
        if !has_passed {
            run.drop_open_approval(out);
            let answer = ToolAnswer {
                text: not_passed(&name, &reports),
                details: json!({ "active": true, "advanced": false, "gate": reports }),
                kind: Some(AnswerKind::Error),
            };
            return ExitOutcome::NotPassed(answer, reports);
        }
        if run.approval().is_none() || approved {
            return ExitOutcome::Advance(reports);
        }
        let pending = PendingApproval {
            request,
            reports,
            checked: Some(out.now()),
        };
        self.need_approval(pending, context, out)
    }

    /// Looks up a decision about the open approval request, or asks for one.
    fn need_approval(
        &mut self,
        pending: PendingApproval,
        context: &mut ExitContext<'_>,
        out: &mut Effects,
    ) -> ExitOutcome {
        let is_open = context
            .run
            .as_deref()
            .and_then(ActiveRun::approval_request)
            .is_some();
        if is_open {
            self.look_up(pending, IfUndecided::Ask, context, out)
        } else {
            self.ask_approval(pending, "", context, out)
        }
    }

    /// Looks up a decision that was made outside of the host.
    fn look_up(
        &mut self,
        pending: PendingApproval,
        if_undecided: IfUndecided,
        context: &mut ExitContext<'_>,
        out: &mut Effects,
    ) -> ExitOutcome {
        let request = context.run.as_deref().and_then(ActiveRun::approval_request);
        let Some(request) = request else {
            return ExitOutcome::Stay(cancelled(NO_APPROVAL));
        };
        out.perform(Effect::ReadApproval(request));
        *self = Self::ReadingApproval {
            pending,
            if_undecided,
        };
        ExitOutcome::Wait
    }

    /// Asks for approval, in the host's dialog and outside of it.
    fn ask_approval(
        &mut self,
        pending: PendingApproval,
        note: &str,
        context: &mut ExitContext<'_>,
        out: &mut Effects,
    ) -> ExitOutcome {
        let nonce = context.ids.nonce();
        let run = context.run.as_deref_mut();
        let approval = run.and_then(|run| {
            let approval = run.approval()?.clone();
            run.request_approval(nonce, out);
            let message = approval_message(run, &approval, &pending.reports, note);
            Some((approval, message))
        });
        let Some((approval, message)) = approval else {
            return ExitOutcome::Stay(cancelled(NO_APPROVAL));
        };
        if !context.questions.can_ask() {
            let mut why = context.questions.why_not("this host has no dialogs");
            if !note.is_empty() {
                why += ", and the earlier answer does not count, because what it was about has changed";
            }
            return pause_for_approval(&why, context, out);
        }
        let text = QuestionText {
            title: approval.ask,
            message,
            options: approval.choices,
            show: approval.show,
            ..QuestionText::default()
        };
        *self = Self::AwaitingApproval {
            pending,
            question: context.questions.ask(Topic::Approval, text, out),
        };
        ExitOutcome::Wait
    }

    /// Applies a person's decision: the first choice approves.
    fn decide(
        &mut self,
        pending: PendingApproval,
        answer: Answer<'_>,
        context: &mut ExitContext<'_>,
        out: &mut Effects,
    ) -> ExitOutcome {
        let run = context.run.as_deref_mut();
        let Some((run, approval)) = run.and_then(|run| {
            let approval = run.approval()?.clone();
            Some((run, approval))
        }) else {
            return ExitOutcome::Stay(cancelled(NO_APPROVAL));
        };
        let choice = match answer {
            Answer::Chosen(choice) => approval.choices.iter().position(|known| known == choice),
            Answer::Outdated => {
                run.drop_approval(out);
                return self.ask_approval(pending, CHANGED, context, out);
            }
            Answer::Confirmed(_) | Answer::Dismissed => None,
        };
        let Some(choice) = choice else {
            return self.look_up(pending, IfUndecided::Pause(DISMISSED), context, out);
        };
        let Some(target) = approval.target(choice) else {
            let phase = run.phase();
            let name = phase.map_or_else(String::new, |phase| phase.phase.name.clone());
            run.drop_approval(out);
            let choice = &approval.choices[choice];
            return ExitOutcome::Declined(ToolAnswer {
                text: declined(&approval.ask, choice, &name),
                details: json!({ "active": true, "advanced": false, "approval": choice }),
                kind: Some(AnswerKind::Error),
            });
        };
        let is_onward = target.is_onward();
        run.leave.decide(target);
        if is_onward {
            self.approved(pending, context, out)
        } else {
            // A way back or out does not need a fresh result.
            ExitOutcome::Advance(pending.reports)
        }
    }

    /// Leaves the phase, unless the result of its gate is too old.
    fn approved(
        &mut self,
        pending: PendingApproval,
        context: &mut ExitContext<'_>,
        out: &mut Effects,
    ) -> ExitOutcome {
        let age = pending.checked.map(|at| out.now().saturating_sub(at));
        let is_valid = age.is_some_and(|age| age <= GATE_VALID_FOR);
        let phase = context.active_run().and_then(|run| run.phase());
        let has_gate = phase.is_some_and(|phase| !phase.phase.gate.is_empty());
        if has_gate && !is_valid {
            self.start_gate(pending.request, true, context, out)
        } else {
            ExitOutcome::Advance(pending.reports)
        }
    }
}

/// The text of the question for approval: the place, the result of the gate, the agent's summary, and the consequences.
fn approval_message(
    run: &ActiveRun,
    approval: &Approval,
    reports: &[Report],
    note: &str,
) -> String {
    let mut lines = Vec::new();
    if !note.is_empty() {
        lines.push(note.to_owned());
    }
    let mut name = String::new();
    if let Some(phase) = run.phase() {
        lines.push(phase.place());
        name.clone_from(&phase.phase.name);
    }
    if !approval.source.is_empty() {
        lines.push(format!("Defined in: {}", visible(&approval.source)));
    }
    let checks = reports
        .iter()
        .map(|report| format!("Check: {}", report.describe()));
    lines.extend(checks);
    if let Some(summary) = &run.summary {
        let summary = shortened(&visible(summary), MAX_SUMMARY);
        lines.push(format!("The agent says: {summary}"));
    }
    if let Some(file) = &approval.show {
        lines.push(format!("File: {}", visible(file)));
    }
    if approval.targets.is_empty() {
        let next = run.plan_leave(Mover::Person);
        let next = next.map_or_else(|_| String::new(), |to| phase_name(&to.state, run.catalog()));
        let first = approval.choices.first().map_or("", String::as_str);
        lines.push(format!(
            "\n\"{first}\" leaves {name} and goes on to {next}. Every other answer keeps the workflow in {name}, and the agent reads it."
        ));
    } else {
        lines.push(String::new());
        let choices = approval.choices.iter().enumerate();
        lines.extend(
            choices.map(|(index, choice)| format!("\"{choice}\" {}.", meaning_of(approval, index))),
        );
    }
    lines.join("\n")
}

/// The text for the agent after a choice that does not approve.
pub(crate) fn declined(ask: &str, choice: &str, phase: &str) -> String {
    format!(
        "Not approved: the user was asked \"{ask}\" and chose \"{choice}\". You are still in {phase}. Change what the user \
         wants changed, and ask if that is not clear. Then call workflow_step with action='next' again."
    )
}

/// A question that is answered or timed out.
#[derive(Debug)]
enum TakenQuestion {
    Trust {
        request: Option<RequestId>,
        commands: Vec<RunCheck>,
        approved: bool,
    },
    Approval(PendingApproval),
    /// For the comment on this choice.
    Comment(PendingApproval, String),
}

/// Returns true if the person who chooses this is asked for a comment.
fn wants_comment(choice: &str, context: &ExitContext<'_>) -> bool {
    let approval = context.run.as_deref().and_then(ActiveRun::approval);
    let wanted = approval.is_some_and(|approval| {
        approval.comment && approval.choices.iter().any(|known| known == choice)
    });
    wanted && context.questions.can_ask()
}

/// Pauses the run until a person decides.
fn pause_for_approval(why: &str, context: &mut ExitContext<'_>, out: &mut Effects) -> ExitOutcome {
    let (mut ask, mut name) = (String::new(), String::new());
    if let Some(run) = context.run.as_deref_mut() {
        run.pause(PauseReason::Approval, out);
        let phase = run.phase();
        name = phase.map_or(name, |phase| phase.phase.name.clone());
        ask = run
            .approval_request()
            .map_or(ask, |request| request.approval.ask);
    }
    ExitOutcome::Stay(ToolAnswer {
        text: format!(
            "⏸ Waiting for approval: {ask} ({why})\nYou are still in {name}. Stop here and wait. The user answers in this session, or \
             in a terminal with `workflow-sidecar approve`. After that, call workflow_step with action='next' again."
        ),
        details: json!({ "active": true, "advanced": false, "waiting": "approval" }),
        kind: Some(AnswerKind::Error),
    })
}

/// Redacts what checks report, because the reports are in the result of `workflow_step` and in the session.
fn redact(reports: &mut [Report], results: &Results) {
    let is_error = !reports.iter().all(Report::has_passed);
    for report in reports {
        for text in [&mut report.what, &mut report.reason, &mut report.tail] {
            if !text.is_empty() {
                results.redact_text(STEP_TOOL, is_error, text);
            }
        }
    }
}

/// The report on a gate with commands that are not trusted.
fn not_trusted(context: &mut ExitContext<'_>, why: &str) -> Vec<Report> {
    let is_command = |gate: &&Gate| matches!(gate.check, Check::Run(_));
    let reason = format!(
        "the commands of this project are not trusted, and {why}. The user can trust them with `workflow-sidecar trust`"
    );
    could_not_run(context, is_command, CheckError::NotTrusted, reason)
}

/// The report on the first check of the gate that fits.
fn could_not_run(
    context: &mut ExitContext<'_>,
    fits: impl FnMut(&&Gate) -> bool,
    error: CheckError,
    reason: String,
) -> Vec<Report> {
    let phase = context.run.as_deref().and_then(ActiveRun::phase);
    let gates = phase.map_or(&[][..], |phase| &phase.phase.gate);
    let gate = gates.iter().find(fits);
    let report = gate.map(|gate| Report {
        what: gate.check.describe(),
        source: gate.source.clone(),
        verdict: CheckVerdict::CouldNotRun(error),
        reason,
        exit: None,
        signal: None,
        duration_ms: 0,
        tail: String::new(),
    });
    report.into_iter().collect()
}

/// The answer to a call of `next` that was cancelled.
fn cancelled(why: &str) -> ToolAnswer {
    ToolAnswer {
        text: format!("Leaving the phase was cancelled: {why}."),
        details: json!({ "advanced": false }),
        kind: Some(AnswerKind::Error),
    }
}

fn exit_in_progress() -> ToolAnswer {
    ToolAnswer {
        text: "Not advanced: an earlier call of workflow_step is still leaving this phase. Wait for its answer.".to_owned(),
        details: json!({ "active": true, "advanced": false }),
        kind: Some(AnswerKind::Error),
    }
}
