//! The tool `workflow_step`: status, next, loop, cancel. Its answers are in `step_answers`.

use serde_json::json;

use super::handover::StepCall;
use super::phase::ResolvedPhase;
use super::phase_exit::ExitBy;
use super::run::{ActiveRun, not_moved};
use super::step_answers::{self, NO_WORKFLOW, none_active};
use super::{Session, auto_continue};
use crate::definition::Target;
use crate::effect::{Delivery, Reply, ToolAnswer};
use crate::policy::gate_report::{self, Report};
use crate::reminders::PauseReason;
use crate::run::{Actor, ReachedLimit, RunProgress, TransitionError, cancel};
use crate::types::RequestId;

impl Session {
    /// Handles a call of `workflow_step`.
    pub fn handle_workflow_step(&mut self, request: RequestId, call: &StepCall<'_>) {
        self.auto_continue.on_tool_used(&mut self.out);
        let action = call.action.as_deref();
        if action != Some("cancel") {
            self.forget_first_cancel();
        }
        self.spend(|_| {});
        let run = self.active();
        let used_up = run.and_then(|run| run.budgets.reached());
        let tries = run.filter(|run| run.is_paused_for(PauseReason::Tries));
        let answer = match (action, used_up) {
            (Some("status"), _) => {
                self.mark_phase_read();
                Some(step_answers::status(self.run.as_ref()))
            }
            (Some("next" | "loop"), Some(limit)) => Some(self.at_used_budget(&limit)),
            (Some("next" | "loop"), None) if let Some(run) = tries => {
                Some(step_answers::tries_used_up(run))
            }
            (Some("next" | "loop"), None)
                if let Some(phase) = self.phase().filter(|_| self.turn_moved == Some(true)) =>
            {
                Some(step_answers::read_first(phase))
            }
            (Some("next"), None) => self.next_by_tool(request, call),
            (Some("loop"), None) => Some(self.make(false)),
            (Some("cancel"), _) => Some(self.cancel_by_tool()),
            (other, _) => Some(step_answers::unknown_action(other)),
        };
        self.refresh_status();
        if let Some(answer) = answer {
            self.out.reply(request, Reply::Step(answer));
        }
    }

    /// Answers a move when a budget is used up, which may lead elsewhere.
    fn at_used_budget(&mut self, limit: &ReachedLimit) -> ToolAnswer {
        let is_paused = self.run.as_ref().is_some_and(ActiveRun::is_paused);
        let leads = limit.to != Target::Pause && !is_paused;
        match leads.then(|| self.follow_limit(limit)).flatten() {
            Some(text) => ToolAnswer::plain(text, json!({ "advanced": true })),
            None => step_answers::budget_used_up(&limit.why),
        }
    }

    /// Moves the run as a response of the model asks. The answer contains the instructions of the phase.
    pub(super) fn move_by_tool(&mut self, progress: RunProgress) {
        self.turn_moved = self.turn_moved.map(|_| true);
        let (limits, is_cancelled) = (progress.data.limits_note(), progress.state.cancelled);
        self.enter(progress, None);
        let phase = self.run.as_ref().and_then(ActiveRun::phase);
        if let Some(reason) = limits {
            let out = &mut self.out;
            match phase.map(ResolvedPhase::label) {
                Some(label) => out.inform(format!("The workflow went to {label}: {reason}")),
                None if is_cancelled => out.warn(format!("The workflow is cancelled: {reason}")),
                None => out.inform(format!("The workflow is complete: {reason}")),
            }
        }
        if let Some(phase) = phase {
            self.sent_context
                .note_step_answer(&phase.context, phase.profiles().is_some());
        }
    }

    /// Leaves the phase. `None` if the answer comes later.
    fn next_by_tool(&mut self, request: RequestId, call: &StepCall<'_>) -> Option<ToolAnswer> {
        if let Some(run) = &mut self.run
            && let Some(answer) = run.phase().map(step_answers::moved_by_user)
            && run.mark_read()
        {
            return Some(answer);
        }
        if let Err(answer) = self.take_over(call) {
            return Some(answer);
        }
        self.begin_exit(ExitBy::Agent(request));
        None
    }

    /// Takes over what a call of `next` hands over; the error is the answer to a call that lacks some.
    fn take_over(&mut self, call: &StepCall<'_>) -> Result<(), ToolAnswer> {
        if let Some(run) = &mut self.run
            && self.exit.condition().is_none()
            && let Some(phase) = run.phase()
        {
            let RunProgress { state, data } = run.progress();
            let (path, id) = (&state.current_path, &phase.phase.id);
            let handed_over = call.handed_over(
                &data.handed_over,
                phase,
                |outputs| data.size_with(path, id, outputs, run.catalog()),
                |outputs| run.wrong_outputs(id, outputs),
            )?;
            run.hand_over(handed_over, &self.settings, &mut self.out);
        }
        Ok(())
    }

    /// Leaves the phase after its gate passed with these reports.
    pub(super) fn advance(&mut self, reports: &[Report]) -> ToolAnswer {
        let answer = self.make(true);
        step_answers::with_reports(answer, reports)
    }

