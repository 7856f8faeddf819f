//! What is found wrong while one workflow, or one settings file, is read.

use std::borrow::Cow;
use std::sync::Arc;

use super::language;
use super::source::{Source, Span};
use crate::diagnostic::{Code, Diagnostic, Place, Severity};

/// Something wrong in a source that is at hand.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Finding {
    pub(super) code: Code,
    severity: Severity,
    span: Option<Span>,
    message: String,
    help: Cow<'static, str>,
}

impl Finding {
    /// A finding with what usually cures it.
    pub(super) fn new(
        severity: Severity,
        code: Code,
        span: Option<Span>,
        message: impl Into<String>,
    ) -> Self {
        Self {
            code,
            severity,
            span,
            message: message.into(),
            help: Cow::Borrowed(code.cure()),
        }
    }

    pub(super) fn error(code: Code, span: Option<Span>, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, code, span, message)
    }

    pub(super) fn warning(code: Code, span: Option<Span>, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, span, message)
    }

    /// The same finding, with an example of what a key takes.
    pub(super) fn example(self, key: &str) -> Self {
        match language::row(key) {
            Some(row) => self.help(format!("for example `{key}: {}`", row.example)),
            None => self,
        }
    }

    #[cfg(test)]
    pub(super) fn message(&self) -> &str {
        &self.message
    }

    #[cfg(test)]
    pub(super) fn help_text(&self) -> &str {
        &self.help
    }

    pub(super) fn help(mut self, help: impl Into<Cow<'static, str>>) -> Self {
        self.help = help.into();
        self
    }
}

/// What cures a definition that is over a limit.
pub(super) fn raise(limit: &str) -> String {
    format!("make it smaller, or raise `limits.{limit}` in the settings")
}

/// The diagnostics of one workflow, or of a settings file, in the making.
///
/// Collects up to a limit, so that a hostile file cannot flood anyone; an error counts all the same.
pub(super) struct Findings {
    workflow: Option<String>,
    diagnostics: Vec<Diagnostic>,
    /// The files that something was found in, as they were first read.
    files: Vec<Arc<str>>,
    broken: bool,
    shown: usize,
    not_shown: usize,
    /// The worst of what is not shown.
    worst_not_shown: Severity,
}

impl Findings {
    /// Diagnostics of one workflow that are shown.
    pub(super) const SHOWN: usize = 100;

    /// Findings about a workflow, or about none in particular, whose first file is this.
    pub(super) fn about(workflow: Option<&str>, source: &Source, shown: usize) -> Self {
        Self {
            workflow: workflow.map(str::to_owned),
            diagnostics: Vec::new(),
            files: vec![source.place(None).file],
            broken: false,
            shown,
            not_shown: 0,
            worst_not_shown: Severity::Info,
        }
    }

    /// Adds what is wrong in a source.
    pub(super) fn add(&mut self, source: &Source, finding: Finding) {
        self.broken |= finding.severity == Severity::Error;
        if self.diagnostics.len() == self.shown {
            self.not_shown += 1;
            self.worst_not_shown = self.worst_not_shown.max(finding.severity);
            return;
        }
        let place = source.place(finding.span);
        if !self.files.contains(&place.file) {
            self.files.push(Arc::clone(&place.file));
        }
        self.diagnostics.push(Diagnostic {
            code: finding.code,
            severity: finding.severity,
            message: finding.message,
            place: Some(place),
            workflow: self.workflow.clone(),
            help: Some(finding.help.into_owned()),
        });
    }

    /// Whether there was an error, and so nothing to use.
    pub(super) fn broken(&self) -> bool {
        self.broken
    }

    /// The diagnostics, file by file as they were first read, in the order of their lines.
    pub(super) fn finish(mut self) -> Vec<Diagnostic> {
        let files = self.files;
        self.diagnostics.sort_by_key(|found| {
            let place = found.place.as_ref();
            (
                place.and_then(|place| files.iter().position(|file| *file == place.file)),
                place.and_then(Place::line),
                place.and_then(Place::column),
            )
        });
        if self.not_shown > 0 {
            let message = format!("{} more problems are not shown", self.not_shown);
            let mut more = Diagnostic::new(Code::MoreNotShown, self.worst_not_shown, message)
                .at(Place::file(&files[0]));
            more.workflow.clone_from(&self.workflow);
            self.diagnostics.push(more);
        }
        self.diagnostics
    }
}

/// One source being read, and where to say what is wrong in it.
pub(super) struct Reader<'a> {
    pub(super) source: &'a Source,
    pub(super) findings: &'a mut Findings,
}

impl Reader<'_> {
    pub(super) fn report(&mut self, finding: Finding) {
        self.findings.add(self.source, finding);
    }
}
