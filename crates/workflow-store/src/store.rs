//! What a caller asks of the store, over a database.

use std::fmt::Debug;
use std::path::PathBuf;

use crate::database::{Database, Durability, Rows};
use crate::marker::mark;
use crate::queue::{self, QueueTurn};
use crate::statements;
use crate::types::{
    AnswerRight, IndexedRun, RequestText, RunNote, RunQuery, Saved, SessionChange, SessionKey,
    StoreError, StoredSession, Ticket, TrustRow,
};

/// The sessions, tickets, runs, requests and trust of a user.
pub trait Store: Debug + Send + Sync {
    /// Loads a session; an unknown one is empty.
    fn load(&self, key: &SessionKey) -> Result<StoredSession, StoreError>;

    /// Stores a change of a session, if the session is as it was loaded.
    fn save(&self, key: &SessionKey, change: &SessionChange<'_>) -> Result<Saved, StoreError>;

    /// Waits until no other process of this machine works on the session, for some time. `None` if it continues without a turn.
    fn wait_turn(&self, key: &SessionKey) -> Option<QueueTurn>;

    /// Issues a ticket, and forgets those that expired.
    fn issue(&self, id: &str, ticket: &Ticket, now: u64) -> Result<(), StoreError>;

    /// Takes a ticket, once. `None` if it was not issued, was taken, or expired.
    fn take(&self, id: &str, now: u64) -> Result<Option<Ticket>, StoreError>;

    /// Lists the runs, the one that changed last first.
    fn runs(&self, query: &RunQuery<'_>) -> Result<Vec<IndexedRun>, StoreError>;

    /// Notes the run of a host that keeps its sessions itself.
    fn note_run(&self, note: &RunNote) -> Result<(), StoreError>;

    /// Says what this process may do about answers.
    fn answer_right(&self) -> Result<AnswerRight, StoreError>;

    /// Removes the sessions and the requests that were not changed since, and returns the number of the sessions.
    fn prune(&self, before: u64) -> Result<usize, StoreError>;

    /// Lists the requests that were changed since, in the order of the runs' ids.
    fn requests(&self, since: u64) -> Result<Vec<RequestText>, StoreError>;

    /// Finds the request of a run.
    fn request(&self, task_id: &str) -> Result<Option<RequestText>, StoreError>;

    /// Stores a request of this id in place of the run's last one. An answer to the same id stays.
    fn put_request(
        &self,
        task_id: &str,
        id: &str,
        request: &str,
        now: u64,
    ) -> Result<(), StoreError>;

    /// Stores an answer to the request of a run; false if that is no longer the one of this id.
    fn put_answer(&self, task_id: &str, id: &str, answer: &str) -> Result<bool, StoreError>;

    /// Removes the request of a run, and the answers to it.
    fn clear_request(&self, task_id: &str) -> Result<(), StoreError>;

    /// Lists what is trusted in a project, oldest first.
    fn trusted(&self, project: &str) -> Result<Vec<String>, StoreError>;

    /// Stores that commands are trusted, and keeps so many sets of the project's commands.
    fn trust(&self, row: &TrustRow, keep: usize) -> Result<(), StoreError>;

    /// Removes the trust in everything of a project.
    fn revoke(&self, project: &str) -> Result<(), StoreError>;
}

/// The store in a database, with the directory of this machine.
#[derive(Debug)]
pub(crate) struct SqlStore<D> {
    database: D,
    /// Where the queues and the marker are.
    directory: PathBuf,
}

impl<D: Database> SqlStore<D> {
    pub(crate) fn new(database: D, directory: PathBuf) -> Self {
        Self {
            database,
            directory,
        }
    }

    /// Reads; the default if nothing was ever stored.
    fn read<T: Default + Send>(
        &self,
        operation: impl FnOnce(&mut dyn Rows) -> Result<T, StoreError> + Send,
    ) -> Result<T, StoreError> {
        if self.database.exists()? {
            self.database.read(operation)
        } else {
            Ok(T::default())
        }
    }

    /// Changes the database, in the turn of this process.
    fn change<T: Send>(
        &self,
        durability: Durability,
        operation: impl FnOnce(&mut dyn Rows) -> Result<T, StoreError> + Send,
    ) -> Result<T, StoreError> {
        let _turn = queue::wait_for_database(&self.directory);
        self.database.change(durability, operation)
    }

    /// Brings the marker of this machine in line with the database. One that stays by mistake blocks more, never less.
    fn mark(&self, rows: &mut dyn Rows, machine: &str) -> Result<(), StoreError> {
        let is_active = statements::has_active_runs(rows, machine)?;
        if let Err(error) = mark(&self.directory, is_active) {
            tracing::warn!("the marker of active runs cannot be changed: {error}");
        }
        Ok(())
    }
}

impl<D: Database> Store for SqlStore<D> {
    fn load(&self, key: &SessionKey) -> Result<StoredSession, StoreError> {
        self.read(|rows| statements::load(rows, key))
    }

    fn save(&self, key: &SessionKey, change: &SessionChange<'_>) -> Result<Saved, StoreError> {
        let machine = self.database.machine()?;
        // A move of the run survives a loss of power; what is only remembered need not.
        let durability = if change.entries.is_empty() {
            Durability::Process
        } else {
            Durability::Power
        };
        self.change(durability, |rows| {
            if !statements::save(rows, key, change, &machine)? {
                return Ok(Saved::Conflict);
            }
            self.mark(rows, &machine)?;
            Ok(Saved::Stored)
        })
    }

    fn wait_turn(&self, key: &SessionKey) -> Option<QueueTurn> {
        queue::wait_for_session(&self.directory, key)
    }

    fn issue(&self, id: &str, ticket: &Ticket, now: u64) -> Result<(), StoreError> {
        // A call does not outlive a loss of power, and neither need its ticket.
        self.change(Durability::Process, |rows| {
            statements::issue(rows, id, ticket, now)
        })
    }

    fn take(&self, id: &str, now: u64) -> Result<Option<Ticket>, StoreError> {
        if !self.database.exists()? {
            return Ok(None);
        }
        let taken = self.change(Durability::Power, |rows| statements::take(rows, id))?;
        Ok(taken.filter(|ticket| now <= ticket.expires))
    }

    fn runs(&self, query: &RunQuery<'_>) -> Result<Vec<IndexedRun>, StoreError> {
        self.read(|rows| statements::runs(rows, query))
    }

    fn note_run(&self, note: &RunNote) -> Result<(), StoreError> {
        let machine = self.database.machine()?;
        self.change(Durability::Power, |rows| {
            statements::note_run(rows, note, &machine)
        })
    }

    fn answer_right(&self) -> Result<AnswerRight, StoreError> {
        self.database.answer_right()
    }

    fn prune(&self, before: u64) -> Result<usize, StoreError> {
        if !self.database.exists()? {
            return Ok(0);
        }
        let machine = self.database.machine()?;
        let removed = self.change(Durability::Power, |rows| {
            let removed = statements::prune(rows, before)?;
            self.mark(rows, &machine)?;
            Ok(removed)
        })?;
        Ok(usize::try_from(removed).unwrap_or(usize::MAX))
    }

    fn requests(&self, since: u64) -> Result<Vec<RequestText>, StoreError> {
        self.read(|rows| statements::requests(rows, since))
    }

    fn request(&self, task_id: &str) -> Result<Option<RequestText>, StoreError> {
        self.read(|rows| statements::request(rows, task_id))
    }

    fn put_request(
        &self,
        task_id: &str,
        id: &str,
        request: &str,
        now: u64,
    ) -> Result<(), StoreError> {
        self.change(Durability::Power, |rows| {
            statements::put_request(rows, task_id, id, request, now)
        })
    }

    fn put_answer(&self, task_id: &str, id: &str, answer: &str) -> Result<bool, StoreError> {
        self.change(Durability::Power, |rows| {
            statements::put_answer(rows, task_id, id, answer)
        })
    }

    fn clear_request(&self, task_id: &str) -> Result<(), StoreError> {
        if self.request(task_id)?.is_none() {
            return Ok(());
        }
        self.change(Durability::Power, |rows| {
            statements::clear_request(rows, task_id)
        })
    }

    fn trusted(&self, project: &str) -> Result<Vec<String>, StoreError> {
        self.read(|rows| statements::trusted(rows, project))
    }

    fn trust(&self, row: &TrustRow, keep: usize) -> Result<(), StoreError> {
        self.change(Durability::Power, |rows| statements::trust(rows, row, keep))
    }

    fn revoke(&self, project: &str) -> Result<(), StoreError> {
        self.change(Durability::Power, |rows| statements::revoke(rows, project))
    }
}
