//! The list of workflows.

use schemars::JsonSchema;
use serde::Serialize;
use workflow_core::definition::{Show, Tier as Source};

session_bound! {
    /// The session whose workflows are asked for.
    pub struct WorkflowListParams<'a> {}
}

answer! {
    /// The workflows in force and everything that is wrong with the definitions.
    pub struct WorkflowListResult {
        /// The workflows, in the order in which they are looked up.
        pub workflows: Vec<WorkflowSummary>,
    }
}

/// A workflow in one line.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowSummary {
    /// The key: the name of its directory.
    pub key: String,
    /// The name that people read.
    pub name: String,
    /// The name for `/workflow`; a workflow that only others use may have none.
    pub command_name: Option<String>,
    /// The way it is started.
    pub show: Show,
    /// The directory it comes from.
    pub source: Source,
    /// Its phases, in order.
    pub phases: Vec<PhaseSummary>,
    /// The directory with a definition of the same key that this one replaces.
    pub shadows: Option<Source>,
}

/// A phase in one line, or a reference to a subworkflow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum PhaseSummary {
    /// A phase.
    Phase {
        /// The phase's id.
        id: String,
        /// The name that people read.
        name: String,
        /// The emoji in the status bar.
        emoji: String,
    },
    /// A subworkflow in the place of a phase.
    Subworkflow {
        /// The key of the workflow that is entered.
        subworkflow: String,
    },
}
