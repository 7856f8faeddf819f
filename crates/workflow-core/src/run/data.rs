//! The data of a run beside its position: inputs, outputs, visits, the last outcome.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{MeasuredChange, Path, Position, RunState, down_to_phase, output_key};
use crate::definition::{Catalog, Comparison, Fact, PhaseEntry, Subject, Workflow, is_absent};
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

/// The values that a run has collected: its inputs and outputs, the outcomes and the user's answers. Their entry is appended when one of them changes, so that a
/// long run does not repeat them at every move.
#[serde_with::apply(_ => #[serde(skip_serializing_if = "is_absent")])]
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RunValues {
    /// The values that the run was given at its start.
    pub inputs: Values,
    /// The values that the agent handed over, by `<workflow key>/<phase id>`.
    pub outputs: BTreeMap<String, Values>,
    /// The outcome with which each phase was left last, by the same keys.
    pub outcomes: BTreeMap<String, String>,
    /// The user's last answer to the approval of each phase, by the same keys.
    pub answers: BTreeMap<String, PhaseAnswer>,
    /// What the subworkflows around the phase were given, by their scopes.
    pub scopes: BTreeMap<String, ScopeValues>,
}

/// What a subworkflow was given when it was entered.
#[serde_with::apply(_ => #[serde(skip_serializing_if = "is_absent")])]
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ScopeValues {
    /// The inputs that the reference passes by name; `None` are those of equal names.
    pub inputs: Option<Values>,
    /// The items of the loop.
    pub items: Vec<String>,
    /// The number of the item, from 1; 0 without a loop.
    pub number: usize,
}

/// How often things have happened, by their keys.
type Counts = BTreeMap<String, u32>;

/// Values of a run as texts, by the names of their variables.
pub(crate) type Texts = BTreeMap<String, String>;

/// The answer of the user to the approval of a phase.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PhaseAnswer {
    /// The choice.
    pub choice: String,
    /// The comment for the agent; empty without one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub comment: String,
}

/// The data of a run.
#[serde_with::apply(_ => #[serde(skip_serializing_if = "is_absent")])]
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RunData {
    /// The values, which have an entry of their own.
    #[serde(skip)]
    pub values: RunValues,
    /// The files at the start of the run, as the platform recorded them, or its commit, if a gate needs it.
    pub start: Option<String>,
    /// The same of the items that the loops around the phase are at; empty if it is not known.
    pub item_starts: BTreeMap<String, String>,
    /// The files at the start of the run, as the platform recorded them, if a condition is about what was changed since.
    pub start_files: Option<String>,
    /// What was changed since, as it was measured last; `None` if it is not known.
    pub change: Option<MeasuredChange>,
    /// The entries into each phase, by `<scope>#<phase id>`.
    pub visits: BTreeMap<String, u32>,
    /// The jumps of the agent into each phase without `maxVisits` and into each subworkflow, by the same keys.
    pub jumps: BTreeMap<String, u32>,
    /// What a person has allowed to be entered once more, beyond its limit, by the same keys.
    pub allowed_visits: BTreeSet<String>,
    /// The ids of the phases that the last move skipped, because their `when` does not hold.
    pub skipped: Vec<String>,
    /// Those of them whose list is empty.
    pub empty_lists: BTreeSet<String>,
    /// The outcome that the last move followed.
    pub outcome: Option<String>,
    /// The limits that led the last move elsewhere or ended the run, as people read them.
    pub limits: Vec<String>,
    /// How often checks have failed since their phase was entered, by `<key of its visits>/<number of the check>`. The way by
    /// `onFail` or `loop` and back counts as one visit.
    pub failures: BTreeMap<String, u32>,
    /// The key of the visits that the run waits for: a person may allow one more.
    pub refused_visit: Option<String>,
    /// What the agent handed over to leave the phase.
    pub handed_over: HandedOver,
}

