//! The approval of a phase: asks the user, and applies the decision.

use serde_json::json;

use super::{Awaited, Exit, ExitContext, ExitOutcome, IfUndecided, Next, cancelled};
use crate::definition::Approval;
use crate::diagnostic::{shown, visible};
use crate::effect::{Effect, Effects, ToolAnswer};
use crate::event::Answer;
use crate::policy::gate_report::Report;
use crate::reminders::PauseReason;
use crate::run::Actor;
use crate::session::handover::{UserAnswer, asked_and_chose};
use crate::session::phase::ResolvedPhase;
use crate::session::questions::{QuestionText, QuestionTopic};
use crate::session::run::ActiveRun;
use crate::session::step_tool::with_comment;
use crate::types::Millis;

/// The time for which the result of a gate is valid while the user decides. After that the gate runs again.
const GATE_VALID_FOR: Millis = 10 * 60 * 1000;

const CHANGED: &str =
    "Your earlier answer does not count, because what it was about has changed. Please look again.";
const NO_APPROVAL: &str = "the phase needs no approval any more";
const DISMISSED: &str = "the question was closed without an answer";

impl Awaited {
    /// Asks the user who has answered for a comment.
    pub(super) fn ask_comment(
        choice: &str,
        context: &mut ExitContext<'_>,
        out: &mut Effects,
    ) -> Self {
        let text = QuestionText {
            title: format!("{choice}: your comment for the agent"),
            placeholder: Some("may be empty".to_owned()),
            ..QuestionText::default()
        };
        Self::Comment {
            question: context.questions.ask(QuestionTopic::Approval, text, out),
            choice: choice.to_owned(),
        }
    }
}

impl Exit {
    /// Looks up a decision about the open approval request, or asks for one.
    pub(super) fn need_approval(
        &mut self,
        context: &mut ExitContext<'_>,
        out: &mut Effects,
    ) -> Next {
        let run = context.run.as_deref();
        if run.is_some_and(|run| run.open_request().is_some()) {
            Self::look_up(IfUndecided::Ask, context, out)
        } else {
            self.ask_approval("", context, out)
        }
    }

    /// Looks up a decision that was made outside of the host.
    pub(super) fn look_up(
        if_undecided: IfUndecided,
        context: &ExitContext<'_>,
        out: &mut Effects,
    ) -> Next {
        let run = context.run.as_deref();
        let request = run.and_then(|run| run.approval_request(context.actor));
        let request = request.ok_or_else(|| ExitOutcome::Stay(cancelled(NO_APPROVAL)))?;
        out.perform(Effect::ReadApproval(request));
        Ok(Awaited::Decision(if_undecided))
    }

    /// Asks for approval, in the host's dialog and outside of it.
    pub(super) fn ask_approval(
        &mut self,
        note: &str,
        context: &mut ExitContext<'_>,
        out: &mut Effects,
    ) -> Next {
        let id = context.ids.approval();
        let actor = context.actor;
        let run = context.run.as_deref_mut();
        let approval = run.and_then(|run| {
            let approval = run.approval()?.clone();
            run.request_approval(id, &self.reports, actor, out);
            let message = approval_message(run, &approval, &self.reports, note, actor);
            Some((approval, message))
        });
        let (approval, message) =
            approval.ok_or_else(|| ExitOutcome::Stay(cancelled(NO_APPROVAL)))?;
        if !context.questions.can_ask() {
            let mut why = context.questions.why_not("this host has no dialogs");
            if !note.is_empty() {
                why += ", and the earlier answer does not count, because what it was about has changed";
            }
            return Err(Self::pause(&why, context, out));
        }
        let text = QuestionText {
            title: approval.ask,
            message,
            options: approval.choices,
            show: approval.show,
            ..QuestionText::default()
        };
        Ok(Awaited::Approval {
            question: context.questions.ask(QuestionTopic::Approval, text, out),
        })
    }

