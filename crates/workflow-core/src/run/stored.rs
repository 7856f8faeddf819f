//! Session entries of a run beside its state: its definition, its counts of reminders, its gates.
//!
//! The entry of the state is [`RunState`]; these are additional entries, so that sessions
//! interchange with the package's. Each names the run it belongs to.

use std::collections::BTreeSet;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use crate::approval::Proofs;
use crate::definition::{Catalog, Guards, Limits, Settings, Workflow};
use crate::policy::gate_report::Report;
use crate::reminders::ContinueCounters;
use crate::types::Millis;

use super::{RunData, RunValues, Spending, Tally};

/// The custom types of our entries.
pub mod entry_type {
    /// The state of the run (state-management: "Entry structure in the session branch").
    pub const STATE: &str = "workflow:state";
    /// The definition in force.
    pub const DEFINITION: &str = "workflow:definition";
    /// The counts of reminders, and why the run is paused.
    pub const RUN: &str = "workflow:run";
    /// The inputs and outputs of the run.
    pub const VALUES: &str = "workflow:values";
    /// The parts of its budgets that the run has used.
    pub const BUDGET: &str = "workflow:budget";
    /// What happened in the run, for the summary at its end.
    pub const TALLY: &str = "workflow:tally";
    /// The result of a gate, or its baseline: the state of files when its phase was entered.
    pub const GATE: &str = "workflow:gate";
    /// The checkpoint of the code at the start of a turn.
    pub const CHECKPOINT: &str = "workflow:checkpoint";
    /// What the user decided for the time without a run.
    pub const DOOR: &str = "workflow:door";
    /// All of them, each with its meaning for a host.
    #[rustfmt::skip] // A row a line.
    pub const ALL: [(&str, &str); 9] = [
        (STATE, "The state of the run; the last entry counts"),
        (DEFINITION, "The definition that the run uses, also if its files change or are removed"),
        (RUN, "How many reminders the agent was sent, whether the run is paused, and the last move by the user"),
        (VALUES, "The inputs and outputs of the run"),
        (BUDGET, "What the run has used of its budgets"),
        (TALLY, "What happened in the run, for the summary at its end"),
        (GATE, "The result of a gate, or the state that it compares with, recorded when its phase was entered"),
        (CHECKPOINT, "The checkpoint of the code at the start of a turn"),
        (DOOR, "What the user decided for the time without a run: until when `withoutRun` is lifted, or that no run is wanted"),
    ];
}

/// The latest version of the entries that this code reads.
pub(crate) const VERSION: u32 = 2;

/// An entry of a run.
pub trait RunEntry: Serialize + DeserializeOwned {
    /// Its custom type.
    const TYPE: &'static str;

    /// The version that a sidecar must know to read it.
    fn version(&self) -> u32 {
        1
    }
}

/// An entry as the session has it: what it contains, and the run that it belongs to.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Stored<'a, T> {
    version: u32,
    task_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<u64>,
    #[serde(flatten)]
    content: &'a T,
}

impl<'a, T: RunEntry> Stored<'a, T> {
    /// The entry of the run of a task. With a `step`, the number of its moves, it comes before the state with that number.
    pub fn of(task_id: &'a str, step: Option<u64>, content: &'a T) -> Self {
        Self {
            version: content.version(),
            task_id,
            step,
            content,
        }
    }
}

/// The definition of a run.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredDefinition {
    /// The hash of the workflows, which shows that the files have changed.
    pub hash: String,
    /// The root workflow and all that it reaches.
    pub workflows: Vec<Workflow>,
    /// The guards of the settings, if there are any.
    pub guards: Option<StoredGuards>,
    /// The digest of changed files that the user declined.
    pub declined: Option<String>,
}

/// The guards of the settings that are in force in a run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StoredGuards {
    /// Those of the user's settings.
    pub user: Guards,
    /// Those of the project's settings.
    pub project: Guards,
    /// `limits.maxVisits` of both, unless it is the default.
    #[serde(default, rename = "maxVisits", skip_serializing_if = "Option::is_none")]
    pub jumps: Option<u32>,
}

