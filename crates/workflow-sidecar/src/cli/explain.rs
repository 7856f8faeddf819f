//! `explain`: what holds in a phase after all defaults, and where each of it is written.

use std::io::{self, Write};

use serde::ser::{Serialize, SerializeMap, Serializer};
use unicode_width::UnicodeWidthStr;
use workflow_core::definition::{Loaded, Origins, Workflow, load};
use workflow_core::diagnostic::{Location, shown, visible};
use workflow_core::explain::{
    Explained, NodeKind, Origin, OriginKind, PhaseNode, PhaseTree, Row, Topic, Value, everywhere,
    phase_tree,
};

use super::format::{ASIDE, Format, TITLE, block, count, json};
use super::named;
use super::outcome::Outcome;
use super::project::Project;

const EXAMPLES: &str = "\
Examples:
  workflow-sidecar explain bugfix                 the workflow phase by phase, and what holds everywhere
  workflow-sidecar explain bugfix reproduce       all that holds in one phase, with the line that says so
  workflow-sidecar explain ship build/verify      a phase of a subworkflow
  workflow-sidecar explain ship verify --format json | jq .tools

Only a run knows the description and the task's id: they are shown as {description} and {taskId}. The number
of steps is that of a run that came to the phase without a loop.";

/// Say what holds in a workflow or in one of its phases, and which line of which file says so
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The workflow, by its command name or its key
    workflow: String,
    /// The phase, by its id or name; one of a subworkflow as `build/verify` where that is needed
    phase: Option<String>,
    #[command(flatten)]
    project: Project,
    /// Whom the output is for
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let disk = arguments.project.disk()?;
    let loaded = load(&disk);
    let origins = Origins::new(&disk, &loaded);
    let workflow = named::workflow(&loaded, &arguments.workflow)?;
    let tree = phase_tree(workflow, &loaded.catalog);
    let explaining = Explaining {
        workflow,
        tree: &tree,
        loaded: &loaded,
        origins: &origins,
    };
    match &arguments.phase {
        None => explaining.outline(arguments.format)?,
        Some(phase) => explaining.phase(tree.find(phase)?, arguments.format)?,
    }
    Ok(Outcome::Well)
}

/// A workflow being explained.
struct Explaining<'a> {
    workflow: &'a Workflow,
    tree: &'a PhaseTree<'a>,
    loaded: &'a Loaded,
    origins: &'a Origins<'a>,
}

impl Explaining<'_> {
    /// What holds at a place; a catalog's places all fit.
    fn explained(&self, place: &PhaseNode<'_>) -> Option<Explained> {
        Explained::of(&place.state()?, self.loaded, self.origins).ok()
    }

    fn phase(&self, place: &PhaseNode<'_>, format: Format) -> anyhow::Result<()> {
        let Some(explained) = self.explained(place) else {
            return Ok(());
        };
        if format == Format::Json {
            return json(&PhaseForPrograms {
                workflow: &self.workflow.key,
                place: &place.name,
                sections: Sections(&explained.rows),
            });
        }
        let mut out = anstream::stdout().lock();
        let (emoji, name) = explained.phase();
        writeln!(
            out,
            "{TITLE}{} {}{TITLE:#} in {}  {ASIDE}{} {}{ASIDE:#}",
            shown(emoji),
            shown(name),
            shown(&explained.breadcrumb()),
            shown(&self.workflow.key),
            shown(&place.name),
        )?;
        sections(&mut out, &explained.rows)?;
        Ok(())
    }

    fn outline(&self, format: Format) -> anyhow::Result<()> {
        let rows = everywhere(self.workflow, self.loaded, self.origins);
        let lines: Vec<Line<'_>> = self
            .tree
            .nodes
            .iter()
            .map(|place| self.line(place))
            .collect();
        if format == Format::Json {
            return json(&WorkflowForPrograms {
                workflow: &self.workflow.key,
                places: &lines,
                cut: self.tree.cut,
                sections: Sections(&rows),
            });
        }
        let mut out = anstream::stdout().lock();
        let phases = count(self.workflow.phases.len(), "phase");
        let name = shown(&self.workflow.name);
        writeln!(
            out,
            "{TITLE}{name}{TITLE:#}  {ASIDE}{}{ASIDE:#}, {phases}",
            shown(&self.workflow.key)
        )?;
        self.tree(&mut out, &lines)?;
        sections(&mut out, &rows)?;
        Ok(())
    }

    /// One line a place, indented as the scopes are nested.
    fn tree(&self, out: &mut impl Write, lines: &[Line<'_>]) -> io::Result<()> {
        let label = |line: &Line<'_>| {
            let indent = "  ".repeat(line.place.depth);
            format!("{indent}{}. {}", line.place.number, line.label())
        };
        let width = lines.iter().map(|line| label(line).width()).max();
        let width = width.unwrap_or_default();
        for line in lines {
            let label = label(line);
            let gap = " ".repeat(width - label.width() + 2);
            writeln!(out, "  {label}{gap}{}", line.summary())?;
        }
        if self.tree.cut {
            writeln!(out, "  … and more, which are not looked at")?;
        }
        Ok(())
    }

    fn line<'a>(&self, place: &'a PhaseNode<'a>) -> Line<'a> {
        let explained = self.explained(place);
        let row = |section, key| Some(explained.as_ref()?.row(section, key)?.value.clone());
        Line {
            place,
            allowed: row(Topic::Tools, "allowed"),
            blocked: row(Topic::Tools, "blocked"),
            waits: explained
                .as_ref()
                .is_some_and(|explained| explained.auto_continue().wait),
            max: row(Topic::Continue, "max"),
        }
    }
}