/// What the agent has handed over of a phase that is not left yet.
#[serde_with::apply(_ => #[serde(skip_serializing_if = "is_absent")])]
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct HandedOver {
    /// The name of the outcome.
    pub outcome: Option<String>,
    /// The outputs.
    pub outputs: Values,
    /// The agent's summary, for a person who approves.
    pub summary: Option<String>,
}

impl RunData {
    /// Returns true if there is nothing to store.
    pub(crate) fn is_empty(&self) -> bool {
        let values = RunValues::default();
        let stored = self.clone();
        is_absent(&Self { values, ..stored })
    }

    /// The phases that the last move skipped, for people and for the agent: one that was skipped in several items of a loop once.
    pub(crate) fn skipped_note(&self) -> Option<String> {
        let mut seen = BTreeSet::new();
        let once = self.skipped.iter().filter(|id| seen.insert(*id));
        let skipped =
            once.map(
                |id| match self.skipped.iter().filter(|other| *other == id).count() {
                    1 if self.empty_lists.contains(id) => format!("{id} (its list is empty)"),
                    1 => id.clone(),
                    several => format!("{id} ({several} times)"),
                },
            );
        let skipped = text::join(skipped, ", ");
        let is_empty = |id: &String| self.empty_lists.contains(id);
        let why = if self.skipped.iter().all(is_empty) {
            ""
        } else {
            ", because the conditions are not met"
        };
        let note = format!("Skipped{why}: {skipped}.");
        (!skipped.is_empty()).then_some(note)
    }

    /// The limits that led the last move elsewhere or ended the run, for people and for the agent.
    pub(crate) fn limits_note(&self) -> Option<String> {
        (!self.limits.is_empty()).then(|| format!("{}.", self.limits.join("; ")))
    }

    /// Takes over what the agent handed over for a phase, in place of the outputs of an earlier visit. Returns false if they are
    /// the same.
    pub(crate) fn take_over(&mut self, key: String) -> bool {
        let HandedOver {
            outcome, outputs, ..
        } = &self.handed_over;
        if let Some(outcome) = outcome {
            self.values.outcomes.insert(key.clone(), outcome.clone());
        }
        let before = if outputs.is_empty() {
            self.values.outputs.remove(&key)
        } else {
            self.values.outputs.insert(key, outputs.clone())
        };
        before.unwrap_or_default() != *outputs
    }

    /// The size of all outputs in bytes as JSON, once a phase has handed these over, and the subworkflows around it have returned
    /// them.
    pub(crate) fn size_with(
        &self,
        path: &Path,
        phase: &str,
        outputs: &Values,
        catalog: &Catalog,
    ) -> usize {
        let mut after = self.clone();
        let path = down_to_phase(path.clone(), catalog);
        let handed_over = &mut after.values.outputs;
        handed_over.insert(path.output_key(phase), outputs.clone());
        for scope in path.scopes() {
            if let Some(around) = scope.left()
                && let Some(reference) = around.subworkflow(catalog)
            {
                after.return_from(&scope, &around, reference, None, catalog);
            }
        }
        let values = after.values.outputs.values().flat_map(Values::values);
        values.map(|value| value.to_string().len()).sum()
    }

    /// Forgets the outcome of the phase of a state, because the phase is left without it.
    pub(crate) fn forget_outcome(&mut self, state: &RunState, catalog: &Catalog) {
        if let Ok(position) = Position::of(state, catalog) {
            let key = output_key(&position.own_workflow().key, &position.phase.id);
            self.values.outcomes.remove(&key);
        }
    }

    /// The entries into the phase that a path is at, or another of its scope.
    pub fn visits(&self, path: &Path, phase: &str) -> u32 {
        times(&self.visits, &path.visit_key(phase))
    }

    /// How often a check of the phase at a path has failed.
    pub(crate) fn failures_of(&self, path: &Path, phase: &str, check: usize) -> u32 {
        times(&self.failures, &failure_key(path, phase, check))
    }

