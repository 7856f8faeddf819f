//! The run and the parts that a move touches: starts, moves, pauses and ends the run as the agent asks.
//!
//! A person's commands are in [`super::person`].

use super::auto_continue::AutoContinue;
use super::budget::Budgets;
use super::commands::{NewRun, nothing_applies};
use super::context::SentContext;
use super::controls::PendingControls;
use super::handover::StepCall;
use super::host::{Abilities, HostState};
use super::ids::Ids;
use super::phase::ResolvedPhase;
use super::phase_exit::{ExitActivity, ExitContext, ExitOutcome, ExitStep, PhaseExit};
use super::questions::{QuestionTable, QuestionTopic};
use super::run::ActiveRun;
use super::step_tool::{Cancellation, NoMove};
use super::tool_guard::CallGuard;
use super::triggers::TriggerQueue;
use super::trust::StartTrust;
use super::{announcement, budget, controls, step_tool};
use crate::condition::RunCondition;
use crate::definition::{ContextMode, Settings};
use crate::effect::{
    Action, ContextMessage, DeferredAnswer, Delivery, Effect, Effects, EndedRun, HostHints,
    Mutation, Reply, ToolAnswer, Widget, message_type,
};
use crate::policy::gate_report::{self, Report};
use crate::reminders::PauseReason;
use crate::run::{Actor, PersonMove, RunProgress, TransitionError, cancel};
use crate::types::{RequestId, Severity};

/// The run with the parts of a session that its moves touch.
#[derive(Debug, Clone)]
pub(crate) struct RunDriver {
    pub(super) host: HostState,
    pub(super) settings: Settings,
    pub(super) ids: Ids,
    pub(super) run: Option<ActiveRun>,
    /// True if the response in progress has moved the run; `None` between responses.
    pub(super) turn_moved: Option<bool>,
    pub(super) questions: QuestionTable,
    pub(super) controls: PendingControls,
    pub(super) exit: PhaseExit,
    pub(super) start_trust: StartTrust,
    pub(super) calls: CallGuard,
    pub(super) auto_continue: AutoContinue,
    pub(super) sent_context: SentContext,
    pub(super) triggers: TriggerQueue,
    /// The status line that the host shows.
    pub(super) shown_status: Option<String>,
    /// The phases that the host shows.
    pub(super) shown_phases: Option<String>,
    /// The hints that the host has applied.
    pub(super) set_hints: Option<HostHints>,
}

impl RunDriver {
    pub(super) fn new(abilities: Abilities, seed: u64) -> Self {
        Self {
            host: HostState::new(abilities),
            settings: Settings::default(),
            ids: Ids::new(seed),
            run: None,
            turn_moved: None,
            questions: QuestionTable::new(abilities),
            controls: PendingControls::default(),
            exit: PhaseExit::default(),
            start_trust: StartTrust::default(),
            calls: CallGuard::default(),
            auto_continue: AutoContinue::new(abilities),
            sent_context: SentContext::default(),
            triggers: TriggerQueue::default(),
            shown_status: None,
            shown_phases: None,
            set_hints: None,
        }
    }

    /// Returns the context message of the phase, without the parts that the conversation already contains.
    pub(super) fn context_message(&mut self) -> Option<ContextMessage> {
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
        if run.budgets.is_empty() {
            return None;
        }
        let before = run.budgets.scarce();
        run.budgets.tick(out.now());
        let used_up = run.budgets.used_up();
        count(&mut run.budgets);
        if run.budgets.is_due() {
            run.persist_spending(out);
        }
        let warnings = run.budgets.newly_scarce(&before);
        if let Some(used_up) = run.budgets.used_up() {
            if run.counters.paused != Some(PauseReason::Budget) {
                run.persist_spending(out);
                run.pause(PauseReason::Budget, out);
                let message = budget::paused(&used_up);
                out.notify(Severity::Warning, message);
                self.refresh_status(out);
            }
        } else if !warnings.is_empty() {
            let message = budget::warning(&warnings);
            out.act(Action::SendUserMessage {
                content: message,
                delivery: Delivery::Steer,
            });
        }
        used_up
    }

