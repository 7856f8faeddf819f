//! [`Session`]: composes the parts of a session.
//!
//! Each part is a module that owns its state and does not know the session. A part takes what it needs as arguments,
//! adds to [`Effects`], and returns an outcome that the session acts on. Only the session holds them.

pub(crate) mod announcement;
mod auto_continue;
mod budget;
mod checkpoints;
pub(crate) mod commands;
mod context;
mod controls;
mod ids;
mod inputs;
mod leave;
mod memory;
pub(crate) mod phase;
mod phase_exit;
pub(crate) mod phase_rules;
mod problems;
mod questions;
mod run;
mod step_tool;
mod tool_guard;
mod triggers;
mod trust;
mod view;
mod weaker_guards;

use std::sync::Arc;

use serde_json::value::RawValue;

use self::auto_continue::AutoContinue;
use self::budget::Budgets;
use self::checkpoints::Checkpoints;
use self::commands::{NewRun, PendingStarts, StartOutcome, nothing_applies};
use self::context::SentContext;
use self::controls::{ConfirmationText, PendingControls, PersonExit, Plan, PlannedMove};
use self::ids::Ids;
use self::phase::ResolvedPhase;
use self::phase_exit::{ExitContext, ExitOutcome, ExitStep, PhaseExit};
use self::problems::ShownProblems;
use self::questions::{QuestionTable, TIMED_OUT, Topic};
use self::run::{ActiveRun, Restoring, guards_weakened, switch_approval};
use self::step_tool::{Cancellation, NoMove};
use self::tool_guard::CallGuard;
use self::triggers::{Accepted, TriggerQueue};
use self::weaker_guards::WeakerGuards;
use crate::definition::{Checkpoint, ContextMode, Loaded, Settings};
use crate::diagnostic::visible;
use crate::effect::{
    Action, BranchAnswer, ContextMessage, DeferredAnswer, Delivery, Effects, HostHints, Mutation,
    Reply, ToolAnswer, ToolDecision, TriggerOutcome, message_type,
};
use crate::event::{Answer, Author, Entry, LastAssistant, PlatformEvent};
use crate::policy::STEP_TOOL;
use crate::policy::gate_report::Report;
use crate::policy::rules::Call;
use crate::reminders::PauseReason;
use crate::run::{PersonMove, RunProgress, cancel, phase_name, read_allowance, restore};
use crate::types::{Millis, QuestionId, RequestId, Severity};
use crate::white_space;

pub use self::budget::TurnUsage;
pub use self::checkpoints::StoredCheckpoint;
pub use self::commands::complete;
pub use self::controls::Control;
pub use self::leave::StepCall;
pub use self::memory::Memory;
pub use self::phase_rules::{RoleSource, role_source};
pub use self::triggers::NOT_DELIVERED;
pub use self::trust::project_gate_commands;
pub use self::view::{Crumb, PhaseView, View};

/// One session of a host: events go in, effects come out.
///
/// Reads no clock, no file and no randomness; starts nothing and waits for nothing. The caller gives the time with every
/// event (see [`Effects::at`]), and calls [`Session::poll_deadline`] when [`Session::deadline`] is due.
#[derive(Debug, Clone)]
pub struct Session {
    host: HostState,
    settings: Settings,
    problems: ShownProblems,
    ids: Ids,
    run: Option<ActiveRun>,
    /// True if the response in progress has moved the run; `None` between responses.
    turn_moved: Option<bool>,
    questions: QuestionTable,
    starts: PendingStarts,
    controls: PendingControls,
    exit: PhaseExit,
    calls: CallGuard,
    auto_continue: AutoContinue,
    sent_context: SentContext,
    checkpoints: Checkpoints,
    triggers: TriggerQueue,
    weaker_guards: WeakerGuards,
    /// The status line that the host shows.
    shown_status: Option<String>,
    /// The hints that the host has applied.
    set_hints: Option<HostHints>,
}

/// The abilities of a host.
#[derive(Debug, Clone, Copy, Default)]
pub struct Abilities {
    /// It can ask a question and wait for the answer.
    pub dialogs: bool,
    /// It closes the dialog of a question that is settled without it.
    pub dismissal: bool,
    /// It shows widgets; a host that does not say shows them where it has an interface.
    pub widgets: Option<bool>,
    /// It sets the model, the thinking level and the visible tools as a phase asks.
    pub hints: bool,
    /// It waits for the answer to the end of the agent's work, so a reminder is that answer and no countdown precedes it.
    pub awaits_reminder: bool,
    /// The reminders that it still takes before it ends the agent's work by itself; `None` is without end.
    pub reminders_left: Option<u32>,
}

/// The host, as far as it is known now.
#[derive(Debug, Clone)]
struct HostState {
    widgets: Option<bool>,
    sets_hints: bool,
    has_ui: Option<bool>,
    project_trusted: bool,
}

impl HostState {
    fn shows_widgets(&self) -> bool {
        match self.widgets {
            Some(widgets) => widgets && self.has_ui != Some(false),
            None => self.has_ui == Some(true),
        }
    }

    fn is_headless(&self) -> bool {
        self.has_ui == Some(false)
    }
}

/// The activity of the agent, as far as an event shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Activity {
    /// It begins to work.
    Starts,
    /// It calls a tool.
    CallsTool,
    /// It calls `workflow_step`.
    CallsStep,
    /// It finished a call or a response, and continues.
    Continues,
    /// It stopped.
    Stops,
    /// A message for it was submitted.
    IsAddressed,
}

impl Session {
    /// A session without a run. The seed determines its ids.
    #[must_use]
    pub fn new(abilities: Abilities, seed: u64) -> Self {
        Self {
            host: HostState {
                widgets: abilities.widgets,
                sets_hints: abilities.hints,
                has_ui: None,
                project_trusted: true,
            },
            settings: Settings::default(),
            problems: ShownProblems::default(),
            ids: Ids::new(seed),
            run: None,
            turn_moved: None,
            questions: QuestionTable::new(abilities),
            starts: PendingStarts::default(),
            controls: PendingControls::default(),
            exit: PhaseExit::default(),
            calls: CallGuard::default(),
            auto_continue: AutoContinue::new(abilities),
            sent_context: SentContext::default(),
            checkpoints: Checkpoints::default(),
            triggers: TriggerQueue::default(),
            weaker_guards: WeakerGuards::default(),
            shown_status: None,
            set_hints: None,
        }
    }

    /// Numbers gate runs and restores after this one, so that late reports about another session's do not match.
    pub fn number_jobs_after(&mut self, number: u64) {
        self.ids.number_jobs_after(number);
    }

    /// Sets whether the host has an interface, as far as it knows now.
    pub fn set_has_ui(&mut self, has_ui: bool) {
        self.host.has_ui = Some(has_ui);
    }

    /// Sets whether the user trusts the project, as far as the host knows now.
    pub fn set_project_trusted(&mut self, trusted: bool) {
        self.host.project_trusted = trusted;
    }

    /// Returns true if a rule in force may depend on tools' arguments or results, and not on their names alone. The built-in
    /// rule does not count: see [`Session::denials`].
    #[must_use]
    pub fn looks_at_payload(&self) -> bool {
        self.calls.looks_at_payload(self.phase())
    }

