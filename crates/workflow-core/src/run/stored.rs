//! Session entries of a run beside its state: its definition, its counts of reminders, its gates.
//!
//! The entry of the state is [`RunState`]; these are additional entries, so that sessions
//! interchange with the package's. Each names the run it belongs to.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use crate::definition::{Catalog, PhaseEntry, Workflow};
use crate::policy::gate_report::Report;
use crate::reminders::ContinueCounters;

use super::RunState;

/// The custom types of our entries.
pub mod entry_type {
    /// The state of the run (state-management: "Entry structure in the session branch").
    pub const STATE: &str = "workflow:state";
    /// The definition in force.
    pub const DEFINITION: &str = "workflow:definition";
    /// The counts of reminders, and why the run is paused.
    pub const RUN: &str = "workflow:run";
    /// The result of a gate, or its baseline: the state of files when its phase was entered.
    pub const GATE: &str = "workflow:gate";
    /// The checkpoint of the code at the start of a turn.
    pub const CHECKPOINT: &str = "workflow:checkpoint";
}

/// The version of [`StoredDefinition`] and [`StoredRun`] that this code writes and reads.
pub(crate) const VERSION: u32 = 1;

impl StoredRun {
    /// The counts of a run.
    #[must_use]
    pub fn of(task_id: &str, counters: ContinueCounters) -> Self {
        Self {
            version: VERSION,
            task_id: task_id.to_owned(),
            counters,
            approval_request: None,
            moved_by: None,
        }
    }
}

/// The definition of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredDefinition {
    /// The version of this entry's shape.
    pub version: u32,
    /// The run it belongs to.
    pub task_id: String,
    /// The hash of the workflows, which shows that the files have changed.
    pub hash: String,
    /// The root workflow and all that it reaches.
    pub workflows: Vec<Workflow>,
}

impl StoredDefinition {
    /// Creates the definition of a run of this root.
    #[must_use]
    pub fn of(root: &str, catalog: &Catalog, task_id: &str) -> Self {
        let workflows: Vec<Workflow> = reachable(root, catalog).into_iter().cloned().collect();
        Self {
            version: VERSION,
            task_id: task_id.to_owned(),
            hash: hash_of(&workflows),
            workflows,
        }
    }
}

/// The counts of a run, stored so that a restarted sidecar keeps the bound.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredRun {
    /// The version of this entry's shape.
    pub version: u32,
    /// The run it belongs to.
    pub task_id: String,
    /// The counts, and why the run is paused if it is.
    #[serde(flatten)]
    pub counters: ContinueCounters,
    /// The approval request, if the run is paused for it.
    #[serde(default, rename = "awaits", skip_serializing_if = "Option::is_none")]
    pub approval_request: Option<String>,
    /// The last move, if a person made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved_by: Option<PersonMove>,
}

/// A move of the run that a person made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PersonMove {
    /// The author: always `person`.
    pub by: String,
    /// The command: `next`, `skip`, `goto` or `approve`.
    pub command: String,
    /// The number of moves of the run, this one included.
    pub step: u64,
    /// The gates and approvals that the person passed over.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overrode: Vec<String>,
}

/// The result of a gate, or its baseline: the state of files when its phase was entered.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredGate {
    /// The version of this entry's shape.
    pub version: u32,
    /// The run it belongs to.
    pub task_id: String,
    /// The number of moves of the run so far.
    pub step: u64,
    /// The id of the phase.
    pub phase: String,
    /// The baseline, as the platform recorded it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Box<RawValue>>,
    /// The results of the checks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reports: Vec<Report>,
}

impl StoredGate {
    /// Creates the entry of a gate's baseline.
    #[must_use]
    pub fn of_baseline(state: &RunState, phase: &str, baseline: Box<RawValue>) -> Self {
        Self {
            baseline: Some(baseline),
            ..Self::of_reports(state, phase, &[])
        }
    }

    /// Creates the entry of a gate's results.
    #[must_use]
    pub fn of_reports(state: &RunState, phase: &str, reports: &[Report]) -> Self {
        Self {
            version: VERSION,
            task_id: state.task_id.clone(),
            step: state.global_step_count,
            phase: phase.to_owned(),
            baseline: None,
            reports: reports.to_vec(),
        }
    }
}

/// The root and what it reaches, each once, in the order in which a run meets them.
pub(crate) fn reachable<'c>(root: &str, catalog: &'c Catalog) -> Vec<&'c Workflow> {
    let mut met = BTreeSet::new();
    let mut waiting = vec![root];
    let mut workflows = Vec::new();
    while let Some(key) = waiting.pop() {
        let Some(workflow) = catalog.get(key).filter(|_| met.insert(key.to_owned())) else {
            continue;
        };
        workflows.push(workflow);
        waiting.extend(
            workflow
                .phases
                .iter()
                .rev()
                .filter_map(|entry| match entry {
                    PhaseEntry::Subworkflow(key) => Some(key.as_str()),
                    PhaseEntry::Phase(_) => None,
                }),
        );
    }
    workflows
}

fn hash_of(workflows: &[Workflow]) -> String {
    use std::fmt::Write as _;
    let bytes = serde_json::to_vec(workflows).expect("maps with string keys can be serialized");
    Sha256::digest(&bytes)
        .iter()
        .take(16)
        .fold(String::new(), |mut hex, byte| {
            write!(hex, "{byte:02x}").expect("writing to a string cannot fail");
            hex
        })
}
