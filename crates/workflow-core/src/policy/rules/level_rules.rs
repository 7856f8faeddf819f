//! The rules of one level, as the definitions have them.

use std::borrow::Cow;

use super::read_only::ReadOnly;
use crate::definition::{OnRepeat, Rule, RuleAction, Tier, ToolAccess};
use crate::run::meaning;

/// The rules of one level.
#[derive(Debug, Clone)]
pub struct LevelRules<'a> {
    /// The name of the level, for display: `the Plan phase`.
    pub name: Cow<'a, str>,
    /// The source of the rules.
    pub source: RuleSource<'a>,
    /// The tools that may run.
    pub tools: Option<&'a ToolAccess>,
    /// Its rules, in order.
    pub rules: Cow<'a, [Rule]>,
    /// The paths, commands and tools that are open, if it is read-only.
    pub read_only: Option<ReadOnly<'a>>,
    /// The decision on unknown shell commands and tools, if given.
    pub unknown: Option<RuleAction>,
    /// The reaction to a call that is denied again and again, if given.
    pub on_repeat: Option<OnRepeat>,
}

impl LevelRules<'_> {
    /// The tools that a rule of the user's settings allows by their names.
    pub(super) fn tools_that_the_user_knows(&self) -> impl Iterator<Item = &String> {
        let is_users = self.source == RuleSource::Settings(Tier::Global);
        let allows = move |rule: &&Rule| {
            is_users && rule.action == RuleAction::Allow && rule.is_unconditional()
        };
        let rules = self.rules.iter().filter(allows);
        let tools = rules.flat_map(|rule| &rule.tools);
        tools.filter(|tool| *tool != "*")
    }

    /// Returns true if it is the same level with the same guards.
    pub(crate) fn restricts_as(&self, other: &Self) -> bool {
        let opens = |level: &Self| {
            let open = level.read_only.clone();
            open.map(|open| (open.writable, open.run, open.tools))
        };
        let guards =
            |level: &Self| meaning(&(level.tools, &*level.rules, level.unknown, level.on_repeat));
        self.source == other.source && opens(self) == opens(other) && guards(self) == guards(other)
    }
}

/// The source of rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleSource<'a> {
    /// A settings file.
    Settings(Tier),
    /// The workflow with this key.
    Workflow(&'a str),
    /// The phase.
    Phase,
}
