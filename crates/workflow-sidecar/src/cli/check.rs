//! `check`: everything that is wrong with the definitions, with its place and its cure.

use std::io::Write;
use std::path::PathBuf;

use workflow_core::definition::load;
use workflow_core::diagnostic::{Severity, render};

use super::format::count;
use super::outcome::Outcome;
use super::project::Own;

const EXAMPLES: &str = "\
Examples:
  workflow-sidecar check                the workflows of this directory's .pi, and your own
  workflow-sidecar check ~/src/project

Exits with 1 if something is an error.";

/// Say all that is wrong with the workflows and settings of a project, and with your own
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The project, in whose `.pi` the workflows lie
    #[arg(value_name = "DIR", default_value = ".")]
    project: PathBuf,
    #[command(flatten)]
    own: Own,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let loaded = load(&arguments.own.disk(&arguments.project)?);
    let mut out = anstream::stdout().lock();
    for diagnostic in &loaded.diagnostics {
        writeln!(out, "{}\n", render(diagnostic, true))?;
    }
    let number = |severity| {
        loaded
            .diagnostics
            .iter()
            .filter(|found| found.severity == severity)
            .count()
    };
    let (errors, warnings) = (number(Severity::Error), number(Severity::Warning));
    let workflows = loaded.catalog.iter().count();
    writeln!(
        out,
        "{} can run, {}, {}",
        count(workflows, "workflow"),
        count(errors, "error"),
        count(warnings, "warning")
    )?;
    Ok(if errors == 0 {
        Outcome::Well
    } else {
        Outcome::Findings
    })
}