    /// Makes the move that leaves the phase or that of `loop`, and answers it; or says that there is no run, or why it is not made.
    fn make(&mut self, leaves: bool) -> ToolAnswer {
        let actor = Actor::Agent {
            jumps: self.jumps(),
        };
        let Some(run) = self.active() else {
            return none_active(if leaves {
                NO_WORKFLOW
            } else {
                "No active workflow to loop."
            });
        };
        let planned = if leaves {
            run.plan_exit(actor)
        } else {
            run.plan_loop(actor)
        };
        match planned {
            Ok(planned) => {
                self.move_by_tool(planned.to.clone());
                let run = self.run.as_ref();
                if leaves {
                    step_answers::advanced(&planned, run)
                } else {
                    step_answers::repeated(&planned, run)
                }
            }
            Err(TransitionError::Limit(limit)) => self.stay_at(&limit),
            Err(error) => {
                let answer = if leaves {
                    step_answers::not_moved_on(&error, run)
                } else {
                    step_answers::not_repeated(&error)
                };
                self.with_run(ActiveRun::forget_answer);
                match (&error, &mut self.run) {
                    (TransitionError::Given(_), Some(run)) if leaves => {
                        run.drop_outputs(&self.settings, &mut self.out);
                    }
                    (TransitionError::NoItem(_), Some(run)) => {
                        let why = "it is not known which item it is at";
                        auto_continue::pause(run, PauseReason::Question, why, &mut self.out);
                    }
                    _ => {}
                }
                answer
            }
        }
    }

    /// Stays in the phase whose gate did not pass, or goes where the check that failed leads.
    pub(super) fn not_passed(&mut self, reports: &[Report]) -> ToolAnswer {
        let from = self.run.as_ref().map_or("", ActiveRun::phase_name);
        let from = from.to_owned();
        let run = self.run.as_mut();
        let limit = run.and_then(|run| run.count_failure(reports, &self.settings));
        if let Some(limit) = limit {
            let has_moved = self.follow_limit(&limit).is_some();
            return match &self.run {
                Some(run) if has_moved => step_answers::sent_back(&from, reports, run),
                Some(run) => {
                    step_answers::not_passed(&from, reports, &step_answers::tries_used_up(run).text)
                }
                None => step_answers::none_active(NO_WORKFLOW),
            };
        }
        if let Some(Report { what, reason, .. }) = gate_report::unchecked(reports) {
            let message = format!("⚠ {what} could not be checked: {reason}");
            self.out.warn(message);
        }
        let (run, jumps) = (self.run.as_ref(), self.jumps());
        let advice = gate_report::advice(reports);
        let what_to_do = match run.and_then(|run| run.plan_failure(reports, jumps)) {
            Some(Ok(progress)) => {
                self.move_by_tool(progress);
                let run = self.run.as_ref().expect("it has just moved");
                return step_answers::sent_back(&from, reports, run);
            }
            Some(Err(TransitionError::Limit(limit))) => self.stay_at(&limit).text,
            planned => {
                let tries = || self.run.as_ref()?.try_note(reports);
                let why = planned.and_then(|planned| not_moved(&planned.err()?));
                why.or_else(tries)
                    .map_or_else(|| advice.to_owned(), |why| format!("{why} {advice}"))
            }
        };
        self.with_run(ActiveRun::persist_counters);
        step_answers::not_passed(&from, reports, &what_to_do)
    }

    /// Cancels the run when this is called a second time (state-management: "Two-Step Cancellation").
    fn cancel_by_tool(&mut self) -> ToolAnswer {
        let run = self.run.as_mut();
        if let Some(run) = run.filter(|run| run.is_cancelled_by_user()) {
            if run.counters().paused.is_none() {
                run.pause(PauseReason::Question, &mut self.out);
            }
            self.ask_to_cancel(None);
            return step_answers::ask_to_cancel(self.host.abilities.dialogs);
        }
        let run = self.run.as_mut().filter(|run| run.is_active());
        let Some(run) = run else {
            return none_active("No active workflow to cancel.");
        };
        let task = run.state().task_description.clone();
        if run.memory.cancel_pending {
            let mut to = run.progress().clone();
            to.state = cancel(&to.state);
            self.enter(to, None);
            return step_answers::cancelled(format!("Workflow cancelled: \"{task}\""));
        }
        run.memory.cancel_pending = true;
        step_answers::confirm_cancellation(&task)
    }

    /// Sends the agent on, because the user was asked to cancel the run and said no. A run that is paused for something
    /// else stays so.
    pub(super) fn go_on(&mut self) {
        if let Some(run) = &mut self.run
            && run.is_paused_for(PauseReason::Question)
        {
            run.reset_counters(&mut self.out);
        }
        let Some(run) = &self.run else { return };
        if run.is_paused() {
            let condition = self.condition(run).described();
            let message = format!("The workflow is not cancelled. Now: {condition}.");
            return self.out.inform(message);
        }
        let name = run.phase_name();
        let text = format!(
            "[workflow] The workflow is not cancelled: the user was asked and said no. You are still in {name}. Continue with this \
             phase, and call workflow_step with action='next' when it is done."
        );
        self.send_to_agent(text, Some(Delivery::Steer));
    }
}
