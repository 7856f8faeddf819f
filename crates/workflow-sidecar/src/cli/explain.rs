//! `explain`: the effective settings of a workflow or a phase, each with its source location.

use serde::Serialize;
use unicode_width::UnicodeWidthStr;
use workflow_core::definition::{Loaded, Phase, Workflow, load_located};
use workflow_core::diagnostic::shown;
use workflow_core::explain::{
    Explained, NodeKind, PhaseNode, PhaseTree, Row, Topic, Value, everywhere, phase_tree,
};

use super::explain_host::HostLimits;
use super::explain_rows::{Sections, inline};
use super::lookup;
use super::project::Project;
use crate::hook_hosts::{self, HookHost};
use crate::present::{CommandOutcome, DIMMED, OutputFormat, Page, TITLE, count};
use clap::builder::PossibleValuesParser;

const EXAMPLES: &str = "\
Examples:
  workflow-sidecar explain bugfix                 the workflow phase by phase
  workflow-sidecar explain bugfix reproduce       everything that applies in one phase
  workflow-sidecar explain ship build/verify      a phase of a subworkflow
  workflow-sidecar explain ship verify --format json | jq .tools
  workflow-sidecar explain bugfix --host codex    also list what Codex does not enforce

The description and the task id are known only during a run: they are shown as {description} and {taskId}. The
step count is that of a run that reached the phase without a loop.";

/// Show the effective rules and settings of a workflow or phase, with the file and line of each
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Command name or key of the workflow
    workflow: String,
    /// Id or name of the phase; `build/verify` for one of a subworkflow
    phase: Option<String>,
    #[command(flatten)]
    project: Project,
    /// Also list what this host does not enforce
    #[arg(long, value_name = "HOST", value_parser = PossibleValuesParser::new(hook_hosts::names()))]
    host: Option<String>,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<CommandOutcome> {
    let disk = arguments.project.disk()?;
    let loaded = load_located(&disk);
    let workflow = lookup::find_workflow(&loaded, &arguments.workflow)?;
    let tree = phase_tree(workflow, &loaded.catalog);
    let explaining = Explaining {
        workflow,
        tree: &tree,
        loaded: &loaded,
        host: arguments.host.as_deref().and_then(hook_hosts::host),
    };
    match &arguments.phase {
        None => explaining.outline(arguments.format)?,
        Some(phase) => explaining.phase(tree.find(phase)?, arguments.format)?,
    }
    Ok(CommandOutcome::Success)
}

/// A workflow being explained.
struct Explaining<'a> {
    workflow: &'a Workflow,
    tree: &'a PhaseTree<'a>,
    loaded: &'a Loaded,
    host: Option<&'static HookHost>,
}

impl Explaining<'_> {
    /// Returns the effective settings of a phase; `None` for a subworkflow. A path of the catalog always resolves.
    fn explained(&self, node: &PhaseNode<'_>) -> Option<Explained> {
        Explained::of(&node.state()?, self.loaded).ok()
    }

    fn phase(&self, node: &PhaseNode<'_>, format: OutputFormat) -> anyhow::Result<()> {
        let Some(explained) = self.explained(node) else {
            return Ok(());
        };
        let (emoji, name) = explained.phase();
        let title = format!(
            "{TITLE}{} {}{TITLE:#} in {}  {DIMMED}{} {}{DIMMED:#}",
            shown(emoji),
            shown(name),
            shown(&explained.breadcrumb()),
            shown(&self.workflow.key),
            shown(&node.name),
        );
        let explanation = Explanation {
            workflow: &self.workflow.key,
            path: Some(&node.name),
            outline: None,
            host: self.host.map(|host| HostLimits::of(host, &explained.rows)),
            sections: Sections(&explained.rows),
        };
        format.print(&explanation, |of, page| of.text(&title, page))
    }

    fn outline(&self, format: OutputFormat) -> anyhow::Result<()> {
        let rows = everywhere(self.workflow, self.loaded);
        let nodes = self.tree.nodes.iter();
        let explained: Vec<_> = nodes.map(|node| (node, self.explained(node))).collect();
        // What the host does not enforce in any phase.
        let of_phases = explained
            .iter()
            .filter_map(|(_, of)| Some(&of.as_ref()?.rows));
        let all: Vec<Row> = of_phases.chain([&rows]).flatten().cloned().collect();
        let title = format!(
            "{TITLE}{}{TITLE:#}  {DIMMED}{}{DIMMED:#}, {}",
            shown(&self.workflow.name),
            shown(&self.workflow.key),
            count(self.workflow.phases.len(), "phase"),
        );
        let entries = explained
            .iter()
            .map(|(node, of)| OutlineEntry::of(node, of.as_ref()));
        let explanation = Explanation {
            workflow: &self.workflow.key,
            path: None,
            outline: Some(Outline {
                entries: entries.collect(),
                cut: self.tree.cut,
            }),
            host: self.host.map(|host| HostLimits::of(host, &all)),
            sections: Sections(&rows),
        };
        format.print(&explanation, |of, page| of.text(&title, page))
    }
}

/// What is printed about a workflow or a phase: as JSON, or line by line.
#[derive(Serialize)]
struct Explanation<'a> {
    workflow: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<&'a str>,
    #[serde(flatten)]
    outline: Option<Outline>,
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<HostLimits>,
    #[serde(flatten)]
    sections: Sections<'a>,
}

