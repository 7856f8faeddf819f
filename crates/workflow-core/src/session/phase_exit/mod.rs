//! Leaving a phase: trust in the gate's commands, the gate, and the approval of the user.
//!
//! `next` may take long, while the session continues. Whatever moves the run or ends the session cancels it.
//!
//! The user approves in the host's dialog, or outside of the host. Either decision is about one approval request, which
//! has an id, and about the file that was shown.

mod approval;
mod gate;

use serde_json::json;

pub(in crate::session) use self::approval::{approval_not_stored, approval_requested};
use self::gate::{could_not_run, not_trusted, redact};
use super::ids::Ids;
use super::phase::ResolvedPhase;
use super::questions::{QuestionTable, QuestionTopic, TIMED_OUT};
use super::run::ActiveRun;
use crate::approval::Decision;
use crate::definition::RunCheck;
use crate::effect::{Effect, Effects, Mark, ToolAnswer};
use crate::event::Answer;
use crate::policy::gate_report::{CheckError, Report};
use crate::run::Actor;
use crate::types::{GateRunId, Millis, QuestionId, RequestId};
use crate::white_space::trim;

const UNANSWERED: &str = "no answer in time";

/// The call of `next` in progress, or the answer of the user that leaves the phase, and what it waits for.
#[derive(Debug, Clone, Default)]
pub(crate) struct PhaseExit(Option<(Exit, Awaited)>);

/// An exit from a phase.
#[derive(Debug, Clone, Default)]
struct Exit {
    /// The request that is answered with the outcome; `None` for an answer in a terminal.
    request: Option<RequestId>,
    /// The result of the gate, if there is one.
    reports: Vec<Report>,
    /// When the gate finished; `None` if it must run again.
    checked: Option<Millis>,
    /// True if the phase is approved, and only the gate runs again.
    approved: bool,
}

/// What an exit waits for.
#[derive(Debug, Clone)]
enum Awaited {
    /// The gate.
    Gate { gate: GateRunId, in_widget: bool },
    /// The user's trust in the commands of the gate.
    Trust {
        question: QuestionId,
        commands: Vec<RunCheck>,
    },
    /// The user's approval.
    Approval { question: QuestionId },
    /// The user's comment on this choice.
    Comment {
        question: QuestionId,
        choice: String,
    },
    /// The decision that was made outside of the host.
    Decision(IfUndecided),
}

/// The next step if no decision was made outside of the host.
#[derive(Debug, Clone, Copy)]
enum IfUndecided {
    Ask,
    /// Pause the run, for this reason.
    Pause(&'static str),
}

/// The next step of an exit: what it waits for, or how it ends.
type Next = Result<Awaited, ExitOutcome>;

/// The next step of the session.
#[derive(Debug)]
pub(crate) enum ExitOutcome {
    /// The answer comes later.
    Wait,
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
    /// The user is asked for trust in the commands of the gate.
    AwaitingTrust,
    /// The gate runs.
    RunningGate,
    /// The user is asked for approval.
    AwaitingApproval,
}

impl ExitContext<'_> {
    /// The phase that is left.
    fn phase(&self) -> Option<&ResolvedPhase> {
        self.run.as_deref()?.phase()
    }

    fn active_run(&mut self) -> Option<&mut ActiveRun> {
        self.run.as_deref_mut().filter(|run| run.phase().is_some())
    }

    fn commands_to_trust(&mut self) -> Vec<RunCheck> {
        let run = self.active_run();
        run.map(|run| run.commands_to_trust()).unwrap_or_default()
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
        if self.0.is_some() {
            return ExitOutcome::Stay(exit_in_progress());
        }
        if let Some(run) = context.run.as_deref_mut() {
            run.set_user_answer(None);
        }
        let Some(phase) = context.phase().map(|resolved| &resolved.phase) else {
            return ExitOutcome::Advance(Vec::new());
        };
        let (has_gate, needs_approval) = (!phase.gate.is_empty(), phase.approve.is_some());
        let mut exit = Exit {
            request: Some(request),
            ..Exit::default()
        };
        let next = if has_gate {
            Exit::start_gate(context, out)
        } else if needs_approval {
            exit.checked = Some(out.now());
            exit.need_approval(context, out)
        } else {
            Err(ExitOutcome::Advance(Vec::new()))
        };
        self.wait(exit, next)
    }

    /// Starts to follow an answer that the user gave outside of the host while no exit is in progress. Its gate runs
    /// again.
    pub(crate) fn begin_answered(
        &mut self,
        context: &mut ExitContext<'_>,
        out: &mut Effects,
    ) -> ExitOutcome {
        let next = Exit::look_up(IfUndecided::Pause(UNANSWERED), context, out);
        self.wait(Exit::default(), next)
    }

