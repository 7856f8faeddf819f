//! The guards of a settings file.

use serde::{Deserialize, Serialize};

use super::level::{DefaultTools, SettingsStatus, ToolAccess};
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
