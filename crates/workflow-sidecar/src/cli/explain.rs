//! `explain`: the effective settings of a workflow or a phase, each with its source location.

use std::io::{self, Write};

use serde::ser::{Serialize, SerializeMap, Serializer};
use unicode_width::UnicodeWidthStr;
use workflow_core::definition::{Loaded, Origins, Workflow, load};
use workflow_core::diagnostic::{shown, visible};
use workflow_core::explain::{
    Explained, NodeKind, Origin, OriginKind, PhaseNode, PhaseTree, Row, Topic, Value, everywhere,
    phase_tree,
};

use super::explain_host::HostLimits;
use super::explain_json::{OneValue, Sections};
use super::lookup;
use super::project::Project;
use crate::hook_hosts::{self, HookHost};
use crate::present::{CommandOutcome, DIMMED, OutputFormat, TITLE, block, count, json};
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
    let loaded = load(&disk);
    let origins = Origins::new(&disk, &loaded);
    let workflow = lookup::find_workflow(&loaded, &arguments.workflow)?;
    let tree = phase_tree(workflow, &loaded.catalog);
    let explaining = Explaining {
        workflow,
        tree: &tree,
        loaded: &loaded,
        origins: &origins,
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
    origins: &'a Origins<'a>,
    host: Option<&'static HookHost>,
}

impl Explaining<'_> {
    /// Returns the effective settings of a phase; `None` for a subworkflow. A path of the catalog always resolves.
    fn explained(&self, node: &PhaseNode<'_>) -> Option<Explained> {
        Explained::of(&node.state()?, self.loaded, self.origins).ok()
    }

    fn phase(&self, node: &PhaseNode<'_>, format: OutputFormat) -> anyhow::Result<()> {
        let Some(explained) = self.explained(node) else {
            return Ok(());
        };
        if format == OutputFormat::Json {
            return json(&PhaseJson {
                workflow: &self.workflow.key,
                path: &node.name,
                host: self.host.map(|host| HostLimits::of(host, &explained.rows)),
                sections: Sections(&explained.rows),
            });
        }
        let mut out = anstream::stdout().lock();
        let (emoji, name) = explained.phase();
        writeln!(
            out,
            "{TITLE}{} {}{TITLE:#} in {}  {DIMMED}{} {}{DIMMED:#}",
            shown(emoji),
            shown(name),
            shown(&explained.breadcrumb()),
            shown(&self.workflow.key),
            shown(&node.name),
        )?;
        print_sections(&mut out, &explained.rows)?;
        if let Some(host) = self.host {
            HostLimits::of(host, &explained.rows).print(&mut out)?;
        }
        Ok(())
    }

    fn outline(&self, format: OutputFormat) -> anyhow::Result<()> {
        let rows = everywhere(self.workflow, self.loaded, self.origins);
        let entries: Vec<OutlineEntry<'_>> = self
            .tree
            .nodes
            .iter()
            .map(|node| self.outline_entry(node))
            .collect();
        if format == OutputFormat::Json {
            return json(&WorkflowJson {
                workflow: &self.workflow.key,
                entries: &entries,
                cut: self.tree.cut,
                host: self.host_limits(&rows),
                sections: Sections(&rows),
            });
        }
        let mut out = anstream::stdout().lock();
        let phases = count(self.workflow.phases.len(), "phase");
        let name = shown(&self.workflow.name);
        writeln!(
            out,
            "{TITLE}{name}{TITLE:#}  {DIMMED}{}{DIMMED:#}, {phases}",
            shown(&self.workflow.key)
        )?;
        self.print_tree(&mut out, &entries)?;
        print_sections(&mut out, &rows)?;
        if let Some(limits) = self.host_limits(&rows) {
            limits.print(&mut out)?;
        }
        Ok(())
    }

    /// Returns what the host does not enforce in any phase.
    fn host_limits(&self, rows: &[Row]) -> Option<HostLimits> {
        let host = self.host?;
        let phases = self.tree.nodes.iter();
        let of_phases = phases.filter_map(|node| Some(self.explained(node)?.rows));
        let mut all = rows.to_vec();
        all.extend(of_phases.flatten());
        Some(HostLimits::of(host, &all))
    }

    /// Prints a line for each entry, indented by its depth.
    fn print_tree(&self, out: &mut impl Write, entries: &[OutlineEntry<'_>]) -> io::Result<()> {
        let label = |entry: &OutlineEntry<'_>| {
            let indent = "  ".repeat(entry.node.depth);
            format!("{indent}{}. {}", entry.node.number, entry.label())
        };
        let width = entries.iter().map(|entry| label(entry).width()).max();
        let width = width.unwrap_or_default();
        for entry in entries {
            let label = label(entry);
            let gap = " ".repeat(width - label.width() + 2);
            writeln!(out, "  {label}{gap}{}", entry.summary())?;
        }
        if self.tree.cut {
            writeln!(out, "  … and more, which are not shown")?;
        }
        Ok(())
    }

    fn outline_entry<'a>(&self, node: &'a PhaseNode<'a>) -> OutlineEntry<'a> {
        let explained = self.explained(node);
        let row = |section, key| Some(explained.as_ref()?.row(section, key)?.value.clone());
        OutlineEntry {
            node,
            allowed: row(Topic::Tools, "allowed"),
            blocked: row(Topic::Tools, "blocked"),
            in_force: row(Topic::Tools, "inForce"),
            gate: explained.as_ref().map(gate_of).unwrap_or_default(),
            waits: explained
                .as_ref()
                .is_some_and(|explained| explained.auto_continue().wait),
            max: row(Topic::Continue, "max"),
        }
    }
}

