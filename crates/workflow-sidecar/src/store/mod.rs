//! The store: sessions of hook hosts, tickets, the index of all runs, requests for approval and trust, in one place for all
//! processes.
//!
//! A hook host starts a process for each event, and several at once. [`Store::save`] succeeds only if the session is as it
//! was loaded; a process that comes too late loads it again. A queue for each session saves that work.

mod location;
mod machine;
mod marker;
mod postgres;
mod queue;
mod sqlite;
#[cfg(test)]
#[cfg(unix)]
pub(crate) mod tests;
mod types;

use std::fmt::Debug;

pub(crate) use self::location::{of_agent_dir, open, state_directory};
pub(crate) use self::marker::has_active_runs;
pub(crate) use self::postgres::SCHEMA as POSTGRES_SCHEMA;
pub(crate) use self::queue::QueueTurn;
#[cfg(test)]
pub(crate) use self::sqlite::SqliteStore;
pub(crate) use self::types::{
    AnswerRight, IndexedRun, RequestRow, Run, RunNote, RunQuery, Saved, SessionChange, SessionKey,
    StoreError, StoredEntry, StoredSession, Ticket, TrustRow,
};

/// Selects requests with their answers, the columns in the order of [`RequestRow`]'s readers.
const REQUESTS: &str = "
    SELECT r.task_id, r.nonce, r.request, r.seal, r.sidecar, r.choice, r.changed, a.answer
    FROM requests r LEFT JOIN answers a ON a.task_id = r.task_id AND a.nonce = r.nonce";

/// The sessions, tickets, runs, requests and trust of a user.
pub(crate) trait Store: Debug + Send + Sync {
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
    fn requests(&self, since: u64) -> Result<Vec<RequestRow>, StoreError>;

    /// Finds the request of a run.
    fn request(&self, task_id: &str) -> Result<Option<RequestRow>, StoreError>;

    /// Stores a request in place of the run's last one. An answer to the same request stays. Its own answer is ignored.
    fn put_request(&self, row: &RequestRow) -> Result<(), StoreError>;

    /// Stores an answer to a request; false if the request is no longer stored as it was read.
    fn put_answer(&self, to: &RequestRow, answer: &str) -> Result<bool, StoreError>;

    /// Removes the request of a run, and the answers to it.
    fn clear_request(&self, task_id: &str) -> Result<(), StoreError>;

    /// Lists what is trusted in a project, oldest first.
    fn trusted(&self, project: &str) -> Result<Vec<String>, StoreError>;

    /// Stores that commands are trusted, and keeps so many sets of the project's commands.
    fn trust(&self, row: &TrustRow, keep: usize) -> Result<(), StoreError>;

    /// Removes the trust in everything of a project.
    fn revoke(&self, project: &str) -> Result<(), StoreError>;
}