    /// Counts a failure of a check, and returns the new number.
    pub(crate) fn count_failure(&mut self, path: &Path, phase: &str, check: usize) -> u32 {
        count(&mut self.failures, &failure_key(path, phase, check))
    }

    /// The failures of checks of other phases than the one that a state is in.
    pub(super) fn failures_elsewhere(&self, state: &RunState, catalog: &Catalog) -> Counts {
        let mut failures = self.failures.clone();
        if let Ok(position) = Position::of(state, catalog) {
            let own = state.current_path.visit_key(&position.phase.id) + "/";
            failures.retain(|key, _| !key.starts_with(&own));
        }
        failures
    }

    /// Forgets the visits and the values inside a scope, because it is entered anew.
    pub(super) fn enter_scope(&mut self, path: &Path, catalog: &Catalog) {
        let scope = path.scope_key();
        let is_inside = |key: &str| {
            let rest = key.strip_prefix(&*scope);
            rest.is_some_and(|rest| rest.starts_with(['#', ':']))
        };
        for counts in [&mut self.visits, &mut self.jumps, &mut self.failures] {
            counts.retain(|key, _| !is_inside(key));
        }
        self.allowed_visits.retain(|key| !is_inside(key));
        self.item_starts.retain(|key, _| !is_inside(key));
        // No workflow is around itself, so that those of other scopes are left.
        let inside = catalog.reachable_from(&path.innermost().workflow_key);
        let inside: BTreeSet<&str> = inside.iter().map(|workflow| &*workflow.key).collect();
        let is_outside = |key: &String| {
            let workflow = key.split_once('/').map_or(&**key, |(workflow, _)| workflow);
            !inside.contains(workflow)
        };
        self.values.outputs.retain(|key, _| is_outside(key));
        self.values.outcomes.retain(|key, _| is_outside(key));
        self.values.answers.retain(|key, _| is_outside(key));
    }

    /// Returns true if an entry is entered, because all of its conditions hold. `path` is at the entry.
    pub(crate) fn admits(&self, entry: &PhaseEntry, path: &Path, catalog: &Catalog) -> bool {
        entry
            .when()
            .iter()
            .all(|condition| condition.holds(|one| self.holds(one, path, catalog)))
    }

    fn holds(&self, comparison: &Comparison, path: &Path, catalog: &Catalog) -> bool {
        // What is not known of the change counts against leaving a phase out.
        if let Subject::Change(fact) = comparison.subject {
            let change = self.change.as_ref();
            return change.is_none_or(|change| change.meets(fact, &comparison.test));
        }
        let value = self.value(&comparison.subject, path, catalog);
        comparison.test.holds(value.as_deref())
    }

