//! The stored state of a run, and the view of `session/state`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use workflow_core::run::PathSegment;
use workflow_core::session::Breadcrumb;

session_bound! {
    /// The session whose state is asked for.
    pub struct SessionStateParams<'a> {}
}

answer! {
    /// The state of a session, resolved against the definitions.
    pub struct SessionStateResult {
        /// True if a workflow is active.
        pub active: bool,
        /// True if the run's definition is missing or no longer fits the run.
        pub stale: bool,
        /// The key of the top-level workflow.
        pub workflow_key: Option<String>,
        /// The name of the top-level workflow.
        pub workflow_name: Option<String>,
        /// The run's id.
        pub task_id: Option<String>,
        /// The task that the user described.
        pub task_description: Option<String>,
        /// The current path.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub path: Vec<PathSegment>,
        /// The names along the path.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub breadcrumb: Vec<Breadcrumb>,
        /// The current phase.
        pub phase: Option<PhaseView>,
        /// Progress in the innermost scope.
        pub progress: Option<Progress>,
        /// The number of transitions so far.
        pub global_step_count: Option<u64>,
        /// The text in the status bar.
        pub status: Option<String>,
        /// The reminders that were sent.
        pub reminders: Option<Reminders>,
        /// The reason why the run waits for the user; null if it does not.
        #[serialize_always]
        pub paused: Option<String>,
        /// Seconds until the agent gets a reminder, while a countdown runs.
        pub countdown: Option<u32>,
        /// Its inputs, outcomes, visits and budgets; absent if it has none of these.
        pub flow: Option<RunFlow>,
    }
}

/// The flow of the run's definition, as people read it.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct RunFlow {
    /// The inputs that the run was given, by their names.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub inputs: BTreeMap<String, String>,
    /// The outcomes of the phase, and where each leads.
    pub outcomes: Option<String>,
    /// The number of the visit of the phase and its limit: `2 of 3`.
    pub visit: Option<String>,
    /// The use of the budgets that apply: `12 of 120 turns of the workflow`.
    pub budget: Option<String>,
}

/// The current phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PhaseView {
    /// The phase's id.
    pub id: String,
    /// The name that people read.
    pub name: String,
    /// The emoji in the status bar.
    pub emoji: String,
}

/// Progress in the innermost scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Progress {
    /// The current phase, from 1.
    pub current: u64,
    /// The number of phases.
    pub total: u64,
}

/// The reminders that were sent, and their limits.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Reminders {
    /// Reminders in a row without an advance.
    pub count: u32,
    /// The limit; absent if there is none.
    pub max: Option<u32>,
    /// Reminders in a row after which the agent called no tool.
    pub stale: u32,
    /// The limit; absent if there is none.
    pub max_stale: Option<u32>,
}
