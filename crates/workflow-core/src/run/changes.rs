//! Changed files of an active run: what they say differently from what the user last agreed to.
//!
//! Values are equal or not; which one is stricter is not decided. Of a guard the old and the new value can hold together.
//! Ways cannot: a run follows one of them.

use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::definition::{
    CancelBy, Catalog, Change, Declared, Gate, Guards, Key, Limits, Loaded, Phase, PhaseEntry,
    Section, Subworkflow, TierSettings, Workflow, least,
};
use crate::diagnostic::shown;
use crate::text;

use super::stored::{StoredGuards, hash_of};

/// What the change of a member of a map means. One that is no key of it and not listed here counts as a way.
fn change_of(section: &Section, member: &str) -> Change {
    match member {
        "key" | "templates" | "hints" | "reading" => Change::Text,
        // `rules` is a key of `tools`.
        "limits.maxVisits" | "rules" => Change::Guard,
        _ => {
            let key = section.keys.iter().find(|key| key.name == member);
            key.map_or(Change::Way, Key::change)
        }
    }
}

/// Members of guards that only say something.
const REMARKS: &[&str] = &["source", "reason", "notify", "about", "example"];

/// The definitions of a run and the guards of the settings.
#[derive(Debug, Clone)]
pub struct Terms {
    /// The root workflow and all that it reaches.
    pub catalog: Arc<Catalog>,
    /// The guards of the settings.
    pub guards: StoredGuards,
}

/// The differences between the terms that the user agreed to and those of the files, for display.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Changes {
    pub(crate) guards: Vec<String>,
    pub(crate) ways: Vec<String>,
    /// The digest of what the files say.
    pub(crate) digest: String,
}

/// A level of the definitions or of the settings.
struct Level {
    id: String,
    name: String,
    section: &'static Section,
    members: Map<String, Value>,
}

/// What the files of a workflow say differently about guards and ways, for display.
pub fn changed_terms(before: &Loaded, after: &Loaded, root: &str) -> Vec<String> {
    let [before, after] = [before, after].map(|loaded| Terms::of(loaded, None));
    let changes = Changes::between(&before, &after, root);
    changes.lines().map(str::to_owned).collect()
}

impl Changes {
    /// Compares the terms of a run of this root.
    pub(crate) fn between(agreed: &Terms, files: &Terms, root: &str) -> Self {
        let [before, after] = [agreed, files].map(|terms| terms.levels(root));
        let mut changes = Self::default();
        let ids = |levels: &[Level]| levels.iter().map(|level| level.id.clone()).collect();
        let [were, are]: [Vec<String>; 2] = [ids(&before), ids(&after)];
        let only_in = |levels: &[Level], others: &[String], is: &str| -> Vec<String> {
            let levels = levels.iter().filter(|level| !others.contains(&level.id));
            levels.map(|level| format!("{} {is}", level.name)).collect()
        };
        changes.ways.extend(only_in(&before, &are, "was removed"));
        changes.ways.extend(only_in(&after, &were, "is new"));
        if changes.ways.is_empty() && were != are {
            changes.ways.push("the order of the phases".to_owned());
        }
        for level in &before {
            if let Some(other) = after.iter().find(|other| other.id == level.id) {
                level.compare(other, &mut changes);
            }
        }
        let said = after.iter().map(|level| (&level.id, &level.members));
        changes.digest = hash_of(&said.collect::<Vec<_>>());
        changes
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.guards.is_empty() && self.ways.is_empty()
    }

    /// What holds until the user agrees to them.
    pub(crate) fn holds(&self) -> &'static str {
        if self.ways.is_empty() {
            "what held before and what is new both hold"
        } else {
            "the run keeps its stored definition"
        }
    }

    /// All of them, as a list.
    pub(crate) fn listed(&self) -> String {
        text::join(self.lines().map(|line| format!("- {line}")), "\n")
    }

    /// All of them, a line each.
    pub(crate) fn lines(&self) -> impl Iterator<Item = &str> {
        self.ways.iter().chain(&self.guards).map(String::as_str)
    }
}

impl Terms {
    /// The terms of the files; the guards of a file that could not be read are those that were known before.
    pub(crate) fn of(loaded: &Loaded, known: Option<&StoredGuards>) -> Self {
        Self {
            catalog: Arc::clone(&loaded.catalog),
            guards: StoredGuards::of(&loaded.settings, known),
        }
    }

    fn levels(&self, root: &str) -> Vec<Level> {
        let of_settings =
            |id, name, guards: &Guards| Level::new(id, name, TierSettings::SECTION, guards);
        let limits = json!({ "limits.maxVisits": self.guards.jumps() });
        let mut levels = vec![
            of_settings("user", "the user's settings", &self.guards.user),
            of_settings("project", "the project's settings", &self.guards.project),
            Level::new("limits", "the settings", Limits::SECTION, &limits),
        ];
        for workflow in self.catalog.reachable_from(root) {
            let (key, name) = (&workflow.key, shown(&workflow.name));
            let name = format!("workflow {name}");
            levels.push(Level::of_workflow(&name, workflow));
            levels.extend(workflow.phases.iter().map(|entry| {
                let id = format!("{key}/{}", entry.id());
                match entry {
                    PhaseEntry::Phase(phase) => Level::of_phase(&id, phase),
                    PhaseEntry::Subworkflow(inner) => {
                        let name = format!("subworkflow {}", shown(&inner.key));
                        Level::new(&id, &name, Subworkflow::SECTION, inner)
                    }
                }
            }));
        }
        levels
    }