    /// A value of the run, as it is in the scope of a path; `None` before its first.
    pub(crate) fn value<'a>(
        &'a self,
        subject: &Subject,
        path: &Path,
        catalog: &'a Catalog,
    ) -> Option<Cow<'a, Value>> {
        let values = &self.values;
        let answer = |phase| values.answers.get(&path.output_key(phase));
        let text = |text: &String| Cow::Owned(Value::from(&**text));
        match subject {
            Subject::Input(name) => self.input(name, path, catalog).map(Cow::Borrowed),
            Subject::Output { phase, name } => {
                let output = values.outputs.get(&path.output_key(phase))?.get(name);
                output.map(Cow::Borrowed)
            }
            Subject::Outcome(phase) => values.outcomes.get(&path.output_key(phase)).map(text),
            Subject::Choice(phase) => answer(phase).map(|answer| text(&answer.choice)),
            Subject::Comment(phase) => answer(phase).map(|answer| text(&answer.comment)),
            Subject::Visits(phase) => Some(Cow::Owned(self.visits(path, phase).into())),
            Subject::Change(fact) => {
                let number = self.change.as_ref()?.number(*fact)?;
                Some(Cow::Owned(number.into()))
            }
            Subject::Item | Subject::ItemNumber | Subject::ItemCount => None,
        }
    }

    /// An input of the workflow that a path is in: as its reference passes it, or that of the same name of the workflow around.
    /// One that was not given has its default.
    fn input<'a>(&'a self, name: &str, path: &Path, catalog: &'a Catalog) -> Option<&'a Value> {
        let workflow = path.workflow(catalog)?;
        let mut inputs = workflow.inputs.iter();
        let input = inputs.find(|input| input.name == name)?;
        let passed = self.values.scopes.get(&path.scope_key());
        let given = match (passed.and_then(|scope| scope.inputs.as_ref()), path.left()) {
            (Some(passed), _) => passed.get(name),
            (None, Some(around)) => self.input(name, &around, catalog),
            (None, None) => self.values.inputs.get(name),
        };
        given.or(input.default.as_ref())
    }

    /// The values of the scope of a path as texts, by the names of their variables: all that its workflow declares.
    pub(crate) fn variables(&self, path: &Path, catalog: &Catalog) -> Texts {
        let mut texts = BTreeMap::new();
        let Some(workflow) = path.workflow(catalog) else {
            return texts;
        };
        let mut add = |subject: Subject| {
            let value = self.value(&subject, path, catalog);
            texts.insert(subject.to_string(), text_of(value.as_deref()));
        };
        for input in &workflow.inputs {
            add(Subject::Input(input.name.clone()));
        }
        let has_flow =
            !self.visits.is_empty() || catalog.has_flow(&path.segments()[0].workflow_key);
        for entry in &workflow.phases {
            let id = || entry.id().to_owned();
            let (outputs, outcomes) = match entry {
                PhaseEntry::Phase(phase) => {
                    let outputs = phase.outputs.iter().map(|output| &output.name);
                    (outputs.collect::<Vec<_>>(), &phase.outcomes)
                }
                PhaseEntry::Subworkflow(reference) => {
                    let inner = catalog.get(&reference.key);
                    let outputs = inner.into_iter().flat_map(|inner| &inner.outputs);
                    let names = outputs.map(|output| &output.name);
                    (names.collect(), &reference.outcomes)
                }
            };
            for name in outputs {
                let (phase, name) = (id(), name.clone());
                add(Subject::Output { phase, name });
            }
            if !outcomes.is_empty() {
                add(Subject::Outcome(id()));
            }
            if entry.phase().is_some_and(|phase| phase.approve.is_some()) {
                add(Subject::Choice(id()));
                add(Subject::Comment(id()));
            }
            if has_flow {
                add(Subject::Visits(id()));
            }
        }
        for fact in [Fact::Files, Fact::Lines] {
            add(Subject::Change(fact));
        }
        texts
    }

    /// The inputs that the run was given, as texts.
    pub(crate) fn inputs_as_texts(&self) -> Texts {
        let text = |(name, value): (&String, _)| (name.clone(), text_of(Some(value)));
        self.values.inputs.iter().map(text).collect()
    }
}

/// The inputs of a workflow as texts, by the names of their variables.
pub(crate) fn input_texts(workflow: &Workflow, given: &Values) -> Texts {
    let inputs = workflow.inputs.iter().map(|input| {
        let value = given.get(&input.name).or(input.default.as_ref());
        (format!("inputs.{}", input.name), text_of(value))
    });
    inputs.collect()
}

/// How often something has happened.
pub(super) fn times(counts: &Counts, key: &str) -> u32 {
    counts.get(key).copied().unwrap_or_default()
}

/// Counts something, and returns the new number.
pub(super) fn count(counts: &mut Counts, key: &str) -> u32 {
    let count = counts.entry(key.to_owned()).or_default();
    *count = count.saturating_add(1);
    *count
}

/// The key of the failures of a check.
fn failure_key(path: &Path, phase: &str, check: usize) -> String {
    format!("{}/{check}", path.visit_key(phase))
}

/// A value as text; empty before the first.
pub(super) fn text_of(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(items)) => text::join(items.iter().map(|item| text_of(Some(item))), ", "),
        Some(value) => value.to_string(),
    }
}
