//! [`Session`]: composes the parts of a session.
//!
//! Each part is a module that owns its state and does not know the session. A part takes what it needs as arguments,
//! adds to [`Effects`], and returns an outcome that the session acts on. This file has what can happen and which part is
//! asked; `lifecycle` opens and ends the session, `starting` starts a run, `moves` moves it, `exiting` leaves a phase, `approving` asks the user before it,
//! `shown` is what others see of it, `answers` asks and acts on answers, `workflow_step` does what the agent asks for, and `user` what the user does.

pub(crate) mod announcement;
mod answers;
mod approving;
mod auto_continue;
mod budget;
mod call_guard;
mod checkpoints;
pub(crate) mod commands;
mod context;
mod controls;
mod door;
mod exiting;
mod handover;
mod host;
mod ids;
pub(crate) mod inputs;
mod last_shown;
mod lifecycle;
mod limits;
mod memory;
mod moves;
pub(crate) mod phase;
mod phase_exit;
mod phase_line;
pub(crate) mod phase_texts;
mod problems;
mod questions;
mod run;
mod shown;
mod starting;
mod step_answers;
mod triggers;
mod trust;
mod user;
mod workflow_step;

use std::sync::Arc;

use serde_json::value::RawValue;

use self::auto_continue::AutoContinue;
use self::budget::Budgets;
use self::call_guard::{CANNOT_ASK, CallGuard, CallVerdict, blocked};
use self::checkpoints::Checkpoints;
use self::context::SentContext;
use self::door::Door;
use self::host::Host;
use self::ids::Ids;
pub use self::ids::task_id;
use self::last_shown::LastShown;
use self::phase_exit::PhaseExit;
use self::problems::ShownProblems;
use self::questions::{QuestionTable, Topic, Unanswered};
use self::run::{ActiveRun, approval_not_stored};
use self::triggers::TriggerQueue;
use crate::definition::{Checkpoint, Loaded, Settings, Target};
use crate::effect::{
    Action, Delivery, Effects, Message, Mutation, Question, Reply, ToolDecision, TriggerOutcome,
};
use crate::event::{Author, LastAssistant, PlatformEvent};
use crate::policy::STEP_TOOL;
use crate::policy::rules::Call;
use crate::reminders::PauseReason;
use crate::run::{ReachedLimit, cancel};
use crate::types::{Millis, RequestId, Severity};
use crate::white_space;

pub use self::approving::GATE_VALID_FOR;
pub use self::budget::TurnUsage;
pub use self::checkpoints::StoredCheckpoint;
pub use self::commands::complete;
pub use self::controls::Control;
pub use self::handover::StepCall;
pub use self::host::Abilities;
pub use self::memory::Memory;
pub use self::phase::{Breadcrumb, ResolvedPhase, result_levels};
pub use self::questions::dismissed;
pub use self::shown::View;
pub use self::trust::project_gate_commands;
pub use crate::condition::{Needed, RunCondition};

/// One session of a host: events go in, effects come out.
///
/// Reads no clock, no file and no randomness; starts nothing and waits for nothing. The caller gives every event with its
/// time to [`Session::at`], and calls [`Session::poll_deadline`] when [`Session::deadline`] is due.
#[derive(Debug, Clone)]
pub struct Session {
    host: Host,
    settings: Settings,
    ids: Ids,
    run: Option<ActiveRun>,
    /// True once entries were restored: later ones come from a move, and may have answers that were used.
    is_restored: bool,
    /// True if the response in progress has moved the run; `None` between responses.
    turn_moved: Option<bool>,
    questions: QuestionTable,
    last_shown: LastShown,
    exit: PhaseExit,
    call_guard: CallGuard,
    door: Door,
    auto_continue: AutoContinue,
    sent_context: SentContext,
    triggers: TriggerQueue,
    checkpoints: Checkpoints,
    problems: ShownProblems,
    /// What must be done because of the event in progress.
    out: Effects,
}

impl Session {
    /// A session without a run. The seed determines its ids.
    pub fn new(abilities: Abilities, seed: u64) -> Self {
        Self {
            host: Host::new(abilities),
            settings: Settings::default(),
            ids: Ids::new(seed),
            run: None,
            is_restored: false,
            turn_moved: None,
            questions: QuestionTable::new(abilities),
            last_shown: LastShown::default(),
            exit: PhaseExit::default(),
            call_guard: CallGuard::new(abilities.consents),
            door: Door::default(),
            auto_continue: AutoContinue::default(),
            sent_context: SentContext::default(),
            triggers: TriggerQueue::default(),
            checkpoints: Checkpoints::default(),
            problems: ShownProblems::default(),
            out: Effects::default(),
        }
    }