    /// Starts to follow the answer that the user gives by a command while no question is open. The gate runs again.
    pub(crate) fn begin_command(
        &mut self,
        request: RequestId,
        choice: &str,
        comment: Option<String>,
        context: &mut ExitContext<'_>,
        out: &mut Effects,
    ) -> ExitOutcome {
        let mut exit = Exit {
            request: Some(request),
            ..Exit::default()
        };
        let next = exit.decide(Answer::Chosen(choice), comment, context, out);
        self.wait(exit, next)
    }

    /// Keeps an exit that waits.
    fn wait(&mut self, exit: Exit, next: Next) -> ExitOutcome {
        match next {
            Ok(awaited) => {
                self.0 = Some((exit, awaited));
                ExitOutcome::Wait
            }
            Err(outcome) => outcome,
        }
    }

    /// Continues the exit if it waits for something that fits.
    fn go_on(
        &mut self,
        fits: impl FnOnce(&Awaited) -> bool,
        out: &mut Effects,
        step: impl FnOnce(&mut Exit, Awaited, &mut Effects) -> Next,
    ) -> Option<ExitStep> {
        let (mut exit, awaited) = self.0.take_if(|(_, awaited)| fits(awaited))?;
        let (request, since) = (exit.request, out.mark());
        let next = step(&mut exit, awaited, out);
        Some(ExitStep {
            request,
            outcome: self.wait(exit, next),
            since,
        })
    }

    /// Asks for trust in the commands of the gate, or reports that it cannot run.
    pub(crate) fn on_gate_not_trusted(
        &mut self,
        gate: GateRunId,
        context: &mut ExitContext<'_>,
        out: &mut Effects,
    ) -> Option<ExitStep> {
        self.clear_widget_of(gate, out);
        self.go_on(
            |awaited| awaited.is_gate(gate),
            out,
            |exit, _, out| {
                if !context.project_trusted {
                    let why = "the user does not trust the project in this host";
                    exit.end_gate(not_trusted(context, why), context, out)
                } else if context.questions.can_ask() {
                    Ok(Awaited::ask_trust(context, out))
                } else {
                    let why = context.questions.why_not("this host cannot ask");
                    exit.end_gate(not_trusted(context, &why), context, out)
                }
            },
        )
    }

    /// Shows the progress of the gate.
    pub(crate) fn on_gate_progress(
        &mut self,
        id: GateRunId,
        text: &str,
        shows_widgets: bool,
        out: &mut Effects,
    ) {
        if let Some((_, Awaited::Gate { gate, in_widget })) = &mut self.0
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
        self.clear_widget_of(gate, out);
        self.go_on(
            |awaited| awaited.is_gate(gate),
            out,
            |exit, _, out| {
                // A gate without a report has not passed.
                if reports.is_empty() {
                    let reason = "it ended without a result".to_owned();
                    reports = could_not_run(context, |_| true, CheckError::Start, reason);
                }
                if let Some(phase) = context.phase() {
                    redact(&mut reports, &phase.results);
                }
                exit.end_gate(reports, context, out)
            },
        )
    }

    /// Continues with the decision that was looked up.
    pub(crate) fn on_approval_read(
        &mut self,
        decision: Option<Box<Decision>>,
        is_outdated: bool,
        context: &mut ExitContext<'_>,
        out: &mut Effects,
    ) -> Option<ExitStep> {
        self.go_on(
            |awaited| matches!(awaited, Awaited::Decision(_)),
            out,
            |exit, awaited, out| match (decision, awaited) {
                (Some(_), _) if is_outdated => exit.decide(Answer::Outdated, None, context, out),
                (Some(decision), _) => {
                    let answer = Answer::Chosen(&decision.choice);
                    exit.decide(answer, decision.comment, context, out)
                }
                (None, Awaited::Decision(IfUndecided::Pause(why))) => {
                    Err(Exit::pause(why, context, out))
                }
                (None, _) => exit.ask_approval("", context, out),
            },
        )
    }

    /// Continues with the answer to the open question; `None` if it timed out.
    pub(crate) fn on_answer(
        &mut self,
        answer: Option<Answer<'_>>,
        context: &mut ExitContext<'_>,
        out: &mut Effects,
    ) -> Option<ExitStep> {
        let is_question = |awaited: &Awaited| awaited.question().is_some();
        self.go_on(is_question, out, |exit, awaited, out| {
            match (awaited, answer) {
                (Awaited::Trust { commands, .. }, Some(Answer::Confirmed(true))) => {
                    // The yes is about the commands that were shown: if they changed since, the question is repeated.
                    let needed = context.commands_to_trust();
                    let untrusted = if needed == commands {
                        Vec::new()
                    } else {
                        needed
                    };
                    out.perform(Effect::TrustCommands { commands });
                    Exit::run_gate(untrusted, context, out)
                }
                (Awaited::Trust { .. }, answer) => {
                    let why = answer.map_or(TIMED_OUT, |_| "the user did not agree");
                    exit.end_gate(not_trusted(context, why), context, out)
                }
                // The decision is made; a dialog that is dismissed leaves out the comment only.
                (Awaited::Comment { choice, .. }, answer) => {
                    let comment = match answer {
                        Some(Answer::Chosen(comment)) => trim(comment),
                        _ => "",
                    };
                    let comment = (!comment.is_empty()).then(|| comment.to_owned());
                    exit.decide(Answer::Chosen(&choice), comment, context, out)
                }
                (_, Some(Answer::Chosen(choice))) if approval::wants_comment(choice, context) => {
                    Ok(Awaited::ask_comment(choice, context, out))
                }
                (_, Some(answer)) => exit.decide(answer, None, context, out),
                (_, None) => Exit::look_up(IfUndecided::Pause(UNANSWERED), context, out),
            }
        })
    }

