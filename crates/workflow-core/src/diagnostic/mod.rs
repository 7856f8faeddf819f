//! Diagnostics: mistakes in definitions and stored entries, with their location and help.
//!
//! Owns the shape of a diagnostic, its codes and its text form. It knows no rules: the
//! finder describes the mistake. A diagnostic carries its own source line, so that showing
//! it later reads no file again.

mod code;
mod finding;
mod render;

use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

pub use code::Code;
pub(crate) use finding::{Finding, Span};
pub use render::render;
pub(crate) use workflow_shell::visible::push;
pub use workflow_shell::visible::{few, is_hidden, shown, visible, visible_lines};

pub use crate::types::Severity;

/// Something the user should know about a definition or a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Diagnostic {
    /// The stable code, for example `WF012`.
    #[schemars(with = "String")]
    pub code: Code,
    /// The severity.
    pub severity: Severity,
    /// The problem, in one sentence.
    pub message: String,
    /// Its location, if it is in a file.
    #[serde(flatten)]
    pub location: Option<Location>,
    /// The key of the workflow it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workflow: Option<String>,
    /// The fix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// The correction as a replacement at the location, where only one makes sense.
    #[serde(skip)]
    pub fix: Option<Fix>,
}

/// A replacement in the text at a location; of a file as a whole, its new name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Fix {
    /// The text to be replaced, which occurs once at the location.
    pub from: String,
    /// Its replacement.
    pub to: String,
}

impl Diagnostic {
    /// A diagnostic without a location, with the usual help of its code.
    pub fn new(code: Code, severity: Severity, message: impl Into<String>) -> Self {
        Self {
            code,
            severity,
            message: message.into(),
            location: None,
            workflow: None,
            help: Some(code.help().to_owned()),
            fix: None,
        }
    }

    /// The same diagnostic, at a location, if it has one.
    #[must_use]
    pub fn at(mut self, location: impl Into<Option<Location>>) -> Self {
        self.location = location.into();
        self
    }

    /// The same diagnostic, about a workflow.
    #[must_use]
    pub fn about(mut self, workflow: &str) -> Self {
        self.workflow = Some(workflow.to_owned());
        self
    }

    /// The same diagnostic, with this help.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// One line: the location, the message, and in brackets the help.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(location) = &self.location {
            write!(f, "{}:", location.file)?;
            if let (Some(line), Some(column)) = (location.line(), location.column()) {
                write!(f, "{line}:{column}:")?;
            }
            f.write_str(" ")?;
        }
        f.write_str(&self.message)?;
        match &self.help {
            Some(help) => write!(f, " ({help})"),
            None => Ok(()),
        }
    }
}

/// A file, and where in it if that is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Location {
    /// The file it is about.
    #[serde(serialize_with = "shared_text")]
    #[schemars(with = "String")]
    pub file: Arc<str>,
    /// The lines and columns; `None` is the file as a whole.
    #[serde(flatten)]
    pub region: Option<Region>,
}

fn shared_text<S: Serializer>(text: &Arc<str>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(text)
}

impl Location {
    /// A file as a whole.
    pub fn file(file: &str) -> Self {
        Self {
            file: visible(file).into(),
            region: None,
        }
    }

    /// The first line, counted from 1.
    pub fn line(&self) -> Option<u32> {
        self.region.as_ref().map(|region| region.line)
    }

    /// As people read it: `file:line`, or the file.
    pub fn file_and_line(&self) -> String {
        match self.line() {
            Some(line) => format!("{}:{line}", self.file),
            None => self.file.to_string(),
        }
    }

    /// The first column, counted in characters from 1.
    pub(crate) fn column(&self) -> Option<u32> {
        self.region.as_ref().map(|region| region.column)
    }
}

/// A stretch of a file. Lines and columns count from 1, columns in characters; the end is exclusive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Region {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    /// The line it ends in.
    #[serde(skip)]
    pub end_line: u32,
    /// The column after its last character.
    #[serde(skip)]
    pub end_column: u32,
    /// The first line, for showing.
    #[serde(skip)]
    pub excerpt: Excerpt,
}

/// A source line, cut around the location, without control characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// The text.
    pub text: String,
    /// The start of the location in `text`, in bytes.
    pub start: usize,
    /// The end of the location in `text`, in bytes.
    pub end: usize,
}