    /// Handles an event that happens now. Returns its result, and everything that must be done because of it.
    pub fn at<T>(&mut self, now: Millis, event: impl FnOnce(&mut Self) -> T) -> (T, Effects) {
        self.out = Effects::at(now);
        let result = event(self);
        (result, std::mem::take(&mut self.out))
    }

    /// Numbers gate runs and restores after this one, so that late reports about another session's do not match.
    pub fn number_jobs_after(&mut self, number: u64) {
        self.ids.jobs = number;
    }

    /// Sets whether the host has an interface now.
    pub fn set_has_ui(&mut self, has_ui: bool) {
        self.host.has_ui = Some(has_ui);
    }

    /// Sets whether the user trusts the project now, according to the host or to the user's trust in its commands.
    pub fn set_project_trusted(&mut self, trusted: bool) {
        self.host.project_trusted = Some(trusted);
    }

    /// Returns true if a rule in force may depend on tools' arguments or results, and not on their names alone. The built-in
    /// rule does not count: see [`Session::denials`].
    pub fn looks_at_payload(&self) -> bool {
        self.call_guard.looks_at_payload(self.phase())
    }

    /// The number of calls that rules denied or referred to a person because of their arguments.
    pub fn denials(&self) -> u64 {
        self.call_guard.denials
    }

    /// Returns true if the settings have rules on tools, which apply without a run as well.
    pub fn is_guarded(&self) -> bool {
        self.call_guard.is_guarded()
    }

    /// Returns true if a settings file could not be read as it is, so that it should be read again.
    pub fn misses_settings(&self) -> bool {
        !self.settings.are_loaded()
    }

    /// The time at which [`Session::poll_deadline`] is due next.
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
    pub fn poll_deadline(&mut self) {
        // A message of a trigger comes before a reminder, and cancels its countdown.
        self.wake_agent();
        if self.auto_continue.poll_deadline(&mut self.out) {
            let (run, sent) = (self.run.as_mut(), &self.sent_context);
            if let Some(text) = self.auto_continue.remind(run, sent, &mut self.out) {
                self.send_to_agent(text, None);
            }
        }
        for (topic, notice) in self.questions.close_overdue(&mut self.out) {
            self.end_question(topic, Unanswered::TimedOut(&notice));
        }
        self.checkpoints.poll_deadline(&mut self.out);
        self.refresh_status();
    }

    /// Handles the replacement of a conversation's older messages by a summary.
    pub fn handle_compaction(&mut self) {
        self.sent_context = SentContext::default();
    }

    /// Handles a prompt that the agent is about to start on. Returns the context message of the phase.
    pub fn handle_before_agent_start(&mut self, prompt: Option<&str>) -> Option<Message> {
        self.on_work_begun();
        self.note_prompt(prompt);
        self.forget_first_cancel();
        self.turn_moved = None;
        // Work whose end was not reported does not count.
        self.with_run(|run, _| run.budgets.work = None);
        let run = self.run.as_ref();
        if !self.auto_continue.starts_on_reminder(prompt, run) {
            self.on_user_message();
        }
        self.refresh_status();
        self.context_message()
    }

    /// Handles the start of the agent.
    pub fn handle_agent_start(&mut self) {
        self.checkpoints.end_prompt();
        self.on_work_begun();
        self.spend(|_| {});
        self.follow_budget();
    }

    /// Handles the start of one response of the model; `index` is its number, as the host counts.
    pub fn handle_turn_start(&mut self, index: Option<u64>) {
        self.on_work_begun();
        let phase = self.phase();
        let checkpoint = phase.map_or(self.settings.checkpoint, |phase| phase.checkpoint);
        if checkpoint == Some(Checkpoint::Git) {
            let trusted = self.host.trusts_project();
            self.checkpoints.record(index, trusted, &mut self.out);
        }
        self.turn_moved = Some(false);
        self.spend(|_| {});
        self.follow_budget();
        // A message to a busy agent reaches it between two responses.
        self.mark_phase_read();
    }

