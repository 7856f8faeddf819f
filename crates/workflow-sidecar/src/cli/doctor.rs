//! `doctor`: a check of the installation.

use serde::Serialize;

use super::project::Project;
use crate::doctor::{CheckStatus, InstallationCheck, examine};
use crate::present::{BAD, CommandOutcome, GOOD, NOTABLE, OutputFormat, paint};

/// Check the installation: binary, hosts, directories, definitions
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    project: Project,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
}

/// The output of `--format json`.
#[derive(Debug, Serialize)]
struct InstallationReport {
    /// The worst status of all checks.
    status: CheckStatus,
    checks: Vec<InstallationCheck>,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<CommandOutcome> {
    let project = &arguments.project;
    let checks = examine(
        &project.disk()?,
        &project.user.directory(),
        &project.directory,
    );
    let statuses = checks.iter().map(|check| check.status);
    let status = statuses.max().unwrap_or(CheckStatus::Ok);
    let report = InstallationReport { status, checks };
    arguments.format.print(&report, |report, page| {
        let subjects = report.checks.iter().map(|check| check.subject.len());
        let width = subjects.max().unwrap_or_default();
        for check in &report.checks {
            let (label, style) = match check.status {
                CheckStatus::Ok => ("ok  ", GOOD),
                CheckStatus::Warn => ("warn", NOTABLE),
                CheckStatus::Fail => ("fail", BAD),
            };
            let label = paint(style.bold(), label);
            let (subject, text) = (check.subject, &check.text);
            page.line(format_args!("{label}  {subject:width$}  {text}"));
            if let Some(help) = &check.help {
                page.line(format_args!("{:1$}→ {help}", "", width + 8));
            }
        }
    })?;
    Ok(match status {
        CheckStatus::Ok | CheckStatus::Warn => CommandOutcome::Success,
        CheckStatus::Fail => CommandOutcome::Findings,
    })
}
