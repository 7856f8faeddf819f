//! The life of a session: it is opened over its entries, gets other settings, is remembered by another process, and ends.

use super::Session;
use super::checkpoints::Checkpoints;
use super::context::SentContext;
use super::door::Door;
use super::memory::Memory;
use super::questions::Unanswered;
use super::run::ActiveRun;
use crate::definition::Loaded;
use crate::effect::Action;
use crate::event::Entry;
use crate::reminders::PauseReason;
use crate::run::restore;
use crate::types::Severity;

impl Session {
    /// Handles the start, a switch or a move of the session. The entries are its branch, oldest first: whatever was in
    /// memory is replaced by them.
    pub fn handle_session(&mut self, entries: &[Entry<'_>], loaded: &Loaded) {
        let approval = self.run.as_ref().and_then(ActiveRun::approval_key);
        let before = self.run.clone();
        self.leave_session();
        self.checkpoints.adopt(entries);
        self.door = Door::of(entries);
        let mut restored = restore(entries);
        self.out.diagnostics.clone_from(&loaded.diagnostics);
        self.out.diagnostics.append(&mut restored.diagnostics);
        let is_of_later_version = restored.is_of_later_version;
        let (trusts, problems) = (self.host.trusts_project(), &mut self.out.diagnostics);
        self.run = ActiveRun::restore(restored, before.as_ref(), loaded, trusts, problems);
        self.adopt_settings(&loaded.settings);
        if let Some(run) = &mut self.run {
            run.persist_definition(&mut self.out);
            if is_of_later_version && run.is_active() && !run.is_paused() {
                run.pause(PauseReason::LaterVersion, &mut self.out);
            }
        }
        let moves = std::mem::replace(&mut self.is_restored, true);
        self.switch_approval(approval, moves);
        if let Some(run) = &self.run {
            run.make_up_for_baseline(&mut self.out);
        }
        self.problems.show(&self.settings, &mut self.out);
        let phase = self.run.as_ref().and_then(ActiveRun::phase);
        self.host.change_run(phase, &mut self.out);
        self.set_status();
        self.ask_about_changed_files();
        self.watch_triggers();
        self.triggers.set_idle(self.out.now());
    }

    /// Tells the user which run the session continues, if it does.
    pub fn announce_resumed_run(&self) -> Option<Action> {
        let (run, status) = (self.run.as_ref()?, self.status()?);
        let task = &run.state().task_description;
        let begins = if run.is_paused() {
            "This session has a workflow"
        } else {
            "▶ The workflow continues"
        };
        Some(Action::notify(
            Severity::Info,
            format!("{begins}: {status}\n{task}"),
        ))
    }

    /// Continues with the changed files alone, to which the user agreed.
    pub(super) fn adopt_changed_files(&mut self) {
        if let Some(run) = &mut self.run {
            run.adopt_files(&self.settings, &mut self.out);
        }
        let cause = "the guards of the run changed";
        self.cancel_exit(cause);
        self.cancel_pending_calls(cause);
        self.sent_context.leave_phase();
        self.out.set_status(self.status());
    }

    /// Handles the end of the session.
    pub fn handle_shutdown(&mut self) {
        self.leave_session();
        self.host.shut_down();
        self.triggers.shut_down(&mut self.out);
        self.checkpoints = Checkpoints::default();
    }

    /// Handles changed settings, which apply at once, in a run as well.
    pub fn handle_settings(&mut self, loaded: &Loaded) {
        if loaded.settings == self.settings {
            // The session may be in another directory now, for which the paths of rules are compiled anew.
            self.call_guard.adopt_settings(&self.settings);
            if let Some(run) = &mut self.run {
                run.resolve(&self.settings);
            }
            return;
        }
        let missed = self.misses_settings();
        let triggers = std::mem::take(&mut self.settings.triggers);
        self.out.diagnostics.clone_from(&loaded.diagnostics);
        if let Some(run) = &mut self.run {
            let trusted = self.host.trusts_project();
            run.adopt_settings(&loaded.settings, trusted, &mut self.out.diagnostics);
            run.persist_definition(&mut self.out);
        }
        self.adopt_settings(&loaded.settings);
        self.cancel_pending_calls("the settings changed");
        self.problems.show(&self.settings, &mut self.out);
        if missed && !self.misses_settings() {
            self.out
                .inform("[workflow] The settings can be read again and are in force.");
        }
        self.ask_about_changed_files();
        if triggers != self.settings.triggers {
            self.watch_triggers();
        }
    }

    /// The data that the session remembers beside its entries.
    pub fn memory(&self) -> Memory {
        let run = self.run.as_ref();
        Memory {
            run: run.map(ActiveRun::memory).unwrap_or_default(),
            sent_context: self.sent_context.clone(),
            reminded: self.auto_continue.reminded.clone(),
            repeated: self.call_guard.repeated.clone(),
            last_shown: self.last_shown.clone(),
            prompt: self.door.prompt.clone(),
        }
    }

    /// Adopts the memory of another process, after [`Session::handle_session`] has restored the entries.
    pub fn recall(&mut self, memory: Memory) {
        self.call_guard.repeated = memory.repeated;
        self.last_shown = memory.last_shown;
        self.door.prompt = memory.prompt;
        let run = self.run.as_mut();
        if run.is_some_and(|run| run.recall(memory.run)) {
            self.sent_context = memory.sent_context;
            self.auto_continue.reminded = memory.reminded;
        }
    }

    /// Ends everything that belongs to the session as it was, and answers every pending request.
    fn leave_session(&mut self) {
        self.auto_continue.cancel_countdown(&mut self.out);
        self.cancel_exit("the session ended");
        self.cancel_confirmations();
        self.checkpoints.detach_restore(&mut self.out);
        self.run = None;
        self.turn_moved = None;
        self.auto_continue.reminded = None;
        self.sent_context = SentContext::default();
        self.call_guard.repeated = None;
        for topic in self.questions.close_all(|_| true, &mut self.out) {
            self.end_question(topic, Unanswered::SessionEnded);
        }
    }
}
