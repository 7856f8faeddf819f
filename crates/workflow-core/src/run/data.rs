//! The data of a run beside its position: inputs, outputs, visits, the last outcome.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Path, Position, RunState};
use crate::definition::{Catalog, Condition, PhaseEntry, Subject, Workflow};
use crate::text;

/// A run: its state, and the data that it has collected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunProgress {
    /// The state, as the session stores it.
    pub state: RunState,
    /// The data.
    pub data: RunData,
}

impl RunProgress {
    /// The entries of the workflow that were entered, and all of them. Where no visits are counted, none was passed over.
    pub(crate) fn completed(&self, catalog: &Catalog) -> (usize, usize) {
        let key = &self.state.workflow_key;
        let Some(workflow) = catalog.get(key) else {
            // A completed run is at its last entry, so the count is known without the definition.
            let all = self.state.current_path.segments()[0].phase_index + 1;
            return (all, all);
        };
        let all = workflow.phases.len();
        if self.data.visits.is_empty() {
            return (all, all);
        }
        let path = Path::root(key, 0);
        let entries = workflow.phases.iter();
        let entered = entries.filter(|entry| self.data.visits(&path, entry.id()) > 0);
        (entered.count(), all)
    }
}

impl From<RunState> for RunProgress {
    /// A run without data.
    fn from(state: RunState) -> Self {
        Self {
            state,
            data: RunData::default(),
        }
    }
}

/// The values of a phase's outputs, by name.
pub type Values = BTreeMap<String, Value>;

/// The values that a run has collected: its inputs and outputs. Their entry is appended when one of them changes, so that a
/// long run does not repeat them at every move.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RunValues {
    /// The values that the run was given at its start.
    #[serde(skip_serializing_if = "Values::is_empty")]
    pub inputs: Values,
    /// The values that the agent handed over, by `<workflow key>/<phase id>`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub outputs: BTreeMap<String, Values>,
}

/// The data of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RunData {
    /// The values, which have an entry of their own.
    #[serde(skip)]
    pub values: RunValues,
    /// The entries into each phase, by `<scope>#<phase id>`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub visits: BTreeMap<String, u32>,
    /// The jumps of the agent into each phase without `maxVisits` and into each subworkflow, by the same keys.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub jumps: BTreeMap<String, u32>,
    /// What a person has allowed to be entered once more, beyond its limit, by the same keys.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub allowed_visits: BTreeSet<String>,
    /// The ids of the phases that the last move skipped, because their `when` does not hold.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<String>,
    /// The outcome that the last move followed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// The limits that led the last move elsewhere or ended the run, as people read them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<String>,
    /// The key of the visits that the run waits for: a person may allow one more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused_visit: Option<String>,
    /// The comment of the person with the last answer to an approval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// What the agent handed over to leave the phase. It is stored while the run waits for the approval.
    #[serde(skip_serializing_if = "HandedOver::is_empty")]
    pub handed_over: HandedOver,
}

/// What the agent has handed over of a phase that is not left yet.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct HandedOver {
    /// The name of the outcome.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// The outputs.
    #[serde(skip_serializing_if = "Values::is_empty")]
    pub outputs: Values,
    /// The agent's summary, for a person who approves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
}

impl HandedOver {
    /// True if a person who approves one of them approves the other: a summary leads nowhere.
    pub(crate) fn leads_as(&self, other: &Self) -> bool {
        (&self.outcome, &self.outputs) == (&other.outcome, &other.outputs)
    }

    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The text for a declared value that is not given.
pub(crate) const NOT_GIVEN: &str = "(not given)";

impl RunData {
    /// Returns true if there is nothing to store.
    pub(crate) fn is_empty(&self) -> bool {
        let values = RunValues::default();
        let without_values = Self {
            values,
            ..self.clone()
        };
        without_values == Self::default()
    }

    /// The phases that the last move skipped, for people and for the agent.
    pub(crate) fn skipped_note(&self) -> Option<String> {
        let skipped = self.skipped.join(", ");
        let note = format!("Skipped, because the conditions are not met: {skipped}.");
        (!skipped.is_empty()).then_some(note)
    }

    /// The limits that led the last move elsewhere or ended the run, for people and for the agent.
    pub(crate) fn limits_note(&self) -> Option<String> {
        (!self.limits.is_empty()).then(|| format!("{}.", self.limits.join("; ")))
    }

    /// The key of a phase's outputs.
    pub(crate) fn output_key(workflow: &str, phase: &str) -> String {
        format!("{workflow}/{phase}")
    }

    /// Takes over the outputs that the agent handed over for a phase. A value that is not given anew stays.
    pub(crate) fn take_over(&mut self, workflow: &str, phase: &str) {
        if !self.handed_over.outputs.is_empty() {
            let key = Self::output_key(workflow, phase);
            let values = self.values.outputs.entry(key).or_default();
            values.extend(self.handed_over.outputs.clone());
        }
    }

    /// The entries into the phase that a path is at, or another of its scope.
    pub fn visits(&self, path: &Path, phase: &str) -> u32 {
        let key = visit_key(path, phase);
        self.visits.get(&key).copied().unwrap_or_default()
    }