/// A phase or subworkflow of the outline.
struct OutlineEntry<'a> {
    node: &'a PhaseNode<'a>,
    allowed: Option<Value>,
    blocked: Option<Value>,
    /// Lists and rules together.
    in_force: Option<Value>,
    /// The checks of its gate.
    gate: Vec<String>,
    waits: bool,
    max: Option<Value>,
}

impl OutlineEntry<'_> {
    fn label(&self) -> String {
        match self.node.kind {
            NodeKind::Phase(phase) => format!("{} {}", shown(&phase.emoji), shown(&phase.name)),
            NodeKind::Subworkflow(workflow) => shown(&workflow.name),
        }
    }

    /// Summarizes tools, conditions and reminders.
    fn summary(&self) -> String {
        if let NodeKind::Subworkflow(workflow) = self.node.kind {
            let again = if workflow.loopable {
                "loopable"
            } else {
                "not loopable"
            };
            let mut parts = vec![format!("subworkflow {}, {again}", shown(&workflow.key))];
            parts.extend(self.flow());
            return parts.join(" · ");
        }
        let tools = self.in_force.as_ref().map_or_else(String::new, inline);
        let reminders = match &self.max {
            _ if self.waits => "waits for the user".to_owned(),
            Some(max) => reminder_limit(max),
            None => String::new(),
        };
        let mut parts = vec![format!("tools: {tools}")];
        if !self.gate.is_empty() {
            parts.push(format!("gate: {}", self.gate.join(", ")));
        }
        if let NodeKind::Phase(phase) = self.node.kind
            && phase.approve.is_some()
        {
            parts.push("approval".to_owned());
        }
        parts.extend(self.flow());
        parts.push(reminders);
        parts.join(" · ")
    }

    /// Returns the outcomes, the condition and the limit of visits.
    fn flow(&self) -> Vec<String> {
        let conditional = (!self.node.when.is_empty()).then(|| "conditional".to_owned());
        let NodeKind::Phase(phase) = self.node.kind else {
            return conditional.into_iter().collect();
        };
        let mut parts = Vec::new();
        if !phase.outcomes.is_empty() {
            let names: Vec<String> = phase
                .outcomes
                .iter()
                .map(|outcome| outcome.name.clone())
                .collect();
            parts.push(format!("outcomes: {}", few(&names)));
        }
        parts.extend(conditional);
        parts.extend(
            phase
                .max_visits
                .map(|most| format!("at most {}", count(most as usize, "visit"))),
        );
        parts
    }
}

/// The checks of a phase's gate, as people read them.
fn gate_of(explained: &Explained) -> Vec<String> {
    let rows = explained.rows.iter().filter(|row| row.key == "gate");
    rows.map(|row| inline(&row.value)).collect()
}

/// Describes the limit of reminders.
fn reminder_limit(max: &Value) -> String {
    match max {
        Value::Count(0) => "no reminders".to_owned(),
        Value::Count(1) => "one reminder".to_owned(),
        Value::Count(times) => format!("up to {times} reminders"),
        _ => "reminders without end".to_owned(),
    }
}

/// Joins names for a line, with a limit on their number.
fn few(names: &[String]) -> String {
    const MAX_NAMES: usize = 8;
    if names.is_empty() {
        return "none".to_owned();
    }
    let shown: Vec<String> = names
        .iter()
        .take(MAX_NAMES)
        .map(|name| shown(name))
        .collect();
    let more = names.len().saturating_sub(MAX_NAMES);
    let rest = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    shown.join(", ") + &rest
}

