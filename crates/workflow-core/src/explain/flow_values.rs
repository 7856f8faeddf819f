//! The values of the flow: inputs, outputs, conditions, visits, budgets, hints.

use crate::definition::{CancelBy, Condition, Parameter, Phase};
use crate::diagnostic::shown;

use super::origin_lookup::OriginLookup;
use super::row::{Row, Topic};
use super::rows::Rows;
use crate::policy::rules::RuleSource;
use crate::run::Path;

/// The values of a phase: its own, and the budgets around it.
pub(super) fn of_phase(lookup: &OriginLookup<'_>) -> Vec<Row> {
    let (phase, hints) = (lookup.position.phase, &lookup.position.phase.hints);
    let mut rows = Rows::of(Topic::Flow);
    let own = |rows: &mut Rows, key: &'static str, value: Option<String>| {
        if let Some(value) = value {
            rows.label(key, value, lookup.phase(&[key]));
        }
    };
    conditions_around(lookup, &mut rows);
    let when = conditions(&phase.when);
    own(
        &mut rows,
        "when",
        Some(when).filter(|when| !when.is_empty()),
    );
    for output in &phase.outputs {
        let origin = lookup.phase(&["outputs", &output.name]);
        rows.label("output", parameter(output), origin);
    }
    own(&mut rows, "maxVisits", visits(phase));
    let is_limited = !phase.budget.is_unlimited();
    own(
        &mut rows,
        "budget",
        is_limited.then(|| phase.budget.describe()),
    );
    budgets_around(lookup, &mut rows);
    own(&mut rows, "model", hints.model.clone());
    let thinking = hints.thinking.map(|thinking| thinking.to_string());
    own(&mut rows, "thinking", thinking);
    let hides = "tools that are blocked are hidden from the model";
    own(
        &mut rows,
        "activeTools",
        hints.active_tools.then(|| hides.to_owned()),
    );
    rows.finish()
}

/// The values of a workflow, which apply to the whole run.
pub(super) fn of_workflow(lookup: &OriginLookup<'_>) -> Vec<Row> {
    let root = lookup.position.root();
    let of_root = |said: &[&str]| lookup.key_of(RuleSource::Workflow(&root.key), said);
    let mut rows = Rows::of(Topic::Flow);
    for input in &root.inputs {
        let origin = of_root(&["inputs", &input.name]);
        rows.label("input", parameter(input), origin);
    }
    if !root.budget.is_unlimited() {
        rows.label("budget", root.budget.describe(), of_root(&["budget"]));
    }
    if let Some(by) = root.cancel {
        let by = match by {
            CancelBy::Anyone => "by the agent and by persons",
            CancelBy::User => "by the user only",
        };
        rows.label("cancel", by, of_root(&["cancel"]));
    }
    rows.finish()
}

/// The budgets of the workflows around a phase, outer first.
fn budgets_around(lookup: &OriginLookup<'_>, rows: &mut Rows) {
    for workflow in lookup.position.levels.iter().map(|level| level.workflow) {
        if !workflow.budget.is_unlimited() {
            let value = format!(
                "{} in {}",
                workflow.budget.describe(),
                shown(&workflow.name)
            );
            let origin = lookup.key_of(RuleSource::Workflow(&workflow.key), &["budget"]);
            rows.label("budget", value, origin);
        }
    }
}

/// Conditions, all of which must hold.
pub(super) fn conditions<'c>(conditions: impl IntoIterator<Item = &'c Condition>) -> String {
    let conditions = conditions.into_iter().map(ToString::to_string);
    conditions.collect::<Vec<_>>().join(" and ")
}

/// The conditions of the subworkflows around a phase, outer first.
fn conditions_around(lookup: &OriginLookup<'_>, rows: &mut Rows) {
    let path = &lookup.state.current_path;
    for (depth, levels) in lookup.position.levels.windows(2).enumerate() {
        let (outer, inner) = (levels[0], levels[1]);
        let reference = Path::new(path.segments()[..=depth].to_vec());
        if let Some(reference) = reference.filter(|_| !outer.conditions().is_empty()) {
            let conditions = conditions(outer.conditions());
            let value = format!("{conditions} for {}", shown(&inner.workflow.name));
            rows.label("when", value, lookup.entry(&reference));
        }
    }
}

/// The most visits of a phase, and the consequence of one more.
fn visits(phase: &Phase) -> Option<String> {
    let most = phase.max_visits?;
    Some(match phase.redirect() {
        Some(id) => format!("{most}, then → {}", shown(id)),
        None => format!("{most}, then {}", phase.on_limit),
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
