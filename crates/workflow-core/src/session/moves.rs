//! Moves of the run into a phase and to its end, whoever asks, and the questions that they withdraw.

use super::questions::Topic;
use super::run::ActiveRun;
use super::{Session, announcement, controls, step_answers};
use crate::condition::RunCondition;
use crate::effect::{EndedRun, Mutation, ToolAnswer};
use crate::run::{Actor, RunProgress, UserMove, VisitLimit, cancel};
use crate::types::RequestId;

impl Session {
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
        self.call_guard.repeated = None;
        let why =
            format!("{cause}, so other rules may apply now; call it again if you still need it");
        let is_call = |topic: &Topic| matches!(topic, Topic::ToolCall(_) | Topic::Door(_));
        self.withdraw_all(is_call, &why);
    }

    /// Withdraws the question for trust at the start of a run.
    pub(super) fn close_start_trust(&mut self) {
        let is_it = |topic: &Topic| matches!(topic, Topic::StartTrust(_));
        self.questions.close_all(is_it, &mut self.out);
    }

    /// Pauses the run, because a phase may not be entered again.
    pub(super) fn stay_at(&mut self, limit: &VisitLimit) -> ToolAnswer {
        self.with_run(|run, out| run.pause_at_visits(limit, out));
        if limit.asks_to_cancel {
            self.ask_to_cancel(Some(&limit.to_string()));
        }
        self.out.warn(format!(
            "⏸ The workflow is paused: {limit}. /workflow-resume allows one more visit; /workflow-goto goes elsewhere."
        ));
        step_answers::visits_used_up(limit, self.run.as_ref())
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
