//! Events: what can happen to a [`Session`](crate::Session).
//!
//! The platform reports a [`PlatformEvent`], the counterpart of [`Effect`](crate::effect::Effect). An event of the
//! host has a method of [`Session`](crate::Session); its parameters are defined here.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::approval::{Decision, Proofs};
use crate::policy::gate_report::Report;
use crate::run::MeasuredChange;
use crate::types::{GateRunId, RestoreId, Snapshot};

/// A report of the platform: the result of an [`Effect`](crate::effect::Effect), or a trigger.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum PlatformEvent {
    /// The state that a gate compares with was recorded.
    BaselineTaken {
        /// The state, in the platform's own form.
        baseline: Box<RawValue>,
        /// The commit of the repository, if it was asked for and there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        start: Option<String>,
    },
    /// The files at the start of a run were recorded, or what was changed since was measured.
    ChangeMeasured {
        /// The recorded files, in the platform's own form.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        start: Option<String>,
        /// The change; `None` where it cannot be known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        change: Option<MeasuredChange>,
    },
    /// The commands of a run that has started are not trusted.
    CommandsNotTrusted,
    /// The commands of a gate are not trusted, and were not run.
    GateNotTrusted {
        /// The gate run.
        gate: GateRunId,
    },
    /// A gate is still running.
    GateProgress {
        /// The gate run.
        gate: GateRunId,
        /// The running checks, as people read them.
        text: String,
    },
    /// A gate was run.
    GateFinished {
        /// The gate run.
        gate: GateRunId,
        /// A report on each check, up to the first that did not pass.
        reports: Vec<Report>,
    },
    /// An approval request was stored, and has a code with which the user answers outside of the host.
    ApprovalRequested {
        /// What proves an answer.
        #[serde(flatten)]
        proofs: Proofs,
        /// The code, for the user alone.
        code: String,
    },
    /// An approval request could not be stored, so it cannot be answered outside of the host.
    ApprovalNotStored {
        /// The reason.
        reason: String,
    },
    /// The answer to an approval request was looked up.
    ApprovalRead {
        /// The decision, if the user made one.
        decision: Option<Box<Decision>>,
        /// True if what it is about has changed since.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_outdated: bool,
    },
    /// The user answered the open approval request outside of the host. The answer itself is looked up.
    ApprovalAnswered {
        /// The id of the request.
        request: String,
        /// The answer, for display.
        choice: String,
        /// True if it was given before this session was restored.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_earlier: bool,
    },
    /// An approver ordered something elsewhere.
    Ordered(Order),
    /// A checkpoint of the code was recorded.
    CheckpointRecorded {
        /// The recorded state.
        snapshot: Snapshot,
    },
    /// A checkpoint of the code could not be recorded.
    CheckpointFailed {
        /// The reason.
        error: SnapshotError,
    },
    /// The code is still being restored.
    RestoreProgress {
        /// The restore.
        restore: RestoreId,
        /// The running checks, as people read them.
        text: String,
    },
    /// The code was restored, or could not be.
    CodeRestored {
        /// The restore.
        restore: RestoreId,
        /// The result.
        outcome: RestoreOutcome,
    },
    /// The triggers to watch were set.
    TriggersWatched {
        /// The triggers that are watched.
        report: WatchReport,
    },
    /// A trigger has a message for the agent.
    Triggered {
        /// The message.
        text: String,
    },
}

/// What an approver orders elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Order {
    /// The command: `workflow-pause`, `workflow-resume` or `workflow-skip`.
    pub command: String,
    /// The name of the phase that the approver saw.
    pub phase: String,
    /// The approver, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// The reason why no checkpoint was recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SnapshotError {
    /// There is no repository, or no commit in it.
    NoRepository,
    /// Something went wrong.
    Failed(String),
}

/// The result of restoring the code.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RestoreOutcome {
    /// The result for the files.
    pub files: RestoredFiles,
    /// The commit in the stash that has the changes made since, if there were any.
    pub stashed: Option<String>,
    /// True if commits were made since.
    pub has_commits_since: bool,
    /// The reason of the failure, if it failed.
    pub problem: Option<String>,
}

impl RestoreOutcome {
    /// The result where nothing was restored, for this reason.
    pub fn failed(problem: impl Into<String>) -> Self {
        Self {
            problem: Some(problem.into()),
            ..Self::default()
        }
    }
}

/// The result of a restore for the files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum RestoredFiles {
    /// There was nothing to restore: no file was touched, unless changes were stashed.
    #[default]
    NothingToRestore,
    /// They were in that state already.
    Unchanged,
    /// The changes of that time are in the files again, and no others.
    Restored,
}

/// The result of watching triggers.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct WatchReport {
    /// The triggers that are newly watched, as people read them.
    pub started: Vec<String>,
    /// The triggers that are not watched, with the reasons.
    pub problems: Vec<String>,
    /// True if the project's triggers are not watched because the user does not trust them.
    pub untrusted: bool,
}

/// An answer of a person, through the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer<'a> {
    /// Yes or no.
    Confirmed(bool),
    /// One of the options, or the line of text that was asked for.
    Chosen(&'a str),
    /// One of the options, but the file that was shown with the question has changed since.
    Outdated,
    /// None: the dialog was dismissed or failed.
    Dismissed,
}

/// The author of a submitted text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Author {
    /// The user.
    User,
    /// An extension, as for the reminders of auto-continue.
    Extension,
    /// The user, who is typing: nothing is submitted yet.
    Typist,
}

/// An entry of the session with one of the workflow's custom types.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'a> {
    /// Its custom type, as `workflow:state`.
    pub custom_type: &'a str,
    /// Its data, as JSON text.
    pub data: Option<&'a RawValue>,
}

/// The last message of an agent that stopped.
#[derive(Debug, Clone, Copy, Default)]
pub struct LastAssistant<'a> {
    /// The reason for stopping: `stop`, `aborted`, `error`, `length`, `toolUse`, …
    pub stop_reason: Option<&'a str>,
    /// The end of its last text.
    pub text_tail: Option<&'a str>,
}