    /// Handles the end of one response of the model (hook-lifecycle: "updateStatus").
    ///
    /// A first `cancel` survives this: the model can confirm only in its next response (A03).
    pub fn handle_turn_end(&mut self, usage: TurnUsage) {
        self.triggers.set_busy();
        let count = |budgets: &mut Budgets| budgets.count_turn(usage);
        self.spend(count);
        self.follow_budget();
        if let Some(run) = &mut self.run {
            run.persist_spending(&mut self.out);
            run.persist_tally(&mut self.out);
        }
        self.turn_moved = None;
        self.set_status();
    }

    /// Handles the end of the agent's work: announces the end of the run, or reminds the agent to continue.
    pub fn handle_agent_end(&mut self, last: Option<LastAssistant<'_>>) -> Mutation {
        self.triggers.set_idle(self.out.now());
        self.auto_continue.cancel_countdown(&mut self.out);
        self.checkpoints.end_prompt();
        self.forget_first_cancel();
        // A person's command continues without the agent.
        if !self.exit.is_by_user() {
            self.cancel_exit("the agent stopped");
        }
        self.turn_moved = None;
        if last.is_some_and(|last| last.stop_reason == Some("aborted")) {
            self.sent_context.forget_step_answer();
        }
        let Some(run) = &mut self.run else {
            return Mutation::default();
        };
        if !run.is_active() {
            return self.announce_end();
        }
        run.stop_clock(&mut self.out);
        let reached = self
            .auto_continue
            .on_agent_stopped(last, run, &self.host, &mut self.out);
        let is_users = run.is_cancelled_by_user();
        let ends = |limit: &ReachedLimit| limit.to == Target::Cancel && !is_users;
        let Some(ReachedLimit { why, .. }) = reached.clone().filter(ends) else {
            if let Some(text) = reached.and_then(|limit| self.follow_limit(&limit)) {
                if self.active().is_none() {
                    return self.announce_end();
                }
                self.send_to_agent(text, None);
            }
            self.refresh_status();
            if self.host.abilities.awaits_reminder {
                self.poll_deadline();
            }
            return Mutation::default();
        };
        run.clear_approval(&mut self.out);
        run.end(cancel(run.state()));
        let mutation = self.announce_end();
        self.out.warn(format!("The workflow was cancelled: {why}."));
        mutation
    }

    /// Handles a tool call. `definitions` are what can be started if only the lack of a run stops it.
    pub fn handle_tool_call(
        &mut self,
        request: RequestId,
        call: &Call<'_>,
        definitions: Option<&Arc<Loaded>>,
    ) {
        self.triggers.set_busy();
        self.auto_continue.on_tool_used(&mut self.out);
        match self.judge(request, call) {
            CallVerdict::AtDoor(pending, cause, question) => {
                self.at_door(call, pending, &cause, question, definitions);
            }
            verdict => self.follow(request, verdict),
        }
    }

    /// Decides about a call by the rules in force, and counts it against the budgets.
    fn judge(&mut self, request: RequestId, call: &Call<'_>) -> CallVerdict {
        if call.tool() != STEP_TOOL
            && !call.is_part()
            && let Some(used_up) = self.spend(Budgets::count_call)
        {
            let reached = self.run.as_ref().and_then(|run| run.budgets.reached());
            let elsewhere = reached.filter(|limit| limit.to != Target::Pause);
            let text = elsewhere.and_then(|limit| self.follow_limit(&limit));
            let reason = text.unwrap_or_else(|| budget::blocked(&used_up));
            return blocked(reason);
        }
        self.call_guard.is_at_door = self.is_in_force();
        let run = self.run.as_ref();
        let phase = run.and_then(ActiveRun::phase);
        let allowed = run.map(ActiveRun::allowed).filter(|all| !all.is_empty());
        let cannot_ask = self.questions.cannot_ask(CANNOT_ASK);
        let guard = &mut self.call_guard;
        let verdict = guard.on_call(request, call, phase, allowed, cannot_ask, &mut self.out);
        if let CallVerdict::Decided(ToolDecision::Allow) = verdict
            && self.with_run(|run, _| run.forget_unasked(call)) == Some(true)
        {
            self.refresh_status();
        }
        verdict
    }