    /// Counts a call that was blocked or refused.
    pub(super) fn count_blocked(&mut self) {
        if let Some(run) = &mut self.run {
            run.tally.blocked = run.tally.blocked.saturating_add(1);
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
        out.act(Action::SendMessage {
            custom_type: message_type::COMPLETE,
            content: announcement::with_summary(&message, &run, out.now()),
        });
        out.notify(Severity::Info, "Workflow cancelled.");
    }

    /// The phase, if a run is active and fits its definitions.
    pub(super) fn phase(&self) -> Option<&ResolvedPhase> {
        self.run.as_ref()?.phase()
    }

    /// The limit of a budget of the active run that is used up.
    pub(super) fn budget_used_up(&self) -> Option<String> {
        let run = self.run.as_ref().filter(|run| run.is_active())?;
        run.budgets.used_up()
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

    pub(super) fn awaits_approval(&self) -> bool {
        let is_asked = self.exit.activity() == Some(ExitActivity::AwaitingApproval);
        let run = self.run.as_ref();
        is_asked || run.is_some_and(|run| run.counters.paused == Some(PauseReason::Approval))
    }

    /// Has the host set what the phase asks for, or restore what the person had.
    fn set_hints(&mut self, out: &mut Effects) {
        let hints = self.phase().and_then(ResolvedPhase::host_hints);
        if self.host.sets_hints && hints != self.set_hints {
            self.set_hints.clone_from(&hints);
            out.act(Action::SetHints { hints });
        }
    }

    /// Has the host show the phases, where it can.
    fn show_phases(&mut self, out: &mut Effects) {
        let phases = self.phase().and_then(|phase| phase.checklist.clone());
        let phases = phases.filter(|_| self.host.shows_widgets());
        if phases != self.shown_phases {
            self.shown_phases.clone_from(&phases);
            out.set_widget(Widget::Phases, phases);
        }
    }

    pub(super) fn set_status(&mut self, out: &mut Effects) {
        self.set_hints(out);
        self.show_phases(out);
        self.shown_status = self.status();
        out.set_status(self.shown_status.clone());
    }

    /// Sets the status line if it differs from the one that is shown.
    pub(super) fn refresh_status(&mut self, out: &mut Effects) {
        if self.status() != self.shown_status {
            self.set_status(out);
        }
    }

    /// Notes that the agent has had the chance to read the phase.
    pub(super) fn mark_phase_read(&mut self) {
        if let Some(run) = &mut self.run {
            run.is_unread = false;
        }
    }

    /// A first `cancel` is forgotten unless the second follows.
    pub(super) fn forget_first_cancel(&mut self) {
        if let Some(run) = &mut self.run {
            run.cancel_pending = false;
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
        if new.has_hints() && !self.host.sets_hints {
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
            let (commands, trusted) = (run.project_commands(), self.host.project_trusted);
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

    /// Moves the run as a response of the model asks. The answer contains the instructions of the phase.
    fn move_by_tool(&mut self, progress: RunProgress, out: &mut Effects) {
        self.turn_moved = self.turn_moved.map(|_| true);
        let (limits, is_cancelled) = (progress.data.limits_note(), progress.state.cancelled);
        self.enter(progress, None, out);
        if let Some(reason) = limits {
            let (severity, message) = match self.phase() {
                Some(phase) => (
                    Severity::Info,
                    format!("The workflow went to {}: {reason}", phase.label()),
                ),
                None if is_cancelled => (
                    Severity::Warning,
                    format!("The workflow is cancelled: {reason}"),
                ),
                None => (
                    Severity::Info,
                    format!("The workflow is complete: {reason}"),
                ),
            };
            out.notify(severity, message);
        }
        if let Some(phase) = self.run.as_ref().and_then(ActiveRun::phase) {
            self.sent_context.note_step_answer(&phase.context);
        }
    }

    /// Does what a call of `workflow_step` asks for.
    pub(super) fn on_step(
        &mut self,
        request: RequestId,
        call: &StepCall<'_>,
        out: &mut Effects,
    ) -> Reply<ToolAnswer> {
        if call.action != Some("cancel") {
            self.forget_first_cancel();
        }
        self.spend(|_| {}, out);
        let reply = Reply::Now(match (call.action, self.budget_used_up()) {
            (Some("status"), _) => {
                self.mark_phase_read();
                step_tool::status(self.run.as_ref())
            }
            (Some("next" | "loop"), Some(used_up)) => step_tool::budget_used_up(&used_up),
            (Some("next"), None) => {
                let reply = self.leave_phase(request, call, out);
                self.refresh_status(out);
                return reply;
            }
            (Some("loop"), None) => self.repeat_scope(out),
            (Some("cancel"), _) => self.cancel_by_tool(out),
            (other, _) => step_tool::unknown_action(other),
        });
        self.refresh_status(out);
        reply
    }

    fn leave_phase(
        &mut self,
        request: RequestId,
        call: &StepCall<'_>,
        out: &mut Effects,
    ) -> Reply<ToolAnswer> {
        if let Some(phase) = self.phase().filter(|_| self.turn_moved == Some(true)) {
            return Reply::Now(step_tool::read_first(phase));
        }
        if let Some(run) = self.run.as_mut().filter(|run| run.is_unread)
            && let Some(answer) = run.phase().map(step_tool::moved_by_person)
        {
            run.is_unread = false;
            return Reply::Now(answer);
        }
        if let Err(answer) = self.take_over(call, out) {
            return Reply::Now(answer);
        }
        let (exit, mut context) = self.exit_parts();
        match exit.begin(request, &mut context, out) {
            ExitOutcome::Wait => Reply::Later,
            ExitOutcome::Stay(answer) | ExitOutcome::Declined(answer) => Reply::Now(answer),
            ExitOutcome::NotPassed(reports) => Reply::Now(self.not_passed(&reports, out)),
            ExitOutcome::Advance(reports) => Reply::Now(self.advance(&reports, out)),
        }
    }

    /// Notes what a call of `next` hands over; the error is the answer to a call that lacks some. While a person is asked
    /// about something else, that question is withdrawn.
    fn take_over(&mut self, call: &StepCall<'_>, out: &mut Effects) -> Result<(), ToolAnswer> {
        let is_asked = match self.exit.activity() {
            None => false,
            Some(ExitActivity::AwaitingApproval) => true,
            Some(ExitActivity::AwaitingTrust | ExitActivity::RunningGate) => return Ok(()),
        };
        let Some((run, phase)) = self.run.as_ref().and_then(|run| Some((run, run.phase()?))) else {
            return Ok(());
        };
        let before = &run.progress().data.handed_over;
        let handed_over = call.handed_over(before, phase)?;
        if is_asked {
            if handed_over.leads_as(before) {
                return Ok(());
            }
            let why = "a later call of workflow_step hands over another outcome or other outputs";
            self.cancel_exit(why, out);
        }
        if let Some(run) = &mut self.run {
            run.hand_over(handed_over, out);
        }
        Ok(())
    }

    /// The actor that moves the run when the exit in progress is over.
    pub(super) fn actor(&self) -> Actor {
        self.controls.actor(self.jumps())
    }

    /// The exit from the phase, and the other parts that it works on.
    fn exit_parts(&mut self) -> (&mut PhaseExit, ExitContext<'_>) {
        let context = ExitContext {
            actor: self.actor(),
            run: self.run.as_mut(),
            questions: &mut self.questions,
            ids: &mut self.ids,
            project_trusted: self.host.project_trusted,
        };
        (&mut self.exit, context)
    }

    /// Continues the exit from the phase, and does what follows from its step.
    pub(super) fn with_exit(
        &mut self,
        step: impl FnOnce(&mut PhaseExit, &mut ExitContext<'_>, &mut Effects) -> Option<ExitStep>,
        out: &mut Effects,
    ) {
        let (exit, mut context) = self.exit_parts();
        let step = step(exit, &mut context, out);
        self.finish_exit(step, out);
    }

    /// Answers the call of `next` in progress, if it is decided.
    fn finish_exit(&mut self, step: Option<ExitStep>, out: &mut Effects) {
        let Some(step) = step else { return };
        if let Some(exit) = self.controls.take_exit(step.request) {
            return self.finish_exit_by_person(exit, step, out);
        }
        let ExitStep {
            request,
            outcome,
            mut collected,
        } = step;
        let answered = self.run.as_ref().and_then(|run| run.user_answer.as_ref());
        let comment = answered.and_then(|answer| answer.comment.clone());
        let answer = match outcome {
            ExitOutcome::Wait => return out.merge(collected),
            ExitOutcome::Stay(answer) | ExitOutcome::Declined(answer) => answer,
            ExitOutcome::NotPassed(reports) => {
                let answer = self.not_passed(&reports, &mut collected);
                step_tool::with_comment(answer, comment.as_deref())
            }
            ExitOutcome::Advance(reports) => self.advance(&reports, &mut collected),
        };
        // With the answer, so that a host that waits for it hears nothing else before.
        self.refresh_status(&mut collected);
        match request {
            Some(request) => out.answer(request, DeferredAnswer::Step(answer), collected),
            None => out.merge(collected),
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
            let collected = Effects::at(out.now());
            out.answer(request, DeferredAnswer::Step(answer), collected);
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

    /// Leaves the phase after its gate passed with these reports.
    fn advance(&mut self, reports: &[Report], out: &mut Effects) -> ToolAnswer {
        let answer = match step_tool::plan_leave(self.run.as_ref(), self.jumps()) {
            Ok((progress, planned)) => {
                self.move_by_tool(progress, out);
                step_tool::advanced(&planned, self.run.as_ref())
            }
            Err(why) => self.stay(why, out),
        };
        step_tool::with_reports(answer, reports)
    }

    /// Stays in the phase whose gate did not pass, or goes where the check that failed leads.
    fn not_passed(&mut self, reports: &[Report], out: &mut Effects) -> ToolAnswer {
        let from = self.phase().map(|phase| phase.phase.name.clone());
        let from = from.unwrap_or_default();
        let (run, jumps) = (self.run.as_ref(), self.jumps());
        let advice = gate_report::advice(reports);
        let what_to_do = match run.and_then(|run| run.plan_failure(reports, jumps)) {
            Some(Ok(progress)) => {
                self.move_by_tool(progress, out);
                let run = self.run.as_ref().expect("it has just moved");
                return step_tool::sent_back(&from, reports, run);
            }
            Some(Err(TransitionError::Limit(limit))) => self.stay(NoMove::Limit(limit), out).text,
            Some(Err(TransitionError::NoneApplies)) => {
                format!(
                    "The workflow was not moved, because {}. {advice}",
                    step_tool::NONE_APPLIES
                )
            }
            None
            | Some(Err(TransitionError::DefinitionMismatch(_) | TransitionError::NotLoopable)) => {
                advice.to_owned()
            }
        };
        step_tool::not_passed(&from, reports, &what_to_do)
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

    fn repeat_scope(&mut self, out: &mut Effects) -> ToolAnswer {
        match step_tool::plan_repeat(self.run.as_ref(), self.jumps()) {
            Ok((progress, planned)) => {
                self.move_by_tool(progress, out);
                step_tool::repeated(&planned, self.run.as_ref())
            }
            Err(why) => self.stay(why, out),
        }
    }

    fn cancel_by_tool(&mut self, out: &mut Effects) -> ToolAnswer {
        if let Some(run) = self.run.as_ref().filter(|run| run.is_cancelled_by_person()) {
            let is_asked = self
                .questions
                .open()
                .any(|(_, topic)| topic == QuestionTopic::Cancel);
            if !is_asked && self.questions.can_ask() {
                let text = step_tool::cancellation_question(run);
                self.questions.ask(QuestionTopic::Cancel, text, out);
            }
            if let Some(run) = self
                .run
                .as_mut()
                .filter(|run| run.counters.paused.is_none())
            {
                run.pause(PauseReason::Question, out);
            }
            return step_tool::ask_to_cancel(self.questions.has_dialogs());
        }
        match step_tool::plan_cancel(self.run.as_mut()) {
            Cancellation::Confirmed(progress, answer) => {
                self.enter(*progress, None, out);
                answer
            }
            Cancellation::Unconfirmed(answer) => answer,
        }
    }

    /// Sends the agent on, because the user was asked to cancel the run and said no. A run that is paused for something
    /// else stays so.
    pub(super) fn go_on(&mut self, out: &mut Effects) {
        if let Some(run) = &mut self.run
            && run.counters.paused == Some(PauseReason::Question)
        {
            run.reset_counters(out);
        }
        let Some(run) = &self.run else { return };
        if run.is_paused() {
            let condition = self.condition(run).described();
            let message = format!("The workflow is not cancelled. Now: {condition}.");
            return out.notify(Severity::Info, message);
        }
        let name = run.phase().map_or("", |phase| &phase.phase.name);
        let text = format!(
            "[workflow] The workflow is not cancelled: the user was asked and said no. You are still in {name}. Continue with this \
             phase, and call workflow_step with action='next' when it is done."
        );
        self.send_to_agent(text, Delivery::Steer, out);
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
        out.act(Action::SendMessage {
            custom_type: message_type::COMPLETE,
            content: announcement::with_summary(&message, &run, out.now()),
        });
        self.set_status(out);
        Mutation {
            unload: true,
            persist: !run.state().cancelled,
        }
    }
}
