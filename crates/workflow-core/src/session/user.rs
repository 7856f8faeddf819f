//! The commands of the user that move, pause and resume the run, and answers that the user gave outside of the host.

use super::controls::{Control, PendingMove, Plan, PlannedMove, UserExit, settle};
use super::phase_exit::{ExitOutcome, Leaver};
use super::questions::Topic;
use super::run::ActiveRun;
use super::step_tool::NoMove;
use super::{Session, budget, controls, step_tool};
use crate::diagnostic::visible;
use crate::effect::{Delivery, Effects, Mark, Question, Reply};
use crate::event::Answer;
use crate::run::{Actor, TransitionError, phase_name};
use crate::types::{RequestId, Severity};

impl Session {
    /// Follows an answer that a person gave outside of the host. One that was given before this process ran is used when
    /// the agent calls `next` again, because restoring a session does not wake the agent.
    pub(super) fn on_approval_answered(
        &mut self,
        request: &str,
        choice: String,
        is_earlier: bool,
        out: &mut Effects,
    ) {
        let Some(run) = &mut self.run else { return };
        if run.open_request().is_none_or(|open| open.id != request) {
            return;
        }
        let is_asked = self.exit.approval_question().is_some();
        let is_leaving = self.exit.condition().is_some();
        let next = if is_asked {
            self.questions.please_close()
        } else if is_earlier {
            " Ask the agent to continue."
        } else {
            ""
        };
        let message = format!("Answered in a terminal: {}.{next}", visible(&choice));
        out.notify(Severity::Info, message);
        if is_asked {
            self.on_answered_elsewhere(out);
        } else if is_earlier || is_leaving {
            run.set_answered(choice);
        } else {
            self.begin_answered_exit(by_user(None, Control::Approve), out);
        }
    }

    /// Carries a command out that controls the run.
    pub(super) fn control(
        &mut self,
        request: RequestId,
        control: Control,
        argument: &str,
        out: &mut Effects,
    ) {
        let takes_argument = matches!(
            control,
            Control::Goto | Control::Approve | Control::Next | Control::Resume
        );
        let Some(run) = self.run.as_mut().filter(|run| run.is_active()) else {
            return settle(
                Some(request),
                Severity::Info,
                controls::no_run(control),
                out,
            );
        };
        if !takes_argument && !argument.is_empty() {
            let message = controls::takes_no_argument(control, argument);
            return settle(Some(request), Severity::Warning, message, out);
        }
        match control {
            Control::Status => {
                if let Some(run) = &self.run {
                    let text = controls::status_text(run, self.condition(run), out.now());
                    out.notify(Severity::Info, text);
                }
                let actor = self.actor();
                // A host without an interface has nobody who reads the code.
                if let Some(run) = self.run.as_mut().filter(|_| !self.host.is_headless()) {
                    run.request_code(actor, out);
                }
            }
            Control::Pause if run.counters().paused_by_owner => {
                let message = "The workflow is paused already. /workflow-resume resumes it.";
                out.notify(Severity::Info, message);
            }
            Control::Pause => {
                run.pause_by_owner(out);
                self.auto_continue.cancel_countdown(out);
                let message = "⏸ The workflow is paused: the agent gets no reminders until /workflow-resume. Its rules stay in force.";
                out.notify(Severity::Info, message);
            }
            Control::Resume => self.resume(argument, out),
            Control::Next => return self.next_by_user(request, argument, out),
            Control::Skip => {
                let plan = controls::plan_skip(run);
                return self.move_or_confirm(request, plan, out);
            }
            Control::Goto => {
                let plan = controls::plan_goto(run, argument);
                return self.move_or_confirm(request, plan, out);
            }
            Control::Approve => return self.approve_by_user(request, argument, out),
        }
        out.reply(request, Reply::Command);
    }

    /// Resumes the run for its owner, and reminds an idle agent.
    fn resume(&mut self, argument: &str, out: &mut Effects) {
        let Some(run) = &mut self.run else { return };
        if !argument.is_empty()
            && let Err(refusal) = run.allow(argument, out)
        {
            return out.notify(Severity::Warning, refusal);
        }
        let is_paused = run.is_paused();
        // A message resumes the run as well, but does not allow the visit.
        let allowed = run.allow_visit();
        if !allowed && !is_paused && !self.auto_continue.is_held() {
            let message = "The workflow is not paused.";
            return out.notify(Severity::Info, message);
        }
        let is_cancel = |topic: &Topic| matches!(topic, Topic::Cancel);
        self.questions.close_all(is_cancel, out);
        run.resume(out);
        if let Some(used_up) = run.budgets().used_up() {
            let message = budget::paused(&used_up);
            return out.notify(Severity::Info, message);
        }
        if run.counters().paused.is_some() {
            let message = "The workflow waits for your approval. Answer with /workflow-approve.";
            return out.notify(Severity::Info, message);
        }
        self.auto_continue.cancel_countdown(out);
        self.auto_continue.forget_reminder();
        let message = if allowed {
            "▶ The workflow is resumed, and the phase may be entered once more."
        } else {
            "▶ The workflow is resumed."
        };
        out.notify(Severity::Info, message);
        if self.triggers.is_idle(out.now())
            && let Some(phase) = self.phase().filter(|phase| !phase.auto_continue.wait)
        {
            let has_instructions = self.sent_context.has_instructions(&phase.context);
            let mut text = phase.reminder.text(has_instructions).to_owned();
            if !argument.is_empty() {
                let used = self.run.as_ref().map(|run| run.budgets().describe());
                text = format!(
                    "{text}\n\nThe user allowed more. Used: {}.",
                    used.unwrap_or_default()
                );
            }
            self.send_to_agent(text, Delivery::IfIdle, out);
        }
    }

