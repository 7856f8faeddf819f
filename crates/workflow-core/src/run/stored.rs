//! What a run leaves in the session beside its state: its definition, and its counts of reminders.
//!
//! The state's own entry is [`RunState`]; these two are ours on top, in entries of their own, so
//! that sessions interchange with the package's. Both name the run they belong to.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use crate::definition::{Catalog, PhaseEntry, Workflow};
use crate::policy::gate::Report;
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
    /// What a gate came to, or how things stood when its phase was entered.
    pub const GATE: &str = "workflow:gate";
    /// What was kept of the code when a turn began.
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
        }
    }
}

/// The definition a run was started with, or went on with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredDefinition {
    /// The version of this entry's shape.
    pub version: u32,
    /// The run it belongs to.
    pub task_id: String,
    /// Hash of the workflows, to see whether the files say something else now.
    pub hash: String,
    /// The root workflow and all that it reaches.
    pub workflows: Vec<Workflow>,
}

impl StoredDefinition {
    /// What a run of this root needs of a catalog.
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
}

/// What a gate came to, or how things stood when its phase was entered.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredGate {
    /// The version of this entry's shape.
    pub version: u32,
    /// The run it belongs to.
    pub task_id: String,
    /// How often the run had moved.
    pub step: u64,
    /// The id of the phase.
    pub phase: String,
    /// How things stood, as the process noted it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Box<RawValue>>,
    /// What the checks came to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reports: Vec<Report>,
}

impl StoredGate {
    /// How things stood when a phase was entered.
    #[must_use]
    pub fn of_baseline(state: &RunState, phase: &str, baseline: Box<RawValue>) -> Self {
        Self {
            baseline: Some(baseline),
            ..Self::of_reports(state, phase, &[])
        }
    }

    /// What the checks of a phase's gate came to.
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
    // Serializing these types cannot fail: they have string keys only.
    let bytes = serde_json::to_vec(workflows).unwrap_or_default();
    Sha256::digest(&bytes)
        .iter()
        .take(16)
        .fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        })
}
