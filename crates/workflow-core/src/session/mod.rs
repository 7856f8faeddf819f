//! [`Session`]: composes the parts of a session.
//!
//! Each part is a module that owns its state and does not know the session. A part takes what it needs as arguments,
//! adds to [`Effects`], and returns an outcome that the session acts on. Only the session and its `RunDriver`, which moves the
//! run, hold them.

pub(crate) mod announcement;
mod auto_continue;
mod budget;
mod changed_files;
mod checkpoints;
pub(crate) mod commands;
mod condition;
mod context;
mod controls;
mod driver;
mod handover;
mod host;
mod ids;
pub(crate) mod inputs;
mod memory;
mod person;
pub(crate) mod phase;
mod phase_exit;
pub(crate) mod phase_rules;
mod problems;
mod questions;
mod route;
mod run;
mod step_tool;
mod tool_guard;
mod triggers;
mod trust;
mod view;

use std::sync::Arc;

use serde_json::value::RawValue;

use self::budget::Budgets;
use self::changed_files::ChangedFiles;
use self::checkpoints::Checkpoints;
use self::commands::{PendingStarts, StartOutcome};
use self::context::SentContext;
use self::driver::RunDriver;
use self::phase::ResolvedPhase;
use self::phase_exit::texts;
use self::problems::ShownProblems;
use self::questions::{QuestionTopic, TIMED_OUT};
use self::run::ActiveRun;
use self::triggers::Accepted;
use crate::definition::{Checkpoint, Loaded, Settings};
use crate::effect::{
    BranchAnswer, ContextMessage, DeferredAnswer, Delivery, Effects, Mutation, Reply, ToolAnswer,
    ToolDecision, TriggerOutcome, Widget,
};
use crate::event::{Answer, Author, Entry, LastAssistant, PlatformEvent};
use crate::policy::STEP_TOOL;
use crate::policy::rules::Call;
use crate::run::{cancel, restore};
use crate::types::{Millis, QuestionId, RequestId, Severity};
use crate::white_space;

pub use self::budget::TurnUsage;
pub use self::checkpoints::StoredCheckpoint;
pub use self::commands::complete;
pub use self::controls::Control;
pub use self::handover::StepCall;
pub use self::host::Abilities;
pub use self::memory::Memory;
pub use self::phase_rules::{RoleSource, role_source};
pub use self::triggers::NOT_DELIVERED;
pub use self::trust::project_gate_commands;
pub use self::view::{BreadcrumbItem, PhaseView, View};
pub use crate::condition::{Needed, RunCondition};

/// One session of a host: events go in, effects come out.
///
/// Reads no clock, no file and no randomness; starts nothing and waits for nothing. The caller gives the time with every
/// event (see [`Effects::at`]), and calls [`Session::poll_deadline`] when [`Session::deadline`] is due.
#[derive(Debug, Clone)]
pub struct Session {
    driver: RunDriver,
    problems: ShownProblems,
    starts: PendingStarts,
    checkpoints: Checkpoints,
    changed_files: ChangedFiles,
}

