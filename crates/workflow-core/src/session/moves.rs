//! Moves of the run, whoever asks: its start, its phases, its end; and what the host shows of it.

use super::budget::Budgets;
use super::phase::ResolvedPhase;
use super::questions::Topic;
use super::run::ActiveRun;
use super::step_tool::{self, NoMove};
use super::{Session, announcement, controls};
use crate::condition::RunCondition;
use crate::definition::{ContextMode, Settings};
use crate::effect::{
    Action, Delivery, Effects, EndedRun, Message, Mutation, ToolAnswer, message_type,
};
use crate::reminders::PauseReason;
use crate::run::{Actor, RunProgress, UserMove, cancel};
use crate::types::RequestId;

impl Session {
    /// Returns the context message of the phase, without the parts that the conversation already contains.
    pub fn context_message(&mut self) -> Option<Message> {
        self.mark_phase_read();
        let phase = self.run.as_ref()?.phase()?;
        let content = match phase.context_mode {
            ContextMode::ByChange => phase.context.update(&mut self.sent_context),
            ContextMode::EveryTurn => phase.context.in_full(),
        };
        Some(Message {
            custom_type: message_type::CONTEXT,
            content,
            display: false,
        })
    }

    /// Counts what the agent does, and pauses the run at the limit of a budget. Returns the limit if it was used up before.
    pub(super) fn spend(&mut self, count: impl FnOnce(&mut Budgets)) -> Option<String> {
        let run = self.run.as_mut().filter(|run| run.is_active())?;
        let was_paused = run.is_paused_for(PauseReason::Budget);
        let used_up = run.spend(count, &mut self.out);
        if run.is_paused_for(PauseReason::Budget) != was_paused {
            self.refresh_status();
        }
        used_up
    }

    /// Has the run do something, if there is one.
    pub(super) fn with_run<T>(
        &mut self,
        act: impl FnOnce(&mut ActiveRun, &mut Effects) -> T,
    ) -> Option<T> {
        Some(act(self.run.as_mut()?, &mut self.out))
    }

    /// Counts a call that was blocked or refused.
    pub(super) fn count_blocked(&mut self) {
        self.with_run(|run, _| run.memory.tally.count_blocked());
    }

    /// Handles `/cancel-workflow`, and answers it.
    pub fn handle_cancel_command(&mut self, request: Option<RequestId>) {
        self.cancel_by_user();
        controls::answer(request, None, &mut self.out);
    }

    /// Ends the run at once. Its entry says that the end was announced (B01).
    pub(super) fn cancel_by_user(&mut self) {
        self.with_run(ActiveRun::clear_approval);
        let Some(mut run) = self.run.take_if(|run| run.is_active()) else {
            return self.out.inform("No active workflow to cancel.");
        };
        self.withdraw_questions("the run was cancelled");
        self.close_start_trust();
        self.auto_continue.reminded = None;
        run.end(cancel(run.state()));
        run.mark_announced(&mut self.out);
        self.unloaded(&run);
        self.set_status();
        let message = announcement::cancelled_by_command(run.progress(), run.catalog());
        announcement::send(&message, &run, &mut self.out);
        self.out.inform("Workflow cancelled.");
    }

    /// The phase, if a run is active and fits its definitions.
    pub(super) fn phase(&self) -> Option<&ResolvedPhase> {
        self.run.as_ref()?.phase()
    }

    /// The status line (hook-lifecycle: "updateStatus").
    pub(super) fn status(&self) -> Option<String> {
        let run = self.run.as_ref()?;
        self.condition(run).status_line(run)
    }

    /// Notes how a run ended that is not in memory any more.
    pub(super) fn unloaded(&mut self, run: &ActiveRun) {
        let condition = if run.is_active() {
            RunCondition::Replaced
        } else {
            self.condition(run)
        };
        self.out.ended.push(EndedRun {
            state: run.state().clone(),
            condition,
        });
    }

    /// What the run is doing, or what it waits for.
    pub(super) fn condition(&self, run: &ActiveRun) -> RunCondition {
        let is_call = |topic: &Topic| matches!(topic, Topic::ToolCall(_));
        let (asks, holds) = (self.questions.is_open(is_call), self.auto_continue.is_held);
        RunCondition::of(run, self.exit.condition(), asks, holds)
    }

    /// Returns true while the run waits for the user's approval, in a dialog or paused.
    #[must_use]
    pub fn awaits_approval(&self) -> bool {
        let is_asked = self.exit.condition() == Some(RunCondition::AwaitsApproval);
        let run = self.run.as_ref();
        is_asked || run.is_some_and(|run| run.is_paused_for(PauseReason::Approval))
    }