    /// The definitions of the files with the guards of `agreed` as well, for a run of this root whose ways are the same.
    /// Rules, lists and redactions are not merged: they are levels of their own.
    pub(crate) fn with_guards_of(&self, agreed: &Self, root: &str) -> Arc<Catalog> {
        let workflows = self.catalog.reachable_from(root).into_iter().cloned();
        let workflows = workflows.map(|mut workflow| {
            if let Some(before) = agreed.catalog.get(&workflow.key) {
                hold_in_workflow(&mut workflow, before);
            }
            workflow
        });
        Arc::new(Catalog::new(workflows.collect()))
    }
}

impl Level {
    /// A level with the members of a map that restrict or lead; those that say nothing are left out.
    fn new(id: &str, name: &str, section: &'static Section, map: &impl Serialize) -> Self {
        let mut members = match meaning(map) {
            Value::Object(members) => members,
            _ => Map::new(),
        };
        members
            .retain(|name, value| change_of(section, name) != Change::Text && !is_nothing(value));
        // A bound that is a value belongs to its key.
        if let Some(Value::Array(bounds)) = members.remove("bounds") {
            for bound in bounds {
                let key = bound[0].as_str().filter(|key| *key == "maxVisits");
                let member = members
                    .entry(key.unwrap_or("budget"))
                    .or_insert(Value::Null);
                *member = json!([member.take(), bound]);
            }
        }
        Self {
            id: id.to_owned(),
            name: name.to_owned(),
            section,
            members,
        }
    }

    /// The level of a phase. Where its checks and answers lead is a member of its own.
    fn of_phase(id: &str, phase: &Phase) -> Self {
        let name = format!("phase {}", shown(&phase.name));
        let mut level = Self::new(id, &name, Phase::SECTION, phase);
        let answers = phase.approve.iter().flat_map(|approve| &approve.targets);
        let on_fail = phase.gate.iter().filter_map(|gate| gate.on_fail.as_ref());
        let on_limit = phase.gate.iter().filter_map(|gate| gate.on_limit.as_ref());
        level.lead([
            ("approve.choices", json!(answers.collect::<Vec<_>>())),
            ("gate.onFail", json!(on_fail.collect::<Vec<_>>())),
            ("gate.onLimit", json!(on_limit.collect::<Vec<_>>())),
            ("budget.onLimit", json!(phase.budget.on_limit)),
            ("continue.onLimit", json!(phase.auto_continue.on_limit)),
        ]);
        level
    }

    /// The level of a workflow, with the ways at its limits.
    fn of_workflow(name: &str, workflow: &Workflow) -> Self {
        let mut level = Self::new(&workflow.key, name, Workflow::SECTION, workflow);
        level.lead([
            ("budget.onLimit", json!(workflow.budget.on_limit)),
            ("continue.onLimit", json!(workflow.auto_continue.on_limit)),
        ]);
        level
    }

    /// Adds ways that are parts of other members.
    fn lead<const N: usize>(&mut self, ways: [(&str, Value); N]) {
        let ways = ways.into_iter().filter(|(_, value)| !is_nothing(value));
        let ways = ways.map(|(name, value)| (name.to_owned(), value));
        self.members.extend(ways);
    }

    fn compare(&self, after: &Self, changes: &mut Changes) {
        let mut names: Vec<&String> = self.members.keys().chain(after.members.keys()).collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            if self.members.get(name) == after.members.get(name) {
                continue;
            }
            let kind = match change_of(self.section, name) {
                Change::Text => continue,
                Change::Guard => &mut changes.guards,
                Change::Way => &mut changes.ways,
            };
            kind.push(format!("`{name}` of {}", self.name));
        }
    }
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    }
}

/// The value of guards, without their locations and what they say.
pub(crate) fn meaning(of: &impl Serialize) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(strip),
            Value::Object(fields) => {
                fields.retain(|name, _| !REMARKS.contains(&&**name));
                fields.values_mut().for_each(strip);
            }
            _ => {}
        }
    }
    let mut value = serde_json::to_value(of).expect("definitions have string keys only");
    strip(&mut value);
    value
}

fn hold_in_workflow(workflow: &mut Workflow, before: &Workflow) {
    workflow.budget = workflow.budget.stricter(&before.budget);
    hold_bounds(&mut workflow.bounds, &before.bounds);
    if before.cancel == Some(CancelBy::User) {
        workflow.cancel = before.cancel;
    }
    for (entry, before) in workflow.phases.iter_mut().zip(&before.phases) {
        match (entry, before) {
            (PhaseEntry::Phase(phase), PhaseEntry::Phase(before)) => hold_in_phase(phase, before),
            (PhaseEntry::Subworkflow(reference), PhaseEntry::Subworkflow(before)) => {
                reference.max_visits = least(reference.max_visits, before.max_visits);
                hold_bounds(&mut reference.bounds, &before.bounds);
            }
            _ => {}
        }
    }
}

fn hold_in_phase(phase: &mut Phase, before: &Phase) {
    let mut held = before.gate.clone();
    phase.gate.retain(|gate| {
        let is_it = |held: &&mut Gate| (&held.check, &held.on_fail) == (&gate.check, &gate.on_fail);
        let same = held.iter_mut().find(is_it);
        let is_new = same.is_none();
        if let Some(held) = same {
            held.tries = least(held.tries, gate.tries);
            hold_bounds(&mut held.bounds, &gate.bounds);
        }
        is_new
    });
    phase.gate.splice(..0, held);
    if before.approve.is_some() {
        phase.approve.clone_from(&before.approve);
    }
    phase.max_visits = least(phase.max_visits, before.max_visits);
    phase.budget = phase.budget.stricter(&before.budget);
    hold_bounds(&mut phase.bounds, &before.bounds);
}

fn hold_bounds(bounds: &mut Vec<(String, String)>, before: &[(String, String)]) {
    let held = before.iter().filter(|bound| !bounds.contains(bound));
    let held: Vec<_> = held.cloned().collect();
    bounds.extend(held);
}
