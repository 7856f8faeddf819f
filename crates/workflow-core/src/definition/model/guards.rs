//! The guards of a settings file, and the tools that a level allows.

use serde::{Deserialize, Serialize};

use super::defaults::DefaultTools;
use super::result_rule::ResultRule;
use super::rules::{OnRepeat, Rule, RuleAction};
use super::without_run::WithoutRun;

/// The guards of a settings file. They apply in every phase, and outside of phases, but for `withoutRun`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Guards {
    /// The tools that may run at all; `None` is all.
    pub tools: Option<ToolAccess>,
    /// Rules on single calls.
    pub rules: Vec<Rule>,
    /// Rules on results.
    pub results: Vec<ResultRule>,
    /// The decision on unknown shell commands and tools, if given; inner levels can only be stricter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unknown: Option<RuleAction>,
    /// The reaction to a call that is denied again and again, if given; inner levels can only be stricter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_repeat: Option<OnRepeat>,
    /// What may run in every phase, beside these.
    #[serde(skip_serializing_if = "crate::definition::schema::is_absent")]
    pub defaults: DefaultTools,
    /// What holds while no run is active, if given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without_run: Option<Box<WithoutRun>>,
    /// The status of the file they come from.
    #[serde(rename = "reading", skip_serializing_if = "SettingsStatus::is_loaded")]
    pub status: SettingsStatus,
}

impl Guards {
    /// Returns true if there is no rule on tools or results.
    pub fn is_empty(&self) -> bool {
        self.tools.is_none()
            && self.rules.is_empty()
            && self.results.is_empty()
            && self.without_run.is_none()
    }
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
