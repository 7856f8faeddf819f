//! The flow between phases: targets, outcomes, conditions, parameters, budgets.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A place that a phase is left for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Target {
    /// The entry that follows in order.
    Next,
    /// The end of this scope: a subworkflow returns, the root workflow is complete.
    End,
    /// The end of the run.
    Done,
    /// The run is cancelled. Only a person's answer leads there.
    Cancel,
    /// The entry of the same scope with this id: a phase's id, or a subworkflow's key.
    Phase(String),
}

impl Target {
    /// The words that are not ids of phases.
    pub const WORDS: [(&str, Self); 4] = [
        ("next", Self::Next),
        ("end", Self::End),
        ("done", Self::Done),
        ("cancel", Self::Cancel),
    ];

    /// Returns true if it leads on; false if it leads to a phase that is named, or cancels the run.
    #[must_use]
    pub fn is_onward(&self) -> bool {
        matches!(self, Self::Next | Self::End | Self::Done)
    }

    /// The id of the entry that it leads to, if it is one.
    #[must_use]
    pub fn phase(&self) -> Option<&str> {
        match self {
            Self::Phase(id) => Some(id),
            Self::Next | Self::End | Self::Done | Self::Cancel => None,
        }
    }
}

impl From<&str> for Target {
    fn from(word: &str) -> Self {
        let known = Self::WORDS.into_iter().find(|(name, _)| *name == word);
        known.map_or_else(|| Self::Phase(word.to_owned()), |(_, target)| target)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Phase(id) => f.write_str(id),
            word => {
                let known = Self::WORDS.iter().find(|(_, target)| target == word);
                f.write_str(known.map_or("", |(name, _)| name))
            }
        }
    }
}

/// A named way out of a phase: an outcome that the agent names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PhaseOutcome {
    /// Its name.
    pub name: String,
    /// The place that it leads to.
    pub to: Target,
}

/// The consequence of one more visit than `maxVisits`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum OnMaxVisits {
    /// The run pauses where it is.
    #[default]
    Pause,
    /// The run is cancelled.
    Cancel,
    /// The run goes to the entry of the same scope with this id.
    Phase(String),
}

impl fmt::Display for OnMaxVisits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pause => "pause",
            Self::Cancel => "cancel",
            Self::Phase(id) => id,
        })
    }
}

impl OnMaxVisits {
    /// The place that it leads to; `None` if the run pauses where it is.
    #[must_use]
    pub fn target(&self) -> Option<Target> {
        match self {
            Self::Pause => None,
            Self::Cancel => Some(Target::Cancel),
            Self::Phase(id) => Some(Target::Phase(id.clone())),
        }
    }

    pub(super) fn is_pause(&self) -> bool {
        *self == Self::Pause
    }
}

/// A value that a run is given at its start (an input), or that the agent hands over when it leaves a phase (an output).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// The values that it takes.
    pub kind: ParameterKind,
    /// A description for people and for the agent.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// False if it may be missing.
    pub required: bool,
    /// The value of an input that is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
}

/// The values that a parameter takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ParameterKind {
    /// A text.
    #[serde(rename_all = "camelCase")]
    Text {
        /// A regular expression that it must match.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pattern: Option<String>,
        /// Its characters at least.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        min_length: Option<u32>,
    },
    /// A number.
    Number,
    /// `true` or `false`.
    Flag,
    /// A list of texts.
    List,
    /// One of these texts.
    OneOf(Vec<String>),
}

impl ParameterKind {
    /// Returns true if it takes every value that the other takes.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::Text {
                    pattern,
                    min_length,
                },
                Self::Text {
                    pattern: other,
                    min_length: least,
                },
            ) => {
                (pattern.is_none() || pattern == other)
                    && min_length.unwrap_or(0) <= least.unwrap_or(0)
            }
            (Self::Text { .. }, Self::OneOf(texts)) => {
                let any = Self::Text {
                    pattern: None,
                    min_length: None,
                };
                *self == any && !texts.is_empty()
            }
            (Self::OneOf(texts), Self::OneOf(others)) => {
                others.iter().all(|text| texts.contains(text))
            }
            (one, other) => one == other,
        }
    }
}

/// A condition of `when`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Condition {
    /// The value it is about.
    pub subject: Subject,
    /// The allowed values.
    pub values: Vec<Value>,
    /// True if it must be none of them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub negated: bool,
}

/// The value that a condition is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Subject {
    /// `inputs.<name>`.
    Input(String),
    /// `outputs.<phase>.<name>`.
    Output {
        /// The id of the phase.
        phase: String,
        /// The name of the output.
        name: String,
    },
    /// `visits.<phase>`: the number of entries into a phase of the same workflow.
    Visits(String),
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(name) => write!(f, "inputs.{name}"),
            Self::Output { phase, name } => write!(f, "outputs.{phase}.{name}"),
            Self::Visits(phase) => write!(f, "visits.{phase}"),
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let values: Vec<String> = self.values.iter().map(value_text).collect();
        let verb = if self.negated { "is not" } else { "is" };
        write!(f, "{} {verb} {}", self.subject, values.join(" or "))
    }
}

/// A value as people write it: a text without quotes.
fn value_text(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// The limits of what a run or a phase may use. At a limit the run pauses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Budget {
    /// Responses of the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turns: Option<u64>,
    /// Tool calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_calls: Option<u64>,
    /// Minutes in which the agent works.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minutes: Option<u64>,
    /// Tokens, where the host reports them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Cents of a US dollar, where the host reports costs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub us_cents: Option<u64>,
}

impl Budget {
    /// Returns true if it limits nothing.
    #[must_use]
    pub fn is_unlimited(&self) -> bool {
        *self == Self::default()
    }
}

/// Those who may cancel a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CancelBy {
    /// The agent as well.
    Anyone,
    /// A person only.
    Person,
}

/// The level of the model's thinking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Thinking {
    /// Not at all.
    Off,
    /// Very short.
    Minimal,
    /// Short.
    Low,
    /// Normal.
    Medium,
    /// Long.
    High,
    /// As long as the model can.
    Xhigh,
}

impl fmt::Display for Thinking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Off => "off",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Xhigh => "xhigh",
        })
    }
}

/// Settings that the host should make for the time of a phase, where it can.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Hints {
    /// The model, as the host names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Its level of thinking.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking: Option<Thinking>,
    /// True if tools that are blocked are hidden from the model.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub active_tools: bool,
}

impl Hints {
    /// Returns true if nothing is to be set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
