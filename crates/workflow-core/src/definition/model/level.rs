//! The tools and rules of one level: the settings, a workflow or a phase.

use serde::{Deserialize, Serialize};

use super::fail_closed;
use super::result_rule::ResultRule;
use super::rules::Rule;
use crate::definition::schema::Reader;
use crate::definition::syntax::Span;

/// What a level says of calls and results.
#[derive(Debug, Default)]
pub(crate) struct Level {
    pub(crate) tools: Option<ToolAccess>,
    pub(crate) rules: Vec<Rule>,
    pub(crate) results: Vec<ResultRule>,
    pub(crate) status: SettingsStatus,
}

impl Level {
    /// Forbids everything that the rules do not, before all of them: what is lost may have come before a rule that allows.
    pub(crate) fn fail_closed(&mut self, reader: &Reader<'_>, span: Option<Span>) {
        let (file, source) = (reader.source.file(), reader.file_and_line(span));
        let why = "the restriction of tools in this file cannot be read";
        self.rules
            .splice(0..0, fail_closed::rules(file, &source, why));
        self.status = SettingsStatus::Unreadable;
    }
}

/// What may run in every phase.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct DefaultTools {
    /// The tools that may run; `None` is all.
    pub access: Option<ToolAccess>,
    /// Rules on single calls.
    pub rules: Vec<Rule>,
}

/// The status of a settings file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SettingsStatus {
    /// All of them were loaded, or there is no file.
    #[default]
    Loaded,
    /// The file cannot be read now: these are the guards that were loaded last.
    LastKnownGood,
    /// The file cannot be read, and was never loaded: what is missing counts as forbidden.
    Unreadable,
}

impl SettingsStatus {
    /// Returns true if the guards are those of the file as it is.
    pub fn is_loaded(&self) -> bool {
        *self == Self::Loaded
    }
}

/// The tools that a phase allows. `workflow_step` is always allowed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolAccess {
    /// All calls that change nothing, and those that `writable` and `commands` open.
    #[serde(rename = "readOnly")]
    ReadOnly {
        /// Its location, as `file:line`.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        source: String,
    },
    /// All calls: it lifts the `read-only` of its own workflow.
    All {
        /// Its location, as `file:line`.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        source: String,
    },
    /// All but these.
    Blacklist(Vec<String>),
    /// Only these.
    Whitelist(Vec<String>),
}
