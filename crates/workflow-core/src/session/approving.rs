//! The approval of the user before a phase is left.
//!
//! The user approves in the host's dialog, or outside of the host. Either decision is about one approval request, which
//! has an id, and about the file that was shown.

use serde_json::json;

use super::Session;
use super::controls::Control;
use super::handover::{UserAnswer, asked_and_chose};
use super::last_shown::LastShown;
use super::phase_exit::{Awaited, Exit, ExitBy, ExitOutcome, Next};
use super::questions::Topic;
use super::run::ActiveRun;
use super::step_answers::{not_advanced, waiting, with_comment};
use crate::approval::{Decision, Request};
use crate::definition::Approval;
use crate::diagnostic::{shown, visible};
use crate::effect::{Action, Effect, Question};
use crate::event::Answer;
use crate::reminders::PauseReason;
use crate::types::{Millis, Severity};

/// The time for which the result of a gate is valid while the user decides. After that the gate runs again.
pub const GATE_VALID_FOR: Millis = 10 * 60 * 1000;

pub(super) const UNANSWERED: &str = "no answer in time";
const CHANGED: &str =
    "Your earlier answer does not count, because what it was about has changed. Please look again.";
const DISMISSED: &str = "the question was closed without an answer";

impl Session {
    /// Follows an answer that a person gave outside of the host. One that was given before this process ran is used when
    /// the agent calls `next` again, because restoring a session does not wake the agent.
    pub(super) fn on_approval_answered(&mut self, request: &str, choice: String, is_earlier: bool) {
        let Some(run) = &mut self.run else { return };
        if run.open_request().is_none_or(|open| open.id != request) {
            return;
        }
        let is_asked = self.exit.asks_for_approval();
        let is_leaving = self.exit.condition().is_some();
        let next = if is_asked {
            self.questions.please_close()
        } else if is_earlier {
            " Ask the agent to continue."
        } else {
            ""
        };
        let message = format!("Answered elsewhere: {}.{next}", visible(&choice));
        self.out.inform(message);
        if !is_asked && (is_earlier || is_leaving) {
            run.answered = Some(choice);
        } else {
            self.follow_answer_elsewhere(ExitBy::user(None, Control::Approve));
        }
    }

    /// Continues with the decision that was looked up.
    pub(super) fn on_approval_read(&mut self, decision: Option<Box<Decision>>, is_outdated: bool) {
        let is_decision = |awaited: &Awaited| matches!(awaited, Awaited::Decision(_));
        let Some((mut exit, awaited)) = self.exit.take(is_decision, &mut self.out) else {
            return;
        };
        let next = match (decision, awaited) {
            (Some(_), _) if is_outdated => self.decide(&mut exit, Answer::Outdated, None),
            (Some(decision), _) => {
                let answer = Answer::Chosen(&decision.choice);
                let comment = match decision.by {
                    Some(by) => {
                        let comment = decision.comment.map(|comment| comment + "\n");
                        Some(format!("{}(answered by {by})", comment.unwrap_or_default()))
                    }
                    None => decision.comment,
                };
                self.decide(&mut exit, answer, comment)
            }
            (None, Awaited::Decision(Some(why))) => Err(self.await_approval(why)),
            (None, _) => self.ask_approval(&exit, None),
        };
        self.follow_exit(exit, next);
    }

    /// Follows the decision that the user made by a command. Where no question is open, this begins an exit by this user, and
    /// the gate runs again.
    pub(super) fn follow_decision(&mut self, by: ExitBy, choice: &str, comment: Option<String>) {
        let mut exit = self.take_asked().unwrap_or_else(|| Exit::new(by));
        let next = self.decide(&mut exit, Answer::Chosen(choice), comment);
        self.follow_exit(exit, next);
    }

    /// Looks up the decision that the user made outside of the host. Where no question is open, this begins an exit by this
    /// user, and the gate runs again.
    pub(super) fn follow_answer_elsewhere(&mut self, by: ExitBy) {
        let (exit, or_pause) = match self.take_asked() {
            Some(exit) => (exit, None),
            None => (Exit::new(by), Some(UNANSWERED)),
        };
        let next = self.look_up(&exit, or_pause);
        self.follow_exit(exit, next);
    }

    /// Takes the exit that waits for the user's approval, and closes its question.
    fn take_asked(&mut self) -> Option<Exit> {
        let (exit, _) = self.exit.take(Awaited::is_approval, &mut self.out)?;
        self.questions.close_all(Topic::is_of_exit, &mut self.out);
        Some(exit)
    }