impl Explanation<'_> {
    fn text(&self, title: &str, page: &mut Page) {
        page.line(title);
        if let Some(outline) = &self.outline {
            outline.text(page);
        }
        self.sections.text(page);
        if let Some(limits) = &self.host {
            limits.text(page);
        }
    }
}

/// The phases and subworkflows of a workflow.
#[derive(Serialize)]
struct Outline {
    entries: Vec<OutlineEntry>,
    /// Set if the outline is longer than its limit.
    cut: bool,
}

impl Outline {
    /// Adds a line for each entry, indented by its depth.
    fn text(&self, page: &mut Page) {
        let width = self.entries.iter().map(|entry| entry.label.width()).max();
        let width = width.unwrap_or_default();
        for OutlineEntry { label, summary, .. } in &self.entries {
            let gap = " ".repeat(width - label.width() + 2);
            page.line(format_args!("  {label}{gap}{}", summary.join(" · ")));
        }
        if self.cut {
            page.line("  … and more, which are not shown");
        }
    }
}

/// A phase or subworkflow of the outline.
#[derive(Serialize)]
struct OutlineEntry {
    /// Its number and name, indented by its depth.
    #[serde(skip)]
    label: String,
    /// Tools, conditions and reminders.
    #[serde(skip)]
    summary: Vec<String>,
    path: String,
    #[serde(flatten)]
    kind: EntryKind,
}

#[derive(Serialize)]
#[serde(untagged)]
enum EntryKind {
    Subworkflow {
        subworkflow: String,
        loopable: bool,
    },
    Phase {
        id: String,
        name: String,
        emoji: String,
        allowed: Option<Value>,
        blocked: Option<Value>,
        rules: usize,
        checks: usize,
        approval: bool,
        waits: bool,
        max: Option<Value>,
    },
}

impl OutlineEntry {
    fn of(node: &PhaseNode<'_>, explained: Option<&Explained>) -> Self {
        let (name, summary, kind) = match node.kind {
            NodeKind::Subworkflow(workflow) => of_subworkflow(node, workflow),
            NodeKind::Phase(phase) => of_phase(node, phase, explained),
        };
        Self {
            label: format!("{}{}. {name}", "  ".repeat(node.depth), node.number),
            summary,
            path: node.name.clone(),
            kind,
        }
    }
}

/// The name, the summary and the values of an entry.
type EntryParts = (String, Vec<String>, EntryKind);

fn of_subworkflow(node: &PhaseNode<'_>, workflow: &Workflow) -> EntryParts {
    let not = if workflow.loopable { "" } else { "not " };
    let mut summary = vec![format!(
        "subworkflow {}, {not}loopable",
        shown(&workflow.key)
    )];
    summary.extend(conditional(node));
    let kind = EntryKind::Subworkflow {
        subworkflow: workflow.key.clone(),
        loopable: workflow.loopable,
    };
    (shown(&workflow.name), summary, kind)
}

fn of_phase(node: &PhaseNode<'_>, phase: &Phase, explained: Option<&Explained>) -> EntryParts {
    let row = |topic, key| Some(&explained?.row(topic, key)?.value);
    let waits = explained.is_some_and(|explained| explained.auto_continue().wait);
    let max = row(Topic::Continue, "max");
    let tools = row(Topic::Tools, "inForce").map_or_else(String::new, inline);
    let mut summary = vec![format!("tools: {tools}")];
    let rows = explained.iter().flat_map(|explained| &explained.rows);
    let gate = rows.filter(|row| row.key == "gate");
    let gate: Vec<String> = gate.map(|row| inline(&row.value)).collect();
    if !gate.is_empty() {
        summary.push(format!("gate: {}", gate.join(", ")));
    }
    if phase.approve.is_some() {
        summary.push("approval".to_owned());
    }
    if !phase.outcomes.is_empty() {
        let names: Vec<&str> = phase
            .outcomes
            .iter()
            .map(|outcome| &*outcome.name)
            .collect();
        summary.push(format!("outcomes: {}", few(&names)));
    }
    summary.extend(conditional(node));
    let visits = phase.max_visits.map(|most| count(most as usize, "visit"));
    summary.extend(visits.map(|visits| format!("at most {visits}")));
    summary.push(match max {
        _ if waits => "waits for the user".to_owned(),
        None => String::new(),
        Some(Value::Count(0)) => "no reminders".to_owned(),
        Some(Value::Count(1)) => "one reminder".to_owned(),
        Some(Value::Count(times)) => format!("up to {times} reminders"),
        Some(_) => "reminders without end".to_owned(),
    });
    let kind = EntryKind::Phase {
        id: phase.id.clone(),
        name: phase.name.clone(),
        emoji: phase.emoji.clone(),
        allowed: row(Topic::Tools, "allowed").cloned(),
        blocked: row(Topic::Tools, "blocked").cloned(),
        rules: phase.rules.len(),
        checks: phase.gate.len(),
        approval: phase.approve.is_some(),
        waits,
        max: max.cloned(),
    };
    let name = format!("{} {}", shown(&phase.emoji), shown(&phase.name));
    (name, summary, kind)
}

fn conditional(node: &PhaseNode<'_>) -> Option<String> {
    (!node.when.is_empty()).then(|| "conditional".to_owned())
}

/// Joins names for a line, with a limit on their number.
fn few(names: &[&str]) -> String {
    const MAX_NAMES: usize = 8;
    let shown: Vec<String> = names
        .iter()
        .take(MAX_NAMES)
        .map(|name| shown(name))
        .collect();
    match names.len().saturating_sub(MAX_NAMES) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
