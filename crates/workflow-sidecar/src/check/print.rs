//! The result of a check, as text and JSON.

use serde::Serialize;
use workflow_core::diagnostic::{Diagnostic, Severity, shown};

use super::{CheckReport, Corrected};
use crate::present::{CommandOutcome, Page, count};

impl CheckReport {
    /// Returns each diagnostic as a text, and the totals.
    pub(crate) fn page(&self, text: impl Fn(&Diagnostic) -> String) -> Page {
        let mut page = Page::default();
        for found in &self.diagnostics {
            page.line(text(found));
        }
        for empty in &self.empty {
            page.line(empty);
        }
        let number = |severity: Severity| count(self.number(severity), severity.as_str());
        page.line(format_args!(
            "{} can run{}, {}, {}",
            count(self.workflows(), "workflow"),
            if self.has_start || self.workflows() == 0 {
                ""
            } else {
                " inside of others, and none can be started"
            },
            number(Severity::Error),
            number(Severity::Warning)
        ));
        page
    }

    /// Names on standard error the files that were not checked.
    pub(crate) fn name_passed_over(&self) {
        for path in &self.passed_over {
            let path = shown(&path.display().to_string());
            anstream::eprintln!("{path} is a file, no project: passed over");
        }
    }

    /// Returns whether the check passes.
    pub(crate) fn outcome(&self, strict: bool) -> CommandOutcome {
        let failing =
            self.number(Severity::Error) > 0 || strict && self.number(Severity::Warning) > 0;
        let is_empty = strict && self.workflows() == 0;
        if is_empty && !failing {
            anstream::eprintln!("error: no workflow can run (an error with --strict)");
        }
        if failing || is_empty {
            CommandOutcome::Findings
        } else {
            CommandOutcome::Success
        }
    }
}

impl Corrected {
    /// Prints the corrected lines on standard error, as standard output is for what is left.
    pub(crate) fn print_changes(&self, dry_run: bool) {
        for change in &self.changes {
            anstream::eprintln!("{change}");
        }
        let number = count(self.changes.len(), "correction");
        anstream::eprintln!(
            "{}\n",
            match (self.changes.len(), dry_run) {
                (0, _) if self.report.diagnostics.is_empty() => "nothing to fix".to_owned(),
                (0, _) => "nothing that --fix can correct".to_owned(),
                (_, true) => format!("{number} would be made"),
                (_, false) => format!("{number} made"),
            }
        );
    }
}

/// The output of `--format json`.
#[derive(Debug, Serialize)]
pub(crate) struct CheckJson<'a> {
    workflows: usize,
    errors: usize,
    warnings: usize,
    diagnostics: Vec<DiagnosticJson<'a>>,
}

/// A diagnostic, as in the output of `--format json`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct DiagnosticJson<'a> {
    code: &'static str,
    severity: &'static str,
    message: &'a str,
    file: Option<&'a str>,
    line: Option<u32>,
    column: Option<u32>,
    end_line: Option<u32>,
    end_column: Option<u32>,
    workflow: Option<&'a str>,
    help: Option<&'a str>,
}

impl<'a> From<&'a CheckReport> for CheckJson<'a> {
    fn from(report: &'a CheckReport) -> Self {
        let diagnostics = report.diagnostics.iter();
        Self {
            workflows: report.workflows(),
            errors: report.number(Severity::Error),
            warnings: report.number(Severity::Warning),
            diagnostics: diagnostics.map(DiagnosticJson::from).collect(),
        }
    }
}

impl<'a> From<&'a Diagnostic> for DiagnosticJson<'a> {
    fn from(found: &'a Diagnostic) -> Self {
        let location = found.location.as_ref();
        let region = location.and_then(|location| location.region.as_ref());
        Self {
            code: found.code.as_str(),
            severity: found.severity.as_str(),
            message: &found.message,
            file: location.map(|location| &*location.file),
            line: region.map(|region| region.line),
            column: region.map(|region| region.column),
            end_line: region.map(|region| region.end_line),
            end_column: region.map(|region| region.end_column),
            workflow: found.workflow.as_deref(),
            help: found.help.as_deref(),
        }
    }
}
