//! The commands of the user that move, pause and resume the run.

use super::controls::{Answered, CommandOutcome, Control, PendingMove, PlannedMove};
use super::last_shown::LastShown;
use super::phase_exit::{ExitBy, ExitOutcome};
use super::questions::Topic;
use super::run::{ActiveRun, not_moved};
use super::{Session, budget, controls};
use crate::diagnostic::visible;
use crate::effect::{Delivery, Notice, Question};
use crate::event::{Answer, Order};
use crate::reminders::PauseReason;
use crate::run::{Actor, TransitionError, phase_name};
use crate::text;
use crate::types::RequestId;

impl Session {
    /// Carries a command out that controls the run. The error is the notice that it ends with.
    pub(super) fn control(
        &mut self,
        request: RequestId,
        control: Control,
        argument: &str,
    ) -> CommandOutcome {
        let takes_argument =
            control.completes() || matches!(control, Control::Resume | Control::Off);
        let run = self.run.as_mut().filter(|run| run.is_active());
        let Some(run) = run else {
            if control == Control::Off {
                return self.lift_door(argument);
            }
            let notice = controls::no_run(control);
            let door = self.door_status().filter(|_| control == Control::Status);
            let lines = [notice].into_iter().chain(door);
            return Err(Notice::info(text::join(lines, "\n")));
        };
        if !takes_argument && !argument.is_empty() {
            return Err(controls::takes_no_argument(control, argument).into());
        }
        match control {
            Control::Status => {
                if let Some(run) = &self.run {
                    let text = controls::status_text(run, self.condition(run), self.out.now());
                    self.out.inform(text);
                }
                let actor = self.actor();
                // A host without an interface has nobody who reads the code.
                if let Some(run) = self.run.as_mut().filter(|_| !self.host.is_headless()) {
                    run.request_code(actor, &mut self.out);
                }
            }
            Control::Pause => self.pause()?,
            Control::Resume => self.resume(argument)?,
            Control::Next => return self.next_by_user(request, argument),
            Control::Skip => {
                let plan = controls::plan_skip(run)?;
                return self.move_or_confirm(request, plan);
            }
            Control::Goto => {
                let plan = controls::plan_goto(run, argument)?;
                return self.move_or_confirm(request, plan);
            }
            Control::Approve => return self.approve_by_user(request, argument),
            Control::Off => return self.lift_door(argument),
        }
        Ok(Answered::Now)
    }

    /// Carries out what an approver ordered. A skip is for the phase that the approver saw, and needs no other confirmation.
    pub(super) fn on_order(&mut self, order: Order) {
        let Some(run) = self.run.as_ref().filter(|run| run.is_active()) else {
            return;
        };
        let by = order.by.unwrap_or_else(|| "an approver".to_owned());
        let is_there = run.phase_name() == order.phase;
        self.out
            .inform(visible(&format!("{by} orders {}.", order.command)));
        let done = match Control::of_command(&order.command) {
            Some(Control::Pause) => self.pause(),
            Some(Control::Resume) if is_there => self.resume(""),
            Some(Control::Skip) if is_there => self.skip_for(&by).map_err(Notice::from),
            Some(Control::Resume | Control::Skip) => Err(Notice::warning(format!(
                "Nothing was done: the run is not in {} any more.",
                visible(&order.phase)
            ))),
            _ => Err(Notice::warning("Nothing was done: this cannot be ordered.")),
        };
        if let Err(notice) = done {
            self.out.notify(notice.severity, notice.text);
        }
    }

    fn skip_for(&mut self, approver: &str) -> Result<(), String> {
        let Some(run) = &self.run else { return Ok(()) };
        let (planned, _) = controls::plan_skip(run)?;
        self.move_by_user(&planned.ordered_by(approver));
        Ok(())
    }

    /// Pauses the run for its owner.
    fn pause(&mut self) -> Result<(), Notice> {
        let Some(run) = &mut self.run else {
            return Ok(());
        };
        if run.counters().paused_by_owner {
            let message = "The workflow is paused already. /workflow-resume resumes it.";
            return Err(Notice::info(message));
        }
        run.pause_by_owner(&mut self.out);
        self.auto_continue.cancel_countdown(&mut self.out);
        let message = "⏸ The workflow is paused: the agent gets no reminders until /workflow-resume. Its rules stay in force.";
        self.out.inform(message);
        Ok(())
    }

