//! The workflows that no run reaches: what is wrong with them is told once they have been read.
//!
//! A session begins with what its run reaches. Of the others only what is wrong with them is wanted: who starts one, or
//! lists them, has all of them read anew. So they are read when sessions have begun and it is quiet, beside the
//! thread that answers, and forgotten; or at once, where the session ends before. Owns when, and for whom.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use workflow_core::Input;
use workflow_core::definition::{Loaded, Needed};
use workflow_core::diagnostic::Diagnostic;

use super::definitions::Loader;
use super::server::Server;

/// How long no session may have begun.
const QUIET: Duration = Duration::from_millis(100);

/// What a session waits for.
#[derive(Debug)]
pub(super) struct Awaited {
    /// The later it began to wait, the higher.
    number: u64,
    cwd: PathBuf,
    needed: Needed,
    /// What was told already.
    told: Vec<Diagnostic>,
}

/// When others are to be read, and how many sessions ever waited for it.
#[derive(Debug, Default)]
pub(super) struct Schedule {
    due: Option<Instant>,
    last: u64,
}

impl Schedule {
    pub(super) fn due_in(&self) -> Option<Duration> {
        Some(self.due?.saturating_duration_since(Instant::now()))
    }
}

/// The reading of all workflows, for every session that waits for the same.
#[derive(Debug)]
pub(super) struct Reading {
    loader: Arc<dyn Loader>,
    agent_dir: PathBuf,
    cwd: PathBuf,
    needed: Needed,
    /// Who begins to wait later waits for another.
    last: u64,
}

impl Reading {
    /// Reads, asking before each workflow whether to go on. A panic costs what would have been told, and no more.
    pub(super) fn read(&self, go_on: &mut dyn FnMut() -> bool) -> Option<Loaded> {
        let read = || {
            self.loader
                .load_while(&self.agent_dir, &self.cwd, &self.needed, go_on)
        };
        let loaded = catch_unwind(AssertUnwindSafe(read));
        if loaded.is_err() {
            tracing::error!("workflows that no run reaches could not be read");
        }
        loaded.ok()
    }

    fn is_for(&self, awaited: &Awaited) -> bool {
        awaited.number <= self.last && awaited.cwd == self.cwd && awaited.needed == self.needed
    }
}

impl Server {
    /// A session waits for what is wrong with the workflows it did not read, beyond this.
    pub(super) fn await_others(&mut self, id: &str, told: Vec<Diagnostic>) {
        let Some(cwd) = self.directory(id) else {
            return;
        };
        let Some(slot) = self.sessions.get_mut(id) else {
            return;
        };
        self.others.last += 1;
        slot.others = Some(Awaited {
            number: self.others.last,
            cwd,
            needed: slot.session.needed(),
            told,
        });
        let was_due = self.others.due.replace(Instant::now() + QUIET);
        // Who waits for an earlier time looks again then.
        if was_due.is_none() {
            self.due_changed();
        }
    }

    /// What is to be read now, if anything is.
    pub(super) fn others_to_read(&mut self) -> Option<Reading> {
        let is_due = |due| due <= Instant::now();
        if !self.others.due.is_some_and(is_due) {
            return None;
        }
        let waiting = self
            .sessions
            .values()
            .filter_map(|slot| slot.others.as_ref());
        let first = waiting.min_by_key(|awaited| awaited.number);
        let reading = first.and_then(|awaited| self.reading_for(awaited));
        if reading.is_none() {
            self.others.due = None;
        }
        reading
    }

    fn reading_for(&self, awaited: &Awaited) -> Option<Reading> {
        Some(Reading {
            loader: Arc::clone(&self.loader),
            agent_dir: self.host.as_ref()?.definitions.agent_dir().to_path_buf(),
            cwd: awaited.cwd.clone(),
            needed: awaited.needed.clone(),
            last: self.others.last,
        })
    }

    /// Whether anybody waits for this still.
    pub(super) fn awaits(&self, reading: &Reading) -> bool {
        let mut waiting = self
            .sessions
            .values()
            .filter_map(|slot| slot.others.as_ref());
        waiting.any(|awaited| reading.is_for(awaited))
    }

    /// Tells every session that waits for it what was found. Without anything found, nobody waits for it any more.
    pub(super) fn others_read(&mut self, reading: &Reading, loaded: Option<&Loaded>) {
        let waits = |id: &&String| {
            let awaited = self.sessions[*id].others.as_ref();
            awaited.is_some_and(|awaited| reading.is_for(awaited))
        };
        let mut ids: Vec<String> = self.sessions.keys().filter(waits).cloned().collect();
        ids.sort_unstable();
        for id in ids {
            let awaited = self
                .sessions
                .get_mut(&id)
                .and_then(|slot| slot.others.take());
            let (Some(Awaited { told, .. }), Some(loaded)) = (awaited, loaded) else {
                continue;
            };
            let diagnostics = beyond(&told, &loaded.diagnostics);
            let output = self.step_session(&id, Input::OthersRead { diagnostics });
            self.apply_and_tell(&id, output.actions, &output.diagnostics);
        }
    }

    /// Has a session that ends told now what it waits for: it was to be told it when it began.
    pub(super) fn read_others_now(&mut self, id: &str) {
        let awaited = self.sessions.get(id).and_then(|slot| slot.others.as_ref());
        if let Some(reading) = awaited.and_then(|awaited| self.reading_for(awaited)) {
            let loaded = reading.read(&mut || true);
            self.others_read(&reading, loaded.as_ref());
        }
    }
}

/// What is found and was not told, each as often as it is missing.
fn beyond(told: &[Diagnostic], found: &[Diagnostic]) -> Vec<Diagnostic> {
    let mut told: Vec<&Diagnostic> = told.iter().collect();
    let is_new = |found: &&Diagnostic| match told.iter().position(|told| told == found) {
        Some(at) => {
            told.swap_remove(at);
            false
        }
        None => true,
    };
    found.iter().filter(is_new).cloned().collect()
}
