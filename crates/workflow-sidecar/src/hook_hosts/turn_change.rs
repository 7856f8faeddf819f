//! The change of a stored session that a turn makes: its entries, its run, and what is remembered beside them.

use std::path::Path;

use super::memory::HostMemory;
use super::turn::Turn;
use crate::run_condition::run_of;
use crate::store::{Change, Run, Saved, SessionKey, Store, StoreError, StoredEntry};
use crate::telemetry::PhaseClock;
use crate::time::wall_time;

/// Attempts to store a change while other processes change the same session.
pub(crate) const ATTEMPTS: u32 = 16;

/// The change that a turn makes.
#[derive(Debug, Default)]
pub(crate) struct TurnChange {
    entries: Vec<StoredEntry>,
    /// The run for the index; `None` without a run.
    run: Option<Run>,
}

impl TurnChange {
    /// Returns the change of a finished turn with these entries, and notes in the memory what the next turn goes on with.
    pub(crate) fn of(turn: &Turn<'_>, entries: Vec<StoredEntry>, memory: &mut HostMemory) -> Self {
        memory.session = turn.session.memory();
        PhaseClock::follow(&mut memory.clock, &turn.session, wall_time());
        Self {
            entries,
            run: run_of(&turn.session),
        }
    }

    /// Returns true if there is no entry to store.
    pub(crate) fn has_no_entry(&self) -> bool {
        self.entries.is_empty()
    }

    /// Stores the change with the text of the memory, if the session still has the version from which it was restored.
    pub(crate) fn save(
        &self,
        store: &dyn Store,
        key: &SessionKey,
        version: u64,
        memory: &str,
        cwd: &Path,
    ) -> Result<Saved, StoreError> {
        let change = Change {
            from: version,
            entries: &self.entries,
            memory,
            run: self.run.clone(),
            cwd,
            now: wall_time(),
        };
        store.save(key, &change)
    }
}
