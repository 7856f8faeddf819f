//! The findings in the files of a workflow, or in a settings file.

use std::sync::Arc;

use super::source::Source;
use crate::diagnostic::{Code, Diagnostic, Finding, Location, Severity};

/// The diagnostics of one workflow, or of a settings file, in the making.
///
/// Collects up to a limit, so that a hostile file cannot flood anyone; errors beyond it still count.
pub(crate) struct Findings {
    workflow: Option<String>,
    diagnostics: Vec<Diagnostic>,
    /// The files that something was found in, as they were first read.
    files: Vec<Arc<str>>,
    broken: bool,
    shown: usize,
    not_shown: usize,
    /// The highest severity that is not shown.
    worst_not_shown: Severity,
}

impl Findings {
    /// Diagnostics of one workflow that are shown.
    pub(crate) const SHOWN: usize = 100;

    /// Findings about a workflow, or in general, and the first file they are about.
    pub(crate) fn about(workflow: Option<&str>, source: &Source, shown: usize) -> Self {
        Self {
            workflow: workflow.map(str::to_owned),
            diagnostics: Vec::new(),
            files: vec![source.location(None).file],
            broken: false,
            shown,
            not_shown: 0,
            worst_not_shown: Severity::Info,
        }
    }

    /// Adds a finding in a source.
    pub(crate) fn add(&mut self, source: &Source, finding: Finding) {
        self.broken |= finding.severity == Severity::Error;
        if self.diagnostics.len() == self.shown {
            self.not_shown += 1;
            self.worst_not_shown = self.worst_not_shown.max(finding.severity);
            return;
        }
        let location = source.location(finding.span);
        if !self.files.contains(&location.file) {
            self.files.push(Arc::clone(&location.file));
        }
        self.diagnostics.push(Diagnostic {
            code: finding.code,
            severity: finding.severity,
            message: finding.message,
            location: Some(location),
            workflow: self.workflow.clone(),
            help: Some(finding.help.into_owned()),
            fix: finding.fix.map(|fix| *fix),
        });
    }

    /// Returns true if there was an error.
    pub(crate) fn broken(&self) -> bool {
        self.broken
    }

    /// The diagnostics, file by file as they were first read, in the order of their lines.
    pub(crate) fn finish(mut self) -> Vec<Diagnostic> {
        let files = self.files;
        self.diagnostics.sort_by_key(|found| {
            let location = found.location.as_ref();
            (
                location.and_then(|location| files.iter().position(|file| *file == location.file)),
                location.and_then(Location::line),
                location.and_then(Location::column),
            )
        });
        if self.not_shown > 0 {
            let message = format!("{} more problems are not shown", self.not_shown);
            let mut more = Diagnostic::new(Code::MoreNotShown, self.worst_not_shown, message)
                .at(Location::file(&files[0]));
            more.workflow.clone_from(&self.workflow);
            self.diagnostics.push(more);
        }
        self.diagnostics
    }
}
