//! `list`: all workflows with their command, source and replacement.

use serde::Serialize;
use workflow_core::definition::{Listing, LoadOutcome, Loaded, PhaseEntry, Show, Tier, Workflow};

use workflow_core::diagnostic::visible;

use crate::init::{Language, TEMPLATES, Template};

use super::lookup::uses;
use super::project::Project;
use crate::present::{OutputFormat, Page, TITLE, beginning, paint};

const EXAMPLES: &str = "\
Examples:
  workflow-sidecar list                     the workflows of this directory, and your own
  workflow-sidecar list --format json
  workflow-sidecar list --templates         the ready-made workflows of `init --template NAME`";

/// List workflows, their commands, and where they are
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    #[command(flatten)]
    project: Project,
    /// List the ready-made workflows of `init --template` instead
    #[arg(long)]
    templates: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    if arguments.templates {
        return list_templates(arguments.format);
    }
    let loaded = arguments.project.load()?;
    let rows = loaded.index.iter().map(|found| Row::of(found, &loaded));
    let mut rows: Vec<Row<'_>> = rows.collect();
    if arguments.format == OutputFormat::Human {
        rows.sort_by_key(|row| row.status);
    }
    arguments
        .format
        .print(&rows, |rows, page| print_table(rows, page))
}

/// A workflow, as in the output of `--format json`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Row<'a> {
    key: &'a str,
    command: &'a str,
    name: &'a str,
    phases: usize,
    status: Status,
    tier: Tier,
    source: &'a str,
    /// The file that it replaces.
    replaces: Option<&'a str>,
    /// The file that replaces it.
    replaced_by: Option<&'a str>,
    /// The workflow that its command starts instead.
    started_instead: Option<&'a str>,
    /// The workflows it is a part of.
    part_of: Vec<&'a str>,
    /// The values that it is given at its start.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    inputs: Vec<InputRow<'a>>,
    /// The limits of a run.
    #[serde(skip_serializing_if = "Option::is_none")]
    budget: Option<String>,
}

/// An input of a workflow, as in the output of `--format json`.
#[derive(Debug, Serialize)]
struct InputRow<'a> {
    name: &'a str,
    required: bool,
}

/// The status of a workflow, in the order of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
enum Status {
    /// The user can start it.
    Ready,
    /// It runs inside others.
    Part,
    /// Another workflow has its command.
    Unreachable,
    /// The project's workflow of the same key replaces it.
    Replaced,
    /// It has errors.
    Broken,
}

impl<'a> Row<'a> {
    fn of(listing: &'a Listing, loaded: &'a Loaded) -> Self {
        let other = |outcome: LoadOutcome| {
            let same =
                move |other: &&Listing| other.key == listing.key && other.tier != listing.tier;
            let other = loaded.index.iter().find(same);
            other
                .filter(|_| listing.outcome == outcome)
                .map(|other| &*other.source)
        };
        let started = loaded
            .catalog
            .startable()
            .find(|workflow| workflow.command_name == listing.command_name)
            .filter(|workflow| workflow.key != listing.key);
        let (status, started_instead) = match (listing.outcome, listing.show, started) {
            (LoadOutcome::LeftOut, ..) => (Status::Broken, None),
            (LoadOutcome::Shadowed, ..) => (Status::Replaced, None),
            (LoadOutcome::Loaded, Show::Workflows, _) => (Status::Part, None),
            (LoadOutcome::Loaded, Show::User, Some(other)) => {
                (Status::Unreachable, Some(&*other.key))
            }
            (LoadOutcome::Loaded, Show::User, None) => (Status::Ready, None),
        };
        let part_of = loaded
            .catalog
            .iter()
            .filter(|workflow| uses(workflow, &listing.key));
        let loaded_here = loaded.catalog.get(&listing.key);
        let workflow = loaded_here.filter(|_| listing.outcome == LoadOutcome::Loaded);
        let inputs = workflow.iter().flat_map(|workflow| &workflow.inputs);
        let budget = workflow.map(|workflow| workflow.budget.describe());
        Self {
            key: &listing.key,
            command: &listing.command_name,
            name: &listing.name,
            phases: listing.phases,
            status,
            tier: listing.tier,
            source: &listing.source,
            replaces: other(LoadOutcome::Loaded).filter(|_| listing.shadows),
            replaced_by: other(LoadOutcome::Shadowed),
            started_instead,
            part_of: match listing.outcome {
                LoadOutcome::Loaded => part_of.map(|workflow| &*workflow.key).collect(),
                LoadOutcome::Shadowed | LoadOutcome::LeftOut => Vec::new(),
            },
            inputs: inputs
                .map(|input| InputRow {
                    name: &input.name,
                    required: input.required,
                })
                .collect(),
            budget: budget.filter(|budget| !budget.is_empty()),
        }
    }

