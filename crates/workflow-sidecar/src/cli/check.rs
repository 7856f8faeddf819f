//! `check`: everything that is wrong with the definitions, with its place and its cure.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use workflow_core::definition::load;
use workflow_core::diagnostic::{Severity, render};

use crate::disk::{Disk, user_agent_dir};

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
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let project = &arguments.project;
    anyhow::ensure!(project.is_dir(), "{} is not a directory", project.display());
    let disk = Disk::new(user_agent_dir(None), project.clone());
    let loaded = load(&disk);
    let mut out = io::stdout().lock();
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let color = out.is_terminal() && !no_color;
    for diagnostic in &loaded.diagnostics {
        writeln!(out, "{}\n", render(diagnostic, color))?;
    }
    let count = |severity| {
        loaded
            .diagnostics
            .iter()
            .filter(|found| found.severity == severity)
            .count()
    };
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    let workflows = loaded.catalog.iter().count();
    writeln!(
        out,
        "{workflows} workflows can run, {errors} errors, {warnings} warnings"
    )?;
    Ok(if errors == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
