//! The outline of a workflow: its phases and subworkflows, each in one line.

use serde::Serialize;
use workflow_core::definition::{Phase, labelled};
use workflow_core::diagnostic::{few, shown};
use workflow_core::explain::{Explained, NodeKind, PhaseNode, Topic, Value};

use crate::present::Page;

/// The phases and subworkflows of a workflow.
#[derive(Serialize)]
pub(super) struct Outline<'a> {
    entries: Vec<Entry<'a>>,
    /// Set if the outline is longer than its limit.
    cut: bool,
}

/// A phase or subworkflow of the outline.
#[derive(Serialize)]
struct Entry<'a> {
    /// Its number and name, indented by its depth.
    #[serde(skip)]
    label: String,
    path: &'a str,
    /// Tools, conditions and reminders.
    summary: Vec<String>,
}

impl<'a> Outline<'a> {
    pub(super) fn of(explained: &[(&'a PhaseNode<'_>, Option<Explained>)], cut: bool) -> Self {
        let entries = explained.iter();
        let entries = entries.map(|(node, explained)| Entry::of(node, explained.as_ref()));
        let entries = entries.collect();
        Self { entries, cut }
    }

    /// Adds a line for each entry, indented by its depth.
    pub(super) fn text(&self, page: &mut Page) {
        let pair = |entry: &Entry<'_>| (entry.label.clone(), entry.summary.join(" · "));
        page.pairs(&self.entries.iter().map(pair).collect::<Vec<_>>());
        if self.cut {
            page.line("  … and more, which are not shown");
        }
    }
}

impl<'a> Entry<'a> {
    fn of(node: &'a PhaseNode<'_>, explained: Option<&Explained>) -> Self {
        let conditional = (!node.when.is_empty()).then(|| "conditional".to_owned());
        let (name, summary) = match node.kind {
            NodeKind::Phase(phase) => {
                let name = labelled(&shown(&phase.emoji), &shown(&phase.name));
                (name, of_phase(phase, explained, conditional))
            }
            NodeKind::Subworkflow(workflow) => {
                let not = if workflow.loopable { "" } else { "not " };
                let summary = format!("subworkflow {}, {not}loopable", shown(&workflow.key));
                let list = node.for_each;
                let list = list.map(|list| format!("for each item of {list}"));
                let summary = [summary].into_iter().chain(list).chain(conditional);
                (shown(&workflow.name), summary.collect())
            }
        };
        Self {
            label: format!("{}{}. {name}", "  ".repeat(node.depth), node.number),
            path: &node.name,
            summary,
        }
    }
}

/// What is said of a phase.
fn of_phase(
    phase: &Phase,
    explained: Option<&Explained>,
    conditional: Option<String>,
) -> Vec<String> {
    let value = |topic, key| Some(explained?.row(topic, key)?.value.clone());
    let waits = value(Topic::Continue, "wait") == Some(Value::Flag(true));
    let max = value(Topic::Continue, "max");
    let tools = value(Topic::Tools, "inForce").map_or_else(String::new, |all| all.to_string());
    let rows = explained.iter().flat_map(|explained| &explained.rows);
    let gate = rows.filter(|row| row.key == "gate");
    let gate: Vec<String> = gate.map(|row| row.value.to_string()).collect();
    let outcomes = phase.outcomes.iter().map(|outcome| shown(&outcome.name));
    let outcomes = few(&outcomes.collect::<Vec<_>>(), 8);
    let visits = phase.most_visits().map(|most| match &*most {
        "1" => "1 visit".to_owned(),
        most => format!("{most} visits"),
    });
    let reminders = match &max {
        _ if waits => "waits for the user".to_owned(),
        None => String::new(),
        Some(Value::Count(0)) => "no reminders".to_owned(),
        Some(Value::Count(1)) => "one reminder".to_owned(),
        Some(Value::Count(times)) => format!("up to {times} reminders"),
        Some(_) => "reminders without end".to_owned(),
    };
    let summary = [
        Some(format!("tools: {tools}")),
        (!gate.is_empty()).then(|| format!("gate: {}", gate.join(", "))),
        phase.approve.as_ref().map(|_| "approval".to_owned()),
        (!outcomes.is_empty()).then(|| format!("outcomes: {outcomes}")),
        conditional,
        visits.map(|visits| format!("at most {visits}")),
        Some(reminders),
    ];
    summary.into_iter().flatten().collect()
}