impl StoredGuards {
    /// The guards of settings; of a file that could not be read, those that were known before.
    pub fn of(settings: &Settings, known: Option<&Self>) -> Self {
        let guards = |now: &Guards, known: Option<&Guards>| {
            if now.status.is_loaded() {
                // What holds without a run is none of a run's.
                Guards {
                    without_run: None,
                    ..now.clone()
                }
            } else {
                known.cloned().unwrap_or_default()
            }
        };
        Self {
            user: guards(&settings.user, known.map(|known| &known.user)),
            project: guards(&settings.project, known.map(|known| &known.project)),
            jumps: Some(settings.limits.jumps).filter(|most| *most != Limits::default().jumps),
        }
    }

    /// Those of the user's and of the project's settings.
    pub(crate) fn both(&self) -> [&Guards; 2] {
        [&self.user, &self.project]
    }

    /// The times that jumps may lead into a phase without a limit of its own.
    pub(crate) fn jumps(&self) -> u32 {
        self.jumps.unwrap_or(Limits::default().jumps)
    }
}

impl StoredDefinition {
    /// Creates the definition of a run of this root.
    pub fn of(root: &str, catalog: &Catalog) -> Self {
        let workflows: Vec<Workflow> = catalog.reachable_from(root).into_iter().cloned().collect();
        Self {
            hash: hash_of(&workflows),
            workflows,
            guards: None,
            declined: None,
        }
    }
}

/// The counts of a run, stored so that a restarted sidecar keeps the bound.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredRun {
    /// The counts, and why the run is paused if it is.
    #[serde(flatten)]
    pub counters: ContinueCounters,
    /// The approval request, if the run is paused for it.
    pub approval_request: Option<StoredApproval>,
    /// The last move, if the user made it.
    pub moved_by: Option<UserMove>,
    /// What the unknown calls have in common that the user has allowed for the run, as hashes.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub allowed: BTreeSet<String>,
    /// The data that the run has collected: visits, the last outcome.
    #[serde(default, skip_serializing_if = "RunData::is_empty")]
    pub data: RunData,
}

/// The open approval request of a run. The proofs are in the session, so that no row of the store proves anything by itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredApproval {
    /// Its id. A decision about another one does not count.
    pub id: String,
    /// What proves an answer, if the platform has made a code.
    #[serde(flatten)]
    pub proofs: Proofs,
    /// What the user is asked about: the result of the gate, and what the agent hands over.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub about: Vec<String>,
    /// When the gate had passed.
    #[serde(default)]
    pub checked: Millis,
}

/// A move of the run that the user made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserMove {
    /// The author: `user`.
    pub by: String,
    /// The approver who ordered the move elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approver: Option<String>,
    /// The command: `next`, `skip`, `goto` or `approve`.
    pub command: String,
    /// The number of moves of the run, this one included.
    pub step: u64,
    /// The gates and approvals that the user passed over.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overrode: Vec<String>,
}

/// The result of a gate, or its baseline: the state of files when its phase was entered.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct StoredGate {
    /// The id of the phase.
    pub phase: String,
    /// The baseline, as the platform recorded it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Box<RawValue>>,
    /// The results of the checks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reports: Vec<Report>,
}

impl RunEntry for StoredDefinition {
    const TYPE: &'static str = entry_type::DEFINITION;

    /// For version 1 a value as the bound of a check, of a subworkflow or of dollars is no limit.
    fn version(&self) -> u32 {
        let is_later = |of: &Workflow| {
            let is_new = |(key, _): &(String, String)| matches!(&**key, "tries" | "usd");
            of.subworkflows().any(|of| !of.bounds.is_empty()) || of.all_bounds().any(is_new)
        };
        1 + u32::from(self.workflows.iter().any(is_later))
    }
}
impl RunEntry for StoredRun {
    const TYPE: &'static str = entry_type::RUN;
}
impl RunEntry for RunValues {
    const TYPE: &'static str = entry_type::VALUES;
}
impl RunEntry for Spending {
    const TYPE: &'static str = entry_type::BUDGET;
}
impl RunEntry for Tally {
    const TYPE: &'static str = entry_type::TALLY;
}
impl RunEntry for StoredGate {
    const TYPE: &'static str = entry_type::GATE;
}

pub(super) fn hash_of(of: &impl Serialize) -> String {
    let bytes = serde_json::to_vec(of).expect("maps with string keys can be serialized");
    // Half of the hash distinguishes definitions.
    format!("{:.32x}", Sha256::digest(&bytes))
}