    /// Resumes the run for its owner, and reminds an idle agent.
    fn resume(&mut self, argument: &str) -> Result<(), Notice> {
        let Some(run) = &mut self.run else {
            return Ok(());
        };
        if !argument.is_empty() {
            run.allow(argument, &mut self.out)?;
        }
        let is_paused = run.is_paused();
        let tries = run.is_paused_for(PauseReason::Tries);
        // A message resumes the run as well, but does not allow the visit.
        let allowed = run.allow_visit();
        if !allowed && !is_paused && !self.auto_continue.is_held {
            return Err(Notice::info("The workflow is not paused."));
        }
        self.questions.close_all(Topic::is_cancel, &mut self.out);
        run.resume(&mut self.out);
        if let Some(used_up) = run.budgets.used_up() {
            return Err(Notice::info(budget::paused(&used_up)));
        }
        if run.counters().paused.is_some() {
            let message = "The workflow waits for your approval. Answer with /workflow-approve.";
            return Err(Notice::info(message));
        }
        self.auto_continue.cancel_countdown(&mut self.out);
        self.auto_continue.reminded = None;
        self.out.inform(if allowed {
            "▶ The workflow is resumed, and the phase may be entered once more."
        } else if tries {
            "▶ The workflow is resumed, and the gate may be tried once more."
        } else {
            "▶ The workflow is resumed."
        });
        if self.triggers.is_idle(self.out.now())
            && let Some(run) = &self.run
            && let Some(phase) = run.phase().filter(|phase| !phase.auto_continue.wait)
        {
            let has_instructions = self.sent_context.has_instructions(&phase.context);
            let mut text = phase.reminder.text(has_instructions).to_owned();
            if !argument.is_empty() {
                let used = run.budgets.describe().unwrap_or_default();
                text = format!("{text}\n\nThe user allowed more. Used: {used}.");
            }
            self.send_to_agent(text, None);
        }
        Ok(())
    }

    /// Moves the run as a person asks, or asks for the confirmation that it needs.
    fn move_or_confirm(
        &mut self,
        request: RequestId,
        (planned, question): (PlannedMove, Option<Question>),
    ) -> CommandOutcome {
        if let Some(question) = question {
            self.confirm(Some(request), planned, question)?;
            return Ok(Answered::Later);
        }
        self.move_by_user(&planned);
        Ok(Answered::Now)
    }

    /// Asks a person to confirm a move, or says why no person can be asked.
    fn confirm(
        &mut self,
        request: Option<RequestId>,
        planned: PlannedMove,
        question: Question,
    ) -> Result<(), String> {
        if let Some(why) = self.questions.cannot_confirm("this host has no dialogs") {
            return Err(controls::cannot_confirm(&planned, why));
        }
        let yes = question.options.last().cloned().unwrap_or_default();
        let pending = PendingMove {
            request,
            planned,
            yes,
        };
        let topic = Topic::Move(Box::new(pending));
        self.ask(topic, question);
        Ok(())
    }

    /// Makes the move that a person confirmed, and answers the command.
    pub(super) fn on_move_answer(&mut self, pending: &PendingMove, answer: Answer<'_>) {
        let state = self.run.as_ref().map(ActiveRun::state);
        let since = Some(self.out.mark());
        if answer != Answer::Chosen(&pending.yes) {
            self.out.inform("The workflow was not moved.");
        } else if state == Some(&pending.planned.moved.from) {
            self.move_by_user(&pending.planned);
        } else {
            let notice = "The workflow has moved in the meantime, so your answer does not count. Nothing was done.";
            self.out.inform(notice);
        }
        controls::answer(pending.request, since, &mut self.out);
    }

    /// Leaves the phase through its gate, as its owner asks.
    fn next_by_user(&mut self, request: RequestId, argument: &str) -> CommandOutcome {
        if let Some(exit) = self.exit.condition() {
            return Err(Notice::info(controls::exit_refusal(exit)));
        }
        let run = self.run.as_mut().filter(|run| run.phase().is_some());
        let run = run.ok_or_else(controls::no_definition)?;
        if run.approval().is_some() && self.questions.cannot_confirm("").is_some() {
            let message = "This phase needs your approval, and this host has no dialogs. Answer with /workflow-approve.";
            return Err(Notice::warning(message));
        }
        controls::choose_outcome(run, argument, &self.settings, &mut self.out)?;
        self.begin_exit(ExitBy::user(Some(request), Control::Next));
        Ok(Answered::Later)
    }

