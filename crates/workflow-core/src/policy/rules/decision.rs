//! Decisions on tool calls.

use std::borrow::Cow;

use crate::definition::Rule;

/// The decision on a tool call.
#[derive(Debug)]
pub enum Decision<'r> {
    /// The call may run.
    Allow,
    /// A person decides.
    Ask(Denial<'r>),
    /// The call must not run.
    Block(Denial<'r>),
}

impl Decision<'_> {
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
    /// The person who may override the denial, if any.
    pub override_by: Override,
    /// True if the level is a workflow or a phase.
    pub in_workflow: bool,
    /// The rule; `None` if the level's list of tools decides.
    pub rule: Option<&'r Rule>,
    /// The alternatives that the level allows, for display: a sentence about a rule, items about a list; may be empty.
    pub allowed: Cow<'r, str>,
    /// The match of the rule in the call, for display; may be empty.
    pub seen: String,
    /// The subject of the call.
    pub subject: Subject,
}

impl<'r> Denial<'r> {
    /// The denial by a built-in rule, which nobody may override.
    pub(super) fn built_in(rule: &'r Rule) -> Self {
        Self {
            level: "workflow-sidecar",
            override_by: Override::Never,
            in_workflow: false,
            rule: Some(rule),
            allowed: "".into(),
            seen: String::new(),
            subject: Subject::default(),
        }
    }

    /// The level, and the location of the rule.
    #[must_use]
    pub fn location(&self) -> String {
        match self.rule {
            Some(rule) if !rule.source.is_empty() => format!("{} ({})", self.level, rule.source),
            Some(_) | None => self.level.to_owned(),
        }
    }
}

/// The subject of a call, for the variables of a rule's reason.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Subject {
    /// The path that the rule matched, or the first one in the arguments; may be empty.
    pub path: String,
    /// The shell line; may be empty.
    pub command: String,
}

/// The right to override a denial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Override {
    /// A person, who is shown the levels that deny the call, outer first, each with the location of its rule.
    User(Vec<String>),
    /// It cannot be overridden.
    Never,
}
