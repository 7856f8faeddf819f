//! Moves of the run, whoever asks: its start, its phases, its end; and what the host shows of it.

use super::budget::Budgets;
use super::commands::{NewRun, nothing_applies};
use super::context::SentContext;
use super::phase::ResolvedPhase;
use super::phase_exit::{ExitActivity, ExitContext, ExitOutcome, ExitStep, PhaseExit};
use super::questions::QuestionTopic;
use super::run::ActiveRun;
use super::step_tool::{self, NoMove};
use super::{Session, announcement, controls};
use crate::condition::RunCondition;
use crate::definition::{ContextMode, Settings};
use crate::effect::{
    Action, ContextMessage, Delivery, Effect, Effects, EndedRun, Mutation, Reply, ToolAnswer,
    message_type,
};
use crate::reminders::PauseReason;
use crate::run::{Actor, PersonMove, RunProgress, cancel};
use crate::types::Severity;

impl Session {
    /// Returns the context message of the phase, without the parts that the conversation already contains.
    pub fn context_message(&mut self) -> Option<ContextMessage> {
        self.mark_phase_read();
        let phase = self.run.as_ref()?.phase()?;
        let content = match phase.context_mode {
            ContextMode::ByChange => phase.context.update(&mut self.sent_context),
            ContextMode::EveryTurn => phase.context.in_full(),
        };
        Some(ContextMessage {
            custom_type: message_type::CONTEXT,
            content,
        })
    }

    /// Counts what the agent does, and pauses the run at the limit of a budget. Returns the limit if it was used up before.
    pub(super) fn spend(
        &mut self,
        count: impl FnOnce(&mut Budgets),
        out: &mut Effects,
    ) -> Option<String> {
        let run = self.run.as_mut().filter(|run| run.is_active())?;
        let was_paused = run.is_paused_for(PauseReason::Budget);
        let used_up = run.spend(count, out);
        if run.is_paused_for(PauseReason::Budget) != was_paused {
            self.refresh_status(out);
        }
        used_up
    }

    /// Counts a call that was blocked or refused.
    pub(super) fn count_blocked(&mut self) {
        if let Some(run) = &mut self.run {
            run.tally_mut().count_blocked();
        }
    }

    /// Ends the run at once, as `/cancel-workflow` asks. Its entry says that the end was announced (B01).
    pub(super) fn cancel_by_command(&mut self, out: &mut Effects) {
        if let Some(run) = &mut self.run {
            run.clear_approval(out);
        }
        let Some(mut run) = self.run.take_if(|run| run.is_active()) else {
            return out.notify(Severity::Info, "No active workflow to cancel.");
        };
        self.withdraw_questions("the run was cancelled", out);
        self.questions.close_all(QuestionTopic::StartTrust, out);
        self.auto_continue.forget_reminder();
        run.end(cancel(run.state()));
        run.mark_announced(out);
        self.unloaded(&run, out);
        self.set_status(out);
        let message = announcement::cancelled_by_command(run.progress(), run.catalog());
        announcement::send(&message, &run, out);
        out.notify(Severity::Info, "Workflow cancelled.");
    }

    /// The phase, if a run is active and fits its definitions.
    pub(super) fn phase(&self) -> Option<&ResolvedPhase> {
        self.run.as_ref()?.phase()
    }

    /// The limit of a budget of the active run that is used up.
    pub(super) fn budget_used_up(&self) -> Option<String> {
        let run = self.run.as_ref().filter(|run| run.is_active())?;
        run.budgets().used_up()
    }

    /// The status line (hook-lifecycle: "updateStatus").
    pub(super) fn status(&self) -> Option<String> {
        let run = self.run.as_ref()?;
        self.condition(run).status_line(run)
    }

    /// Notes how a run ended that is not in memory any more.
    fn unloaded(&self, run: &ActiveRun, out: &mut Effects) {
        let condition = if run.is_active() {
            RunCondition::Replaced
        } else {
            self.condition(run)
        };
        out.ended.push(EndedRun {
            state: run.state().clone(),
            condition,
        });
    }

    /// What the run is doing, or what it waits for.
    pub(super) fn condition(&self, run: &ActiveRun) -> RunCondition {
        RunCondition::of(
            run,
            self.exit.activity(),
            self.calls.awaits_answer(),
            self.auto_continue.is_held(),
        )
    }

    /// Returns true while the run waits for the user's approval, in a dialog or paused.
    #[must_use]
    pub fn awaits_approval(&self) -> bool {
        let is_asked = self.exit.activity() == Some(ExitActivity::AwaitingApproval);
        let run = self.run.as_ref();
        is_asked || run.is_some_and(|run| run.is_paused_for(PauseReason::Approval))
    }

    pub(super) fn set_status(&mut self, out: &mut Effects) {
        let phase = self.run.as_ref().and_then(ActiveRun::phase);
        self.host.show(self.status(), phase, out);
    }