/// A place of the outline.
struct Line<'a> {
    place: &'a PhaseNode<'a>,
    allowed: Option<Value>,
    blocked: Option<Value>,
    waits: bool,
    max: Option<Value>,
}

impl Line<'_> {
    fn label(&self) -> String {
        match self.place.kind {
            NodeKind::Phase(phase) => format!("{} {}", shown(&phase.emoji), shown(&phase.name)),
            NodeKind::Subworkflow(workflow) => shown(&workflow.name),
        }
    }

    /// Tools and pushing, in a few words.
    fn summary(&self) -> String {
        if let NodeKind::Subworkflow(workflow) = self.place.kind {
            let again = if workflow.loopable {
                "loopable"
            } else {
                "not loopable"
            };
            return format!("subworkflow {}, {again}", shown(&workflow.key));
        }
        let tools = match (&self.allowed, &self.blocked) {
            (Some(Value::Names(names)), _) => format!("tools: {}", few(names)),
            (_, Some(Value::Names(names))) => format!("tools: all but {}", few(names)),
            (_, _) => "tools: all".to_owned(),
        };
        let pushing = match &self.max {
            _ if self.waits => "waits for the user".to_owned(),
            Some(max) => reminders(max),
            None => String::new(),
        };
        let mut parts = vec![format!("{tools}{}", self.rules())];
        parts.extend(self.way_out().map(str::to_owned));
        parts.push(pushing);
        parts.join("; ")
    }

    /// How many rules of its own the phase has besides its list.
    fn rules(&self) -> String {
        match self.place.kind {
            NodeKind::Phase(phase) if !phase.rules.is_empty() => {
                format!(", {}", count(phase.rules.len(), "rule"))
            }
            NodeKind::Phase(_) | NodeKind::Subworkflow(_) => String::new(),
        }
    }

    /// What stands between the phase and the next one.
    fn way_out(&self) -> Option<&'static str> {
        let NodeKind::Phase(phase) = self.place.kind else {
            return None;
        };
        match (phase.gate.is_empty(), phase.approve.is_some()) {
            (false, true) => Some("gate, approval"),
            (false, false) => Some("gate"),
            (true, true) => Some("approval"),
            (true, false) => None,
        }
    }
}

/// How often an agent that stops early is told to go on.
fn reminders(max: &Value) -> String {
    match max {
        Value::Count(0) => "no reminders".to_owned(),
        Value::Count(1) => "one reminder".to_owned(),
        Value::Count(times) => format!("up to {times} reminders"),
        _ => "reminders without end".to_owned(),
    }
}

/// Names in a line, not too many of them.
fn few(names: &[String]) -> String {
    const FEW: usize = 8;
    if names.is_empty() {
        return "none".to_owned();
    }
    let shown: Vec<String> = names.iter().take(FEW).map(|name| shown(name)).collect();
    let more = names.len().saturating_sub(FEW);
    let rest = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    shown.join(", ") + &rest
}

/// Rows for people, section by section.
fn sections(out: &mut impl Write, rows: &[Row]) -> io::Result<()> {
    for section in Topic::ALL {
        let rows: Vec<&Row> = rows.iter().filter(|row| row.topic == section).collect();
        if rows.is_empty() {
            continue;
        }
        writeln!(out, "\n{TITLE}{}{TITLE:#}", section.title())?;
        for row in rows {
            line(out, row)?;
        }
    }
    Ok(())
}

/// How wide the column of keys is.
const KEYS: usize = 18;