    /// The number of calls that rules denied or referred to a person because of their arguments.
    #[must_use]
    pub fn denials(&self) -> u64 {
        self.calls.denials()
    }

    /// Returns true if the settings have rules on tools, which apply without a run as well.
    #[must_use]
    pub fn is_guarded(&self) -> bool {
        self.calls.is_guarded()
    }

    /// Returns true if the host has dialogs.
    #[must_use]
    pub fn has_dialogs(&self) -> bool {
        self.questions.has_dialogs()
    }

    /// Returns true if a settings file could not be read as it is, so that it should be read again.
    #[must_use]
    pub fn misses_settings(&self) -> bool {
        let Settings { user, project, .. } = &self.settings;
        !(user.status.is_loaded() && project.status.is_loaded())
    }

    /// The run, if there is one.
    #[must_use]
    pub fn view(&self) -> Option<View<'_>> {
        let run = self.run.as_ref()?;
        Some(View::of(run, self.status(), &self.auto_continue))
    }

    /// What the session remembers beside its entries.
    #[must_use]
    pub fn memory(&self) -> Memory {
        let run = self.run.as_ref();
        Memory {
            task_id: run.map(|run| run.state().task_id.clone()),
            sent_context: self.sent_context.clone(),
            cancel_pending: run.is_some_and(|run| run.cancel_pending),
            is_unread: run.is_some_and(|run| run.is_unread),
            reminded: self.auto_continue.reminded(),
            repeated: self.calls.repeated(),
        }
    }

    /// Adopts the memory of another process, after [`Session::handle_session`] has restored the entries.
    pub fn recall(&mut self, memory: Memory) {
        self.calls.recall(memory.repeated);
        let run = self.run.as_mut();
        let Some(run) = run.filter(|run| Some(&run.state().task_id) == memory.task_id.as_ref())
        else {
            return;
        };
        run.cancel_pending = memory.cancel_pending;
        run.is_unread = memory.is_unread;
        self.sent_context = memory.sent_context;
        self.auto_continue.recall(memory.reminded);
    }

    /// The time at which [`Session::poll_deadline`] is due next.
    #[must_use]
    pub fn deadline(&self) -> Option<Millis> {
        let deadlines = [
            self.auto_continue.deadline(),
            self.questions.deadline(),
            self.triggers.deadline(),
            self.checkpoints.deadline(),
        ];
        deadlines.into_iter().flatten().min()
    }

    /// Does everything that is due.
    pub fn poll_deadline(&mut self, out: &mut Effects) {
        // A message of a trigger comes before a reminder, and cancels its countdown.
        if let Some(text) = self.triggers.next(out.now()) {
            self.wake_agent(text, out);
        }
        if self.auto_continue.poll_deadline(out) {
            let run = self.run.as_mut();
            if let Some(text) = self.auto_continue.remind(run, &self.sent_context, out) {
                self.send_to_agent(text, Delivery::IfIdle, out);
            }
        }
        for (question, topic) in self.questions.close_overdue(out) {
            self.on_question_timeout(question, topic, out);
        }
        self.checkpoints.poll_deadline(out);
        self.refresh_status(out);
    }

    /// Handles the start, a switch or a move of the session. The entries are its branch, oldest first: whatever was in
    /// memory is replaced by them.
    pub fn handle_session(&mut self, entries: &[Entry<'_>], loaded: &Loaded, out: &mut Effects) {
        let approval = self.run.as_ref().and_then(ActiveRun::approval_key);
        let in_force = self.run.as_ref().and_then(ActiveRun::in_force);
        self.leave_session(out);
        self.checkpoints.adopt(entries);
        let mut restored = restore(entries);
        out.diagnostics.clone_from(&loaded.diagnostics);
        out.diagnostics.append(&mut restored.diagnostics);
        let mut settings = loaded.settings.clone();
        let mut found = Restoring {
            problems: &mut out.diagnostics,
            weakened: Vec::new(),
        };
        self.run = ActiveRun::restore(
            restored,
            in_force,
            loaded,
            &mut settings,
            self.host.project_trusted,
            &mut found,
        );
        let weakened = found.weakened;
        self.adopt_settings(&settings);
        if let Some(run) = &mut self.run {
            run.persist_definition(out);
        }
        switch_approval(approval, self.run.as_ref(), out);
        if let Some(run) = &self.run {
            run.make_up_for_baseline(out);
        }
        self.problems.show(&self.settings, out);
        // A host that was restarted has applied nothing.
        if self.phase().is_some() {
            self.set_hints = None;
        }
        self.set_status(out);
        self.ask_about_weaker_guards(loaded, weakened, out);
        self.watch_triggers(out);
        self.triggers.set_idle(out.now());
    }

    fn ask_about_weaker_guards(
        &mut self,
        loaded: &Loaded,
        weakened: Vec<String>,
        out: &mut Effects,
    ) {
        if let Some(run) = self.run.as_ref().filter(|run| run.is_active()) {
            let questions = &mut self.questions;
            self.weaker_guards
                .ask(run.state(), loaded, weakened, questions, out);
        }
    }

    /// Adopts weaker guards, to which the person agreed.
    fn adopt_weaker_guards(&mut self, loaded: &Loaded, out: &mut Effects) {
        let Some(run) = &mut self.run else { return };
        if !run.adopt(loaded, out) {
            let message = "[workflow] The changed files do not fit the run. It continues with its stored definition.";
            return out.notify(Severity::Warning, message);
        }
        self.adopt_settings(&loaded.settings);
        self.cancel_exit("the guards of the run changed", out);
        self.cancel_pending_calls("the guards of the run changed", out);
        self.sent_context.leave_phase();
        out.set_status(self.status());
    }

    /// Handles the end of the session.
    pub fn handle_shutdown(&mut self, out: &mut Effects) {
        self.leave_session(out);
        self.shown_status = None;
        self.set_hints = None;
        self.triggers.shut_down(out);
        self.checkpoints = Checkpoints::default();
    }

    /// Handles changed settings, which apply at once, in a run as well.
    pub fn handle_settings(&mut self, loaded: &Loaded, out: &mut Effects) {
        if loaded.settings == self.settings {
            return;
        }
        let missed = self.misses_settings();
        let triggers = std::mem::take(&mut self.settings.triggers);
        let mut settings = loaded.settings.clone();
        let mut weakened = Vec::new();
        out.diagnostics.clone_from(&loaded.diagnostics);
        if let Some(run) = &mut self.run {
            weakened = run.adopt_settings(&mut settings, self.host.project_trusted);
            if !weakened.is_empty() {
                out.diagnostics
                    .push(guards_weakened(run.state(), &weakened));
            }
            run.persist_definition(out);
        }
        self.adopt_settings(&settings);
        self.cancel_pending_calls("the settings changed", out);
        self.problems.show(&self.settings, out);
        if missed && !self.misses_settings() {
            let message = "[workflow] The settings can be read again and are in force.";
            out.notify(Severity::Info, message);
        }
        self.ask_about_weaker_guards(loaded, weakened, out);
        if triggers != self.settings.triggers {
            self.watch_triggers(out);
        }
    }

    /// Handles the replacement of a conversation's older messages by a summary.
    pub fn handle_compaction(&mut self) {
        self.sent_context = SentContext::default();
    }

    /// Handles a prompt that the agent is about to start on. Returns the context message of the phase.
    pub fn handle_before_agent_start(
        &mut self,
        prompt: Option<&str>,
        out: &mut Effects,
    ) -> Option<ContextMessage> {
        self.on_activity(Activity::Starts, out);
        self.forget_first_cancel();
        self.turn_moved = None;
        let run = self.run.as_ref();
        if !self.auto_continue.starts_on_reminder(prompt, run) {
            self.on_user_message(out);
        }
        self.context_message()
    }

    /// Returns the context message of the phase, as far as the conversation does not contain it.
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

    /// Handles the start of the agent.
    pub fn handle_agent_start(&mut self, out: &mut Effects) {
        self.checkpoints.end_prompt();
        self.on_activity(Activity::Starts, out);
        self.spend(|_| {}, out);
    }

    /// Handles the start of one response of the model; `index` is its number, as the host counts.
    pub fn handle_turn_start(&mut self, index: Option<u64>, out: &mut Effects) {
        self.on_activity(Activity::Starts, out);
        let checkpoint = match self.phase() {
            Some(phase) => phase.checkpoint,
            None => self.settings.checkpoint,
        };
        if checkpoint == Some(Checkpoint::Git) {
            self.checkpoints
                .record(index, self.host.project_trusted, out);
        }
        self.turn_moved = Some(false);
        self.spend(|_| {}, out);
        // A message to a busy agent reaches it between two responses.
        self.mark_phase_read();
    }

    /// Handles the end of one response of the model (hook-lifecycle: "updateStatus").
    ///
    /// A first `cancel` survives this: the model can confirm only in its next response (A03).
    pub fn handle_turn_end(&mut self, usage: TurnUsage, out: &mut Effects) {
        self.on_activity(Activity::Continues, out);
        let count = |budgets: &mut Budgets| budgets.count_turn(usage);
        self.spend(count, out);
        if let Some(run) = &mut self.run {
            run.persist_spending(out);
        }
        self.turn_moved = None;
        self.set_status(out);
    }

    /// Handles the end of the agent's work: announces the end of the run, or reminds the agent to continue.
    pub fn handle_agent_end(
        &mut self,
        last: Option<LastAssistant<'_>>,
        out: &mut Effects,
    ) -> Mutation {
        self.on_activity(Activity::Stops, out);
        self.checkpoints.end_prompt();
        self.forget_first_cancel();
        // A person's command goes on without the agent.
        if !self.controls.is_leaving() {
            self.cancel_exit("the agent stopped", out);
        }
        self.turn_moved = None;
        if last.is_some_and(|last| last.stop_reason == Some("aborted")) {
            self.sent_context.forget_step_answer();
        }
        let shows_widgets = self.host.shows_widgets();
        let Some(run) = &mut self.run else {
            return Mutation::default();
        };
        if !run.is_active() {
            return self.announce_end(out);
        }
        run.budgets.stop(out.now());
        run.persist_spending(out);
        let cancelled = self
            .auto_continue
            .on_agent_stopped(last, run, shows_widgets, out);
        let Some(why) = cancelled else {
            self.refresh_status(out);
            if self.auto_continue.is_awaited() {
                self.poll_deadline(out);
            }
            return Mutation::default();
        };
        run.clear_approval(out);
        run.end(cancel(run.state()));
        let mutation = self.announce_end(out);
        let message = format!("The workflow was cancelled: {why}.");
        out.notify(Severity::Warning, message);
        mutation
    }

    /// Handles a tool call.
    pub fn handle_tool_call(
        &mut self,
        request: RequestId,
        call: &Call<'_>,
        out: &mut Effects,
    ) -> Reply<ToolDecision> {
        self.on_activity(Activity::CallsTool, out);
        if call.tool() != STEP_TOOL
            && let Some(used_up) = self.spend(Budgets::count_call, out)
        {
            return Reply::Now(tool_guard::budget_used_up(&used_up));
        }
        let phase = self.run.as_ref().and_then(ActiveRun::phase);
        self.calls
            .on_call(request, call, phase, &mut self.questions, out)
    }

    /// Counts what the agent does, and pauses the run at the limit of a budget. Returns the limit if it was used up before.
    fn spend(&mut self, count: impl FnOnce(&mut Budgets), out: &mut Effects) -> Option<String> {
        let run = self.run.as_mut().filter(|run| run.is_active())?;
        if run.budgets.is_empty() {
            return None;
        }
        run.budgets.tick(out.now());
        let before = run.budgets.used_up();
        count(&mut run.budgets);
        let warnings = run.budgets.warnings();
        if let Some(used_up) = run.budgets.used_up() {
            if run.counters.paused != Some(PauseReason::Budget) {
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
        before
    }

    /// Handles the result of a tool. Returns the content that the model reads instead.
    pub fn handle_tool_result(
        &mut self,
        tool: &str,
        content: Option<&RawValue>,
        is_error: bool,
        out: &mut Effects,
    ) -> Option<Box<RawValue>> {
        self.on_activity(Activity::Continues, out);
        let content = self
            .calls
            .rewrite_result(tool, content, is_error, self.phase())?;
        if tool == STEP_TOOL {
            self.sent_context.forget_step_answer();
        }
        Some(content)
    }

    /// Handles a submitted text.
    pub fn handle_user_input(&mut self, author: Option<Author>, out: &mut Effects) {
        match author {
            Some(Author::Extension) => {}
            Some(Author::Typist) => {
                self.auto_continue.cancel_countdown(out);
                self.auto_continue.forget_reminder();
            }
            Some(Author::Person) => {
                self.on_user_message(out);
                self.refresh_status(out);
            }
            // It may be a reminder, which must not reset the counters; the start of the agent on it decides.
            None => self.on_activity(Activity::IsAddressed, out),
        }
    }

    /// Handles a conversation that is about to go back to a turn, or to these entries.
    pub fn handle_branch(
        &mut self,
        request: RequestId,
        turn: Option<u64>,
        entries: Option<&[Entry<'_>]>,
        out: &mut Effects,
    ) -> Reply<BranchAnswer> {
        self.checkpoints.on_branch(
            request,
            turn,
            entries,
            self.host.project_trusted,
            &mut self.questions,
            out,
        )
    }

    /// Handles a call of `workflow_step`.
    pub fn handle_workflow_step(
        &mut self,
        request: RequestId,
        call: &StepCall<'_>,
        out: &mut Effects,
    ) -> Reply<ToolAnswer> {
        self.on_activity(Activity::CallsStep, out);
        if call.action != Some("cancel") {
            self.forget_first_cancel();
        }
        let reply = Reply::Now(match call.action {
            Some("status") => {
                self.mark_phase_read();
                step_tool::status(self.run.as_ref())
            }
            Some("next" | "loop") if self.budget_used_up().is_some() => {
                let used_up = self.budget_used_up().unwrap_or_default();
                step_tool::budget_used_up(&used_up)
            }
            Some("next") => {
                let reply = self.leave_phase(request, call, out);
                self.refresh_status(out);
                return reply;
            }
            Some("loop") => self.repeat_scope(out),
            Some("cancel") => self.cancel_by_tool(out),
            other => step_tool::unknown_action(other),
        });
        self.refresh_status(out);
        reply
    }

    /// Handles a call of `workflow_step` that the host cancels.
    pub fn handle_step_cancelled(&mut self, request: RequestId, out: &mut Effects) {
        if self.exit.is_for(request) {
            self.cancel_exit("the call was cancelled", out);
            self.refresh_status(out);
        }
    }

    /// Handles a command that controls the run; `arguments` is the text after the command's name.
    pub fn handle_control(
        &mut self,
        request: RequestId,
        control: Control,
        arguments: &str,
        out: &mut Effects,
    ) -> Reply<()> {
        let reply = self.control(request, control, white_space::trim(arguments), out);
        self.refresh_status(out);
        reply
    }

    /// The proposals for the argument of a command that controls the run: the value and a description of each.
    #[must_use]
    pub fn complete_control(&self, control: Control, prefix: &str) -> Vec<(String, String)> {
        let run = self.run.as_ref().filter(|run| run.is_active());
        controls::complete(control, run, prefix)
    }

    /// Handles `/workflow`; `arguments` is the text after the command's name.
    pub fn handle_workflow_command(
        &mut self,
        request: RequestId,
        arguments: &str,
        loaded: Arc<Loaded>,
        out: &mut Effects,
    ) -> Reply<()> {
        let active = self.run.as_ref().filter(|run| run.is_active());
        let questions = &mut self.questions;
        match self
            .starts
            .on_command(request, arguments, loaded, active, questions, out)
        {
            StartOutcome::Start(run) => {
                self.start_run(&run, out);
                Reply::Now(())
            }
            StartOutcome::Refused => Reply::Now(()),
            StartOutcome::Wait => Reply::Later,
        }
    }

    /// Handles `/cancel-workflow`, which ends the run at once. Its entry says that the end was announced (B01).
    pub fn handle_cancel_command(&mut self, out: &mut Effects) {
        if let Some(run) = &mut self.run {
            run.clear_approval(out);
        }
        let Some(mut run) = self.run.take_if(|run| run.is_active()) else {
            return out.notify(Severity::Info, "No active workflow to cancel.");
        };
        self.auto_continue.cancel_countdown(out);
        self.cancel_exit("the run was cancelled", out);
        self.cancel_confirmations(out);
        self.close_cancel_question(out);
        self.cancel_pending_calls("the run has moved on", out);
        self.auto_continue.forget_reminder();
        run.end(cancel(run.state()));
        run.mark_announced(out);
        self.set_status(out);
        let content = announcement::cancelled_by_command(run.progress(), run.catalog());
        out.act(Action::SendMessage {
            custom_type: message_type::COMPLETE,
            content,
        });
        out.notify(Severity::Info, "Workflow cancelled.");
    }

    /// Handles the answer to a question.
    pub fn handle_answer(&mut self, question: QuestionId, answer: Answer<'_>, out: &mut Effects) {
        let Some(asked) = self.questions.take(question) else {
            return;
        };
        let Some(topic) = asked.open_topic() else {
            if answer != Answer::Dismissed {
                let phase = self.phase().map(|phase| phase.phase.name.as_str());
                asked.report_late_answer(phase, out);
            }
            return;
        };
        let confirmed = answer == Answer::Confirmed(true);
        match topic {
            Topic::Start => {
                let active = self.run.as_ref().filter(|run| run.is_active());
                let questions = &mut self.questions;
                let started = self
                    .starts
                    .on_answer(question, answer, active, questions, out);
                if let Some((request, run)) = started {
                    let mut collected = Effects::at(out.now());
                    self.start_run(&run, &mut collected);
                    out.answer(request, DeferredAnswer::Command, collected);
                }
            }
            Topic::ToolCall => self.calls.on_answer(question, answer, out),
            Topic::Trust | Topic::Approval => {
                let (exit, mut context) = self.exit_parts();
                let step = exit.on_answer(answer, &mut context, out.now());
                self.finish_exit(step, out);
            }
            Topic::Move => {
                let state = self.run.as_ref().map(ActiveRun::state);
                let confirmed = self.controls.on_answer(question, answer, state, out);
                if let Some((request, planned)) = confirmed {
                    let mut collected = Effects::at(out.now());
                    self.move_by_person(&planned, &mut collected);
                    controls::answer(request, collected, out);
                }
            }
            Topic::Restore => {
                let trusted = self.host.project_trusted;
                self.checkpoints
                    .on_answer(answer, trusted, &mut self.ids, out);
            }
            Topic::Triggers => {
                let (triggers, headless) = (&self.settings.triggers, self.host.is_headless());
                self.triggers.on_answer(answer, triggers, headless, out);
            }
            Topic::Guards => {
                let state = self.run.as_ref().map(ActiveRun::state);
                if let Some(loaded) = self.weaker_guards.on_answer(confirmed, state, out) {
                    self.adopt_weaker_guards(&loaded, out);
                }
            }
            Topic::Cancel => {
                if confirmed {
                    self.handle_cancel_command(out);
                }
            }
        }
        self.refresh_status(out);
    }

    /// Handles a report of the platform. Returns the outcome of a trigger's message.
    pub fn handle_platform_event(
        &mut self,
        event: PlatformEvent,
        out: &mut Effects,
    ) -> Option<TriggerOutcome> {
        let shows_widgets = self.host.shows_widgets();
        match event {
            PlatformEvent::BaselineTaken { baseline } => {
                if let Some(run) = &mut self.run {
                    run.on_baseline_taken(baseline, out);
                }
            }
            PlatformEvent::GateNotTrusted { gate } => {
                let (exit, mut context) = self.exit_parts();
                let step = exit.on_gate_not_trusted(gate, &mut context, out);
                self.finish_exit(step, out);
            }
            PlatformEvent::GateProgress { gate, text } => {
                self.exit.on_gate_progress(gate, &text, shows_widgets, out);
            }
            PlatformEvent::GateFinished { gate, reports } => {
                let (exit, mut context) = self.exit_parts();
                let step = exit.on_gate_finished(gate, reports, &mut context, out);
                self.finish_exit(step, out);
            }
            PlatformEvent::ApprovalRequested { seal, code } => {
                if let Some(run) = &mut self.run {
                    run.seal_approval(seal, out);
                }
                // Where the host asks, the code is shown when an answer needs it.
                if !self.questions.has_dialogs() {
                    let run = self.run.as_ref();
                    let ask = run
                        .and_then(ActiveRun::approval)
                        .map(|approval| &*approval.ask);
                    let place = self.phase().map_or_else(String::new, ResolvedPhase::place);
                    let message = format!(
                        "{place} waits for your approval: {}\nAnswer with /workflow-approve or, in a terminal, with `workflow-sidecar \
                         approve`. If that asks for a code, it is {code}. The code is for you alone: do not give it to the agent.",
                        ask.unwrap_or_default()
                    );
                    out.notify(Severity::Warning, message);
                }
            }
            PlatformEvent::CodeNeeded { code, purpose } => {
                let message = format!(
                    "A command in a terminal is about to {purpose}. If you started it, the code is {code}. If not, ignore this \
                     message: without the code nothing happens. Do not give the code to the agent."
                );
                out.notify(Severity::Warning, message);
            }
            PlatformEvent::ApprovalNotStored { reason } => {
                let message = format!(
                    "[workflow] The run waits for your approval, but the request could not be stored, so `workflow-sidecar approve` does not \
                     list it: {reason}. Answer in this session. Or correct the problem and have the agent call workflow_step with \
                     action='next' again."
                );
                out.notify(Severity::Error, message);
            }
            PlatformEvent::ApprovalRead { decision, comment } => {
                let (exit, mut context) = self.exit_parts();
                let decision = decision.as_ref();
                let step = exit.on_approval_read(decision, comment, &mut context, out.now());
                self.finish_exit(step, out);
            }
            PlatformEvent::ApprovalAnswered {
                nonce,
                choice,
                is_earlier,
            } => self.on_approval_answered(&nonce, choice, is_earlier, out),
            PlatformEvent::ProjectTrusted => self.on_project_trusted(out),
            PlatformEvent::CheckpointRecorded { snapshot } => {
                let run = self.run.as_ref().filter(|run| run.is_active());
                let task = run.map(|run| run.state().task_id.clone());
                self.checkpoints.on_recorded(snapshot, task, out);
            }
            PlatformEvent::CheckpointFailed { error } => self.checkpoints.on_failed(error, out),
            PlatformEvent::RestoreProgress { restore, text } => {
                self.checkpoints
                    .on_progress(restore, &text, shows_widgets, out);
            }
            PlatformEvent::CodeRestored { restore, outcome } => {
                self.checkpoints.on_restored(restore, &outcome, out);
            }
            PlatformEvent::TriggersWatched { report } => {
                let triggers = &self.settings.triggers;
                self.triggers
                    .on_watched(&report, triggers, &mut self.questions, out);
            }
            PlatformEvent::Triggered { text } => return Some(self.on_trigger(text, out)),
        }
        self.refresh_status(out);
        None
    }

    /// Follows an answer that a person gave outside of the host. One that was given before this process ran is used when
    /// the agent calls `next` again, because restoring a session does not wake the agent.
    fn on_approval_answered(
        &mut self,
        nonce: &str,
        choice: String,
        is_earlier: bool,
        out: &mut Effects,
    ) {
        let Some(run) = &mut self.run else { return };
        if run
            .approval_request()
            .is_none_or(|open| open.nonce != nonce)
        {
            return;
        }
        let is_asked = self.exit.approval_question().is_some();
        let is_leaving = self.exit.activity().is_some();
        let next = if is_asked {
            self.questions.please_close()
        } else if is_earlier {
            " Tell the agent to go on."
        } else {
            ""
        };
        let message = format!("Answered in a terminal: {}.{next}", visible(&choice));
        out.notify(Severity::Info, message);
        if is_asked {
            let (exit, mut context) = self.exit_parts();
            let step = exit.on_settled_elsewhere(&mut context, out.now());
            self.finish_exit(step, out);
        } else if is_earlier || is_leaving {
            run.answered = Some(choice);
        } else {
            self.controls.begin_exit(None, Control::Approve, None);
            let mut collected = Effects::at(out.now());
            let (exit, mut context) = self.exit_parts();
            let outcome = exit.begin_answered(&mut context, &mut collected);
            let step = ExitStep {
                request: None,
                outcome,
                collected,
                comment: None,
            };
            self.finish_exit(Some(step), out);
        }
    }

    /// Goes on after the project's commands and triggers were trusted outside of the host.
    fn on_project_trusted(&mut self, out: &mut Effects) {
        if self.exit.awaits_trust() {
            let close = self.questions.please_close();
            let message =
                format!("The commands of this project were trusted in a terminal.{close}");
            out.notify(Severity::Info, message);
            let (exit, mut context) = self.exit_parts();
            let step = exit.on_settled_elsewhere(&mut context, out.now());
            self.finish_exit(step, out);
        }
        if self.triggers.lacks_trust() {
            let asked: Vec<_> = self.questions.open().collect();
            for (question, _) in asked.iter().filter(|(_, topic)| *topic == Topic::Triggers) {
                self.questions.close(*question, out);
            }
            let (triggers, headless) = (&self.settings.triggers, self.host.is_headless());
            self.triggers.on_trusted(triggers, headless, out);
        }
    }

    /// The phase, if a run is active and fits its definitions.
    fn phase(&self) -> Option<&ResolvedPhase> {
        self.run.as_ref()?.phase()
    }

    /// The limit of a budget of the active run that is used up.
    fn budget_used_up(&self) -> Option<String> {
        let run = self.run.as_ref().filter(|run| run.is_active())?;
        run.budgets.used_up()
    }

    /// The status line (hook-lifecycle: "updateStatus").
    fn status(&self) -> Option<String> {
        let run = self.run.as_ref()?;
        let status = &run.phase()?.status;
        Some(match controls::status_note(run, self.exit.activity()) {
            Some(note) => format!("{status} · {note}"),
            None => status.clone(),
        })
    }

    /// Has the host set what the phase asks for, or restore what the person had.
    fn set_hints(&mut self, out: &mut Effects) {
        let hints = self.phase().and_then(ResolvedPhase::host_hints);
        if self.host.sets_hints && hints != self.set_hints {
            self.set_hints.clone_from(&hints);
            out.act(Action::SetHints { hints });
        }
    }

    fn set_status(&mut self, out: &mut Effects) {
        self.set_hints(out);
        self.shown_status = self.status();
        out.set_status(self.shown_status.clone());
    }

    /// Sets the status line if it differs from the one that is shown.
    fn refresh_status(&mut self, out: &mut Effects) {
        if self.status() != self.shown_status {
            self.set_status(out);
        }
    }

    /// Notes that the agent has had the chance to read the phase.
    fn mark_phase_read(&mut self) {
        if let Some(run) = &mut self.run {
            run.is_unread = false;
        }
    }

    /// Does what follows from every event of a kind, whatever else it means.
    fn on_activity(&mut self, activity: Activity, out: &mut Effects) {
        match activity {
            Activity::Starts | Activity::CallsTool | Activity::Continues => {
                self.triggers.set_busy();
            }
            Activity::Stops => self.triggers.set_idle(out.now()),
            Activity::CallsStep | Activity::IsAddressed => {}
        }
        if activity == Activity::Starts {
            let why = "the agent continued before you answered";
            self.checkpoints
                .cancel_question(why, &mut self.questions, out);
        }
        if activity != Activity::Continues {
            self.auto_continue.cancel_countdown(out);
        }
        if matches!(activity, Activity::CallsTool | Activity::CallsStep) {
            self.auto_continue.on_tool_used();
        }
    }

    /// A message of the user cancels the countdown, resets the counters, and resumes a paused run, except one that waits
    /// for an approval.
    fn on_user_message(&mut self, out: &mut Effects) {
        self.on_activity(Activity::IsAddressed, out);
        self.auto_continue.forget_reminder();
        if let Some(run) = &mut self.run {
            run.reset_counters(out);
        }
    }

    /// A first `cancel` is forgotten unless the second follows.
    fn forget_first_cancel(&mut self) {
        if let Some(run) = &mut self.run {
            run.cancel_pending = false;
        }
    }

    /// Sends a message to the agent in the user's name.
    fn send_to_agent(&mut self, content: String, delivery: Delivery, out: &mut Effects) {
        self.triggers.set_waking(out.now());
        out.act(Action::SendUserMessage { content, delivery });
    }

    /// Sends a trigger's message. It counts as a message of the user: the countdown is cancelled.
    fn wake_agent(&mut self, text: String, out: &mut Effects) {
        self.auto_continue.cancel_countdown(out);
        self.send_to_agent(text, Delivery::FollowUp, out);
    }

    fn on_trigger(&mut self, text: String, out: &mut Effects) -> TriggerOutcome {
        match self.triggers.accept(text, out.now()) {
            Accepted::Send(text) => {
                self.wake_agent(text, out);
                TriggerOutcome::Delivered
            }
            Accepted::Queued => TriggerOutcome::Queued,
            Accepted::Refused => TriggerOutcome::Refused,
        }
    }

    fn watch_triggers(&mut self, out: &mut Effects) {
        let is_headless = self.host.is_headless();
        self.triggers
            .watch(&self.settings.triggers, is_headless, out);
    }

    fn adopt_settings(&mut self, settings: &Settings) {
        self.calls.adopt_settings(settings);
        self.questions.adopt_timeout(settings.question_timeout);
        self.settings = settings.clone();
    }

    fn on_question_timeout(&mut self, question: QuestionId, topic: Topic, out: &mut Effects) {
        let notice = self.questions.timeout_notice(question);
        match topic {
            Topic::Start => self.starts.end_question(question, notice, out),
            Topic::ToolCall => self.calls.end_question(question, TIMED_OUT, out),
            Topic::Trust | Topic::Approval => {
                let (exit, mut context) = self.exit_parts();
                let step = exit.on_timeout(&mut context, out.now());
                self.finish_exit(step, out);
            }
            Topic::Move => {
                let notice = notice.unwrap_or_default();
                self.controls.end_question(question, notice, out);
            }
            Topic::Restore => self.checkpoints.end_question(notice, out),
            Topic::Triggers => self.triggers.decline(TIMED_OUT, out),
            Topic::Guards => self.weaker_guards.on_timeout(notice, out),
            Topic::Cancel => {
                if let Some(notice) = notice {
                    out.notify(Severity::Info, notice);
                }
            }
        }
    }

    /// Ends everything that belongs to the session as it was, and answers every pending request.
    fn leave_session(&mut self, out: &mut Effects) {
        self.auto_continue.cancel_countdown(out);
        self.cancel_exit("the session ended", out);
        self.cancel_confirmations(out);
        self.checkpoints.detach_restore(out);
        self.run = None;
        self.turn_moved = None;
        self.auto_continue.forget_reminder();
        self.sent_context = SentContext::default();
        self.calls.forget_denials();
        let open: Vec<_> = self.questions.open().collect();
        for (question, topic) in open {
            self.questions.close(question, out);
            match topic {
                Topic::Start => self.starts.end_question(question, None, out),
                Topic::ToolCall => self.calls.end_question(question, "the session ended", out),
                Topic::Restore => self.checkpoints.end_question(None, out),
                Topic::Triggers => self.triggers.forget_question(),
                Topic::Guards => self.weaker_guards.forget_question(),
                Topic::Trust | Topic::Approval | Topic::Move | Topic::Cancel => {}
            }
        }
    }

    fn start_run(&mut self, new: &NewRun, out: &mut Effects) {
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
        self.close_cancel_question(out);
        self.run = Some(ActiveRun::start(progress.clone(), &new.loaded));
        // Whatever this response did to the replaced run, it has not moved the new one.
        self.turn_moved = self.turn_moved.map(|_| false);
        self.sent_context = SentContext::default();
        self.enter(progress, None, out);
        if self.settings.triggers != triggers {
            self.watch_triggers(out);
        }
        if new.has_hints() && !self.host.sets_hints {
            let message = "This host cannot set the model, the thinking level or the visible tools, so `hints` of this workflow have no effect here.";
            out.notify(Severity::Info, message);
        }
        out.act(Action::SetSessionName {
            name: new.session_name(workflow),
        });
        self.send_to_agent(new.initial_message(workflow), Delivery::IfIdle, out);
    }

    /// Moves the run to another state.
    fn enter(&mut self, progress: RunProgress, moved_by: Option<PersonMove>, out: &mut Effects) {
        self.auto_continue.cancel_countdown(out);
        self.cancel_exit("the run has moved to another phase", out);
        self.cancel_confirmations(out);
        self.cancel_pending_calls("the run has moved on", out);
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
        self.enter(progress, None, out);
        if let Some(phase) = self.run.as_ref().and_then(ActiveRun::phase) {
            self.sent_context.note_step_answer(&phase.context);
        }
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
        if let (Some(run), None) = (&mut self.run, self.exit.activity()) {
            run.summary = call.summary.map(str::to_owned);
            if let Err(answer) = run.accept(call) {
                return Reply::Now(answer);
            }
        }
        let (exit, mut context) = self.exit_parts();
        match exit.begin(request, &mut context, out) {
            ExitOutcome::Wait => Reply::Later,
            ExitOutcome::Stay(answer) | ExitOutcome::Declined(answer) => Reply::Now(answer),
            ExitOutcome::NotPassed(answer, reports) => {
                Reply::Now(self.not_passed(answer, &reports, out))
            }
            ExitOutcome::Advance(reports) => Reply::Now(self.advance(&reports, out)),
        }
    }

    /// The exit from the phase, and the other parts that it works on.
    fn exit_parts(&mut self) -> (&mut PhaseExit, ExitContext<'_>) {
        let context = ExitContext {
            run: self.run.as_mut(),
            questions: &mut self.questions,
            ids: &mut self.ids,
            project_trusted: self.host.project_trusted,
        };
        (&mut self.exit, context)
    }

    /// Answers the call of `next` in progress, if it is decided.
    fn finish_exit(&mut self, step: Option<ExitStep>, out: &mut Effects) {
        let Some(step) = step else { return };
        // The gate may run again before the run follows the decision, so the comment stays with the decision.
        let is_followed = matches!(step.outcome, ExitOutcome::Wait | ExitOutcome::Advance(_));
        if let (Some(run), Some(comment), true) = (&mut self.run, &step.comment, is_followed) {
            run.leave.comment(comment);
        }
        if let Some(mut exit) = self.controls.take_exit(step.request) {
            exit.note_comment(step.comment.as_deref());
            return self.finish_exit_by_person(exit, step, out);
        }
        let ExitStep {
            request,
            outcome,
            mut collected,
            comment,
        } = step;
        let noted = self.run.as_ref().and_then(|run| run.leave.new_comment());
        let comment = comment.or_else(|| noted.map(str::to_owned));
        let answer = match outcome {
            ExitOutcome::Wait => return out.merge(collected),
            ExitOutcome::Stay(answer) | ExitOutcome::Declined(answer) => answer,
            ExitOutcome::NotPassed(answer, reports) => {
                self.not_passed(answer, &reports, &mut collected)
            }
            ExitOutcome::Advance(reports) => self.advance(&reports, &mut collected),
        };
        let answer = step_tool::with_comment(answer, comment.as_deref());
        // With the answer, so that a host that waits for it hears nothing else before.
        self.refresh_status(&mut collected);
        match request {
            Some(request) => out.answer(request, DeferredAnswer::Step(answer), collected),
            None => out.merge(collected),
        }
    }

    fn cancel_exit(&mut self, why: &str, out: &mut Effects) {
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

    /// Withdraws the question whether the run is cancelled.
    fn close_cancel_question(&mut self, out: &mut Effects) {
        let open = self.questions.open();
        let open: Vec<_> = open.filter(|(_, topic)| *topic == Topic::Cancel).collect();
        for (question, _) in open {
            self.questions.close(question, out);
        }
    }

    fn cancel_confirmations(&mut self, out: &mut Effects) {
        self.controls.cancel_confirmations(&mut self.questions, out);
    }

    /// Carries a command out that controls the run.
    fn control(
        &mut self,
        request: RequestId,
        control: Control,
        argument: &str,
        out: &mut Effects,
    ) -> Reply<()> {
        let takes_argument = matches!(
            control,
            Control::Goto | Control::Approve | Control::Next | Control::Resume
        );
        let Some(run) = self.run.as_mut().filter(|run| run.is_active()) else {
            out.notify(Severity::Info, controls::no_run(control));
            return Reply::Now(());
        };
        if !takes_argument && !argument.is_empty() {
            let message = controls::takes_no_argument(control, argument);
            out.notify(Severity::Warning, message);
            return Reply::Now(());
        }
        match control {
            Control::Status => {
                let text = controls::status_text(run, self.exit.activity());
                out.notify(Severity::Info, text);
            }
            Control::Pause if run.counters.paused_by_owner => {
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
            Control::Next => return self.next_by_person(request, argument, out),
            Control::Skip => {
                let plan = controls::plan_skip(run);
                return self.move_or_confirm(request, plan, out);
            }
            Control::Goto => {
                let plan = controls::plan_goto(run, argument);
                return self.move_or_confirm(request, plan, out);
            }
            Control::Approve => return self.approve_by_person(request, argument, out),
        }
        Reply::Now(())
    }

    /// Resumes the run for its owner, and reminds an idle agent.
    fn resume(&mut self, argument: &str, out: &mut Effects) {
        let Some(run) = &mut self.run else { return };
        if !argument.is_empty() {
            let allowance = read_allowance(argument);
            let allowed = allowance.is_some_and(|(amount, unit)| run.budgets.allow(amount, unit));
            if !allowed {
                let message = controls::no_allowance(argument, run.budgets.used_up());
                return out.notify(Severity::Warning, message);
            }
            run.persist_spending(out);
        }
        let counters = run.counters;
        // A message resumes the run as well, but does not allow the visit.
        let allowed = run.allow_visit();
        if !allowed && !counters.paused_by_owner && counters.paused.is_none() {
            let message = "The workflow is not paused.";
            return out.notify(Severity::Info, message);
        }
        run.resume(out);
        if let Some(used_up) = run.budgets.used_up() {
            let message = budget::paused(&used_up);
            return out.notify(Severity::Info, message);
        }
        if run.counters.paused.is_some() {
            let message = "The workflow waits for your approval. Answer with /workflow-approve.";
            return out.notify(Severity::Info, message);
        }
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
            let text = phase.reminder.text(has_instructions).to_owned();
            self.send_to_agent(text, Delivery::IfIdle, out);
        }
    }

    /// Moves the run as a person asks, or asks for the confirmation that it needs.
    fn move_or_confirm(
        &mut self,
        request: RequestId,
        plan: Result<Plan, String>,
        out: &mut Effects,
    ) -> Reply<()> {
        match plan {
            Err(refusal) => out.notify(Severity::Warning, refusal),
            Ok(Plan::Move(planned)) => self.move_by_person(&planned, out),
            Ok(Plan::Confirm(planned, text)) => {
                if self.confirm(Some(request), planned, text, out) {
                    return Reply::Later;
                }
            }
        }
        Reply::Now(())
    }

    /// Asks a person to confirm a move. Returns false if nobody can be asked, and says so.
    fn confirm(
        &mut self,
        request: Option<RequestId>,
        planned: PlannedMove,
        text: ConfirmationText,
        out: &mut Effects,
    ) -> bool {
        if !self.questions.can_ask() {
            let why = self.questions.why_not("this host has no dialogs");
            let refusal = controls::cannot_confirm(&planned, &why);
            out.notify(Severity::Warning, refusal);
            return false;
        }
        let questions = &mut self.questions;
        self.controls.ask(request, planned, text, questions, out);
        true
    }

    /// Leaves the phase through its gate, as its owner asks.
    fn next_by_person(
        &mut self,
        request: RequestId,
        argument: &str,
        out: &mut Effects,
    ) -> Reply<()> {
        if let Some(refusal) = self.exit.activity().map(controls::exit_refusal) {
            out.notify(Severity::Info, refusal);
            return Reply::Now(());
        }
        let Some(run) = self.run.as_ref().filter(|run| run.phase().is_some()) else {
            out.notify(Severity::Warning, controls::no_definition());
            return Reply::Now(());
        };
        if run.approval().is_some() && !self.questions.can_ask() {
            let message = "This phase needs your approval, and this host has no dialogs. Answer with /workflow-approve.";
            out.notify(Severity::Warning, message);
            return Reply::Now(());
        }
        if let Some(run) = &mut self.run
            && let Err(refusal) = controls::choose_outcome(run, argument)
        {
            out.notify(Severity::Warning, refusal);
            return Reply::Now(());
        }
        self.controls.begin_exit(Some(request), Control::Next, None);
        let mut collected = Effects::at(out.now());
        let (exit, mut context) = self.exit_parts();
        let outcome = exit.begin(request, &mut context, &mut collected);
        let step = ExitStep {
            request: Some(request),
            outcome,
            collected,
            comment: None,
        };
        self.finish_exit(Some(step), out);
        Reply::Later
    }

    /// Answers the question for approval, as its owner asks.
    fn approve_by_person(
        &mut self,
        request: RequestId,
        argument: &str,
        out: &mut Effects,
    ) -> Reply<()> {
        let notify = |severity, message: String, out: &mut Effects| {
            out.notify(severity, message);
            Reply::Now(())
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
        if let (None, Some(activity)) = (question, self.exit.activity()) {
            return notify(
                Severity::Info,
                controls::exit_refusal(activity).to_owned(),
                out,
            );
        }
        if question.is_none() && run.approval_request().is_none() {
            let message = format!(
                "Nothing waits for approval yet, because the agent has not finished the phase. You will be asked: \"{}\". \
                 /workflow-next asks you now.",
                approval.ask
            );
            return notify(Severity::Info, message, out);
        }
        let reply = match controls::read_reply(&approval, argument) {
            Ok(reply) => reply,
            Err(usage) => return notify(Severity::Info, usage, out),
        };
        if let Some(question) = question {
            self.questions.close(question, out);
            let (exit, mut context) = self.exit_parts();
            let comment = reply.comment.as_deref().unwrap_or_default();
            let step = exit.on_command(reply.choice, comment, &mut context, out.now());
            let message = format!("Your answer: {}.", reply.choice);
            out.notify(Severity::Info, message);
            self.finish_exit(step, out);
            return Reply::Now(());
        }
        let Some(target) = reply.target else {
            if let Some(run) = &mut self.run {
                run.drop_approval(out);
            }
            let message = format!(
                "Your answer: {}. The agent continues with this phase.",
                reply.choice
            );
            out.notify(Severity::Info, message);
            let name = self.phase().map_or("", |phase| &phase.phase.name);
            let declined = phase_exit::declined(&approval.ask, reply.choice, name);
            let mut text = format!("[workflow] {declined}");
            if let Some(comment) = &reply.comment {
                text = format!("{text}\n\n{}", step_tool::said(comment));
            }
            self.send_to_agent(text, Delivery::Steer, out);
            return Reply::Now(());
        };
        let is_onward = target.is_onward();
        if let Some(run) = &mut self.run {
            run.leave.decide(target);
            if let Some(comment) = &reply.comment {
                run.leave.comment(comment);
            }
        }
        self.controls
            .begin_exit(Some(request), Control::Approve, reply.comment);
        let mut collected = Effects::at(out.now());
        let (exit, mut context) = self.exit_parts();
        let outcome = if is_onward {
            exit.begin_approved(request, &mut context, &mut collected)
        } else {
            ExitOutcome::Advance(Vec::new())
        };
        let step = ExitStep {
            request: Some(request),
            outcome,
            collected,
            comment: None,
        };
        self.finish_exit(Some(step), out);
        Reply::Later
    }

    /// Answers a command that leaves the phase, if that is decided.
    fn finish_exit_by_person(&mut self, exit: PersonExit, step: ExitStep, out: &mut Effects) {
        let ExitStep {
            outcome,
            mut collected,
            ..
        } = step;
        let request = exit.request();
        match outcome {
            ExitOutcome::Wait => {
                self.controls.put_back(exit);
                return out.merge(collected);
            }
            ExitOutcome::Advance(_) => {
                let planned = self.run.as_ref().and_then(|run| exit.plan(run, Vec::new()));
                match planned {
                    Some(planned) => self.move_by_person(&planned, &mut collected),
                    None => collected.notify(Severity::Warning, controls::no_definition()),
                }
            }
            ExitOutcome::NotPassed(_, reports) => {
                let failed = reports.iter().filter(|report| !report.has_passed());
                let overrode: Vec<String> = failed
                    .map(|report| format!("gate `{}`", report.what))
                    .collect();
                let run = self.run.as_ref();
                let planned = run.and_then(|run| {
                    let planned = exit.plan(run, overrode)?;
                    let next = phase_name(&planned.to.state, run.catalog());
                    let text = ConfirmationText::not_passed(run.phase()?, &next, &reports);
                    Some((planned, text))
                });
                if let Some((planned, text)) = planned
                    && self.confirm(request, planned, text, &mut collected)
                {
                    return out.merge(collected);
                }
            }
            ExitOutcome::Declined(answer) => {
                collected.notify(
                    Severity::Info,
                    "The agent reads your answer and continues with this phase.",
                );
                let answer = step_tool::with_comment(answer, exit.comment());
                let text = format!("[workflow] {}", answer.text);
                self.send_to_agent(text, Delivery::Steer, &mut collected);
            }
            ExitOutcome::Stay(_) => {
                let message = "The workflow stays in this phase: it waits for your approval. Answer with /workflow-approve.";
                collected.notify(Severity::Info, message);
            }
        }
        self.refresh_status(&mut collected);
        controls::answer(request, collected, out);
    }

    /// Moves the run as a person asked, and sends the agent on.
    fn move_by_person(&mut self, planned: &PlannedMove, out: &mut Effects) {
        let was_idle = self.triggers.is_idle(out.now());
        let from = self.phase().map(|phase| phase.phase.name.clone());
        let from = from.unwrap_or_default();
        self.auto_continue.forget_reminder();
        let to = planned.to.clone();
        if to.state.active {
            self.enter(to, Some(planned.record()), out);
        } else {
            self.auto_continue.cancel_countdown(out);
            self.cancel_exit("the run has moved to another phase", out);
            self.cancel_confirmations(out);
            if let Some(run) = &mut self.run {
                run.clear_approval(out);
                run.end_by_person(to.state, planned.record());
            }
        }
        let Some(run) = &self.run else { return };
        let is_over = !run.is_active();
        let message = planned.message_to_agent(&from, run);
        out.notify(Severity::Info, planned.notice(&from, run));
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

    fn cancel_pending_calls(&mut self, cause: &str, out: &mut Effects) {
        self.calls.cancel_pending(cause, &mut self.questions, out);
    }

    /// Leaves the phase after its gate passed with these reports.
    fn advance(&mut self, reports: &[Report], out: &mut Effects) -> ToolAnswer {
        let answer = match step_tool::plan_leave(self.run.as_ref(), self.jumps()) {
            Ok((progress, planned)) => {
                if let Some(run) = &self.run {
                    run.record_approval(reports, out);
                }
                self.move_by_tool(progress, out);
                step_tool::advanced(&planned, self.run.as_ref())
            }
            Err(why) => self.stay(why, out),
        };
        step_tool::with_reports(answer, reports)
    }

    /// Stays in the phase whose gate did not pass, or goes where the check that failed leads.
    fn not_passed(
        &mut self,
        answer: ToolAnswer,
        reports: &[Report],
        out: &mut Effects,
    ) -> ToolAnswer {
        let jumps = self.jumps();
        let planned = self
            .run
            .as_ref()
            .and_then(|run| run.plan_failure(reports, jumps));
        match planned {
            None => answer,
            Some(Ok(progress)) => {
                self.move_by_tool(progress, out);
                step_tool::sent_back(&answer, self.run.as_ref())
            }
            Some(Err(limit)) => {
                let refused = self.stay(NoMove::Limit(limit), out);
                ToolAnswer {
                    text: format!("{}\n\n{}", answer.text, refused.text),
                    ..answer
                }
            }
        }
    }

    /// Stays in the phase, because a move is not possible. At a limit the run pauses.
    fn stay(&mut self, why: NoMove, out: &mut Effects) -> ToolAnswer {
        match why {
            NoMove::Refused(answer) => answer,
            NoMove::Limit(limit) => {
                if let Some(run) = &mut self.run {
                    run.pause_at_visits(&limit, out);
                }
                let message = format!(
                    "⏸ The workflow is paused: {} has been entered {} times, which is its limit. /workflow-resume allows one more \
                     visit; /workflow-goto goes elsewhere.",
                    limit.name, limit.visits
                );
                out.notify(Severity::Warning, message);
                step_tool::visits_used_up(&limit, self.run.as_ref())
            }
        }
    }

    /// The times that a jump may lead into a phase without a limit of its own.
    fn jumps(&self) -> u32 {
        self.settings.limits.max_visits
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
                .any(|(_, topic)| topic == Topic::Cancel);
            if !is_asked && self.questions.can_ask() {
                let text = step_tool::cancellation_question(run);
                self.questions.ask(Topic::Cancel, text, out);
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

    /// Announces the end of the run, and unloads it. One entry makes sure that the end is never announced twice, for a
    /// cancelled run too (A01, A02).
    fn announce_end(&mut self, out: &mut Effects) -> Mutation {
        self.cancel_pending_calls("the run has moved on", out);
        let Some(mut run) = self.run.take() else {
            return Mutation::default();
        };
        run.mark_announced(out);
        out.act(Action::SendMessage {
            custom_type: message_type::COMPLETE,
            content: announcement::ended(run.progress(), run.catalog()),
        });
        self.set_status(out);
        Mutation {
            unload: true,
            persist: !run.state().cancelled,
        }
    }
}
