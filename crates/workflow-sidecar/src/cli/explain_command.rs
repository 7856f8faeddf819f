//! `check --explain-command`: what a shell line does, command by command, and the decision of each phase about it.

use std::path::Path;

use serde::Serialize;
use serde_json::value::to_raw_value;
use unicode_width::UnicodeWidthStr;
use workflow_core::definition::load_located;
use workflow_core::diagnostic::shown;
use workflow_core::explain::{CallDecision, Explained, phase_tree};
use workflow_core::policy::rules::{Call, LineReport};

use super::project::UserDirectory;
use crate::platform::paths::LocalPaths;
use crate::present::{CommandOutcome, DIMMED, OutputFormat, Page};

/// The tool that runs the line, as the usual hosts call it.
const SHELL: &str = "bash";
/// The width of the column of commands, at most.
const MAX_WIDTH: usize = 48;

/// The output of `--format json`.
#[derive(Debug, Serialize)]
struct Explanation {
    line: String,
    effect: &'static str,
    #[serde(skip)]
    title: &'static str,
    commands: Vec<CommandEffect>,
    phases: Vec<PhaseDecision>,
}

/// A command of the line, or a redirection that writes.
#[derive(Debug, Serialize)]
struct CommandEffect {
    command: String,
    effect: &'static str,
    #[serde(skip)]
    title: &'static str,
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
    format: OutputFormat,
) -> anyhow::Result<CommandOutcome> {
    let report = LineReport::new(line);
    let commands = report.parts.into_iter().map(|part| CommandEffect {
        command: part.text,
        effect: part.verdict.name(),
        title: part.verdict.title(),
        detail: part.detail,
    });
    let explanation = Explanation {
        line: line.to_owned(),
        effect: report.verdict.name(),
        title: report.verdict.title(),
        commands: commands.collect(),
        phases: decisions(line, project, user)?,
    };
    format.print(&explanation, Explanation::text)?;
    Ok(CommandOutcome::Success)
}

/// Returns the decision of each phase of each workflow.
fn decisions(
    line: &str,
    project: &Path,
    user: &UserDirectory,
) -> anyhow::Result<Vec<PhaseDecision>> {
    let disk = user.disk(project)?;
    let loaded = load_located(&disk);
    let input = to_raw_value(&serde_json::json!({ "command": line }))?;
    let agent_dir = user.directory();
    let paths = LocalPaths::new(project, &agent_dir);
    let mut found = Vec::new();
    for workflow in loaded.catalog.startable() {
        for node in phase_tree(workflow, &loaded.catalog).phases() {
            let Some(state) = node.state() else {
                continue;
            };
            let explained = Explained::of(&state, &loaded)?;
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

impl Explanation {
    fn text(&self, page: &mut Page) {
        let widths = self.commands.iter().map(|part| part.command.width());
        let width = widths.max().unwrap_or(0).min(MAX_WIDTH);
        for CommandEffect {
            command,
            title,
            detail,
            ..
        } in &self.commands
        {
            let space = " ".repeat(width.saturating_sub(command.width()));
            let colon = if detail.is_empty() { "" } else { ": " };
            page.line(format_args!("{command}{space}  {title}{colon}{detail}"));
        }
        match self.commands.len() {
            0 => page.line("the line runs no command"),
            1 => {}
            _ => page.line(format_args!("all together: {}", self.title)),
        }
        if !self.phases.is_empty() {
            page.line("");
        }
        for phase in &self.phases {
            let by = phase.by.as_ref();
            let by = by.map_or_else(String::new, |by| format!(" {DIMMED}by {by}{DIMMED:#}"));
            let PhaseDecision {
                workflow,
                phase,
                decision,
                ..
            } = phase;
            page.line(format_args!("{workflow}, {phase}: {decision}{by}"));
        }
    }
}
