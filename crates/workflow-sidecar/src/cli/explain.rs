//! `explain`: the effective settings of a workflow or a phase, each with its source location.

use workflow_core::definition::load_located;
use workflow_core::explain::phase_tree;

use super::lookup;
use super::project::Project;
use crate::explain::Explanation;
use crate::present::OutputFormat;

/// Show the effective rules and settings of a workflow or phase, with the file and line of each
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Command name or key of the workflow
    workflow: String,
    /// Id or name of the phase; `build/verify` for one of a subworkflow
    phase: Option<String>,
    #[command(flatten)]
    project: Project,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let disk = arguments.project.disk()?;
    let loaded = load_located(&disk);
    let workflow = lookup::find_workflow(&loaded, &arguments.workflow)?;
    let tree = phase_tree(workflow, &loaded.catalog);
    let explanation = match &arguments.phase {
        None => Some(Explanation::of_workflow(workflow, &tree, &loaded)),
        Some(phase) => Explanation::of_phase(workflow, tree.find(phase)?, &loaded),
    };
    if let Some(explanation) = explanation {
        arguments.format.print(&explanation, Explanation::text)?;
    }
    Ok(())
}
