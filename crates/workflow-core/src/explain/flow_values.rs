//! The values of the flow: inputs, outputs, conditions, visits, budgets, hints.

use crate::definition::{Budget, CancelBy, Condition, Parameter, Phase};
use crate::diagnostic::shown;

use super::origin_lookup::OriginLookup;
use super::row::{Origin, Row, Topic, Value};
use crate::policy::rules::RuleSource;
use crate::run::Path;

/// The values of a phase: its own, and the budgets around it.
pub(super) fn of_phase(lookup: &OriginLookup<'_>) -> Vec<Row> {
    let phase = lookup.position.phase;
    let of_phase = |key: &'static str, value: String| row(key, value, lookup.phase(&[key]));
    let mut rows = conditions_around(lookup);
    if !phase.when.is_empty() {
        rows.push(of_phase("when", conditions(&phase.when)));
    }
    rows.extend(phase.outputs.iter().map(|output| {
        let origin = lookup.phase(&["outputs", &output.name]);
        row("output", parameter(output), origin)
    }));
    rows.extend(visits(phase).map(|visits| of_phase("maxVisits", visits)));
    if !phase.budget.is_unlimited() {
        rows.push(of_phase("budget", phase.budget.describe()));
    }
    rows.extend(budgets_around(lookup));
    let hints = &phase.hints;
    rows.extend(
        hints
            .model
            .iter()
            .map(|model| of_phase("model", model.clone())),
    );
    rows.extend(
        hints
            .thinking
            .map(|thinking| of_phase("thinking", thinking.to_string())),
    );
    if hints.active_tools {
        let value = "tools that are blocked are hidden from the model";
        rows.push(of_phase("activeTools", value.to_owned()));
    }
    rows
}

/// The values of a workflow, which apply to the whole run.
pub(super) fn of_workflow(lookup: &OriginLookup<'_>) -> Vec<Row> {
    let root = lookup.position.root();
    let of_root = |key: &'static str, value: String, said: &[&str]| {
        let origin = lookup.key_of(RuleSource::Workflow(&root.key), said);
        row(key, value, origin)
    };
    let inputs = root.inputs.iter();
    let mut rows: Vec<Row> = inputs
        .map(|input| of_root("input", parameter(input), &["inputs", &input.name]))
        .collect();
    if !root.budget.is_unlimited() {
        rows.push(of_root("budget", root.budget.describe(), &["budget"]));
    }
    rows.extend(root.cancel.map(|by| {
        let by = match by {
            CancelBy::Anyone => "by the agent and by persons",
            CancelBy::Person => "by the user only",
        };
        of_root("cancel", by.to_owned(), &["cancel"])
    }));
    rows
}

fn row(key: &'static str, value: String, origin: Origin) -> Row {
    Row {
        topic: Topic::Flow,
        key,
        value: Value::Label(value),
        origin: Some(origin),
    }
}

/// The budgets of the workflows around a phase, outer first.
fn budgets_around(lookup: &OriginLookup<'_>) -> Vec<Row> {
    let levels = lookup.position.levels.iter().map(|level| level.workflow);
    let limited = levels.filter(|workflow| !workflow.budget.is_unlimited());
    let of = |budget: &Budget, name: &str| format!("{} in {}", budget.describe(), shown(name));
    limited
        .map(|workflow| {
            let origin = lookup.key_of(RuleSource::Workflow(&workflow.key), &["budget"]);
            row("budget", of(&workflow.budget, &workflow.name), origin)
        })
        .collect()
}

/// Conditions, all of which must hold.
pub(super) fn conditions<'c>(conditions: impl IntoIterator<Item = &'c Condition>) -> String {
    let conditions = conditions.into_iter().map(ToString::to_string);
    conditions.collect::<Vec<_>>().join(" and ")
}

/// The conditions of the subworkflows around a phase, outer first.
fn conditions_around(lookup: &OriginLookup<'_>) -> Vec<Row> {
    let path = &lookup.state.current_path;
    let levels = &lookup.position.levels;
    let around = levels.windows(2).enumerate();
    let conditional = around.filter(|(_, levels)| !levels[0].conditions().is_empty());
    conditional
        .filter_map(|(depth, levels)| {
            let reference = Path::new(path.segments()[..=depth].to_vec())?;
            let (outer, inner) = (levels[0], levels[1]);
            let conditions = conditions(outer.conditions());
            let value = format!("{conditions} for {}", shown(&inner.workflow.name));
            Some(row("when", value, lookup.entry(&reference)))
        })
        .collect()
}

/// The most visits of a phase, and the consequence of one more.
fn visits(phase: &Phase) -> Option<String> {
    let most = phase.max_visits?;
    Some(match phase.redirect() {
        Some(id) => format!("{most}, then → {}", shown(id)),
        None => format!("{most}, then {}", phase.on_max_visits),
    })
}

/// An input or an output on one line.
fn parameter(parameter: &Parameter) -> String {
    let mut text = format!("{}: {}", parameter.name, parameter.kind.describe());
    match &parameter.default {
        Some(default) => text = format!("{text}, {default} where it is not given"),
        None if !parameter.required => text += ", optional",
        None => {}
    }
    if !parameter.about.is_empty() {
        text = format!("{text} ({})", parameter.about);
    }
    text
}