    /// Answers a call, or asks the user about it.
    fn follow(&mut self, request: RequestId, verdict: CallVerdict) {
        match verdict {
            CallVerdict::Decided(decision) => {
                if let ToolDecision::Block(_) = decision {
                    self.count_blocked();
                }
                self.out.reply(request, Reply::ToolCall(decision));
            }
            CallVerdict::Ask(question, pending) => {
                self.out.asked.push(pending.asked(None));
                self.ask(Topic::ToolCall(pending), question);
                self.refresh_status();
            }
            CallVerdict::Unasked(decision, unasked) => {
                self.with_run(|run, _| run.memory.unasked = Some((run.step(), unasked)));
                self.follow(request, CallVerdict::Decided(decision));
                self.refresh_status();
            }
            CallVerdict::AtDoor(pending, ..) => self.follow(request, blocked(pending.reason)),
        }
    }

    /// Asks the user a question.
    fn ask(&mut self, topic: Topic, question: Question) {
        self.questions.ask(topic, question, &mut self.out);
    }

    /// The run, if it is active.
    fn active(&self) -> Option<&ActiveRun> {
        self.run.as_ref().filter(|run| run.is_active())
    }

    /// Handles the result of a tool. Returns the content that the model reads instead.
    pub fn handle_tool_result(
        &mut self,
        tool: &str,
        content: Option<&RawValue>,
        is_error: bool,
    ) -> Option<Box<RawValue>> {
        self.triggers.set_busy();
        let without_run = &self.call_guard.results;
        let results = self.phase().map_or(without_run, |phase| &phase.results);
        let content = results.apply(tool, content?, is_error)?;
        if tool == STEP_TOOL {
            self.sent_context.forget_step_answer();
        }
        Some(content)
    }

    /// Handles a submitted text.
    pub fn handle_user_input(&mut self, author: Option<Author>) {
        match author {
            Some(Author::Extension) => {}
            Some(Author::Typist) => {
                self.auto_continue.hold(&mut self.out);
                self.auto_continue.reminded = None;
                self.refresh_status();
            }
            Some(Author::User) => {
                self.on_user_message();
                self.refresh_status();
            }
            // It may be a reminder, which must not reset the counters; the start of the agent on it decides.
            None => self.auto_continue.cancel_countdown(&mut self.out),
        }
    }

    /// Handles a command that controls the run; `arguments` is the text after the command's name.
    pub fn handle_control(&mut self, request: RequestId, control: Control, arguments: &str) {
        let outcome = self.control(request, control, white_space::trim(arguments));
        controls::end_command(request, None, outcome, &mut self.out);
        self.refresh_status();
    }

    /// The proposals for the argument of a command that controls the run: the value and a description of each.
    pub fn complete_control(&self, control: Control, prefix: &str) -> Vec<(String, String)> {
        controls::complete(control, self.active(), prefix)
    }

    /// Handles a report of the platform. Returns the outcome of a trigger's message.
    pub fn handle_platform_event(&mut self, event: PlatformEvent) -> Option<TriggerOutcome> {
        let shows_widgets = self.host.shows_widgets();
        match event {
            PlatformEvent::BaselineTaken { baseline, start } => {
                self.with_run(|run, out| run.on_baseline_taken(baseline, start, out));
            }
            PlatformEvent::ChangeMeasured { start, change } => {
                self.on_change_measured(start, change);
            }
            PlatformEvent::CommandsNotTrusted => {
                self.ask_start_trust(self.questions.can_ask());
            }
            PlatformEvent::GateNotTrusted { gate } => self.on_gate_not_trusted(gate),
            PlatformEvent::GateProgress { gate, text } => {
                if shows_widgets {
                    self.exit.on_gate_progress(gate, &text, &mut self.out);
                }
            }
            PlatformEvent::GateFinished { gate, reports } => self.on_gate_finished(gate, reports),
            PlatformEvent::ApprovalRequested { proofs, code } => {
                self.with_run(|run, out| run.prove_approval(proofs, out));
                self.show_code(&code);
            }
            PlatformEvent::ApprovalNotStored { reason } => {
                self.out
                    .notify(Severity::Error, approval_not_stored(&reason));
            }
            PlatformEvent::ApprovalRead {
                decision,
                is_outdated,
            } => self.on_approval_read(decision, is_outdated),
            PlatformEvent::ApprovalAnswered {
                request,
                choice,
                is_earlier,
            } => self.on_approval_answered(&request, choice, is_earlier),
            PlatformEvent::Ordered(order) => self.on_order(order),
            PlatformEvent::CheckpointRecorded { snapshot } => {
                let task = self.active().map(|run| run.state().task_id.clone());
                self.checkpoints.on_recorded(snapshot, task, &mut self.out);
            }
            PlatformEvent::CheckpointFailed { error } => {
                self.checkpoints.on_failed(error, &mut self.out);
            }
            PlatformEvent::RestoreProgress { restore, text } => {
                self.checkpoints
                    .on_progress(restore, &text, shows_widgets, &mut self.out);
            }
            PlatformEvent::CodeRestored { restore, outcome } => {
                self.checkpoints
                    .on_restored(restore, &outcome, &mut self.out);
            }
            PlatformEvent::TriggersWatched { report } => self.on_triggers_watched(&report),
            PlatformEvent::Triggered { text } => {
                let outcome = self.triggers.accept(text, self.out.now());
                if outcome == TriggerOutcome::Delivered {
                    self.wake_agent();
                }
                return Some(outcome);
            }
        }
        self.refresh_status();
        None
    }

