//! What a shell line does, command by command, and the decision of each phase about it.

use std::path::Path;

use serde::Serialize;
use serde_json::value::to_raw_value;
use unicode_width::UnicodeWidthStr;
use workflow_core::definition::load_located;
use workflow_core::diagnostic::shown;
use workflow_core::explain::{Explained, phase_tree, without_run};
use workflow_core::policy::rules::{Call, CallDecision, LineReport};

use crate::platform::disk::Disk;
use crate::platform::paths::LocalPaths;
use crate::present::{DIMMED, Page};

/// The tool that runs the line, as the usual hosts call it.
const SHELL: &str = "bash";
/// The width of the column of commands, at most.
const MAX_WIDTH: usize = 48;

/// A shell line, what is decided about it without a run if settings have rules, and in each phase.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ShellLine<'l> {
    line: &'l str,
    #[serde(flatten)]
    report: LineReport,
    #[serde(skip_serializing_if = "Option::is_none")]
    without_run: Option<Decision>,
    phases: Vec<PhaseDecision>,
}

/// A decision about the line, and the guard that blocks it or asks.
#[derive(Debug, Serialize)]
struct Decision {
    decision: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<String>,
}

/// The decision of a phase.
#[derive(Debug, Serialize)]
struct PhaseDecision {
    workflow: String,
    phase: String,
    #[serde(flatten)]
    decision: Decision,
}

impl From<CallDecision<'_>> for Decision {
    fn from(decision: CallDecision<'_>) -> Self {
        let (decision, denial) = match decision {
            CallDecision::Allow => ("allowed", None),
            CallDecision::Ask(denial) => ("asked", Some(denial)),
            CallDecision::Block(denial) => ("blocked", Some(denial)),
        };
        let by = denial.map(|denial| shown(&denial.location()));
        Self { decision, by }
    }
}

impl<'l> ShellLine<'l> {
    /// Explains a line for the settings and workflows of a project and of the user.
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
        let call = Call::new(SHELL, Some(&input), &paths);
        for workflow in loaded.catalog.startable() {
            for node in phase_tree(workflow, &loaded.catalog).phases() {
                let Some(state) = node.state() else {
                    continue;
                };
                phases.push(PhaseDecision {
                    workflow: shown(&workflow.key),
                    phase: shown(&node.name),
                    decision: Explained::of(&state, &loaded)?.decide(&call).into(),
                });
            }
        }
        let outside = without_run(&loaded.settings);
        Ok(Self {
            line,
            report: LineReport::new(line),
            without_run: (!outside.is_empty()).then(|| outside.decide(&call).into()),
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
        let outside = self.without_run.iter();
        let outside = outside.map(|decision| ("without a run".to_owned(), decision));
        let phases = self.phases.iter();
        let phases = phases.map(|of| (format!("{}, {}", of.workflow, of.phase), &of.decision));
        for (at, (place, Decision { decision, by })) in outside.chain(phases).enumerate() {
            let gap = if at == 0 { "\n" } else { "" };
            let by = by.iter().map(|by| format!(" {DIMMED}by {by}{DIMMED:#}"));
            let by: String = by.collect();
            page.line(format_args!("{gap}{place}: {decision}{by}"));
        }
    }
}