    /// Continues with the decision that the user made by a command while the question is open.
    pub(crate) fn on_command(
        &mut self,
        choice: &str,
        comment: Option<String>,
        context: &mut ExitContext<'_>,
        out: &mut Effects,
    ) -> Option<ExitStep> {
        self.go_on(Awaited::is_approval, out, |exit, _, out| {
            exit.decide(Answer::Chosen(choice), comment, context, out)
        })
    }

    /// Continues after the open question for approval was answered outside of the host: looks the answer up.
    pub(crate) fn on_answered_elsewhere(
        &mut self,
        context: &mut ExitContext<'_>,
        out: &mut Effects,
    ) -> Option<ExitStep> {
        self.go_on(Awaited::is_approval, out, |_, awaited, out| {
            if let Some(question) = awaited.question() {
                context.questions.close(question, out);
            }
            Exit::look_up(IfUndecided::Ask, context, out)
        })
    }

    /// The event that leaving the phase waits for; `None` if no exit is in progress.
    pub(crate) fn activity(&self) -> Option<ExitActivity> {
        Some(match self.0.as_ref()?.1 {
            Awaited::Trust { .. } => ExitActivity::AwaitingTrust,
            Awaited::Gate { .. } => ExitActivity::RunningGate,
            Awaited::Approval { .. } | Awaited::Comment { .. } | Awaited::Decision(_) => {
                ExitActivity::AwaitingApproval
            }
        })
    }

    /// The open question for approval.
    pub(crate) fn approval_question(&self) -> Option<QuestionId> {
        let (_, awaited) = self.0.as_ref()?;
        awaited.question().filter(|_| awaited.is_approval())
    }

    /// Returns true if this request is the call of `next` in progress.
    pub(crate) fn is_for(&self, request: RequestId) -> bool {
        let exit = self.0.as_ref();
        exit.is_some_and(|(exit, _)| exit.request == Some(request))
    }

    fn clear_widget_of(&self, gate: GateRunId, out: &mut Effects) {
        if let Some((_, awaited)) = &self.0
            && awaited.is_gate(gate)
        {
            awaited.clear_widget(out);
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
        let cancelled_exit = self.0.take();
        if let Some((_, awaited)) = &cancelled_exit {
            if let Awaited::Gate { gate, .. } = *awaited {
                out.perform(Effect::CancelGate { gate });
            }
            awaited.clear_widget(out);
            if let Some(question) = awaited.question() {
                questions.close(question, out);
            }
        }
        if let Some(run) = run {
            run.clear_dialog_approval(out);
        }
        cancelled_exit.map(|(exit, _)| (exit.request, cancelled(why)))
    }
}

impl Awaited {
    fn is_gate(&self, id: GateRunId) -> bool {
        matches!(self, Self::Gate { gate, .. } if *gate == id)
    }

    /// True for a question for approval.
    fn is_approval(&self) -> bool {
        matches!(self, Self::Approval { .. } | Self::Comment { .. })
    }

    /// The open question.
    fn question(&self) -> Option<QuestionId> {
        match self {
            Self::Trust { question, .. }
            | Self::Approval { question }
            | Self::Comment { question, .. } => Some(*question),
            Self::Gate { .. } | Self::Decision(_) => None,
        }
    }

    fn clear_widget(&self, out: &mut Effects) {
        if let Self::Gate {
            in_widget: true, ..
        } = self
        {
            out.clear_widget();
        }
    }

    /// Asks for trust in the commands of the gate.
    fn ask_trust(context: &mut ExitContext<'_>, out: &mut Effects) -> Self {
        let commands = context.commands_to_trust();
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
        context.questions.close_all(QuestionTopic::StartTrust, out);
        Self::Trust {
            question: context
                .questions
                .ask(QuestionTopic::Trust, text.unwrap_or_default(), out),
            commands,
        }
    }
}

fn exit_in_progress() -> ToolAnswer {
    ToolAnswer::error(
        "Not advanced: an earlier call of workflow_step is still leaving this phase. Wait for its answer.",
        json!({ "active": true, "advanced": false }),
    )
}

/// The answer to a call of `next` that was cancelled.
fn cancelled(why: &str) -> ToolAnswer {
    ToolAnswer::error(
        format!("Leaving the phase was cancelled: {why}."),
        json!({ "advanced": false }),
    )
}