    /// Notes that the agent begins to work.
    fn on_work_begun(&mut self) {
        self.triggers.set_busy();
        self.withdraw_restore_question("the agent continued before you answered");
        self.auto_continue.cancel_countdown(&mut self.out);
    }

    /// A message of the user cancels the countdown, resets the counters, and resumes a paused run, except one that waits
    /// for an approval. It answers the agent that asks to cancel, so that question is withdrawn.
    fn on_user_message(&mut self) {
        self.auto_continue.cancel_countdown(&mut self.out);
        self.questions.close_all(Topic::is_cancel, &mut self.out);
        self.auto_continue.reminded = None;
        self.with_run(ActiveRun::reset_counters);
    }

    /// Has the run do something, if there is one.
    fn with_run<T>(&mut self, act: impl FnOnce(&mut ActiveRun, &mut Effects) -> T) -> Option<T> {
        Some(act(self.run.as_mut()?, &mut self.out))
    }

    /// The phase, if a run is active and fits its definitions.
    fn phase(&self) -> Option<&ResolvedPhase> {
        self.run.as_ref()?.phase()
    }

    /// Counts what the agent does, and pauses the run at the limit of a budget. Returns the limit if it was used up before.
    fn spend(&mut self, count: impl FnOnce(&mut Budgets)) -> Option<String> {
        let run = self.run.as_mut().filter(|run| run.is_active())?;
        let was_paused = run.is_paused_for(PauseReason::Budget);
        let used_up = run.spend(count, &mut self.out);
        if run.is_paused_for(PauseReason::Budget) != was_paused {
            self.refresh_status();
        }
        used_up
    }

    /// Counts a call that was blocked or refused.
    fn count_blocked(&mut self) {
        self.with_run(|run, _| run.memory.tally.count_blocked());
    }

    /// Notes that the agent has had the chance to read the phase.
    fn mark_phase_read(&mut self) {
        self.with_run(|run, _| run.mark_read());
    }

    /// A first `cancel` is forgotten unless the second follows.
    fn forget_first_cancel(&mut self) {
        self.with_run(|run, _| run.memory.cancel_pending = false);
    }

    /// Sends a message to the agent in the user's name.
    fn send_to_agent(&mut self, content: String, deliver_as: Option<Delivery>) {
        self.triggers.set_waking(self.out.now());
        let has_door = self.call_guard.has_door();
        self.door.sent = has_door.then(|| content.clone());
        self.out.act(Action::SendUserMessage {
            content,
            deliver_as,
        });
    }

    /// Sends the next trigger's message to an idle agent. It counts as a message of the user: the countdown is cancelled.
    fn wake_agent(&mut self) {
        if let Some(text) = self.triggers.next(self.out.now()) {
            self.auto_continue.cancel_countdown(&mut self.out);
            self.send_to_agent(text, Some(Delivery::FollowUp));
        }
    }

    fn adopt_settings(&mut self, settings: &Settings) {
        self.call_guard.adopt_settings(settings);
        self.questions.adopt_timeout(settings.question_timeout);
        self.settings = settings.clone();
    }

    fn watch_triggers(&mut self) {
        let (triggers, is_headless) = (&self.settings.triggers, self.host.is_headless());
        self.triggers.watch(triggers, is_headless, &mut self.out);
    }
}