    /// Forgets the visits inside a scope, because it is entered anew.
    pub(super) fn enter_scope(&mut self, path: &Path) {
        let scope = scope_key(path);
        let is_inside = |key: &str| {
            let rest = key.strip_prefix(&*scope);
            rest.is_some_and(|rest| rest.starts_with(['#', ':']))
        };
        self.visits.retain(|key, _| !is_inside(key));
        self.jumps.retain(|key, _| !is_inside(key));
        self.allowed_visits.retain(|key| !is_inside(key));
    }

    /// Returns true if an entry is entered, because all of its conditions hold. `path` is at the entry.
    pub(crate) fn admits(&self, entry: &PhaseEntry, path: &Path, catalog: &Catalog) -> bool {
        entry
            .when()
            .iter()
            .all(|condition| self.holds(condition, path, catalog))
    }

    fn holds(&self, condition: &Condition, path: &Path, catalog: &Catalog) -> bool {
        let visits;
        let value = match &condition.subject {
            Subject::Input(name) => self.input(name, path, catalog),
            Subject::Output { phase, name } => self.output(phase, name, path, catalog),
            Subject::Visits(phase) => {
                visits = Value::from(self.visits(path, phase));
                Some(&visits)
            }
        };
        let is_one = value.is_some_and(|value| condition.values.iter().any(|one| same(one, value)));
        is_one != condition.negated
    }

    /// An input; one that was not given has the default of the workflow that a path is in, or of one around it.
    fn input<'a>(&'a self, name: &str, path: &Path, catalog: &'a Catalog) -> Option<&'a Value> {
        let around = path.segments().iter().rev();
        let mut around = around.filter_map(|segment| catalog.get(&segment.workflow_key));
        let default = |workflow: &'a Workflow| {
            let mut inputs = workflow.inputs.iter();
            inputs.find(|input| input.name == name)?.default.as_ref()
        };
        let given = self.values.inputs.get(name);
        given.or_else(|| around.find_map(default))
    }

    /// The output of a phase that a workflow of the path, or any other one, has.
    fn output(&self, phase: &str, name: &str, path: &Path, catalog: &Catalog) -> Option<&Value> {
        let around = path.segments().iter().rev();
        let around = around.map(|segment| segment.workflow_key.as_str());
        let others = catalog.iter().map(|workflow| workflow.key.as_str());
        around.chain(others).find_map(|workflow| {
            let outputs = &self.values.outputs;
            let values = outputs.get(&Self::output_key(workflow, phase))?;
            values.get(name)
        })
    }

    /// The values as texts, by the names of their variables: all that the definitions declare.
    pub(crate) fn variables(
        &self,
        path: &Path,
        position: &Position<'_>,
        catalog: &Catalog,
    ) -> BTreeMap<String, String> {
        let mut texts = BTreeMap::new();
        for level in position.scopes() {
            texts.extend(input_texts(level.workflow, &self.values.inputs));
        }
        let root = position.root().key.as_str();
        let mut workflows: Vec<&Workflow> = catalog.reachable_from(root);
        // The nearest one is the last, and wins.
        workflows.extend(position.scopes().map(|level| level.workflow));
        for workflow in workflows {
            for phase in workflow.own_phases() {
                let key = Self::output_key(&workflow.key, &phase.id);
                let values = self.values.outputs.get(&key);
                for output in &phase.outputs {
                    let value = values.and_then(|values| values.get(&output.name));
                    let name = format!("outputs.{}.{}", phase.id, output.name);
                    texts.insert(name, text_of(value));
                }
            }
        }
        let workflow = position.own_workflow();
        for phase in workflow.own_phases().filter(|_| catalog.has_flow(root)) {
            let visits = self.visits(path, &phase.id).to_string();
            texts.insert(format!("visits.{}", phase.id), visits);
        }
        texts
    }

    /// The inputs that the run was given, as texts.
    pub(crate) fn inputs_as_texts(&self) -> BTreeMap<String, String> {
        let inputs = self.values.inputs.iter();
        inputs
            .map(|(name, value)| (name.clone(), text_of(Some(value))))
            .collect()
    }
}

/// The inputs of a workflow as texts, by the names of their variables.
pub(crate) fn input_texts(workflow: &Workflow, given: &Values) -> BTreeMap<String, String> {
    let inputs = workflow.inputs.iter();
    inputs
        .map(|input| {
            let value = given.get(&input.name).or(input.default.as_ref());
            let text = text_of(value);
            (format!("inputs.{}", input.name), text)
        })
        .collect()
}

/// The scope of a path: the segments around, and the innermost workflow.
fn scope_key(path: &Path) -> String {
    let segments = path.segments();
    let (innermost, around) = segments.split_last().expect("a path is never empty");
    let around = around.iter();
    let around = around.map(|around| format!("{}:{}/", around.workflow_key, around.phase_index));
    around.collect::<String>() + &innermost.workflow_key
}

/// The key of the visits of a phase in the innermost scope of a path.
pub(crate) fn visit_key(path: &Path, phase: &str) -> String {
    format!("{}#{phase}", scope_key(path))
}

/// Compares values; numbers by their value, so that `1` is `1.0`.
fn same(one: &Value, other: &Value) -> bool {
    match (one.as_f64(), other.as_f64()) {
        (Some(one), Some(other)) => one.total_cmp(&other).is_eq(),
        _ => one == other,
    }
}

/// A value as text.
fn text_of(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => NOT_GIVEN.to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(items)) => text::join(items.iter().map(|item| text_of(Some(item))), ", "),
        Some(value) => value.to_string(),
    }
}