    /// Looks up a decision about the open approval request, or asks for one.
    pub(super) fn need_approval(&mut self, exit: &Exit) -> Next {
        let run = self.run.as_ref();
        if run.is_some_and(|run| run.open_request().is_some()) {
            self.look_up(exit, None)
        } else {
            self.ask_approval(exit, None)
        }
    }

    /// Looks up a decision that was made outside of the host. Without one the run pauses for this reason, or the user is asked.
    pub(super) fn look_up(&mut self, exit: &Exit, or_pause: Option<&'static str>) -> Next {
        let actor = exit.by.actor(self.jumps());
        let run = self.run.as_ref();
        let request = run.and_then(|run| run.approval_request(actor));
        self.out.perform(Effect::ReadApproval(
            request.ok_or_else(ExitOutcome::no_approval)?,
        ));
        Ok(Awaited::Decision(or_pause))
    }

    /// Asks for approval, in the host's dialog and outside of it.
    fn ask_approval(&mut self, exit: &Exit, note: Option<&str>) -> Next {
        let id = self.ids.approval();
        let actor = exit.by.actor(self.jumps());
        let (run, approval) = with_approval(self.run.as_mut())?;
        run.request_approval(id, &exit.reports, actor, &mut self.out);
        self.last_shown.note(run.asks());
        let mut lines: Vec<String> = note.map(str::to_owned).into_iter().collect();
        lines.extend(run.asks_about(&exit.reports));
        lines.push(String::new());
        let consequences = run.consequences(&approval, actor).into_iter();
        lines.extend(consequences.map(|(choice, does)| format!("\"{choice}\" {does}.")));
        if let Some(why) = self.questions.cannot_ask("this host has no dialogs") {
            let mut why = why.to_owned();
            if note.is_some() {
                why += ", and the earlier answer does not count, because what it was about has changed";
            }
            return Err(self.await_approval(&why));
        }
        let text = Question {
            options: approval.choices,
            show: approval.show,
            ..Question::new(approval.ask, lines.join("\n"))
        };
        self.ask(Topic::Approval, text);
        Ok(Awaited::Approval)
    }

    /// The open request for approval that the run waits for.
    pub fn awaited_approval(&self) -> Option<Request> {
        let run = self.run.as_ref();
        let run = run.filter(|run| run.is_paused_for(PauseReason::Approval));
        run?.approval_request(self.actor())
    }

    /// Clears approval requests of another run or branch, and makes one that was restored available again; this actor moves
    /// the run after the answer. Where the session moves to it, it needs a new code: an answer may have been used already.
    pub(super) fn switch_approval(&mut self, before: Option<(String, String)>, moves: bool) {
        let (actor, mut run) = (self.actor(), self.run.as_mut());
        let now = run.as_deref().and_then(ActiveRun::approval_key);
        let left = before.filter(|before| Some(before) != now.as_ref());
        let left = left.map(|(task, _)| task);
        // A phase that needs approval and has no request in the session's entries gets a new request.
        let here = run.as_deref();
        let here = here.filter(|run| now.is_none() && run.approval().is_some());
        let here = here.map(|run| run.state().task_id.clone());
        let here = here.filter(|task| Some(task) != left.as_ref());
        for task_id in left.into_iter().chain(here) {
            self.out.perform(Effect::ClearApproval { task_id });
        }
        if let Some(run) = run.as_mut().filter(|_| moves) {
            run.request_code(actor, &mut self.out);
        } else if let Some(request) = run.and_then(|run| run.approval_request(actor)) {
            self.out.perform(Effect::RequestApproval(request));
        }
    }

    /// Shows the code of the open approval request to the user.
    pub(super) fn show_code(&mut self, code: &str) {
        let Some(phase) = self.phase() else { return };
        let (location, approval) = (phase.location(), phase.phase.approve.as_ref());
        let ask = approval.map_or("", |approval| &approval.ask);
        self.out.act(Action::Notify {
            message: format!(
                "{location} waits for your approval: {ask}\nAnswer here, or in a terminal with `workflow-sidecar approve {code}`. The code is for \
                 you alone: do not give it to the agent."
            ),
            level: Severity::Warning,
            secret: true,
        });
    }