    /// Moves the run as a person asks, or asks for the confirmation that it needs.
    fn move_or_confirm(
        &mut self,
        request: RequestId,
        plan: Result<Plan, String>,
        out: &mut Effects,
    ) {
        match plan {
            Err(refusal) => out.notify(Severity::Warning, refusal),
            Ok(Plan::Move(planned)) => self.move_by_user(&planned, out),
            Ok(Plan::Confirm(planned, question)) => {
                if self.confirm(Some(request), planned, question, out) {
                    return;
                }
            }
        }
        out.reply(request, Reply::Command);
    }

    /// Asks a person to confirm a move. Returns false, with a notice, if no person can be asked.
    fn confirm(
        &mut self,
        request: Option<RequestId>,
        planned: PlannedMove,
        question: Question,
        out: &mut Effects,
    ) -> bool {
        if let Some(why) = self.questions.cannot_confirm("this host has no dialogs") {
            let refusal = controls::cannot_confirm(&planned, why);
            out.notify(Severity::Warning, refusal);
            return false;
        }
        let yes = question.options.last().cloned().unwrap_or_default();
        let pending = PendingMove {
            request,
            planned,
            yes,
        };
        self.questions
            .ask(Topic::Move(Box::new(pending)), question, out);
        true
    }

    /// Makes the move that a person confirmed, and answers the command.
    pub(super) fn on_move_answer(
        &mut self,
        pending: PendingMove,
        answer: Answer<'_>,
        out: &mut Effects,
    ) {
        let PendingMove {
            request,
            planned,
            yes,
        } = pending;
        let state = self.run.as_ref().map(ActiveRun::state);
        if !matches!(answer, Answer::Chosen(choice) if choice == yes) {
            let notice = "The workflow was not moved.";
            settle(request, Severity::Info, notice, out);
        } else if state == Some(&planned.moved.from) {
            let since = Some(out.mark());
            self.move_by_user(&planned, out);
            controls::answer(request, since, out);
        } else {
            let notice = "The workflow has moved in the meantime, so your answer does not count. Nothing was done.";
            settle(request, Severity::Info, notice, out);
        }
    }

    /// Leaves the phase through its gate, as its owner asks.
    fn next_by_user(&mut self, request: RequestId, argument: &str, out: &mut Effects) {
        if let Some(refusal) = self.exit.condition().map(controls::exit_refusal) {
            return settle(Some(request), Severity::Info, refusal, out);
        }
        let Some(run) = self.run.as_ref().filter(|run| run.phase().is_some()) else {
            return settle(
                Some(request),
                Severity::Warning,
                controls::no_definition(),
                out,
            );
        };
        if run.approval().is_some() && self.questions.cannot_confirm("").is_some() {
            let message = "This phase needs your approval, and this host has no dialogs. Answer with /workflow-approve.";
            return settle(Some(request), Severity::Warning, message, out);
        }
        if let Some(run) = &mut self.run
            && let Err(refusal) = controls::choose_outcome(run, argument, out)
        {
            return settle(Some(request), Severity::Warning, refusal, out);
        }
        self.begin_exit(by_user(Some(request), Control::Next), out);
    }