    /// Sets the status line if it differs from the one that is shown.
    pub(super) fn refresh_status(&mut self, out: &mut Effects) {
        if !self.host.shows(self.status().as_ref()) {
            self.set_status(out);
        }
    }

    /// Notes that the agent has had the chance to read the phase.
    pub(super) fn mark_phase_read(&mut self) {
        if let Some(run) = &mut self.run {
            run.mark_read();
        }
    }

    /// A first `cancel` is forgotten unless the second follows.
    pub(super) fn forget_first_cancel(&mut self) {
        if let Some(run) = &mut self.run {
            run.set_cancel_pending(false);
        }
    }

    /// Sends a message to the agent in the user's name.
    pub(super) fn send_to_agent(&mut self, content: String, delivery: Delivery, out: &mut Effects) {
        self.triggers.set_waking(out.now());
        out.act(Action::SendUserMessage { content, delivery });
    }

    /// Sends a trigger's message. It counts as a message of the user: the countdown is cancelled.
    pub(super) fn wake_agent(&mut self, text: String, out: &mut Effects) {
        self.auto_continue.cancel_countdown(out);
        self.send_to_agent(text, Delivery::FollowUp, out);
    }

    pub(super) fn watch_triggers(&mut self, out: &mut Effects) {
        let is_headless = self.host.is_headless();
        self.triggers
            .watch(&self.settings.triggers, is_headless, out);
    }

    pub(super) fn adopt_settings(&mut self, settings: &Settings) {
        self.calls.adopt_settings(settings);
        self.questions.adopt_timeout(settings.question_timeout);
        self.settings = settings.clone();
    }

    pub(super) fn start_run(&mut self, new: &NewRun, out: &mut Effects) {
        let Some(workflow) = new.workflow() else {
            return;
        };
        let progress = new.progress(workflow, self.ids.task(out.now()), out.now());
        if !progress.state.active {
            return out.notify(Severity::Warning, nothing_applies(workflow));
        }
        let triggers = std::mem::take(&mut self.settings.triggers);
        self.adopt_settings(&new.loaded.settings);
        self.auto_continue.forget_reminder();
        if let Some(run) = &mut self.run {
            run.clear_approval(out);
        }
        let run = ActiveRun::start(progress.clone(), &new.loaded);
        if let Some(replaced) = self.run.replace(run) {
            self.unloaded(&replaced, out);
        }
        // Whatever this response did to the replaced run, it has not moved the new one.
        self.turn_moved = self.turn_moved.map(|_| false);
        self.sent_context = SentContext::default();
        self.enter(progress, None, out);
        if self.settings.triggers != triggers {
            self.watch_triggers(out);
        }
        if new.has_hints() && !self.host.sets_hints() {
            let message = "This host cannot set the model, the thinking level or the visible tools, so `model`, `thinking` and `activeTools` have no effect here.";
            out.notify(Severity::Info, message);
        }
        self.questions.close_all(QuestionTopic::StartTrust, out);
        let commands = self.run.as_ref().map(|run| run.project_commands().all());
        if let Some(commands) = commands.filter(|commands| !commands.is_empty()) {
            let commands = commands.to_vec();
            out.perform(Effect::CheckTrust { commands });
        }
        out.act(Action::SetSessionName {
            name: new.session_name(workflow),
        });
        self.send_to_agent(new.initial_message(workflow), Delivery::IfIdle, out);
    }

    /// Asks for trust in the commands of the run that has started.
    pub(super) fn on_commands_not_trusted(&mut self, out: &mut Effects) {
        if let Some(run) = self.run.as_ref().filter(|run| run.is_active()) {
            let (commands, trusted) = (run.project_commands(), self.host.trusts_project());
            self.start_trust
                .ask(commands, trusted, &mut self.questions, out);
        }
    }

    /// Moves the run to another state.
    pub(super) fn enter(
        &mut self,
        progress: RunProgress,
        moved_by: Option<PersonMove>,
        out: &mut Effects,
    ) {
        self.withdraw_questions("the run has moved to another phase", out);
        self.sent_context.leave_phase();
        let Some(run) = &mut self.run else { return };
        if *run.state() != progress.state {
            run.clear_approval(out);
        }
        run.enter(progress, moved_by, &self.settings, out);
        self.set_status(out);
    }

    /// The actor that moves the run when the exit in progress is over.
    pub(super) fn actor(&self) -> Actor {
        self.controls.actor(self.jumps())
    }

    /// The exit from the phase, and the other parts that it works on.
    pub(super) fn exit_parts(&mut self) -> (&mut PhaseExit, ExitContext<'_>) {
        let context = ExitContext {
            actor: self.actor(),
            run: self.run.as_mut(),
            questions: &mut self.questions,
            ids: &mut self.ids,
            project_trusted: self.host.trusts_project(),
        };
        (&mut self.exit, context)
    }

