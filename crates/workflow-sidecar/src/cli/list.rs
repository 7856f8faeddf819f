//! `list`: all workflows with their command, source and replacement.

use serde::Serialize;
use workflow_core::explain::{NodeKind, phase_tree};

use super::project::Project;
use crate::init::{Language, TEMPLATES, Template};
use crate::present::{OutputFormat, TITLE, WorkflowRow, paint, workflow_table};

/// List workflows, their commands, and where they are
#[derive(Debug, clap::Args)]
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
    let rows = loaded.index.iter();
    let mut rows: Vec<_> = rows.map(|found| WorkflowRow::of(found, &loaded)).collect();
    if arguments.format == OutputFormat::Human {
        rows.sort_by_key(|row| row.status);
    }
    arguments
        .format
        .print(&rows, |rows, page| workflow_table(rows, page))
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
        let trees = workflow.map(|workflow| phase_tree(workflow, &loaded.catalog));
        let nodes = trees.iter().flat_map(|tree| &tree.nodes);
        let phases = nodes.filter_map(|node| match node.kind {
            NodeKind::Phase(phase) => Some(phase.name.clone()),
            NodeKind::Subworkflow(_) => None,
        });
        Self {
            name: template.name,
            about: template.about(),
            phases: phases.collect(),
        }
    }
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