/// The activity of the agent that an event shows.
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
            driver: RunDriver::new(abilities, seed),
            problems: ShownProblems::default(),
            starts: PendingStarts::default(),
            checkpoints: Checkpoints::default(),
            changed_files: ChangedFiles::default(),
        }
    }

    /// Numbers gate runs and restores after this one, so that late reports about another session's do not match.
    pub fn number_jobs_after(&mut self, number: u64) {
        self.driver.ids.number_jobs_after(number);
    }

    /// Sets whether the host has an interface now.
    pub fn set_has_ui(&mut self, has_ui: bool) {
        self.driver.host.has_ui = Some(has_ui);
    }

    /// Sets whether the user trusts the project now, according to the host.
    pub fn set_project_trusted(&mut self, trusted: bool) {
        self.driver.host.project_trusted = trusted;
    }

    /// Returns true if a rule in force may depend on tools' arguments or results, and not on their names alone. The built-in
    /// rule does not count: see [`Session::denials`].
    #[must_use]
    pub fn looks_at_payload(&self) -> bool {
        self.driver.calls.looks_at_payload(self.driver.phase())
    }

    /// The number of calls that rules denied or referred to a person because of their arguments.
    #[must_use]
    pub fn denials(&self) -> u64 {
        self.driver.calls.denials()
    }

    /// Returns true if the settings have rules on tools, which apply without a run as well.
    #[must_use]
    pub fn is_guarded(&self) -> bool {
        self.driver.calls.is_guarded()
    }

    /// Returns true if the host has dialogs.
    #[must_use]
    pub fn has_dialogs(&self) -> bool {
        self.driver.questions.has_dialogs()
    }

    /// Returns true if a settings file could not be read as it is, so that it should be read again.
    #[must_use]
    pub fn misses_settings(&self) -> bool {
        let Settings { user, project, .. } = &self.driver.settings;
        !(user.status.is_loaded() && project.status.is_loaded())
    }

    /// The run, if there is one.
    #[must_use]
    pub fn view(&self) -> Option<View<'_>> {
        let run = self.driver.run.as_ref()?;
        let condition = self.driver.condition(run);
        Some(View::of(run, condition, &self.driver.auto_continue))
    }

    /// The run once its session is closed: without open questions, and without a gate that runs.
    #[must_use]
    pub fn closed_view(&self) -> Option<View<'_>> {
        let run = self.driver.run.as_ref()?;
        let condition = match RunCondition::of(run, None, false, false) {
            RunCondition::Active => RunCondition::Closed,
            condition => condition,
        };
        Some(View::of(run, condition, &self.driver.auto_continue))
    }

    /// Returns true while the run waits for a person's approval, in a dialog or paused.
    #[must_use]
    pub fn awaits_approval(&self) -> bool {
        self.driver.awaits_approval()
    }

    /// The data that the session remembers beside its entries.
    #[must_use]
    pub fn memory(&self) -> Memory {
        let run = self.driver.run.as_ref();
        Memory {
            task_id: run.map(|run| run.state().task_id.clone()),
            tally: run.map(|run| run.tally).unwrap_or_default(),
            sent_context: self.driver.sent_context.clone(),
            cancel_pending: run.is_some_and(|run| run.cancel_pending),
            is_unread: run.is_some_and(|run| run.is_unread),
            reminded: self.driver.auto_continue.reminded(),
            repeated: self.driver.calls.repeated(),
            spending: run.and_then(|run| run.budgets.spending()),
            work: run.and_then(|run| run.budgets.work()),
        }
    }

    /// Adopts the memory of another process, after [`Session::handle_session`] has restored the entries.
    pub fn recall(&mut self, memory: Memory) {
        self.driver.calls.recall(memory.repeated);
        let run = self.driver.run.as_mut();
        let Some(run) = run.filter(|run| Some(&run.state().task_id) == memory.task_id.as_ref())
        else {
            return;
        };
        run.tally = memory.tally;
        run.cancel_pending = memory.cancel_pending;
        run.is_unread = memory.is_unread;
        run.budgets.recall(memory.spending, memory.work);
        self.driver.sent_context = memory.sent_context;
        self.driver.auto_continue.recall(memory.reminded);
    }

    /// The time at which [`Session::poll_deadline`] is due next.
    #[must_use]
    pub fn deadline(&self) -> Option<Millis> {
        let deadlines = [
            self.driver.auto_continue.deadline(),
            self.driver.questions.deadline(),
            self.driver.triggers.deadline(),
            self.checkpoints.deadline(),
        ];
        deadlines.into_iter().flatten().min()
    }

    /// Does everything that is due.
    pub fn poll_deadline(&mut self, out: &mut Effects) {
        // A message of a trigger comes before a reminder, and cancels its countdown.
        if let Some(text) = self.driver.triggers.next(out.now()) {
            self.driver.wake_agent(text, out);
        }
        if self.driver.auto_continue.poll_deadline(out) {
            let run = self.driver.run.as_mut();
            if let Some(text) =
                self.driver
                    .auto_continue
                    .remind(run, &self.driver.sent_context, out)
            {
                self.driver.send_to_agent(text, Delivery::IfIdle, out);
            }
        }
        for (question, topic) in self.driver.questions.close_overdue(out) {
            self.on_question_timeout(question, topic, out);
        }
        self.checkpoints.poll_deadline(out);
        self.driver.refresh_status(out);
    }

    /// Handles the start, a switch or a move of the session. The entries are its branch, oldest first: whatever was in
    /// memory is replaced by them.
    pub fn handle_session(&mut self, entries: &[Entry<'_>], loaded: &Loaded, out: &mut Effects) {
        let approval = self.driver.run.as_ref().and_then(ActiveRun::approval_key);
        let agreed = self.driver.run.as_ref().and_then(ActiveRun::agreed);
        self.leave_session(out);
        self.checkpoints.adopt(entries);
        let mut restored = restore(entries);
        out.diagnostics.clone_from(&loaded.diagnostics);
        out.diagnostics.append(&mut restored.diagnostics);
        self.driver.run = ActiveRun::restore(
            restored,
            agreed,
            loaded,
            self.driver.host.project_trusted,
            &mut out.diagnostics,
        );
        self.driver.adopt_settings(&loaded.settings);
        if let Some(run) = &mut self.driver.run {
            run.persist_definition(out);
        }
        let actor = self.driver.actor();
        ActiveRun::switch_approval(approval, self.driver.run.as_ref(), actor, out);
        if let Some(run) = &self.driver.run {
            run.make_up_for_baseline(out);
        }
        self.problems.show(&self.driver.settings, out);
        // A host that was restarted has applied nothing.
        if self.driver.phase().is_some() {
            self.driver.set_hints = None;
        }
        if self.driver.shown_phases.take().is_some() {
            out.set_widget(Widget::Phases, None);
        }
        self.driver.set_status(out);
        self.ask_about_changed_files(out);
        self.driver.watch_triggers(out);
        self.driver.triggers.set_idle(out.now());
    }

    /// Tells the user which run the session continues, if it does.
    pub fn announce_resumed_run(&self, out: &mut Effects) {
        let run = self.driver.run.as_ref();
        let task = run.map_or("", |run| &run.state().task_description);
        if let (Some(run), Some(status)) = (run, self.driver.status()) {
            let begins = if run.is_paused() {
                "This session has a workflow"
            } else {
                "▶ The workflow continues"
            };
            let message = format!("{begins}: {status}\n{task}");
            out.notify(Severity::Info, message);
        }
    }

    fn ask_about_changed_files(&mut self, out: &mut Effects) {
        if let Some(run) = &self.driver.run {
            self.changed_files.ask(run, &mut self.driver.questions, out);
        }
    }

    /// Continues with the changed files alone, to which the user agreed.
    fn adopt_changed_files(&mut self, out: &mut Effects) {
        if let Some(run) = &mut self.driver.run {
            run.adopt_files(&self.driver.settings, out);
        }
        let cause = "the guards of the run changed";
        self.driver.cancel_exit(cause, out);
        self.driver.cancel_pending_calls(cause, out);
        self.driver.sent_context.leave_phase();
        out.set_status(self.driver.status());
    }

    /// Handles the end of the session.
    pub fn handle_shutdown(&mut self, out: &mut Effects) {
        self.leave_session(out);
        self.driver.shown_status = None;
        self.driver.shown_phases = None;
        self.driver.set_hints = None;
        self.driver.triggers.shut_down(out);
        self.checkpoints = Checkpoints::default();
    }

    /// Handles changed settings, which apply at once, in a run as well.
    pub fn handle_settings(&mut self, loaded: &Loaded, out: &mut Effects) {
        if loaded.settings == self.driver.settings {
            return;
        }
        let missed = self.misses_settings();
        let triggers = std::mem::take(&mut self.driver.settings.triggers);
        out.diagnostics.clone_from(&loaded.diagnostics);
        if let Some(run) = &mut self.driver.run {
            let trusted = self.driver.host.project_trusted;
            run.adopt_settings(&loaded.settings, trusted, &mut out.diagnostics);
            run.persist_definition(out);
        }
        self.driver.adopt_settings(&loaded.settings);
        self.driver
            .cancel_pending_calls("the settings changed", out);
        self.problems.show(&self.driver.settings, out);
        if missed && !self.misses_settings() {
            let message = "[workflow] The settings can be read again and are in force.";
            out.notify(Severity::Info, message);
        }
        self.ask_about_changed_files(out);
        if triggers != self.driver.settings.triggers {
            self.driver.watch_triggers(out);
        }
    }

    /// Handles the replacement of a conversation's older messages by a summary.
    pub fn handle_compaction(&mut self) {
        self.driver.sent_context = SentContext::default();
    }

    /// Handles a prompt that the agent is about to start on. Returns the context message of the phase.
    pub fn handle_before_agent_start(
        &mut self,
        prompt: Option<&str>,
        out: &mut Effects,
    ) -> Option<ContextMessage> {
        self.on_activity(Activity::Starts, out);
        self.driver.forget_first_cancel();
        self.driver.turn_moved = None;
        if let Some(run) = &mut self.driver.run {
            run.budgets.forget_work();
        }
        let run = self.driver.run.as_ref();
        if !self.driver.auto_continue.starts_on_reminder(prompt, run) {
            self.on_user_message(out);
        }
        self.driver.refresh_status(out);
        self.driver.context_message()
    }

    /// Handles the start of the agent.
    pub fn handle_agent_start(&mut self, out: &mut Effects) {
        self.checkpoints.end_prompt();
        self.on_activity(Activity::Starts, out);
        self.driver.spend(|_| {}, out);
    }

    /// Handles the start of one response of the model; `index` is its number, as the host counts.
    pub fn handle_turn_start(&mut self, index: Option<u64>, out: &mut Effects) {
        self.on_activity(Activity::Starts, out);
        let checkpoint = match self.driver.phase() {
            Some(phase) => phase.checkpoint,
            None => self.driver.settings.checkpoint,
        };
        if checkpoint == Some(Checkpoint::Git) {
            self.checkpoints
                .record(index, self.driver.host.project_trusted, out);
        }
        self.driver.turn_moved = Some(false);
        self.driver.spend(|_| {}, out);
        // A message to a busy agent reaches it between two responses.
        self.driver.mark_phase_read();
    }

    /// Handles the end of one response of the model (hook-lifecycle: "updateStatus").
    ///
    /// A first `cancel` survives this: the model can confirm only in its next response (A03).
    pub fn handle_turn_end(&mut self, usage: TurnUsage, out: &mut Effects) {
        self.on_activity(Activity::Continues, out);
        let count = |budgets: &mut Budgets| budgets.count_turn(usage);
        self.driver.spend(count, out);
        if let Some(run) = &mut self.driver.run {
            run.persist_spending(out);
            run.persist_tally(out);
        }
        self.driver.turn_moved = None;
        self.driver.set_status(out);
    }

    /// Handles the end of the agent's work: announces the end of the run, or reminds the agent to continue.
    pub fn handle_agent_end(
        &mut self,
        last: Option<LastAssistant<'_>>,
        out: &mut Effects,
    ) -> Mutation {
        self.on_activity(Activity::Stops, out);
        self.checkpoints.end_prompt();
        self.driver.forget_first_cancel();
        // A person's command continues without the agent.
        if !self.driver.controls.is_leaving() {
            self.driver.cancel_exit("the agent stopped", out);
        }
        self.driver.turn_moved = None;
        if last.is_some_and(|last| last.stop_reason == Some("aborted")) {
            self.driver.sent_context.forget_step_answer();
        }
        let shows_widgets = self.driver.host.shows_widgets();
        let Some(run) = &mut self.driver.run else {
            return Mutation::default();
        };
        if !run.is_active() {
            return self.driver.announce_end(out);
        }
        run.budgets.stop(out.now());
        run.persist_spending(out);
        let cancelled = self
            .driver
            .auto_continue
            .on_agent_stopped(last, run, shows_widgets, out);
        let Some(why) = cancelled else {
            self.driver.refresh_status(out);
            if self.driver.auto_continue.is_awaited() {
                self.poll_deadline(out);
            }
            return Mutation::default();
        };
        run.clear_approval(out);
        run.end(cancel(run.state()));
        let mutation = self.driver.announce_end(out);
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
            && !call.is_part()
            && let Some(used_up) = self.driver.spend(Budgets::count_call, out)
        {
            self.driver.count_blocked();
            return Reply::Now(budget::blocked(&used_up));
        }
        let phase = self.driver.run.as_ref().and_then(ActiveRun::phase);
        let questions = &mut self.driver.questions;
        let reply = self
            .driver
            .calls
            .on_call(request, call, phase, questions, out);
        if let Reply::Now(ToolDecision::Block { .. }) = reply {
            self.driver.count_blocked();
        }
        if reply == Reply::Later {
            self.driver.refresh_status(out);
        }
        reply
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
        let content =
            self.driver
                .calls
                .rewrite_result(tool, content, is_error, self.driver.phase())?;
        if tool == STEP_TOOL {
            self.driver.sent_context.forget_step_answer();
        }
        Some(content)
    }

    /// Handles a submitted text.
    pub fn handle_user_input(&mut self, author: Option<Author>, out: &mut Effects) {
        match author {
            Some(Author::Extension) => {}
            Some(Author::Typist) => {
                self.driver.auto_continue.hold(out);
                self.driver.auto_continue.forget_reminder();
                self.driver.refresh_status(out);
            }
            Some(Author::Person) => {
                self.on_user_message(out);
                self.driver.refresh_status(out);
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
            self.driver.host.project_trusted,
            &mut self.driver.questions,
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
        self.driver.on_step(request, call, out)
    }

    /// Handles a call of `workflow_step` that the host cancels.
    pub fn handle_step_cancelled(&mut self, request: RequestId, out: &mut Effects) {
        if self.driver.exit.is_for(request) {
            self.driver.cancel_exit("the call was cancelled", out);
            self.driver.refresh_status(out);
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
        let reply = self
            .driver
            .control(request, control, white_space::trim(arguments), out);
        self.driver.refresh_status(out);
        reply
    }

    /// The proposals for the argument of a command that controls the run: the value and a description of each.
    #[must_use]
    pub fn complete_control(&self, control: Control, prefix: &str) -> Vec<(String, String)> {
        let run = self.driver.run.as_ref().filter(|run| run.is_active());
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
        let active = self.driver.run.as_ref().filter(|run| run.is_active());
        let questions = &mut self.driver.questions;
        match self
            .starts
            .on_command(request, arguments, loaded, active, questions, out)
        {
            StartOutcome::Start(run) => {
                self.driver.start_run(&run, out);
                Reply::Now(())
            }
            StartOutcome::Refused => Reply::Now(()),
            StartOutcome::Wait => Reply::Later,
        }
    }

    /// Returns the context message of the phase, without the parts that the conversation already contains.
    pub fn context_message(&mut self) -> Option<ContextMessage> {
        self.driver.context_message()
    }

    /// Handles `/cancel-workflow`, which ends the run at once. Its entry says that the end was announced (B01).
    pub fn handle_cancel_command(&mut self, out: &mut Effects) {
        self.driver.cancel_by_command(out);
    }

    /// Handles the answer to a question.
    pub fn handle_answer(&mut self, question: QuestionId, answer: Answer<'_>, out: &mut Effects) {
        let Some(asked) = self.driver.questions.take(question) else {
            return;
        };
        let Some(topic) = asked.open_topic() else {
            if answer != Answer::Dismissed {
                let phase = self.driver.phase().map(|phase| phase.phase.name.as_str());
                asked.report_late_answer(phase, out);
            }
            return;
        };
        let confirmed = answer == Answer::Confirmed(true);
        match topic {
            QuestionTopic::Start => {
                let active = self.driver.run.as_ref().filter(|run| run.is_active());
                let questions = &mut self.driver.questions;
                let started = self
                    .starts
                    .on_answer(question, answer, active, questions, out);
                if let Some((request, run)) = started {
                    let mut collected = Effects::at(out.now());
                    self.driver.start_run(&run, &mut collected);
                    out.answer(request, DeferredAnswer::Command, collected);
                }
            }
            QuestionTopic::ToolCall => {
                let is_allowed = self.driver.calls.on_answer(question, answer, out);
                if !is_allowed {
                    self.driver.count_blocked();
                }
            }
            QuestionTopic::Trust | QuestionTopic::Approval => {
                self.driver.with_exit(
                    |exit, context, out| exit.on_answer(answer, context, out.now()),
                    out,
                );
            }
            QuestionTopic::StartTrust => self.driver.start_trust.on_answer(confirmed, out),
            QuestionTopic::Move => {
                let state = self.driver.run.as_ref().map(ActiveRun::state);
                let confirmed = self.driver.controls.on_answer(question, answer, state, out);
                if let Some((request, planned)) = confirmed {
                    let mut collected = Effects::at(out.now());
                    self.driver.move_by_person(&planned, &mut collected);
                    controls::answer(request, collected, out);
                }
            }
            QuestionTopic::Restore => {
                let trusted = self.driver.host.project_trusted;
                self.checkpoints
                    .on_answer(answer, trusted, &mut self.driver.ids, out);
            }
            QuestionTopic::Triggers => {
                let (triggers, headless) = (
                    &self.driver.settings.triggers,
                    self.driver.host.is_headless(),
                );
                self.driver
                    .triggers
                    .on_answer(answer, triggers, headless, out);
            }
            QuestionTopic::ChangedFiles => {
                let run = self.driver.run.as_mut();
                if self.changed_files.on_answer(confirmed, run, out) {
                    self.adopt_changed_files(out);
                }
            }
            QuestionTopic::Cancel if confirmed => self.driver.cancel_by_command(out),
            QuestionTopic::Cancel => self.driver.go_on(out),
        }
        self.driver.refresh_status(out);
    }

    /// Handles a report of the platform. Returns the outcome of a trigger's message.
    pub fn handle_platform_event(
        &mut self,
        event: PlatformEvent,
        out: &mut Effects,
    ) -> Option<TriggerOutcome> {
        let shows_widgets = self.driver.host.shows_widgets();
        match event {
            PlatformEvent::BaselineTaken { baseline } => {
                if let Some(run) = &mut self.driver.run {
                    run.on_baseline_taken(baseline, out);
                }
            }
            PlatformEvent::CommandsNotTrusted => self.driver.on_commands_not_trusted(out),
            PlatformEvent::GateNotTrusted { gate } => {
                self.driver.with_exit(
                    |exit, context, out| exit.on_gate_not_trusted(gate, context, out),
                    out,
                );
            }
            PlatformEvent::GateProgress { gate, text } => {
                self.driver
                    .exit
                    .on_gate_progress(gate, &text, shows_widgets, out);
            }
            PlatformEvent::GateFinished { gate, reports } => {
                self.driver.with_exit(
                    |exit, context, out| exit.on_gate_finished(gate, reports, context, out),
                    out,
                );
            }
            PlatformEvent::ApprovalRequested { seal, code } => {
                self.on_approval_requested(seal, &code, out);
            }
            PlatformEvent::CodeNeeded { code, purpose } => {
                out.notify(Severity::Warning, texts::code_needed(&code, &purpose));
            }
            PlatformEvent::ApprovalNotStored { reason } => {
                out.notify(Severity::Error, texts::approval_not_stored(&reason));
            }
            PlatformEvent::ApprovalRead { decision, comment } => {
                let decision = decision.as_ref();
                self.driver.with_exit(
                    |exit, context, out| {
                        exit.on_approval_read(decision, comment, context, out.now())
                    },
                    out,
                );
            }
            PlatformEvent::ApprovalAnswered {
                nonce,
                choice,
                is_earlier,
            } => self
                .driver
                .on_approval_answered(&nonce, choice, is_earlier, out),
            PlatformEvent::ProjectTrusted => self.driver.on_project_trusted(out),
            PlatformEvent::CheckpointRecorded { snapshot } => {
                let run = self.driver.run.as_ref().filter(|run| run.is_active());
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
                let triggers = &self.driver.settings.triggers;
                self.driver
                    .triggers
                    .on_watched(&report, triggers, &mut self.driver.questions, out);
            }
            PlatformEvent::Triggered { text } => return Some(self.on_trigger(text, out)),
        }
        self.driver.refresh_status(out);
        None
    }

    fn on_approval_requested(&mut self, seal: String, code: &str, out: &mut Effects) {
        if let Some(run) = &mut self.driver.run {
            run.seal_approval(seal, out);
        }
        // Where the host asks, the code is shown when an answer needs it.
        if self.driver.questions.has_dialogs() {
            return;
        }
        let location = self.driver.phase().map(ResolvedPhase::location);
        let run = self.driver.run.as_ref();
        let ask = run
            .and_then(ActiveRun::approval)
            .map(|approval| &*approval.ask);
        let (location, ask) = (location.unwrap_or_default(), ask.unwrap_or_default());
        let message = texts::approval_requested(&location, ask, code);
        out.notify(Severity::Warning, message);
    }

    /// Does what follows from every event of a kind, whatever else it means.
    fn on_activity(&mut self, activity: Activity, out: &mut Effects) {
        match activity {
            Activity::Starts | Activity::CallsTool | Activity::Continues => {
                self.driver.triggers.set_busy();
            }
            Activity::Stops => self.driver.triggers.set_idle(out.now()),
            Activity::CallsStep | Activity::IsAddressed => {}
        }
        if activity == Activity::Starts {
            let why = "the agent continued before you answered";
            self.checkpoints
                .cancel_question(why, &mut self.driver.questions, out);
        }
        if activity != Activity::Continues {
            self.driver.auto_continue.cancel_countdown(out);
        }
        if matches!(activity, Activity::CallsTool | Activity::CallsStep) {
            self.driver.auto_continue.on_tool_used();
        }
    }

    /// A message of the user cancels the countdown, resets the counters, and resumes a paused run, except one that waits
    /// for an approval. It answers the agent that asks to cancel, so that question is withdrawn.
    fn on_user_message(&mut self, out: &mut Effects) {
        self.on_activity(Activity::IsAddressed, out);
        self.driver.withdraw_cancel_question(out);
        self.driver.auto_continue.forget_reminder();
        if let Some(run) = &mut self.driver.run {
            run.reset_counters(out);
        }
    }

    fn on_trigger(&mut self, text: String, out: &mut Effects) -> TriggerOutcome {
        match self.driver.triggers.accept(text, out.now()) {
            Accepted::Send(text) => {
                self.driver.wake_agent(text, out);
                TriggerOutcome::Delivered
            }
            Accepted::Queued => TriggerOutcome::Queued,
            Accepted::Refused => TriggerOutcome::Refused,
        }
    }

    fn on_question_timeout(
        &mut self,
        question: QuestionId,
        topic: QuestionTopic,
        out: &mut Effects,
    ) {
        let notice = self.driver.questions.timeout_notice(question);
        match topic {
            QuestionTopic::Start => self.starts.end_question(question, notice, out),
            QuestionTopic::ToolCall => {
                self.driver.calls.end_question(question, TIMED_OUT, out);
                self.driver.count_blocked();
            }
            QuestionTopic::Trust | QuestionTopic::Approval => {
                self.driver.with_exit(
                    |exit, context, out| exit.on_timeout(context, out.now()),
                    out,
                );
            }
            QuestionTopic::StartTrust => self.driver.start_trust.on_answer(false, out),
            QuestionTopic::Move => {
                let notice = notice.unwrap_or_default();
                self.driver.controls.end_question(question, notice, out);
            }
            QuestionTopic::Restore => self.checkpoints.end_question(notice, out),
            QuestionTopic::Triggers => self.driver.triggers.decline(TIMED_OUT, out),
            QuestionTopic::ChangedFiles => self.changed_files.on_timeout(notice, out),
            // The run stays paused: an agent that goes on could ask again and again.
            QuestionTopic::Cancel => {
                let notice = notice.unwrap_or_default();
                let message = format!("{notice} The agent waits: any message resumes it.");
                out.notify(Severity::Info, message);
            }
        }
    }

    /// Ends everything that belongs to the session as it was, and answers every pending request.
    fn leave_session(&mut self, out: &mut Effects) {
        self.driver.auto_continue.cancel_countdown(out);
        self.driver.cancel_exit("the session ended", out);
        self.driver.cancel_confirmations(out);
        self.checkpoints.detach_restore(out);
        self.driver.run = None;
        self.driver.turn_moved = None;
        self.driver.auto_continue.forget_reminder();
        self.driver.sent_context = SentContext::default();
        self.driver.calls.forget_denials();
        let open: Vec<_> = self.driver.questions.open().collect();
        for (question, topic) in open {
            self.driver.questions.close(question, out);
            match topic {
                QuestionTopic::Start => self.starts.end_question(question, None, out),
                QuestionTopic::ToolCall => {
                    self.driver
                        .calls
                        .end_question(question, "the session ended", out);
                }
                QuestionTopic::Restore => self.checkpoints.end_question(None, out),
                QuestionTopic::Triggers => self.driver.triggers.forget_question(),
                QuestionTopic::ChangedFiles => self.changed_files.forget_question(),
                QuestionTopic::Trust
                | QuestionTopic::StartTrust
                | QuestionTopic::Approval
                | QuestionTopic::Move
                | QuestionTopic::Cancel => {}
            }
        }
    }
}
