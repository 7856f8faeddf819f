//! The life of a session: it is opened over its entries, gets other settings, is remembered by another process, and ends.

use super::Session;
use super::checkpoints::Checkpoints;
use super::context::SentContext;
use super::memory::Memory;
use super::questions::Unanswered;
use super::run::ActiveRun;
use crate::definition::Loaded;
use crate::effect::Effects;
use crate::event::Entry;
use crate::reminders::PauseReason;
use crate::run::restore;

impl Session {
    /// Handles the start, a switch or a move of the session. The entries are its branch, oldest first: whatever was in
    /// memory is replaced by them.
    pub fn handle_session(&mut self, entries: &[Entry<'_>], loaded: &Loaded, out: &mut Effects) {
        let approval = self.run.as_ref().and_then(ActiveRun::approval_key);
        let before = self.run.clone();
        self.leave_session(out);
        self.checkpoints.adopt(entries);
        let mut restored = restore(entries);
        out.diagnostics.clone_from(&loaded.diagnostics);
        out.diagnostics.append(&mut restored.diagnostics);
        let is_of_later_version = restored.is_of_later_version;
        let (trusts, problems) = (self.host.trusts_project(), &mut out.diagnostics);
        self.run = ActiveRun::restore(restored, before.as_ref(), loaded, trusts, problems);
        self.adopt_settings(&loaded.settings);
        if let Some(run) = &mut self.run {
            run.persist_definition(out);
            if is_of_later_version && run.is_active() && !run.is_paused() {
                run.pause(PauseReason::LaterVersion, out);
            }
        }
        let actor = self.actor();
        ActiveRun::switch_approval(approval, self.run.as_ref(), actor, out);
        if let Some(run) = &self.run {
            run.make_up_for_baseline(out);
        }
        self.problems.show(&self.settings, out);
        let phase = self.run.as_ref().and_then(ActiveRun::phase);
        self.host.change_run(phase, out);
        self.set_status(out);
        self.ask_about_changed_files(out);
        self.watch_triggers(out);
        self.triggers.set_idle(out.now());
    }

    /// Tells the user which run the session continues, if it does.
    pub fn announce_resumed_run(&self, out: &mut Effects) {
        let run = self.run.as_ref();
        let task = run.map_or("", |run| &run.state().task_description);
        if let (Some(run), Some(status)) = (run, self.status()) {
            let begins = if run.is_paused() {
                "This session has a workflow"
            } else {
                "▶ The workflow continues"
            };
            out.inform(format!("{begins}: {status}\n{task}"));
        }
    }

    /// Continues with the changed files alone, to which the user agreed.
    pub(super) fn adopt_changed_files(&mut self, out: &mut Effects) {
        if let Some(run) = &mut self.run {
            run.adopt_files(&self.settings, out);
        }
        let cause = "the guards of the run changed";
        self.cancel_exit(cause, out);
        self.cancel_pending_calls(cause, out);
        self.sent_context.leave_phase();
        out.set_status(self.status());
    }

    /// Handles the end of the session.
    pub fn handle_shutdown(&mut self, out: &mut Effects) {
        self.leave_session(out);
        self.host.shut_down();
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
        out.diagnostics.clone_from(&loaded.diagnostics);
        if let Some(run) = &mut self.run {
            let trusted = self.host.trusts_project();
            run.adopt_settings(&loaded.settings, trusted, &mut out.diagnostics);
            run.persist_definition(out);
        }
        self.adopt_settings(&loaded.settings);
        self.cancel_pending_calls("the settings changed", out);
        self.problems.show(&self.settings, out);
        if missed && !self.misses_settings() {
            out.inform("[workflow] The settings can be read again and are in force.");
        }
        self.ask_about_changed_files(out);
        if triggers != self.settings.triggers {
            self.watch_triggers(out);
        }
    }

    /// The data that the session remembers beside its entries.
    #[must_use]
    pub fn memory(&self) -> Memory {
        let run = self.run.as_ref();
        Memory {
            run: run.map(ActiveRun::memory).unwrap_or_default(),
            sent_context: self.sent_context.clone(),
            reminded: self.auto_continue.reminded(),
            repeated: self.calls.repeated(),
        }
    }

    /// Adopts the memory of another process, after [`Session::handle_session`] has restored the entries.
    pub fn recall(&mut self, memory: Memory) {
        self.calls.recall(memory.repeated);
        let run = self.run.as_mut();
        if run.is_some_and(|run| run.recall(memory.run)) {
            self.sent_context = memory.sent_context;
            self.auto_continue.recall(memory.reminded);
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
        for topic in self.questions.close_all(|_| true, out) {
            self.end_question(topic, Unanswered::SessionEnded, out);
        }
    }
}
