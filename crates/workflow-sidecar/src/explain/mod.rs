//! Explanations: what applies in a workflow or a phase, with its source, and what a shell line does.

mod outline;
mod rows;
mod shell_line;

use serde::Serialize;
use workflow_core::definition::{Loaded, Workflow, labelled};
use workflow_core::diagnostic::shown;
use workflow_core::explain::{
    Explained, NodeKind, OriginKind, PhaseNode, PhaseTree, Row, Topic, everywhere, phase_tree,
};

pub(crate) use shell_line::ShellLine;

use crate::present::{DIMMED, Page, TITLE, count};
use outline::Outline;
use rows::{Topics, words};

/// What applies in a workflow or in one of its phases.
#[derive(Serialize)]
pub(crate) struct Explanation<'a> {
    #[serde(skip)]
    title: String,
    workflow: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<&'a str>,
    #[serde(flatten)]
    outline: Option<Outline<'a>>,
    #[serde(flatten)]
    rows: Topics,
}

/// Returns what applies in a phase; `None` for a subworkflow. A path of the catalog always resolves.
fn explained(node: &PhaseNode<'_>, loaded: &Loaded) -> Option<Explained> {
    Explained::of(&node.state()?, loaded).ok()
}

/// Returns the guards and conditions that the files of a workflow set for its own phases, a line each.
pub(crate) fn guards(workflow: &str, loaded: &Loaded) -> Vec<String> {
    let Some(workflow) = loaded.catalog.get(workflow) else {
        return Vec::new();
    };
    let tree = phase_tree(workflow, &loaded.catalog);
    let own = tree.nodes.iter().filter(|node| node.depth == 0);
    let is_guard = |row: &Row| {
        let of_files = |kind: &OriginKind| !matches!(kind, OriginKind::Settings { .. });
        let origin = row.origin.as_ref();
        matches!(row.topic, Topic::Tools | Topic::Moves | Topic::Flow)
            && !matches!(row.key, "next" | "loop")
            && origin.is_some_and(|origin| origin.file.is_some() && of_files(&origin.kind))
    };
    let lines = own.filter_map(|node| {
        let rows = explained(node, loaded)?.rows.into_iter();
        let guards = rows.filter(is_guard);
        let name = shown(&node.name);
        Some(guards.map(move |row| format!("{name}: {} {}", words(row.key), row.value)))
    });
    lines.flatten().collect()
}

impl<'a> Explanation<'a> {
    /// Explains a phase of a workflow.
    pub(crate) fn of_phase(
        workflow: &'a Workflow,
        node: &'a PhaseNode<'_>,
        loaded: &Loaded,
    ) -> Option<Self> {
        let explained = explained(node, loaded)?;
        let NodeKind::Phase(phase) = node.kind else {
            return None;
        };
        let texts = [&phase.emoji, &phase.name, &workflow.key];
        let [emoji, name, key] = texts.map(|text| shown(text));
        let label = labelled(&emoji, &name);
        let around = shown(&explained.breadcrumb());
        let path = shown(&node.name);
        Some(Self {
            title: format!("{TITLE}{label}{TITLE:#} in {around}  {DIMMED}{key} {path}{DIMMED:#}"),
            workflow: &workflow.key,
            path: Some(&node.name),
            outline: None,
            rows: Topics(explained.rows),
        })
    }

    /// Explains a workflow: its phases, and what applies in all of them.
    pub(crate) fn of_workflow(
        workflow: &'a Workflow,
        tree: &'a PhaseTree<'_>,
        loaded: &Loaded,
    ) -> Self {
        let rows = everywhere(workflow, loaded);
        let nodes = tree.nodes.iter();
        let explained: Vec<_> = nodes.map(|node| (node, explained(node, loaded))).collect();
        let (name, key) = (shown(&workflow.name), shown(&workflow.key));
        let phases = count(workflow.phases.len(), "phase");
        Self {
            title: format!("{TITLE}{name}{TITLE:#}  {DIMMED}{key}{DIMMED:#}, {phases}"),
            workflow: &workflow.key,
            path: None,
            outline: Some(Outline::of(&explained, tree.cut)),
            rows: Topics(rows),
        }
    }

    pub(crate) fn text(&self, page: &mut Page) {
        page.line(&self.title);
        if let Some(outline) = &self.outline {
            outline.text(page);
        }
        self.rows.text(page);
    }
}