    /// Has the exit from the phase take a step, and acts on it.
    pub(super) fn continue_exit(
        &mut self,
        out: &mut Effects,
        take: impl FnOnce(&mut PhaseExit, &mut ExitContext<'_>, &mut Effects) -> Option<ExitStep>,
    ) {
        let (exit, mut context) = self.exit_parts();
        let step = take(exit, &mut context, out);
        self.finish_exit(step, out);
    }

    /// Acts on a step of the exit, and answers the call of `next` or the command in progress, if it is decided.
    pub(super) fn finish_exit(&mut self, step: Option<ExitStep>, out: &mut Effects) {
        let Some(ExitStep {
            request,
            outcome,
            since,
        }) = step
        else {
            return;
        };
        if let Some(exit) = self.controls.take_exit(request) {
            return self.finish_exit_by_user(exit, outcome, since, out);
        }
        let answered = self.run.as_ref().and_then(ActiveRun::user_answer);
        let comment = answered.and_then(|answer| answer.comment.clone());
        let answer = match outcome {
            ExitOutcome::Wait => return,
            ExitOutcome::Stay(answer) | ExitOutcome::Declined(answer) => answer,
            ExitOutcome::NotPassed(reports) => {
                let answer = self.not_passed(&reports, out);
                step_tool::with_comment(answer, comment.as_deref())
            }
            ExitOutcome::Advance(reports) => self.advance(&reports, out),
        };
        // With the answer, so that a host that waits for it hears nothing else before.
        self.refresh_status(out);
        if let Some(request) = request {
            out.answer(request, Reply::Step(answer), since);
        }
    }

    pub(super) fn cancel_exit(&mut self, why: &str, out: &mut Effects) {
        let run = self.run.as_mut();
        let cancelled = self.exit.cancel(why, run, &mut self.questions, out);
        let Some((request, answer)) = cancelled else {
            return;
        };
        if self.controls.take_exit(request).is_some() {
            let notice = format!("The workflow was not moved: {why}.");
            return controls::settle(request, Severity::Info, notice, out);
        }
        if let Some(request) = request {
            out.reply(request, Reply::Step(answer));
        }
    }

    /// Ends the countdown, the exit and all questions of the phase that is left.
    pub(super) fn withdraw_questions(&mut self, why: &str, out: &mut Effects) {
        self.auto_continue.cancel_countdown(out);
        self.cancel_exit(why, out);
        self.cancel_confirmations(out);
        self.withdraw_cancel_question(out);
        self.cancel_pending_calls("the run has moved on", out);
    }

    /// Withdraws the question whether the run is cancelled.
    pub(super) fn withdraw_cancel_question(&mut self, out: &mut Effects) {
        self.questions.close_all(QuestionTopic::Cancel, out);
    }

    pub(super) fn cancel_confirmations(&mut self, out: &mut Effects) {
        self.controls.cancel_confirmations(&mut self.questions, out);
    }

    pub(super) fn cancel_pending_calls(&mut self, cause: &str, out: &mut Effects) {
        self.calls.cancel_pending(cause, &mut self.questions, out);
    }

    /// Stays in the phase, because a move is not possible. At a limit the run pauses.
    pub(super) fn stay(&mut self, why: NoMove, out: &mut Effects) -> ToolAnswer {
        match why {
            NoMove::Refused(answer) => {
                if let Some(run) = &mut self.run {
                    run.forget_answer(out);
                }
                answer
            }
            NoMove::Limit(limit) => {
                if let Some(run) = &mut self.run {
                    run.pause_at_visits(&limit, out);
                }
                let message = format!(
                    "⏸ The workflow is paused: {limit}. /workflow-resume allows one more visit; /workflow-goto goes elsewhere."
                );
                out.notify(Severity::Warning, message);
                step_tool::visits_used_up(&limit, self.run.as_ref())
            }
        }
    }

    /// The times that a jump may lead into a phase without a limit of its own.
    pub(super) fn jumps(&self) -> u32 {
        let jumps = self.settings.limits.jumps;
        self.run.as_ref().map_or(jumps, |run| run.jumps(jumps))
    }

    /// Announces the end of the run, and unloads it. One entry makes sure that the end is never announced twice, for a
    /// cancelled run too (A01, A02).
    pub(super) fn announce_end(&mut self, out: &mut Effects) -> Mutation {
        self.withdraw_questions("the run has moved on", out);
        self.questions.close_all(QuestionTopic::StartTrust, out);
        let Some(mut run) = self.run.take() else {
            return Mutation::default();
        };
        run.mark_announced(out);
        self.unloaded(&run, out);
        let message = announcement::ended(run.progress(), run.catalog());
        announcement::send(&message, &run, out);
        self.set_status(out);
        Mutation {
            unload: true,
            persist: !run.state().cancelled,
        }
    }
}
