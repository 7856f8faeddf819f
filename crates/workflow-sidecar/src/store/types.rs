//! Sessions, runs, tickets, requests and trust as they are stored, and the errors of the store.

use std::path::{Path, PathBuf};

use serde_json::value::RawValue;

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
    /// The data that is remembered beside the entries, as JSON; empty if there is none.
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
pub(crate) struct SessionChange<'a> {
    /// The version that the change starts from.
    pub(crate) from: u64,
    /// The entries to append.
    pub(crate) entries: &'a [StoredEntry],
    /// The data that is remembered from now on.
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
    /// `active`, `waits`, `paused`, `stopped` at a limit, `stale`, `complete`, `cancelled`, or `ended` by another run.
    pub(crate) state: String,
    /// The state in words, for people; empty if the name says it.
    pub(crate) waiting: String,
    pub(crate) is_active: bool,
}

impl Run {
    /// The state in words, for people.
    pub(crate) fn words(&self) -> &str {
        if self.waiting.is_empty() {
            &self.state
        } else {
            &self.waiting
        }
    }
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

/// The rights of this process to answer.
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

/// A row of `requests`, with its answer if there is one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RequestRow {
    pub(crate) task_id: String,
    /// The question, as JSON.
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
    #[error("PostgreSQL at {endpoint}: {reason}")]
    Postgres { endpoint: String, reason: String },
}
