//! `graph`: a workflow as a diagram.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use workflow_core::definition::Limits;

use crate::files::write_atomically;
use crate::graph::{Direction, Graph, mermaid, svg};

use super::project::Project;

/// Draw a workflow with its phases, tool rules, gates and approvals
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Command name or key of the workflow
    workflow: String,
    /// Output format [default: by the extension of the output file, else mermaid]
    #[arg(long, value_enum)]
    format: Option<GraphFormat>,
    /// Write to a file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Number of levels of subworkflows to open [default: all]
    #[arg(long, value_name = "LEVELS", default_value_t = Limits::HIGHEST_NESTING as usize, hide_default_value = true)]
    depth: usize,
    /// Direction of the phases, in Mermaid
    #[arg(long, value_enum, default_value_t)]
    direction: Direction,
    #[command(flatten)]
    project: Project,
}

/// Diagram formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum GraphFormat {
    /// Mermaid, for Markdown
    Mermaid,
    /// SVG, for a browser
    Svg,
}

impl GraphFormat {
    /// Returns the format that a file's extension names.
    fn of(path: &Path) -> anyhow::Result<Self> {
        match path.extension().and_then(OsStr::to_str) {
            Some("mmd" | "mermaid" | "md") => Ok(Self::Mermaid),
            Some("svg") => Ok(Self::Svg),
            Some(other) => bail!("unknown format `.{other}`; use .svg or .mmd"),
            None => bail!(
                "{} names no format; use .svg or .mmd, or `--format`",
                path.display()
            ),
        }
    }
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let loaded = arguments.project.load()?;
    let workflow = super::lookup::find_workflow(&loaded, &arguments.workflow)?;
    let graph = Graph::of(&loaded.catalog, &loaded.settings, workflow, arguments.depth)?;
    let output = arguments.output.as_deref();
    let format = match (arguments.format, output) {
        (Some(format), _) => format,
        (None, Some(path)) => GraphFormat::of(path)?,
        (None, None) => GraphFormat::Mermaid,
    };
    if format == GraphFormat::Svg && arguments.direction != Direction::Down {
        bail!("--direction is for Mermaid: an SVG has its phases below each other");
    }
    let direction = arguments.direction;
    // Where a diagram needs a code block.
    let is_markdown = output.and_then(Path::extension) == Some(OsStr::new("md"));
    let diagram = match format {
        GraphFormat::Mermaid if is_markdown => {
            format!(
                "```mermaid\n{}\n```\n",
                mermaid(&graph, direction).trim_end()
            )
        }
        GraphFormat::Mermaid => mermaid(&graph, direction),
        GraphFormat::Svg => svg(&graph),
    };
    match output {
        None => Ok(anstream::stdout().lock().write_all(diagram.as_bytes())?),
        Some(path) => write_atomically(path, &diagram)
            .with_context(|| format!("{} cannot be written", path.display())),
    }
}
