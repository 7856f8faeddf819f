//! Sessions, runs, tickets, requests and trust as they are stored, and the errors of the store.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use crate::counts::Counts;

/// A session of a host.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
pub struct SessionKey {
    /// The host.
    pub host: String,
    /// The id of the session.
    pub session: String,
}

/// A session as it is stored.
#[derive(Debug, Clone, Default)]
pub struct StoredSession {
    /// The number of changes so far; 0 if nothing is stored.
    pub version: u64,
    /// The entries, oldest first.
    pub entries: Vec<StoredEntry>,
    /// The data that is remembered beside the entries, as JSON; empty if there is none.
    pub memory: String,
    /// What an approver ordered, which was not carried out yet; empty if there is nothing.
    pub order: String,
    /// The login that has written it; empty if it is this one.
    pub(crate) other_owner: String,
}

/// The type of entries that pages of the run show, and with which no session continues.
pub const SHOWN_ONLY: &str = "workflow:call";

/// An entry of a session.
#[derive(Debug, Clone)]
pub struct StoredEntry {
    /// The type, as the host has it.
    pub custom_type: String,
    /// The data, as JSON.
    pub data: Box<RawValue>,
    /// When it was stored first, in milliseconds since 1970; 0 if that is not known, or still to come.
    pub at: u64,
}

/// A change of a session.
#[derive(Debug)]
pub struct SessionChange<'a> {
    /// The version that the change starts from.
    pub from: u64,
    /// The entries to append.
    pub entries: &'a [StoredEntry],
    /// The data that is remembered from now on.
    pub memory: &'a str,
    /// The run for the index; `None` without a run.
    pub run: Option<Run>,
    /// What is counted with the change.
    pub counts: &'a Counts,
    /// The order that is carried out with the change; empty if there is none.
    pub order: &'a str,
    /// The directory of the session.
    pub cwd: &'a Path,
    /// The time in milliseconds since 1970.
    pub now: u64,
}

/// A run in the index.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all(serialize = "camelCase"))]
pub struct Run {
    /// The id of the run.
    pub task_id: String,
    /// The name of the workflow.
    pub workflow: String,
    /// The name of the phase; empty if it is unknown.
    pub phase: String,
    /// The task of the run.
    pub task: String,
    /// The status line.
    pub status: String,
    /// `active`, `waits`, `paused`, `stopped` at a limit, `stale`, `complete`, `cancelled`, or `ended` by another run.
    pub state: String,
    /// The state in words, for people; empty if the name says it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub waiting: String,
    /// True until the run has ended.
    #[serde(rename = "active", deserialize_with = "flag")]
    pub is_active: bool,
}

/// Reads a flag, which databases have as a number.
fn flag<'de, D: Deserializer<'de>>(number: D) -> Result<bool, D::Error> {
    Ok(i64::deserialize(number)? != 0)
}

/// Reads a time; one before 1970, as of a clock that was wrong, is 1970.
fn time<'de, D: Deserializer<'de>>(number: D) -> Result<u64, D::Error> {
    Ok(i64::deserialize(number)?.max(0).unsigned_abs())
}

impl Run {
    /// The state in words, for people.
    pub fn words(&self) -> &str {
        if self.waiting.is_empty() {
            &self.state
        } else {
            &self.waiting
        }
    }
}

/// A run in the index, and its session.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct IndexedRun {
    /// The session.
    #[serde(flatten)]
    pub key: SessionKey,
    /// The directory of the session.
    pub cwd: PathBuf,
    /// The time of the last change, in milliseconds since 1970.
    #[serde(deserialize_with = "time")]
    pub updated: u64,
    /// The time since which phase and state are what they are.
    #[serde(deserialize_with = "time")]
    pub since: u64,
    /// The machine on which it went on last.
    pub machine: String,
    /// The file in which the host keeps the session, if it does.
    pub file: Option<String>,
    /// The run.
    #[serde(flatten)]
    pub run: Run,
}

/// The runs to list.
#[derive(Debug, Clone, Default)]
pub struct RunQuery<'a> {
    /// The run's id, or its beginning.
    pub task_id: &'a str,
    /// True for runs that have not ended.
    pub only_active: bool,
    /// True if the run that is what it is for the longest time comes first, and not the one that changed last.
    pub is_oldest_first: bool,
    /// The most runs to list.
    pub limit: Option<u32>,
    /// Only runs of this host.
    pub host: Option<&'a str>,
    /// Only runs of this workflow.
    pub workflow: Option<&'a str>,
    /// Only runs in these states; empty for all.
    pub states: &'a [&'a str],
    /// Only runs in this directory.
    pub project: Option<&'a str>,
}

/// A run of a host that keeps its sessions itself.
#[derive(Debug, Clone)]
pub struct RunNote {
    /// The host.
    pub host: String,
    /// The run; `None` if something was counted without one.
    pub run: Option<Run>,
    /// What is remembered with the run, as JSON.
    pub memory: String,
    /// The directory of the session.
    pub cwd: PathBuf,
    /// The file of the session.
    pub file: Option<String>,
    /// What is counted with the note.
    pub counts: Counts,
    /// The time in milliseconds since 1970.
    pub now: u64,
}

/// The rights of this process to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerRight {
    /// Every process of the user may write answers, so an answer needs a proof.
    NeedsProof,
    /// The database lets this role read answers and not write them, so an answer is an approver's.
    MayRead,
    /// The database lets this role write answers.
    MayAnswer,
}

/// The outcome of saving a change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Saved {
    /// The change is stored.
    Stored,
    /// Another process changed the session meanwhile, and nothing was stored.
    #[default]
    Conflict,
}

/// The permission for one call of `workflow_step`, issued by the hook that saw the call.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Ticket {
    /// The session.
    #[serde(flatten)]
    pub key: SessionKey,
    /// The directory of the session.
    pub cwd: PathBuf,
    /// The time after which it does not count.
    #[serde(deserialize_with = "time")]
    pub expires: u64,
}

/// A request as it is stored, with the answer to it if there is one.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct StoredRequest {
    /// The text of the request.
    pub request: String,
    /// The text of the answer.
    pub answer: Option<String>,
}

/// What an approver ordered for a run.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct StoredOrder {
    pub(crate) session: i64,
    /// The id of the run.
    pub task_id: String,
    /// The text of the order.
    pub text: String,
}

/// Commands of a project that a gate may not run yet.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct TrustRequest {
    /// The path of the project, as trust has it.
    pub project: String,
    /// What tells them from others of the project.
    pub id: String,
    /// The commands, as JSON.
    pub commands: String,
    /// The login that asks.
    pub owner: String,
}

/// The reason why the store cannot be used, for people.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct StoreError(String);

impl StoreError {
    /// The error with this reason.
    pub fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }

    /// The error of a file or directory.
    pub fn of_file(path: &Path, reason: impl Display) -> Self {
        Self(format!("{}: {reason}", path.display()))
    }

    /// The error of a file or server with a format that this build does not know.
    pub(crate) fn format(place: impl Display, found: i64, known: i64) -> Self {
        let help = if found > known {
            "a newer workflow-sidecar wrote it: update workflow-sidecar"
        } else {
            "finish its runs with the workflow-sidecar that wrote it, then begin a new store"
        };
        Self(format!(
            "{place} has another format ({found}; this workflow-sidecar reads {known}): {help}"
        ))
    }
}
