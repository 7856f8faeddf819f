//! Settings, and the limits on what is loaded.

use serde::{Deserialize, Serialize};

use super::auto_continue::ContinueRule;
use super::rules::{Guards, OnRepeat};
use super::trigger::{Checkpoint, Trigger};

/// The name of the settings file.
pub const SETTINGS_FILE: &str = "workflow-sidecar.json5";

/// The frequency of the full context message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ContextMode {
    #[default]
    /// When a phase is entered, and when the model may have lost it.
    ByChange,
    /// At every start of the agent.
    EveryTurn,
}

/// The content of the settings files (`workflow-sidecar.json5`); the project's wins over the user's, key by key.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Settings {
    /// Defaults for `continue`.
    #[serde(rename = "continue")]
    pub auto_continue: ContinueRule,
    /// Default for `context`.
    pub context: Option<ContextMode>,
    /// Limits on what is loaded.
    pub limits: Limits,
    /// Guards of the user's settings.
    pub user: Guards,
    /// Guards of the project's settings.
    pub project: Guards,
    /// The checkpoint of each turn, where no workflow has another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<Checkpoint>,
    /// The reaction to a call that is denied again and again. The stricter one of both files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_repeat: Option<OnRepeat>,
    /// Seconds that a person has to answer a question; 0 is without end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question_timeout: Option<u32>,
    /// The triggers: the user's, then the project's.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub triggers: Vec<Trigger>,
}

impl Settings {
    /// Returns whether the user's or the project's settings restrict calls or results.
    #[must_use]
    pub fn has_rules(&self) -> bool {
        !(self.user.is_empty() && self.project.is_empty())
    }
}

/// Limits on what is loaded. To exceed one is an error with its location, never a hang.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Limits {
    /// Bytes of one definition file.
    pub max_file_bytes: u32,
    /// Bytes of all files together; a file counts as often as it is named.
    pub max_total_bytes: u32,
    /// Levels of nesting inside one file.
    pub max_depth: u32,
    /// Phase entries of one workflow.
    pub max_phases: u32,
    /// Workflow directories of one tier.
    pub max_workflows: u32,
    /// Levels of subworkflows inside each other.
    pub max_nesting: u32,
    /// Times that outcomes, gates and answers may lead into one phase without `maxVisits`.
    #[serde(rename = "maxVisits")]
    pub jumps: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl Limits {
    /// The limits without settings.
    pub const DEFAULT: Self = Self {
        max_file_bytes: 1 << 20,
        max_total_bytes: 64 << 20,
        max_depth: 64,
        max_phases: 1000,
        max_workflows: 10_000,
        max_nesting: 32,
        jumps: 25,
    };

    /// The highest values of limits. With more, one file could cost minutes or gigabytes.
    pub const HIGHEST: Self = Self {
        max_file_bytes: 16 << 20,
        max_total_bytes: 1 << 30,
        max_depth: 128,
        max_phases: 10_000,
        max_workflows: 100_000,
        max_nesting: 128,
        jumps: 1000,
    };
}