    /// Answers the question for approval, as its owner asks.
    fn approve_by_user(&mut self, request: RequestId, argument: &str, out: &mut Effects) {
        let notify = |severity, message: String, out: &mut Effects| {
            settle(Some(request), severity, message, out);
        };
        let Some(run) = self.run.as_ref().filter(|run| run.phase().is_some()) else {
            return notify(Severity::Warning, controls::no_definition(), out);
        };
        let Some(approval) = run.approval().cloned() else {
            let message =
                "Nothing waits for approval. This phase needs none: /workflow-next leaves it.";
            return notify(Severity::Info, message.to_owned(), out);
        };
        let question = self.exit.approval_question();
        if let (None, Some(exit)) = (question, self.exit.condition()) {
            let message = controls::exit_refusal(exit);
            return notify(Severity::Info, message.to_owned(), out);
        }
        if question.is_none() && run.open_request().is_none() {
            let message = format!(
                "Nothing waits for approval yet, because the agent has not finished the phase. You will be asked: \"{}\". \
                 /workflow-next asks you now.",
                approval.ask
            );
            return notify(Severity::Info, message, out);
        }
        let actor = if question.is_some() {
            self.actor()
        } else {
            Actor::User
        };
        let reply = match controls::read_reply(run, &approval, actor, argument) {
            Ok(reply) => reply,
            Err(usage) => return notify(Severity::Info, usage, out),
        };
        out.notify(Severity::Info, format!("Your answer: {}.", reply.choice));
        let (choice, comment) = (reply.choice, reply.comment);
        if question.is_some() {
            self.decide_exit(choice, comment, out);
            return out.reply(request, Reply::Command);
        }
        let by = by_user(Some(request), Control::Approve);
        self.begin_decided_exit(by, choice, comment, out);
    }

    /// Answers a command that leaves the phase, if that is decided.
    pub(super) fn finish_exit_by_user(
        &mut self,
        exit: UserExit,
        outcome: ExitOutcome,
        since: Option<Mark>,
        out: &mut Effects,
    ) {
        let request = exit.request;
        match outcome {
            ExitOutcome::Advance(_) => {
                let run = self.run.as_ref();
                match run.map(|run| exit.plan(run, self.jumps(), Vec::new())) {
                    Some(Ok(planned)) => self.move_by_user(&planned, out),
                    Some(Err(why)) => self.stay_for_user(why, out),
                    None => {}
                }
            }
            ExitOutcome::NotPassed(reports) => {
                let run = self.run.as_ref();
                let planned = run.and_then(|run| {
                    let left_out = controls::left_out(run, &reports);
                    let planned = exit.plan(run, self.jumps(), left_out).ok()?;
                    let next = phase_name(&planned.moved.to.state, run.catalog());
                    let overrode = planned.overrode();
                    let question = controls::not_passed(run.phase()?, &next, &reports, overrode);
                    Some((planned, question))
                });
                if let Some((planned, question)) = planned
                    && self.confirm(request, planned, question, out)
                {
                    return;
                }
            }
            ExitOutcome::Declined(answer) => {
                out.notify(
                    Severity::Info,
                    "The agent reads your answer and continues with this phase.",
                );
                let text = format!("[workflow] {}", answer.text);
                self.send_to_agent(text, Delivery::Steer, out);
            }
            ExitOutcome::Stay(_) => {
                let message = "The workflow stays in this phase: it waits for your approval. Answer with /workflow-approve.";
                out.notify(Severity::Info, message);
            }
        }
        self.refresh_status(out);
        controls::answer(request, since, out);
    }

    /// Stays in the phase, because the answer or the outcome of the user leads nowhere. The question is asked again.
    fn stay_for_user(&mut self, why: TransitionError, out: &mut Effects) {
        let message = match why {
            TransitionError::Limit(limit) => {
                self.stay(NoMove::Limit(limit), out);
                return;
            }
            TransitionError::NoneApplies => {
                format!(
                    "The workflow was not moved, because {}.",
                    step_tool::NONE_APPLIES
                )
            }
            TransitionError::DefinitionMismatch(_) | TransitionError::NotLoopable => {
                controls::no_definition()
            }
        };
        if let Some(run) = &mut self.run {
            run.forget_answer(out);
        }
        out.notify(Severity::Warning, message);
    }

    /// Moves the run as a person asked, and sends the agent on.
    pub(super) fn move_by_user(&mut self, planned: &PlannedMove, out: &mut Effects) {
        let was_idle = self.triggers.is_idle(out.now());
        self.auto_continue.forget_reminder();
        let to = planned.moved.to.clone();
        if to.state.active {
            self.enter(to, Some(planned.record()), out);
        } else if let Some(run) = &mut self.run {
            run.clear_approval(out);
            run.end_by_user(to.state, planned.record());
        }
        let Some(run) = &self.run else { return };
        let is_over = !run.is_active();
        let message = planned.message_to_agent(run);
        out.notify(Severity::Info, planned.notice(run));
        if let Some(phase) = run.phase() {
            self.sent_context.note_step_answer(&phase.context);
        }
        if is_over {
            self.announce_end(out);
        }
        if !was_idle {
            self.send_to_agent(message, Delivery::Steer, out);
        } else if !is_over {
            self.send_to_agent(message, Delivery::IfIdle, out);
        }
    }
}

fn by_user(request: Option<RequestId>, control: Control) -> Leaver {
    Leaver::User(UserExit { request, control })
}
