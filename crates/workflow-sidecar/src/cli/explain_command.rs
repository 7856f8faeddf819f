//! `check --explain-command`: what a shell line does, command by command, and the decision of each phase about it.

use std::io::Write;
use std::path::Path;

use serde::Serialize;
use serde_json::value::to_raw_value;
use unicode_width::UnicodeWidthStr;
use workflow_core::definition::{Origins, load};
use workflow_core::diagnostic::shown;
use workflow_core::explain::{CallDecision, Explained, phase_tree};
use workflow_core::policy::rules::{Call, LineReport, PartReport};

use super::project::UserDirectory;
use crate::platform::paths::LocalPaths;
use crate::present::{CommandOutcome, DIMMED, json};

/// The tool that runs the line, as the usual hosts call it.
const SHELL: &str = "bash";
/// The width of the column of commands, at most.
const MAX_WIDTH: usize = 48;

/// The output of `--format json`.
#[derive(Debug, Serialize)]
struct Explanation {
    line: String,
    effect: &'static str,
    commands: Vec<CommandJson>,
    phases: Vec<PhaseDecision>,
}

/// A command of the line, or a redirection that writes.
#[derive(Debug, Serialize)]
struct CommandJson {
    command: String,
    effect: &'static str,
    #[serde(skip_serializing_if = "String::is_empty")]
    detail: String,
}

/// The decision of a phase about the line.
#[derive(Debug, Serialize)]
struct PhaseDecision {
    workflow: String,
    phase: String,
    decision: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<String>,
}

pub(super) fn run(
    line: &str,
    project: &Path,
    user: &UserDirectory,
    as_json: bool,
) -> anyhow::Result<CommandOutcome> {
    let report = LineReport::new(line);
    let phases = decisions(line, project, user)?;
    if as_json {
        json(&Explanation {
            line: line.to_owned(),
            effect: report.verdict.name(),
            commands: report.parts.into_iter().map(CommandJson::from).collect(),
            phases,
        })?;
    } else {
        print(&report, &phases)?;
    }
    Ok(CommandOutcome::Success)
}

impl From<PartReport> for CommandJson {
    fn from(part: PartReport) -> Self {
        Self {
            command: part.text,
            effect: part.verdict.name(),
            detail: part.detail,
        }
    }
}

/// Returns the decision of each phase of each workflow.
fn decisions(
    line: &str,
    project: &Path,
    user: &UserDirectory,
) -> anyhow::Result<Vec<PhaseDecision>> {
    let disk = user.disk(project)?;
    let loaded = load(&disk);
    let origins = Origins::new(&disk, &loaded);
    let input = to_raw_value(&serde_json::json!({ "command": line }))?;
    let agent_dir = user.directory();
    let paths = LocalPaths::new(project, &agent_dir);
    let mut found = Vec::new();
    for workflow in loaded.catalog.startable() {
        for node in phase_tree(workflow, &loaded.catalog).phases() {
            let Some(state) = node.state() else {
                continue;
            };
            let explained = Explained::of(&state, &loaded, &origins)?;
            let call = Call::new(SHELL, Some(&input), &paths);
            let (decision, by) = match explained.decides(&call) {
                CallDecision::Allowed => ("allowed", None),
                CallDecision::Asked(by) => ("asked", Some(by)),
                CallDecision::Blocked(by) => ("blocked", Some(by)),
            };
            found.push(PhaseDecision {
                workflow: shown(&workflow.key),
                phase: shown(&node.name),
                decision,
                by: by.map(|by| shown(&by)),
            });
        }
    }
    Ok(found)
}

fn print(report: &LineReport, phases: &[PhaseDecision]) -> anyhow::Result<()> {
    let mut out = anstream::stdout().lock();
    let widths = report.parts.iter().map(|part| part.text.width());
    let width = widths.max().unwrap_or(0).min(MAX_WIDTH);
    for part in &report.parts {
        let space = " ".repeat(width.saturating_sub(part.text.width()));
        let title = part.verdict.title();
        if part.detail.is_empty() {
            writeln!(out, "{}{space}  {title}", part.text)?;
        } else {
            writeln!(out, "{}{space}  {title}: {}", part.text, part.detail)?;
        }
    }
    if report.parts.is_empty() {
        writeln!(out, "the line runs no command")?;
    } else if report.parts.len() > 1 {
        writeln!(out, "all together: {}", report.verdict.title())?;
    }
    if !phases.is_empty() {
        writeln!(out)?;
    }
    for phase in phases {
        let by = phase.by.as_ref();
        let by = by.map_or_else(String::new, |by| format!(" {DIMMED}by {by}{DIMMED:#}"));
        writeln!(
            out,
            "{}, {}: {}{by}",
            phase.workflow, phase.phase, phase.decision
        )?;
    }
    Ok(())
}