    /// Applies the user's decision and its comment: the first choice approves.
    pub(super) fn decide(
        &mut self,
        answer: Answer<'_>,
        comment: Option<String>,
        context: &mut ExitContext<'_>,
        out: &mut Effects,
    ) -> Next {
        let run = context.run.as_deref_mut();
        let Some((run, approval)) = run.and_then(|run| {
            let approval = run.approval()?.clone();
            Some((run, approval))
        }) else {
            return Err(ExitOutcome::Stay(cancelled(NO_APPROVAL)));
        };
        let choice = match answer {
            Answer::Chosen(choice) => approval.choices.iter().position(|known| known == choice),
            Answer::Outdated => {
                run.drop_approval(out);
                return self.ask_approval(CHANGED, context, out);
            }
            Answer::Confirmed(_) | Answer::Dismissed => None,
        };
        let Some(choice) = choice else {
            return Self::look_up(IfUndecided::Pause(DISMISSED), context, out);
        };
        let Some(target) = approval.target(choice) else {
            let phase = run.phase();
            let name = phase.map_or_else(String::new, |phase| phase.phase.name.clone());
            run.drop_approval(out);
            let choice = &approval.choices[choice];
            let answer = ToolAnswer::error(
                declined(&approval.ask, choice, &name),
                json!({ "active": true, "advanced": false, "approval": choice }),
            );
            let answer = with_comment(answer, comment.as_deref());
            return Err(ExitOutcome::Declined(answer));
        };
        let is_onward = target.is_onward();
        run.set_user_answer(Some(UserAnswer {
            ask: approval.ask.clone(),
            choice: approval.choices[choice].clone(),
            target,
            comment,
        }));
        let age = self.checked.map(|at| out.now().saturating_sub(at));
        let is_valid = age.is_some_and(|age| age <= GATE_VALID_FOR);
        let has_gate = run
            .phase()
            .is_some_and(|phase| !phase.phase.gate.is_empty());
        // A way back or out does not need a fresh result.
        if is_onward && has_gate && !is_valid {
            self.approved = true;
            return Self::start_gate(context, out);
        }
        Err(ExitOutcome::Advance(std::mem::take(&mut self.reports)))
    }

    /// Pauses the run until the user decides.
    pub(super) fn pause(
        why: &str,
        context: &mut ExitContext<'_>,
        out: &mut Effects,
    ) -> ExitOutcome {
        if let Some(run) = context.run.as_deref_mut() {
            run.pause(PauseReason::Approval, out);
        }
        let phase = context.phase().map(|phase| &phase.phase);
        let name = phase.map_or("", |phase| &phase.name);
        let approval = phase.and_then(|phase| phase.approve.as_ref());
        let ask = approval.map_or_else(String::new, |approval| shown(&approval.ask));
        let hands_over =
            phase.is_some_and(|phase| !(phase.outcomes.is_empty() && phase.outputs.is_empty()));
        let same = if hands_over {
            ", with the same outcome and outputs: the user is asked again about any other"
        } else {
            ""
        };
        ExitOutcome::Stay(ToolAnswer::error(
            format!(
                "⏸ Waiting for approval: {ask} ({why})\nYou are still in {name}. Stop here and wait. The user answers in this session, or \
                 in a terminal with `workflow-sidecar approve`. After that, call workflow_step with action='next' again{same}."
            ),
            json!({ "active": true, "advanced": false, "waiting": "approval" }),
        ))
    }
}

/// The text of the question for approval: the place, what the agent hands over, and what each answer does.
fn approval_message(
    run: &ActiveRun,
    approval: &Approval,
    reports: &[Report],
    note: &str,
    actor: Actor,
) -> String {
    let mut lines = Vec::new();
    if !note.is_empty() {
        lines.push(note.to_owned());
    }
    lines.extend(run.phase().map(ResolvedPhase::location));
    if !approval.source.is_empty() {
        lines.push(format!("Defined in: {}", visible(&approval.source)));
    }
    lines.extend(run.to_approve(reports));
    if let Some(file) = &approval.show {
        lines.push(format!("File: {}", visible(file)));
    }
    lines.push(String::new());
    let consequences = run.consequences(approval, actor).into_iter();
    lines.extend(consequences.map(|(choice, does)| format!("\"{choice}\" {does}.")));
    lines.join("\n")
}

/// The text for the agent after a choice that does not approve.
fn declined(ask: &str, choice: &str, phase: &str) -> String {
    format!(
        "Not approved: {}. You are still in {phase}. Change what the user wants changed, and ask if that is not clear. Then call \
         workflow_step with action='next' again.",
        asked_and_chose(ask, choice)
    )
}

/// Returns true if the user who chooses this is asked for a comment.
pub(super) fn wants_comment(choice: &str, context: &ExitContext<'_>) -> bool {
    let approval = context.run.as_deref().and_then(ActiveRun::approval);
    let wanted = approval.is_some_and(|approval| {
        approval.comment && approval.choices.iter().any(|known| known == choice)
    });
    wanted && context.questions.can_ask()
}

/// The notice that a phase waits for an approval, with the code that answers it in a terminal.
pub(in crate::session) fn approval_requested(location: &str, ask: &str, code: &str) -> String {
    format!(
        "{location} waits for your approval: {ask}\nAnswer here, or in a terminal with `workflow-sidecar approve {code}`. The code is for \
         you alone: do not give it to the agent."
    )
}

/// The notice that a terminal does not list a request for approval.
pub(in crate::session) fn approval_not_stored(reason: &str) -> String {
    format!(
        "[workflow] The run waits for your approval, but the request could not be stored, so `workflow-sidecar approve` does not \
         list it: {reason}. Answer in this session. Or correct the problem and have the agent call workflow_step with \
         action='next' again."
    )
}
