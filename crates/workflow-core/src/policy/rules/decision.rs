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

/// Why a call is blocked or needs a person's decision.
#[derive(Debug)]
pub struct Denial<'r> {
    /// The name of the level.
    pub level: &'r str,
    /// Who may override the denial.
    pub override_by: Override,
    /// Whether the level is a workflow or a phase.
    pub in_workflow: bool,
    /// The rule; `None` if the level's list of tools decides.
    pub rule: Option<&'r Rule>,
    /// What the level allows instead, for display; may be empty.
    pub allowed: Cow<'r, str>,
    /// What the rule found in the call, for display; may be empty.
    pub seen: String,
}

/// Who may override a denial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Override {
    /// A person, who is shown the denial.
    Person,
    /// No one.
    Never,
}