    /// Answers the question for approval, as its owner asks.
    fn approve_by_user(&mut self, request: RequestId, argument: &str) -> CommandOutcome {
        let run = self.run.as_ref().filter(|run| run.phase().is_some());
        let run = run.ok_or_else(controls::no_definition)?;
        let Some(approval) = run.approval().cloned() else {
            let message =
                "Nothing waits for approval. This phase needs none: /workflow-next leaves it.";
            return Err(Notice::info(message));
        };
        let is_asked = self.exit.asks_for_approval();
        if let (false, Some(exit)) = (is_asked, self.exit.condition()) {
            return Err(Notice::info(controls::exit_refusal(exit)));
        }
        if !is_asked && run.open_request().is_none() {
            return Err(Notice::info(format!(
                "Nothing waits for approval yet, because the agent has not finished the phase. You will be asked: \"{}\". \
                 /workflow-next asks you now.",
                approval.ask
            )));
        }
        let (actor, answered) = if is_asked {
            (self.actor(), Answered::Now)
        } else {
            (Actor::User, Answered::Later)
        };
        let was_shown = self.last_shown.is(run.asks());
        let (choice, comment) = controls::read_reply(run, &approval, actor, was_shown, argument)
            .map_err(Notice::info)?;
        self.out.inform(format!("Your answer: {choice}."));
        let by = ExitBy::user(Some(request), Control::Approve);
        self.follow_decision(by, choice, comment);
        Ok(answered)
    }

    /// Acts on the end of an exit by the user. The command is answered later if a move has to be confirmed.
    pub(super) fn finish_exit_by_user(
        &mut self,
        request: Option<RequestId>,
        control: Control,
        outcome: ExitOutcome,
    ) -> Answered {
        let Some(run) = &self.run else {
            return Answered::Now;
        };
        let moved = run.plan_exit(ExitBy::user(request, control).actor(self.jumps()));
        match outcome {
            ExitOutcome::Advance(_) => match moved {
                Ok(moved) => {
                    self.move_by_user(&PlannedMove::new(moved, control, Vec::new()));
                }
                Err(why) => self.stay_for_user(why),
            },
            ExitOutcome::NotPassed(reports) => {
                if let (Ok(moved), Some(phase)) = (moved, run.phase()) {
                    let left_out = controls::left_out(run, &reports);
                    let next = phase_name(&moved.to.state, run.catalog());
                    let question = controls::not_passed(phase, &next, &reports, &left_out);
                    let planned = PlannedMove::new(moved, control, left_out);
                    match self.confirm(request, planned, question) {
                        Ok(()) => return Answered::Later,
                        Err(refusal) => self.out.warn(refusal),
                    }
                }
            }
            ExitOutcome::Declined(answer) => {
                self.out
                    .inform("The agent reads your answer and continues with this phase.");
                let text = format!("[workflow] {}", answer.text);
                self.send_to_agent(text, Some(Delivery::Steer));
            }
            ExitOutcome::Stay(_) => {
                let message = "The workflow stays in this phase: it waits for your approval. Answer with /workflow-approve.";
                self.out.inform(message);
            }
        }
        Answered::Now
    }

    /// Stays in the phase, because the answer or the outcome of the user leads nowhere. The question is asked again.
    fn stay_for_user(&mut self, why: TransitionError) {
        if let TransitionError::Limit(limit) = why {
            self.stay_at(&limit);
            return;
        }
        let message = not_moved(&why).unwrap_or_else(controls::no_definition);
        self.with_run(ActiveRun::forget_answer);
        self.out.warn(message);
    }

    /// Moves the run as a person asked, and sends the agent on.
    pub(super) fn move_by_user(&mut self, planned: &PlannedMove) {
        let was_idle = self.triggers.is_idle(self.out.now());
        self.auto_continue.reminded = None;
        self.last_shown = LastShown::default();
        let to = planned.moved.to.clone();
        if to.state.active {
            self.enter(to, Some(planned.record.clone()));
        } else if let Some(run) = &mut self.run {
            run.clear_approval(&mut self.out);
            run.end_by_user(to.state, planned.record.clone());
        }
        let Some(run) = &self.run else { return };
        let is_over = !run.is_active();
        let message = planned.message_to_agent(run);
        self.out.inform(planned.notice(run));
        if let Some(phase) = run.phase() {
            self.sent_context
                .note_step_answer(&phase.context, phase.profiles().is_some());
        }
        if is_over {
            self.announce_end();
        }
        if !was_idle {
            self.send_to_agent(message, Some(Delivery::Steer));
        } else if !is_over {
            self.send_to_agent(message, None);
        }
    }
}
