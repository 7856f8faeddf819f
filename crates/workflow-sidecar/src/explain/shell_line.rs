//! What a shell line does, command by command, and the decision of each phase about it.

use std::path::Path;

use serde::Serialize;
use serde_json::value::to_raw_value;
use unicode_width::UnicodeWidthStr;
use workflow_core::definition::load_located;
use workflow_core::diagnostic::shown;
use workflow_core::explain::{Explained, phase_tree};
use workflow_core::policy::rules::{Call, CallDecision, LineReport};

use crate::platform::disk::Disk;
use crate::platform::paths::LocalPaths;
use crate::present::{DIMMED, Page};

/// The tool that runs the line, as the usual hosts call it.
const SHELL: &str = "bash";
/// The width of the column of commands, at most.
const MAX_WIDTH: usize = 48;

/// A shell line, and what each phase decides about it.
#[derive(Debug, Serialize)]
pub(crate) struct ShellLine<'l> {
    line: &'l str,
    #[serde(flatten)]
    report: LineReport,
    phases: Vec<PhaseDecision>,
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

impl<'l> ShellLine<'l> {
    /// Explains a line for the workflows of a project and of the user.
    pub(crate) fn of(
        line: &'l str,
        project: &Path,
        agent_dir: &Path,
        disk: &Disk,
    ) -> anyhow::Result<Self> {
        let mut phases = Vec::new();
        let loaded = load_located(disk);
        let input = to_raw_value(&serde_json::json!({ "command": line }))?;
        let paths = LocalPaths::new(project, agent_dir, None);
        for workflow in loaded.catalog.startable() {
            for node in phase_tree(workflow, &loaded.catalog).phases() {
                let Some(state) = node.state() else {
                    continue;
                };
                let explained = Explained::of(&state, &loaded)?;
                let call = Call::new(SHELL, Some(&input), &paths);
                let (decision, by) = match explained.decide(&call) {
                    CallDecision::Allow => ("allowed", None),
                    CallDecision::Ask(denial) => ("asked", Some(denial.location())),
                    CallDecision::Block(denial) => ("blocked", Some(denial.location())),
                };
                phases.push(PhaseDecision {
                    workflow: shown(&workflow.key),
                    phase: shown(&node.name),
                    decision,
                    by: by.map(|by| shown(&by)),
                });
            }
        }
        Ok(Self {
            line,
            report: LineReport::new(line),
            phases,
        })
    }

    pub(crate) fn text(&self, page: &mut Page) {
        let LineReport { effect, parts } = &self.report;
        let title = |effect: &str| effect.replace("project", "runs project code");
        let widths = parts.iter().map(|part| part.text.width());
        let width = widths.max().unwrap_or(0).min(MAX_WIDTH);
        for part in parts {
            let (text, effect, detail) = (&part.text, title(part.effect), &part.detail);
            let space = " ".repeat(width.saturating_sub(text.width()));
            let colon = if detail.is_empty() { "" } else { ": " };
            page.line(format_args!("{text}{space}  {effect}{colon}{detail}"));
        }
        match parts.len() {
            0 => page.line("the line runs no command"),
            1 => {}
            _ => page.line(format_args!("all together: {}", title(effect))),
        }
        if !self.phases.is_empty() {
            page.line("");
        }
        for of in &self.phases {
            let (workflow, phase, decision) = (&of.workflow, &of.phase, of.decision);
            let by = of.by.as_ref();
            let by = by.map_or_else(String::new, |by| format!(" {DIMMED}by {by}{DIMMED:#}"));
            page.line(format_args!("{workflow}, {phase}: {decision}{by}"));
        }
    }
}