    /// Returns true if the user who chooses this is asked for a comment.
    pub(super) fn wants_comment(&self, choice: &str) -> bool {
        let approval = self.run.as_ref().and_then(ActiveRun::approval);
        let approval = approval.filter(|approval| approval.comment);
        let mut choices = approval.iter().flat_map(|approval| &approval.choices);
        choices.any(|known| known == choice) && self.questions.can_ask()
    }

    /// Asks the user who has answered for a comment.
    pub(super) fn ask_comment(&mut self, choice: &str) -> Awaited {
        let title = format!("{choice}: your comment for the agent");
        let text = Question {
            placeholder: Some("may be empty".to_owned()),
            ..Question::new(title, String::new())
        };
        self.ask(Topic::Comment(choice.to_owned()), text);
        Awaited::Approval
    }

    /// Applies the user's decision and its comment: the first choice approves.
    pub(super) fn decide(
        &mut self,
        exit: &mut Exit,
        answer: Answer<'_>,
        comment: Option<String>,
    ) -> Next {
        let (run, approval) = with_approval(self.run.as_mut())?;
        let choice = match answer {
            Answer::Chosen(choice) => approval.choices.iter().position(|known| known == choice),
            Answer::Outdated => {
                run.drop_approval(&mut self.out);
                return self.ask_approval(exit, Some(CHANGED));
            }
            Answer::Confirmed(_) | Answer::Dismissed => None,
        };
        let Some(choice) = choice else {
            return self.look_up(exit, Some(DISMISSED));
        };
        self.last_shown = LastShown::default();
        let target = approval.target(choice);
        let (is_first, choice) = (choice == 0, &approval.choices[choice]);
        run.note_answer(choice, comment.as_deref().unwrap_or_default());
        let Some(target) = target else {
            let (asked, name) = (asked_and_chose(&approval.ask, choice), run.phase_name());
            let mut answer = not_advanced(format!(
                "Not approved: {asked}. You are still in {name}. Change what the user wants changed, and ask if that is not clear. Then call \
                 workflow_step with action='next' again."
            ));
            answer.details["approval"] = json!(choice);
            run.drop_approval(&mut self.out);
            let answer = with_comment(answer, comment.as_deref());
            return Err(ExitOutcome::Declined(answer));
        };
        let checked = run.open_request().map(|open| open.checked);
        let is_onward = target.is_onward();
        run.user_answer = Some(UserAnswer {
            ask: approval.ask.clone(),
            choice: choice.clone(),
            target,
            is_first,
            comment,
        });
        let checked = exit
            .checked
            .or(checked.filter(|_| self.host.abilities.stored_gates));
        let age = checked.map(|at| self.out.now().saturating_sub(at));
        let is_valid = age.is_some_and(|age| age <= GATE_VALID_FOR);
        let phase = run.phase();
        let has_gate = phase.is_some_and(|phase| !phase.phase.gate.is_empty());
        // A way back or out does not need a fresh result.
        if is_onward && has_gate && !is_valid {
            exit.approved = true;
            return self.run_gate(self.commands_to_trust());
        }
        Err(ExitOutcome::Advance(std::mem::take(&mut exit.reports)))
    }

    /// Pauses the run until the user decides.
    fn await_approval(&mut self, why: &str) -> ExitOutcome {
        self.with_run(|run, out| run.pause(PauseReason::Approval, out));
        let Some(phase) = self.phase().map(|phase| &phase.phase) else {
            return ExitOutcome::no_phase();
        };
        let (name, ask) = (&phase.name, phase.approve.as_ref());
        let ask = ask.map(|approval| shown(&approval.ask)).unwrap_or_default();
        let same = if phase.outcomes.is_empty() && phase.outputs.is_empty() {
            ""
        } else {
            ", with the same outcome and outputs: the user is asked again about any other"
        };
        let text = format!(
            "⏸ Waiting for approval: {ask} ({why})\nYou are still in {name}. Stop here, and say what waits. The user answers in this session, or \
             in a terminal with `workflow-sidecar approve`. After that, call workflow_step with action='next' again{same}."
        );
        ExitOutcome::Stay(waiting("approval", text))
    }
}

/// A run and the approval that its phase needs.
fn with_approval(run: Option<&mut ActiveRun>) -> Result<(&mut ActiveRun, Approval), ExitOutcome> {
    let run = run.ok_or_else(ExitOutcome::no_approval)?;
    let approval = run.approval().cloned();
    Ok((run, approval.ok_or_else(ExitOutcome::no_approval)?))
}
