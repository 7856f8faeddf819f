//! A session after its event: its new entries and its run, to be saved with the memory.

use std::path::Path;

use super::memory::HostMemory;
use super::restored_session::RestoredSession;
use crate::store::{Run, Saved, SessionChange, SessionKey, Store, StoreError, StoredEntry};
use crate::telemetry::PhaseClock;
use crate::time::wall_time;

/// Attempts to store a change while other processes change the same session.
pub(crate) const ATTEMPTS: u32 = 16;

/// The change of a session that has handled its event.
#[derive(Debug, Default)]
pub(crate) struct FinishedSession {
    entries: Vec<StoredEntry>,
    /// The run for the index, which may just have ended; `None` without a run.
    run: Option<Run>,
}

impl FinishedSession {
    /// Takes the run of a session that has these new entries, and notes in the memory what the next process continues with.
    pub(crate) fn of(
        restored: &RestoredSession<'_>,
        entries: Vec<StoredEntry>,
        memory: &mut HostMemory,
    ) -> Self {
        memory.session = restored.session.memory();
        PhaseClock::follow(&mut memory.clock, &restored.session, wall_time());
        Self {
            entries,
            run: restored.run(),
        }
    }

    /// Returns true if a run is active.
    pub(crate) fn has_run(&self) -> bool {
        self.run.is_some()
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
        let change = SessionChange {
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