fn line(out: &mut impl Write, row: &Row) -> io::Result<()> {
    let value = match &row.value {
        Value::Text(text) if text.is_empty() => "empty".to_owned(),
        Value::Text(text) => count(text.chars().count(), "character"),
        other => inline(other),
    };
    let origin = row.origin.as_ref().map(from).unwrap_or_default();
    if origin.is_empty() {
        writeln!(out, "  {:KEYS$} {value}", row.key)?;
    } else {
        writeln!(
            out,
            "  {:KEYS$} {value}  {ASIDE}← {origin}{ASIDE:#}",
            row.key
        )?;
    }
    match &row.value {
        Value::Text(text) => block(out, "    ", text),
        _ => Ok(()),
    }
}

/// A value in one line.
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

/// Who says something, and in which line.
fn from(origin: &Origin) -> String {
    match (&origin.location, &origin.kind) {
        (Some(place), _) => match place.line() {
            Some(line) => format!("{}:{line}", place.file),
            None => place.file.to_string(),
        },
        (None, OriginKind::Default) => "default".to_owned(),
        (None, OriginKind::BuiltIn) => "built in".to_owned(),
        (None, OriginKind::Settings(_)) => "settings".to_owned(),
        (None, OriginKind::Workflow(key)) => format!("workflow {}", shown(key)),
        (None, OriginKind::Phase) => "the phase".to_owned(),
    }
}

/// A phase as `--format json` tells of it.
#[derive(serde::Serialize)]
struct PhaseForPrograms<'a> {
    workflow: &'a str,
    place: &'a str,
    #[serde(flatten)]
    sections: Sections<'a>,
}

/// A workflow as `--format json` tells of it.
#[derive(serde::Serialize)]
struct WorkflowForPrograms<'a> {
    workflow: &'a str,
    places: &'a [Line<'a>],
    /// Whether there are more places than are told of.
    cut: bool,
    #[serde(flatten)]
    sections: Sections<'a>,
}

/// Rows as maps: of sections, of keys, of the value and who says it.
struct Sections<'a>(&'a [Row]);

struct OneSection<'a>(&'a [Row], Topic);

struct OneRow<'a>(&'a Row);

struct OneValue<'a>(&'a Value);

impl Serialize for Sections<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for section in Topic::ALL {
            if self.0.iter().any(|row| row.topic == section) {
                map.serialize_entry(section.name(), &OneSection(self.0, section))?;
            }
        }
        map.end()
    }
}

impl Serialize for OneSection<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let rows = self.0.iter().filter(|row| row.topic == self.1);
        let mut map = serializer.serialize_map(None)?;
        let mut listed: Vec<&str> = Vec::new();
        for row in rows.clone() {
            if !REPEATED.contains(&row.key) {
                map.serialize_entry(row.key, &OneRow(row))?;
            } else if !listed.contains(&row.key) {
                listed.push(row.key);
                let alike = rows.clone().filter(|other| other.key == row.key);
                let alike: Vec<OneRow<'_>> = alike.map(OneRow).collect();
                map.serialize_entry(row.key, &alike)?;
            }
        }
        map.end()
    }
}

/// What there may be many of: a list, however many there are.
const REPEATED: [&str; 7] = [
    "allowedAround",
    "allow",
    "ask",
    "block",
    "results",
    "gate",
    "trigger",
];

/// The file and the line of a place; that of a guard is one text.
fn file_and_line(place: &Location) -> (&str, Option<u32>) {
    let written = place.file.rsplit_once(':');
    let guards = written.and_then(|(file, line)| Some((file, line.parse().ok()?)));
    match (place.line(), guards) {
        (None, Some((file, line))) => (file, Some(line)),
        (line, _) => (&place.file, line),
    }
}

impl Serialize for OneRow<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("value", &OneValue(&self.0.value))?;
        if let Some(origin) = &self.0.origin {
            map.serialize_entry("from", origin.kind.name())?;
            if let OriginKind::Settings(tier) = origin.kind {
                map.serialize_entry("tier", &tier)?;
            }
            if let Some(place) = &origin.location {
                let (file, line) = file_and_line(place);
                map.serialize_entry("file", file)?;
                if let Some(line) = line {
                    map.serialize_entry("line", &line)?;
                }
            }
        }
        map.end()
    }
}

impl Serialize for OneValue<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::None => serializer.serialize_none(),
            Value::Flag(flag) => serializer.serialize_bool(*flag),
            Value::Count(count) => serializer.serialize_u64(*count),
            Value::Names(names) => names.serialize(serializer),
            Value::Label(text) | Value::Text(text) | Value::Part(text) => {
                text.serialize(serializer)
            }
        }
    }
}

impl Serialize for Line<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("path", &self.place.name)?;
        match self.place.kind {
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
