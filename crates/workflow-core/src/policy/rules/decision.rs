//! Decisions on tool calls.

use std::borrow::Cow;

use crate::definition::Rule;

/// The decision on a tool call.
#[must_use]
#[derive(Debug)]
pub enum CallDecision<'r> {
    /// The call may run.
    Allow,
    /// A person decides.
    Ask(Denial<'r>),
    /// The call must not run.
    Block(Denial<'r>),
}

impl<'r> CallDecision<'r> {
    /// The denial, and true if a person may consent to it; `None` if the call may run.
    pub(crate) fn denial(self) -> Option<(Denial<'r>, bool)> {
        match self {
            Self::Allow => None,
            Self::Ask(denial) => Some((denial, true)),
            Self::Block(denial) => Some((denial, false)),
        }
    }

    pub(super) fn is_less_strict_than(&self, other: &Self) -> bool {
        matches!(
            (self, other),
            (Self::Allow, Self::Ask(_)) | (Self::Allow | Self::Ask(_), Self::Block(_))
        )
    }
}

/// The reason why a call is blocked or needs a person's decision.
#[derive(Debug)]
pub struct Denial<'r> {
    /// The name of the level.
    pub level: &'r str,
    /// The levels that deny the call, outer first, each with the location of its rule, for the person who may override the
    /// denial; empty if nobody may.
    pub denied_by: Vec<String>,
    /// True if the level is a workflow or a phase.
    pub in_workflow: bool,
    /// The rule; `None` if the level's list of tools decides.
    pub rule: Option<&'r Rule>,
    /// The alternatives that the level allows, for display: a sentence about a rule, items about a list; may be empty.
    pub allowed: Cow<'r, str>,
    /// The match of the rule in the call, for display; may be empty.
    pub seen: String,
    /// True if the call is denied only because it is unknown.
    pub(crate) is_unknown: bool,
    /// The subject of the call.
    pub(super) subject: Subject,
}

impl<'r> Denial<'r> {
    /// A denial by a level, as far as the call does not matter.
    pub(super) fn new(level: &'r str, rule: Option<&'r Rule>) -> Self {
        Self {
            level,
            denied_by: Vec::new(),
            in_workflow: false,
            rule,
            allowed: "".into(),
            seen: String::new(),
            is_unknown: false,
            subject: Subject::default(),
        }
    }

    /// The denial by a built-in rule, which nobody may override.
    pub(super) fn built_in(rule: &'r Rule) -> Self {
        Self::new("workflow-sidecar", Some(rule))
    }

    /// The level, and the location of the rule.
    pub fn location(&self) -> String {
        match self.rule {
            Some(rule) if !rule.source.is_empty() => format!("{} ({})", self.level, rule.source),
            Some(_) | None => self.level.to_owned(),
        }
    }
}

/// The subject of a call, for the variables of a rule's reason.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Subject {
    /// The path that the rule matched, or the first one in the arguments; may be empty.
    pub(super) path: String,
    /// The shell line; may be empty.
    pub(super) command: String,
}