    pub(super) fn set_status(&mut self) {
        let phase = self.run.as_ref().and_then(ActiveRun::phase);
        self.host.show(self.status(), phase, &mut self.out);
    }

    /// Sets the status line if it differs from the one that is shown.
    pub(super) fn refresh_status(&mut self) {
        if !self.host.shows(self.status().as_ref()) {
            self.set_status();
        }
    }

    /// Notes that the agent has had the chance to read the phase.
    pub(super) fn mark_phase_read(&mut self) {
        self.with_run(|run, _| run.mark_read());
    }

    /// A first `cancel` is forgotten unless the second follows.
    pub(super) fn forget_first_cancel(&mut self) {
        self.with_run(|run, _| run.memory.cancel_pending = false);
    }

    /// Sends a message to the agent in the user's name.
    pub(super) fn send_to_agent(&mut self, content: String, deliver_as: Option<Delivery>) {
        self.triggers.set_waking(self.out.now());
        self.out.act(Action::SendUserMessage {
            content,
            deliver_as,
        });
    }

    /// Sends the next trigger's message to an idle agent. It counts as a message of the user: the countdown is cancelled.
    pub(super) fn wake_agent(&mut self) {
        if let Some(text) = self.triggers.next(self.out.now()) {
            self.auto_continue.cancel_countdown(&mut self.out);
            self.send_to_agent(text, Some(Delivery::FollowUp));
        }
    }

    pub(super) fn watch_triggers(&mut self) {
        let (triggers, is_headless) = (&self.settings.triggers, self.host.is_headless());
        self.triggers.watch(triggers, is_headless, &mut self.out);
    }

    pub(super) fn adopt_settings(&mut self, settings: &Settings) {
        self.calls.adopt_settings(settings);
        self.questions.adopt_timeout(settings.question_timeout);
        self.settings = settings.clone();
    }

    /// Moves the run to another state.
    pub(super) fn enter(&mut self, progress: RunProgress, moved_by: Option<UserMove>) {
        self.withdraw_questions("the run has moved to another phase");
        self.sent_context.leave_phase();
        let Some(run) = &mut self.run else { return };
        if *run.state() != progress.state {
            run.clear_approval(&mut self.out);
        }
        run.enter(progress, moved_by, &self.settings, &mut self.out);
        self.set_status();
    }

    /// The actor that moves the run when the exit in progress is over.
    pub(super) fn actor(&self) -> Actor {
        self.exit.actor(self.jumps())
    }

    /// Ends the countdown, the exit and all questions of the phase that is left.
    pub(super) fn withdraw_questions(&mut self, why: &str) {
        self.auto_continue.cancel_countdown(&mut self.out);
        self.cancel_exit(why);
        self.cancel_confirmations();
        self.questions.close_all(Topic::is_cancel, &mut self.out);
        self.cancel_pending_calls("the run has moved on");
    }

    /// Withdraws every confirmation of a move.
    pub(super) fn cancel_confirmations(&mut self) {
        let why = "The workflow has moved in the meantime. Your command was not carried out.";
        self.withdraw_all(|topic| matches!(topic, Topic::Move(_)), why);
    }

    /// Blocks every call that waits for the user, because the rules of its question no longer apply.
    pub(super) fn cancel_pending_calls(&mut self, cause: &str) {
        self.calls.repeated = None;
        let why =
            format!("{cause}, so other rules may apply now; call it again if you still need it");
        self.withdraw_all(|topic| matches!(topic, Topic::ToolCall(_)), &why);
    }

    /// Withdraws the question for trust at the start of a run.
    pub(super) fn close_start_trust(&mut self) {
        self.questions
            .close_all(|topic| matches!(topic, Topic::StartTrust(_)), &mut self.out);
    }

    /// Stays in the phase, because a move is not possible. At a limit the run pauses.
    pub(super) fn stay(&mut self, why: NoMove) -> ToolAnswer {
        match why {
            NoMove::Refused(answer) => {
                self.with_run(ActiveRun::forget_answer);
                answer
            }
            NoMove::Limit(limit) => {
                self.with_run(|run, out| run.pause_at_visits(&limit, out));
                self.out.warn(format!(
                    "⏸ The workflow is paused: {limit}. /workflow-resume allows one more visit; /workflow-goto goes elsewhere."
                ));
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
    pub(super) fn announce_end(&mut self) -> Mutation {
        self.withdraw_questions("the run has moved on");
        self.close_start_trust();
        let Some(mut run) = self.run.take() else {
            return Mutation::default();
        };
        run.mark_announced(&mut self.out);
        self.unloaded(&run);
        let message = announcement::ended(run.progress(), run.catalog());
        announcement::send(&message, &run, &mut self.out);
        self.set_status();
        Mutation {
            unload: true,
            persist: !run.state().cancelled,
        }
    }
}
