//! `doctor`: whether everything that a workflow needs is there.

use std::io::Write;

use clap::builder::styling::{AnsiColor, Style};
use serde::Serialize;

use super::format::{Format, json};
use super::outcome::Outcome;
use super::project::Project;
use crate::doctor::{Check, Status, examine};

const EXAMPLES: &str = "\
Examples:
  workflow-sidecar doctor
  workflow-sidecar doctor --format json

Exits with 1 if something is wrong; a warning is not.";

/// Say whether binary, hosts, directories and definitions are there and fit together
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    #[command(flatten)]
    project: Project,
    /// Whom the output is for
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// What `--format json` tells.
#[derive(Debug, Serialize)]
struct Examined<'a> {
    /// The worst of them.
    status: Status,
    checks: &'a [Check],
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let (agent_dir, project) = arguments.project.directories()?;
    let checks = examine(&agent_dir, &project);
    let statuses = checks.iter().map(|check| check.status);
    let status = statuses.max().unwrap_or(Status::Ok);
    match arguments.format {
        Format::Json => json(&Examined {
            status,
            checks: &checks,
        })?,
        Format::Human => table(&checks)?,
    }
    Ok(match status {
        Status::Ok | Status::Warn => Outcome::Well,
        Status::Fail => Outcome::Findings,
    })
}

fn table(checks: &[Check]) -> anyhow::Result<()> {
    let mut out = anstream::stdout().lock();
    let width = checks.iter().map(|check| check.subject.len()).max();
    let width = width.unwrap_or_default();
    for check in checks {
        let (word, colour) = match check.status {
            Status::Ok => ("ok  ", AnsiColor::Green),
            Status::Warn => ("warn", AnsiColor::Yellow),
            Status::Fail => ("fail", AnsiColor::Red),
        };
        let style = Style::new().bold().fg_color(Some(colour.into()));
        writeln!(
            out,
            "{style}{word}{style:#}  {:width$}  {}",
            check.subject, check.text
        )?;
        if let Some(cure) = &check.cure {
            writeln!(out, "{:1$}→ {cure}", "", width + 8)?;
        }
    }
    Ok(())
}