    /// Returns the command that starts it, or the key if it cannot be started.
    fn command_or_key(&self) -> String {
        match self.status {
            Status::Ready | Status::Unreachable => format!("/workflow {}", visible(self.command)),
            Status::Part | Status::Replaced | Status::Broken => visible(self.key),
        }
    }

    /// Returns the directory of its source.
    fn directory(&self) -> &str {
        let parts = self.source.rsplit_once(['/', '\\']);
        parts.map_or(self.source, |(directory, _)| directory)
    }

    /// Formats the status.
    fn status_text(&self) -> String {
        let mut parts = match self.status {
            Status::Ready => vec!["ready".to_owned()],
            Status::Part if self.part_of.is_empty() => vec!["part of no other".to_owned()],
            Status::Part => vec![format!("part of {}", several(&self.part_of))],
            Status::Unreachable => {
                let other = self.started_instead.unwrap_or_default();
                vec![format!("its command starts {}", visible(other))]
            }
            Status::Replaced => vec!["replaced by the project's".to_owned()],
            Status::Broken => vec!["broken, see check".to_owned()],
        };
        if self.replaces.is_some() {
            parts.push("replaces your own".to_owned());
        }
        if matches!(self.status, Status::Ready | Status::Part) {
            let required = self.inputs.iter().filter(|input| input.required);
            let required: Vec<&str> = required.map(|input| input.name).collect();
            if !required.is_empty() {
                parts.push(format!("needs {}", several(&required)));
            }
            parts.extend(self.budget.iter().map(|budget| format!("at most {budget}")));
        }
        parts.join(", ")
    }
}

/// Joins names for one cell.
fn several(names: &[&str]) -> String {
    const MAX_LISTED: usize = 3;
    let shown: Vec<String> = names
        .iter()
        .take(MAX_LISTED)
        .map(|name| visible(name))
        .collect();
    let more = names.len().saturating_sub(MAX_LISTED);
    match more {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

fn print_table(rows: &[Row<'_>], page: &mut Page) {
    // `--format json` cuts nothing.
    const NAME: usize = 24;
    const STATUS: usize = 40;
    if rows.is_empty() {
        page.line("no workflows: `workflow-sidecar init` writes one");
        return;
    }
    let cells = rows.iter().map(|row| {
        let phases = Some(row.phases).filter(|phases| *phases > 0);
        [
            beginning(&row.command_or_key(), NAME),
            beginning(&visible(row.name), NAME),
            phases.map_or_else(String::new, |phases| phases.to_string()),
            beginning(&row.status_text(), STATUS),
            visible(row.directory()),
        ]
    });
    let head = ["workflow", "name", "phases", "status", "from"];
    page.table(head, &cells.collect::<Vec<_>>());
}

/// A ready-made workflow, as in the output of `--format json`.
#[derive(Debug, Serialize)]
struct TemplateRow {
    name: &'static str,
    about: &'static str,
    phases: Vec<String>,
}

impl TemplateRow {
    fn of(template: &Template) -> Self {
        let loaded = template.load(Language::Yaml);
        let workflow = loaded.catalog.get(template.name);
        let phases = workflow.map(|workflow| phases(&loaded, workflow));
        Self {
            name: template.name,
            about: template.about(),
            phases: phases.unwrap_or_default(),
        }
    }
}

/// Returns the names of the phases, including those of subworkflows.
fn phases(loaded: &Loaded, workflow: &Workflow) -> Vec<String> {
    let names = workflow.phases.iter().flat_map(|entry| match entry {
        PhaseEntry::Phase(phase) => vec![phase.name.clone()],
        PhaseEntry::Subworkflow(key) => {
            let inner = loaded.catalog.get(key);
            inner.map_or_else(Vec::new, |inner| phases(loaded, inner))
        }
    });
    names.collect()
}

fn list_templates(format: OutputFormat) -> anyhow::Result<()> {
    let rows: Vec<TemplateRow> = TEMPLATES.iter().map(TemplateRow::of).collect();
    format.print(&rows, |rows, page| {
        let width = rows.iter().map(|row| row.name.len()).max().unwrap_or(0);
        for row in rows {
            let name = paint(TITLE, format_args!("{:width$}", row.name));
            page.line(format_args!("{name}  {}", row.about));
            page.line(format_args!("{:width$}  {}", "", row.phases.join(" → ")));
        }
        page.line(
            "\n`workflow-sidecar init --template NAME` writes one into `.pi/workflows`; `init` alone writes the commented `starter`.",
        );
    })
}
