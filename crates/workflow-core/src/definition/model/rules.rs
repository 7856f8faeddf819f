//! Rules on single tool calls and on their results. Every level has the same: the user's settings, the project's, a
//! workflow, a phase.

use serde::{Deserialize, Serialize};

use crate::pattern::names_match;

/// The guards of a settings file. They apply in every phase, and outside of phases.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Guards {
    /// The tools that may run at all; `None` is all.
    pub tools: Option<ToolAccess>,
    /// Rules on single calls.
    pub rules: Vec<Rule>,
    /// Rules on results.
    pub results: Vec<ResultRule>,
    /// The decision on unknown shell commands, if given; inner levels can only be stricter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unknown: Option<UnknownAction>,
    /// The status of the file they come from.
    #[serde(rename = "reading", skip_serializing_if = "SettingsStatus::is_loaded")]
    pub status: SettingsStatus,
}

impl Guards {
    /// Returns true if there is no rule on tools or results.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tools.is_none() && self.rules.is_empty() && self.results.is_empty()
    }
}

/// The status of a settings file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum SettingsStatus {
    /// All of them were loaded, or there is no file.
    #[default]
    #[serde(rename = "whole")]
    Loaded,
    /// The file cannot be read now: these are the guards that were loaded last.
    #[serde(rename = "earlier")]
    LastKnownGood,
    /// The file cannot be read, and was never loaded: what is missing counts as forbidden.
    #[serde(rename = "never")]
    Unreadable,
}

impl SettingsStatus {
    /// Returns true if the guards are those of the file as it is.
    #[must_use]
    pub fn is_loaded(&self) -> bool {
        *self == Self::Loaded
    }
}

/// The tools that a phase allows. `workflow_step` is always allowed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolAccess {
    /// All calls that change nothing, and those that `writable` and `run` open.
    #[serde(rename = "readOnly")]
    ReadOnly {
        /// Its location, as `file:line`.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        source: String,
    },
    /// All but these.
    Blacklist(Vec<String>),
    /// Only these.
    Whitelist(Vec<String>),
}

/// A rule on single tool calls: it matches a call that all of its conditions match.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Rule {
    /// Its effect on a matching call.
    #[serde(rename = "verdict")]
    pub action: RuleAction,
    /// The tools it is about: names, with `*` for any characters.
    pub tools: Vec<String>,
    /// Globs, one of which the call's path must match.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<String>,
    /// Patterns, one of which a simple command of the call's shell line must match.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// If given, the call's shell line must write files, or must not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writes: Option<bool>,
    /// The decision on a call that matches only because nothing is known of a shell command, if given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown: Option<UnknownAction>,
    /// Regular expressions that fields of the input must match.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub input: Vec<(String, String)>,
    /// The reason, as the agent and people read it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// True if the person is notified of a call that it blocks.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub notify: bool,
    /// The reaction to a call that it denies again and again, if given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_repeat: Option<OnRepeat>,
    /// Its location, as `file:line`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
}

impl Rule {
    /// Creates a rule without conditions.
    #[must_use]
    pub fn new(action: RuleAction, tool: &str) -> Self {
        Self {
            action,
            tools: vec![tool.to_owned()],
            path: Vec::new(),
            command: Vec::new(),
            writes: None,
            unknown: None,
            input: Vec::new(),
            reason: None,
            notify: false,
            on_repeat: None,
            source: String::new(),
        }
    }

    /// Returns true if it is about a tool.
    #[must_use]
    pub fn names(&self, tool: &str) -> bool {
        names_match(&self.tools, tool)
    }

    /// Returns true if it matches every call of its tools.
    #[must_use]
    pub fn is_unconditional(&self) -> bool {
        self.path.is_empty()
            && self.command.is_empty()
            && self.writes.is_none()
            && self.input.is_empty()
    }
}

/// The reaction to a call that is denied for the third time in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnRepeat {
    /// A person may allow this one call.
    Ask,
    /// It stays blocked.
    Block,
}

/// The effect of a rule on a matching call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RuleAction {
    /// The call may run, by this level.
    Allow,
    /// A person decides.
    Ask,
    /// The call must not run.
    Block,
}

/// The decision on an unknown shell command, where a rule or `read-only` forbids to write. The stricter one is greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UnknownAction {
    /// It counts as one that writes nothing.
    Allow,
    /// A person decides. Without a person to ask, it is blocked.
    Ask,
    /// It counts as one that writes.
    Block,
}

/// A change of tool results before the model reads them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResultRule {
    /// The tools it is about: names, with `*` for any characters.
    pub tools: Vec<String>,
    /// The results that it applies to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<ResultKind>,
    /// Regular expressions; their matches are replaced.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redact: Vec<String>,
    /// The replacement for redacted text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub with: Option<String>,
    /// Characters that are kept of a text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_chars: Option<u32>,
    /// The text that is appended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub append: Option<String>,
    /// True if `redact` cannot be read: then all text is withheld.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unread: bool,
    /// Its location, as `file:line`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
}

impl ResultRule {
    /// Returns true if it hides something.
    #[must_use]
    pub fn redacts(&self) -> bool {
        self.unread || !self.redact.is_empty()
    }

    /// Its effect, as people read it.
    #[must_use]
    pub fn describe(&self) -> String {
        let mut does = Vec::new();
        if self.unread {
            does.push("withhold, because the pattern to redact cannot be read".to_owned());
        } else if !self.redact.is_empty() {
            does.push(format!("redact `{}`", self.redact.join("`, `")));
        }
        if let Some(most) = self.max_chars {
            does.push(format!("keep {most} characters"));
        }
        if let Some(text) = &self.append {
            does.push(format!("append \"{text}\""));
        }
        let on = match self.on {
            None => "",
            Some(ResultKind::Error) => " that failed",
            Some(ResultKind::Ok) => " that succeeded",
        };
        format!("`{}`{on}: {}", self.tools.join("`, `"), does.join(", "))
    }
}

/// A kind of result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ResultKind {
    /// The tool failed.
    Error,
    /// The call succeeded.
    Ok,
}
