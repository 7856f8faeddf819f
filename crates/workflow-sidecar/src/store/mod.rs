//! The store: sessions of hook hosts, tickets, the index of all runs, requests for approval and trust, in one place for all
//! processes.
//!
//! A hook host starts a process for each event, and several at once. [`Store::save`] succeeds only if the session is as it
//! was loaded; a process that comes too late loads it again. A queue for each session saves that work.

mod location;
mod machine;
mod marker;
mod old_files;
mod postgres;
mod queue;
mod sqlite;
#[cfg(test)]
#[cfg(unix)]
pub(crate) mod tests;

use std::fmt::Debug;
use std::path::{Path, PathBuf};

use serde_json::value::RawValue;

pub(crate) use self::location::{of_agent_dir, open, state_directory};
pub(crate) use self::marker::has_active_runs;
pub(crate) use self::postgres::SCHEMA as POSTGRES_SCHEMA;
pub(crate) use self::queue::QueueTurn;
#[cfg(test)]
pub(crate) use self::sqlite::SqliteStore;

/// Selects requests with their answers, the columns in the order of [`RequestRow`]'s readers.
const REQUESTS: &str = "
    SELECT r.task_id, r.nonce, r.request, r.seal, r.sidecar, r.choice, r.changed, a.answer
    FROM requests r LEFT JOIN answers a ON a.task_id = r.task_id AND a.nonce = r.nonce";

/// A session of a host.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SessionKey {
    pub(crate) host: String,
    pub(crate) session: String,
}

/// A session as it is stored.
#[derive(Debug, Clone, Default)]
pub(crate) struct StoredSession {
    /// The number of changes so far; 0 if nothing is stored.
    pub(crate) version: u64,
    /// The entries, oldest first.
    pub(crate) entries: Vec<StoredEntry>,
    /// What is remembered beside the entries, as JSON; empty if nothing is.
    pub(crate) memory: String,
}

/// An entry of a session.
#[derive(Debug, Clone)]
pub(crate) struct StoredEntry {
    pub(crate) custom_type: String,
    pub(crate) data: Box<RawValue>,
}

/// A change of a session.
#[derive(Debug)]
pub(crate) struct Change<'a> {
    /// The version that the change starts from.
    pub(crate) from: u64,
    /// The entries to append.
    pub(crate) entries: &'a [StoredEntry],
    /// What is remembered from now on.
    pub(crate) memory: &'a str,
    /// The run for the index; `None` without a run.
    pub(crate) run: Option<Run>,
    pub(crate) cwd: &'a Path,
    /// The time in milliseconds since 1970.
    pub(crate) now: u64,
}

/// A run in the index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) task_id: String,
    pub(crate) workflow: String,
    pub(crate) phase: String,
    pub(crate) task: String,
    /// The status line.
    pub(crate) status: String,
    /// `active`, `waits`, `paused`, `stopped`, `stale`, `complete` or `cancelled`.
    pub(crate) state: String,
    /// What it waits for; empty if for nothing.
    pub(crate) waiting: String,
    pub(crate) is_active: bool,
}

/// A run in the index, and its session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IndexedRun {
    pub(crate) key: SessionKey,
    pub(crate) cwd: PathBuf,
    pub(crate) updated: u64,
    /// The time since which phase and state are what they are.
    pub(crate) since: u64,
    /// The machine on which it went on last.
    pub(crate) machine: String,
    /// The file in which the host keeps the session, if it does.
    pub(crate) file: Option<String>,
    pub(crate) run: Run,
}

/// The runs to list.
#[derive(Debug, Clone, Default)]
pub(crate) struct RunQuery<'a> {
    /// The run's id, or its beginning.
    pub(crate) task_id: &'a str,
    pub(crate) only_active: bool,
    /// The most runs to list.
    pub(crate) limit: Option<u32>,
}

/// A run of a host that keeps its sessions itself.
#[derive(Debug, Clone)]
pub(crate) struct RunNote {
    pub(crate) host: String,
    pub(crate) run: Run,
    pub(crate) cwd: PathBuf,
    /// The file of the session.
    pub(crate) file: Option<String>,
    /// The time in milliseconds since 1970.
    pub(crate) now: u64,
}

/// What this process may do about answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AnswerRight {
    /// Every process of the user may write answers, so an answer needs a proof.
    NeedsProof,
    /// The database lets this role read answers and not write them, so an answer is an approver's.
    MayRead,
    /// The database lets this role write answers.
    MayAnswer,
}

/// The outcome of saving a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Saved {
    Stored,
    /// Another process changed the session meanwhile, and nothing was stored.
    Conflict,
}

/// The permission for one call of `workflow_step`, issued by the hook that saw the call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ticket {
    pub(crate) key: SessionKey,
    pub(crate) cwd: PathBuf,
    /// The time after which it does not count.
    pub(crate) expires: u64,
}

/// A request for approval as it is stored. Nothing of it is an answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RequestRow {
    pub(crate) task_id: String,
    /// What is asked, as JSON.
    pub(crate) request: String,
    /// Identifies the request: an answer belongs to one.
    pub(crate) nonce: String,
    /// The hash of the code with which the person answers.
    pub(crate) seal: Option<String>,
    /// The sidecar that asks.
    pub(crate) sidecar: Option<String>,
    /// The decision that the sidecar has taken, for display.
    pub(crate) choice: Option<String>,
    /// The answer to this request, as JSON.
    pub(crate) answer: Option<String>,
    /// The time of the last change, in milliseconds since 1970.
    pub(crate) changed: u64,
}

/// The trust of the user in commands of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TrustRow {
    pub(crate) project: String,
    /// The hash of the commands.
    pub(crate) commands: String,
    /// The time in milliseconds since 1970.
    pub(crate) at: u64,
}

/// The reason why the store cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StoreError {
    #[error("the home directory is not known: set HOME, or pass --state")]
    NoHome,
    #[error("{}: {error}", path.display())]
    Io {
        path: PathBuf,
        error: std::io::Error,
    },
    #[error("{}: {error}", path.display())]
    Database {
        path: PathBuf,
        error: rusqlite::Error,
    },
    #[error("{} was written by a newer workflow-sidecar (format {found}, this one reads {known}): update workflow-sidecar", path.display())]
    Newer {
        path: PathBuf,
        found: i64,
        known: i64,
    },
    #[error("{}: an entry of a session is not JSON: {error}", path.display())]
    Damaged {
        path: PathBuf,
        error: serde_json::Error,
    },
    #[error("{}: {reason}", path.display())]
    Settings { path: PathBuf, reason: String },
    #[error("PostgreSQL at {place}: {reason}")]
    Postgres { place: String, reason: String },
}

/// The sessions, tickets, runs, requests and trust of a user.
pub(crate) trait Store: Debug + Send + Sync {
    /// Loads a session; an unknown one is empty.
    fn load(&self, key: &SessionKey) -> Result<StoredSession, StoreError>;

    /// Stores a change of a session, if the session is as it was loaded.
    fn save(&self, key: &SessionKey, change: &Change<'_>) -> Result<Saved, StoreError>;

    /// Waits until no other process of this machine works on the session, for some time. `None` if it goes on without a turn.
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
