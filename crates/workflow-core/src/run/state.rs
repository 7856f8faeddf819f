//! The state of a run, exactly as it is stored (state-management: "`WorkflowState` Fields").

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::definition::{Catalog, PhaseEntry, Subworkflow, Workflow};
use crate::types::Millis;

/// The data of a `workflow:state` entry.
///
/// state-management: "Entry structure in the session branch".
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "WorkflowState")]
pub struct RunState {
    /// True if the agent should be working on phases.
    pub active: bool,
    /// The key of the top-level workflow.
    pub workflow_key: String,
    /// The way from the top-level workflow to the innermost scope.
    #[schemars(with = "Vec<PathSegment>", length(min = 1))]
    pub current_path: Path,
    /// The number of transitions so far.
    pub global_step_count: u64,
    /// The run's id: `wf-`, the time of its start, `-` and six characters.
    pub task_id: String,
    /// The task that the user described.
    pub task_description: String,
    /// When the run started, in milliseconds since 1970.
    #[schemars(range(min = 0))]
    pub started_at: i64,
    /// True if the end of the run has been announced.
    pub completion_notified: bool,
    /// True if the run was cancelled.
    pub cancelled: bool,
}

/// The position of a run: one segment a scope, root first, never empty.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Path(Vec<PathSegment>);

/// One scope of the current path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PathSegment {
    /// The workflow that this scope runs.
    pub workflow_key: String,
    /// The position in that workflow's phases, from 0.
    pub phase_index: usize,
}

impl RunState {
    /// Returns true if it continues, or its end was not announced.
    pub(crate) fn matters(&self) -> bool {
        self.active || !self.completion_notified
    }

    /// The time since its start.
    pub(crate) fn age(&self, now: Millis) -> Millis {
        now.saturating_sub(u64::try_from(self.started_at).unwrap_or_default())
    }
}

impl Path {
    /// Creates the path of a run that is at an entry of its root workflow.
    pub fn root(workflow_key: &str, phase_index: usize) -> Self {
        Self(vec![PathSegment {
            workflow_key: workflow_key.to_owned(),
            phase_index,
        }])
    }

    /// Takes segments, root first; none is no path.
    pub fn new(segments: Vec<PathSegment>) -> Option<Self> {
        (!segments.is_empty()).then_some(Self(segments))
    }

    /// Its segments, root first.
    pub fn segments(&self) -> &[PathSegment] {
        &self.0
    }

    /// Returns the number of its scopes.
    pub(crate) fn depth(&self) -> usize {
        self.0.len()
    }

    /// The innermost scope.
    pub(crate) fn innermost(&self) -> &PathSegment {
        &self.0[self.0.len() - 1]
    }

    /// The same scopes, the innermost on another entry.
    pub(crate) fn moved_to(&self, phase_index: usize) -> Self {
        let mut path = self.clone();
        let last = path.0.len() - 1;
        path.0[last].phase_index = phase_index;
        path
    }

    /// One scope more, on its first entry.
    pub(crate) fn entered(&self, workflow_key: &str) -> Self {
        let mut path = self.clone();
        path.0.push(PathSegment {
            workflow_key: workflow_key.to_owned(),
            phase_index: 0,
        });
        path
    }

    /// The scope of a workflow that is around the position.
    pub(crate) fn scope_of(&self, workflow: &str) -> Option<Self> {
        let is_it = |segment: &PathSegment| segment.workflow_key == workflow;
        let depth = self.0.iter().position(is_it)?;
        Some(self.up_to(depth + 1))
    }

    /// The outermost scopes, so many; at least the root.
    pub(crate) fn up_to(&self, depth: usize) -> Self {
        Self(self.0[..depth.clamp(1, self.depth())].to_vec())
    }

    /// One scope less; the root has none around it.
    pub(crate) fn left(&self) -> Option<Self> {
        let outer = self.depth() - 1;
        (outer > 0).then(|| self.up_to(outer))
    }

    /// Itself and the scopes around it, the innermost first.
    pub(crate) fn scopes(&self) -> impl Iterator<Item = Self> {
        (1..=self.depth()).rev().map(|depth| self.up_to(depth))
    }

    /// The workflow of the innermost scope.
    pub(crate) fn workflow<'c>(&self, catalog: &'c Catalog) -> Option<&'c Workflow> {
        catalog.get(&self.innermost().workflow_key)
    }

    /// The entry that it is at.
    pub(crate) fn entry<'c>(&self, catalog: &'c Catalog) -> Option<&'c PhaseEntry> {
        let phases = &self.workflow(catalog)?.phases;
        phases.get(self.innermost().phase_index)
    }

    /// The reference that it is at.
    pub(super) fn subworkflow<'c>(&self, catalog: &'c Catalog) -> Option<&'c Subworkflow> {
        self.entry(catalog)?.subworkflow()
    }

    /// The key of the innermost scope: the segments around, and its workflow.
    pub(super) fn scope_key(&self) -> String {
        let (innermost, around) = self.0.split_last().expect("a path is never empty");
        let around = around.iter();
        let around =
            around.map(|around| format!("{}:{}/", around.workflow_key, around.phase_index));
        around.collect::<String>() + &innermost.workflow_key
    }

    /// The key of what a phase of the innermost scope hands over.
    pub(super) fn output_key(&self, phase: &str) -> String {
        output_key(&self.innermost().workflow_key, phase)
    }

    /// The key of the visits of a phase in the innermost scope.
    pub(super) fn visit_key(&self, phase: &str) -> String {
        format!("{}#{phase}", self.scope_key())
    }
}

/// The key of what a phase hands over.
pub(crate) fn output_key(workflow: &str, phase: &str) -> String {
    format!("{workflow}/{phase}")
}