/// Prints rows for people, section by section.
fn print_sections(out: &mut impl Write, rows: &[Row]) -> io::Result<()> {
    for section in Topic::ALL {
        let rows: Vec<&Row> = rows.iter().filter(|row| row.topic == section).collect();
        if rows.is_empty() {
            continue;
        }
        writeln!(out, "\n{TITLE}{}{TITLE:#}", section.title())?;
        for row in rows {
            print_row(out, row)?;
        }
    }
    Ok(())
}

/// Width of the column of keys.
const KEYS: usize = 20;

fn print_row(out: &mut impl Write, row: &Row) -> io::Result<()> {
    let value = match &row.value {
        Value::Text(text) if text.is_empty() => "empty".to_owned(),
        Value::Text(text) => count(text.chars().count(), "character"),
        other => inline(other),
    };
    let origin = row.origin.as_ref().map(from).unwrap_or_default();
    let label = in_words(row.key);
    if origin.is_empty() {
        writeln!(out, "  {label:KEYS$} {value}")?;
    } else {
        writeln!(out, "  {label:KEYS$} {value}  {DIMMED}← {origin}{DIMMED:#}")?;
    }
    match &row.value {
        Value::Text(text) => write!(out, "{}", block("    ", text)),
        _ => Ok(()),
    }
}

/// A name for programs as people write it: `inForce` is "in force".
fn in_words(key: &str) -> String {
    let mut words = String::with_capacity(key.len());
    for c in key.chars() {
        if c.is_ascii_uppercase() {
            words.push(' ');
        }
        words.push(c.to_ascii_lowercase());
    }
    words
}

/// Formats a value in one line.
fn inline(value: &Value) -> String {
    match value {
        Value::None => "none".to_owned(),
        Value::Flag(true) => "yes".to_owned(),
        Value::Flag(false) => "no".to_owned(),
        Value::Count(count) => count.to_string(),
        Value::Label(word) => visible(word),
        Value::Names(names) if names.is_empty() => "none".to_owned(),
        Value::Names(names) => visible(&names.join(", ")),
        Value::Text(text) | Value::Part(text) => shown(text.lines().next().unwrap_or_default()),
    }
}

/// Formats the source of a value.
fn from(origin: &Origin) -> String {
    match (&origin.location, &origin.kind) {
        (Some(location), _) => match location.line() {
            Some(line) => format!("{}:{line}", location.file),
            None => location.file.to_string(),
        },
        (None, OriginKind::Default) => "default".to_owned(),
        (None, OriginKind::BuiltIn) => "built in".to_owned(),
        (None, OriginKind::Settings(_)) => "settings".to_owned(),
        (None, OriginKind::Workflow(key)) => format!("workflow {}", shown(key)),
        (None, OriginKind::Phase) => "the phase".to_owned(),
    }
}

/// The output of `--format json` for a phase.
#[derive(serde::Serialize)]
struct PhaseJson<'a> {
    workflow: &'a str,
    path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<HostLimits>,
    #[serde(flatten)]
    sections: Sections<'a>,
}

/// The output of `--format json` for a workflow.
#[derive(serde::Serialize)]
struct WorkflowJson<'a> {
    workflow: &'a str,
    entries: &'a [OutlineEntry<'a>],
    /// Set if the outline is longer than its limit.
    cut: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<HostLimits>,
    #[serde(flatten)]
    sections: Sections<'a>,
}

impl Serialize for OutlineEntry<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("path", &self.node.name)?;
        match self.node.kind {
            NodeKind::Subworkflow(workflow) => {
                map.serialize_entry("subworkflow", &workflow.key)?;
                map.serialize_entry("loopable", &workflow.loopable)?;
            }
            NodeKind::Phase(phase) => {
                map.serialize_entry("id", &phase.id)?;
                map.serialize_entry("name", &phase.name)?;
                map.serialize_entry("emoji", &phase.emoji)?;
                map.serialize_entry("allowed", &self.allowed.as_ref().map(OneValue))?;
                map.serialize_entry("blocked", &self.blocked.as_ref().map(OneValue))?;
                map.serialize_entry("rules", &phase.rules.len())?;
                map.serialize_entry("checks", &phase.gate.len())?;
                map.serialize_entry("approval", &phase.approve.is_some())?;
                map.serialize_entry("waits", &self.waits)?;
                map.serialize_entry("max", &self.max.as_ref().map(OneValue))?;
            }
        }
        map.end()
    }
}
