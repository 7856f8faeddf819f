//! The workflows that no run reaches: what is wrong with them is told once they have been read.
//!
//! A session begins with what its run reaches. Of the others only what is wrong with them is wanted: who starts one, or
//! lists them, has all of them read anew. So they are read when sessions have begun and it is quiet, on a thread beside
//! those that answer and that wait, and forgotten. Nobody waits for that thread: a session that ends before is told
//! nothing of them. Owns when they are read, and for whom.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use workflow_core::Event;
use workflow_core::definition::{Loaded, Needed};
use workflow_core::diagnostic::Diagnostic;

use super::definitions::Loader;
use super::server::Server;
use super::session::Slot;

/// How long no session may have begun.
const QUIET: Duration = Duration::from_millis(100);
/// How long that is waited for.
const LONGEST: Duration = Duration::from_secs(1);

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
    due: Option<Due>,
    /// Whether they are being read.
    is_read: bool,
    last: u64,
}

#[derive(Debug, Clone, Copy)]
struct Due {
    at: Instant,
    latest: Instant,
}

impl Due {
    /// A session has begun, whoever else waits already.
    fn put_off(before: Option<Self>) -> Self {
        let now = Instant::now();
        let latest = before.map_or(now + LONGEST, |due| due.latest);
        let at = latest.min(now + QUIET);
        Self { at, latest }
    }
}

impl Schedule {
    /// How long it is until they are to be read, unless they are just being read.
    pub(super) fn due_in(&self) -> Option<Duration> {
        let due = self.due.filter(|_| !self.is_read)?;
        Some(due.at.saturating_duration_since(Instant::now()))
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
        let was_due = self.others.due;
        self.others.due = Some(Due::put_off(was_due));
        // Who waits for an earlier time looks again then.
        if was_due.is_none() {
            self.due_changed();
        }
    }

    /// What is to be read now, if anything is: nothing else is until that is over.
    pub(super) fn others_to_read(&mut self) -> Option<Reading> {
        if self.others.due_in() != Some(Duration::ZERO) {
            return None;
        }
        let waiting = self
            .sessions
            .values()
            .filter_map(|slot| slot.others.as_ref());
        let first = waiting.min_by_key(|awaited| awaited.number);
        let reading = first.and_then(|awaited| self.reading_for(awaited));
        match reading {
            Some(_) => self.others.is_read = true,
            None => self.others.due = None,
        }
        reading
    }

    /// Others can be read again.
    pub(super) fn reading_over(&mut self) {
        self.others.is_read = false;
        self.due_changed();
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

    /// Tells a session that waits for it what was found; whether there was one. Without anything found it waits no more.
    pub(super) fn tell_of_others(&mut self, reading: &Reading, loaded: Option<&Loaded>) -> bool {
        let waits = |slot: &Slot| slot.others.as_ref().is_some_and(|it| reading.is_for(it));
        let waiting = self.sessions.iter_mut().find(|(_, slot)| waits(slot));
        let Some((id, slot)) = waiting else {
            return false;
        };
        let id = id.clone();
        if let (Some(Awaited { told, .. }), Some(loaded)) = (slot.others.take(), loaded) {
            let diagnostics = beyond(&told, &loaded.diagnostics);
            let output = self.step_session(&id, Event::OthersRead { diagnostics });
            self.apply_and_tell(&id, output.actions, &output.diagnostics);
        }
        true
    }
}

/// What is found and was not told, each as often as it is missing.
fn beyond(told: &[Diagnostic], found: &[Diagnostic]) -> Vec<Diagnostic> {
    // They stand in the same order, but for what workflows are to each other.
    let mut next = 0;
    let is_new = |found: &&Diagnostic| {
        let is_told = told.get(next) == Some(found);
        next += usize::from(is_told);
        !is_told
    };
    let new: Vec<Diagnostic> = found.iter().filter(is_new).cloned().collect();
    let mut left: Vec<&Diagnostic> = told[next..].iter().collect();
    let mut is_left = |found: &Diagnostic| match left.iter().position(|told| *told == found) {
        Some(at) => {
            left.swap_remove(at);
            true
        }
        None => false,
    };
    new.into_iter().filter(|found| !is_left(found)).collect()
}
