//! `doctor`: a check of the installation.

use std::io::Write;

use clap::builder::styling::{AnsiColor, Style};
use serde::Serialize;

use super::format::{OutputFormat, json};
use super::outcome::CommandOutcome;
use super::project::Project;
use crate::doctor::{CheckStatus, InstallationCheck, examine};

const EXAMPLES: &str = "\
Examples:
  workflow-sidecar doctor
  workflow-sidecar doctor --format json

Exits with 1 if there is an error; warnings do not count.";

/// Check the installation: binary, hosts, directories, definitions
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    #[command(flatten)]
    project: Project,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
}

/// The output of `--format json`.
#[derive(Debug, Serialize)]
struct InstallationReport<'a> {
    /// The worst status of all checks.
    status: CheckStatus,
    checks: &'a [InstallationCheck],
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<CommandOutcome> {
    let (agent_dir, project) = arguments.project.directories()?;
    let checks = examine(&agent_dir, &project);
    let statuses = checks.iter().map(|check| check.status);
    let status = statuses.max().unwrap_or(CheckStatus::Ok);
    match arguments.format {
        OutputFormat::Json => json(&InstallationReport {
            status,
            checks: &checks,
        })?,
        OutputFormat::Human => table(&checks)?,
    }
    Ok(match status {
        CheckStatus::Ok | CheckStatus::Warn => CommandOutcome::Success,
        CheckStatus::Fail => CommandOutcome::Findings,
    })
}

fn table(checks: &[InstallationCheck]) -> anyhow::Result<()> {
    let mut out = anstream::stdout().lock();
    let width = checks.iter().map(|check| check.subject.len()).max();
    let width = width.unwrap_or_default();
    for check in checks {
        let (label, colour) = match check.status {
            CheckStatus::Ok => ("ok  ", AnsiColor::Green),
            CheckStatus::Warn => ("warn", AnsiColor::Yellow),
            CheckStatus::Fail => ("fail", AnsiColor::Red),
        };
        let style = Style::new().bold().fg_color(Some(colour.into()));
        writeln!(
            out,
            "{style}{label}{style:#}  {:width$}  {}",
            check.subject, check.text
        )?;
        if let Some(help) = &check.help {
            writeln!(out, "{:1$}→ {help}", "", width + 8)?;
        }
    }
    Ok(())
}
