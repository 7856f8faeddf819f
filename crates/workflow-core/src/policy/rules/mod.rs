//! Rules on tool calls.
//!
//! Every level has rules and a list of tools: the user's settings, the project's settings, the workflows around the phase, the
//! phase. In each level the first matching rule decides; without one, the list does. The strictest level wins, and of equally strict
//! ones the outermost: an inner level can add restrictions, but not remove them. Unknown properties of a call count against it. The
//! built-in rule precedes all levels.

mod arguments;
pub(crate) mod builtin_rule;
mod call;
mod compiled_rule;
mod decision;
mod file_access;
mod glob_intersection;
mod globs;
mod path_matcher;
mod paths;
mod protected_files;
mod reason;
mod shell_lines;

use std::borrow::Cow;
use std::sync::Arc;

use crate::definition::{Rule, RuleAction, Tier, ToolAccess};
use crate::pattern::names_match;
use crate::policy::tool_list::{STEP_TOOL, ToolList};

pub use call::Call;
use compiled_rule::CompiledRule;
pub use decision::{Decision, Denial, Override};
pub use paths::{PathForm, Paths, PlainPaths, definition_paths};
pub(crate) use reason::{describe_rule, reason};

/// The rules of one level.
#[derive(Debug, Clone, Copy)]
pub struct LevelRules<'a> {
    /// The name of the level, for display: `the Plan phase`.
    pub name: &'a str,
    /// The source of the rules.
    pub source: RuleSource<'a>,
    /// The tools that may run.
    pub tools: Option<&'a ToolAccess>,
    /// Its rules, in order.
    pub rules: &'a [Rule],
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

/// The rules of all levels, outer first.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    levels: Vec<Level>,
    /// True if the rules are those of a run.
    in_run: bool,
}

#[derive(Debug, Clone)]
struct Level {
    name: Arc<str>,
    /// True if it is a workflow or a phase.
    in_workflow: bool,
    list: ToolList,
    rules: Vec<CompiledRule>,
}

impl Rules {
    /// Compiles the rules of the levels, outer first.
    #[must_use]
    pub fn new<'a>(levels: impl IntoIterator<Item = LevelRules<'a>>) -> Self {
        let levels = levels
            .into_iter()
            .filter(|level| level.tools.is_some() || !level.rules.is_empty());
        Self {
            levels: levels.map(Level::new).collect(),
            in_run: false,
        }
    }

    /// The same rules, as those of a run: what they are loaded from is protected even if there are none.
    pub(crate) fn of_run(self) -> Self {
        Self {
            in_run: true,
            ..self
        }
    }

    /// Returns whether there are no rules, apart from the built-in one.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.levels.is_empty()
    }

    /// Returns the tools that the lists of all levels allow, for display; `None` without a list.
    pub(crate) fn lists(&self) -> Option<String> {
        let lists: Vec<&str> = self
            .levels
            .iter()
            .filter_map(|level| level.list.allowed_tools())
            .collect();
        (!lists.is_empty()).then(|| lists.join("; of these: "))
    }

    /// Returns whether a level has rules, so that a decision may depend on the input of a tool. The built-in rule, which
    /// always reads it, does not count.
    #[must_use]
    pub fn depend_on_input(&self) -> bool {
        self.levels.iter().any(|level| !level.rules.is_empty())
    }

    /// Decides on a call. `workflow_step` is always allowed.
    #[must_use]
    pub fn decide(&self, call: &Call<'_>) -> Decision<'_> {
        let mut decision = Decision::Allow;
        if call.tool == STEP_TOOL {
            return decision;
        }
        if let Some(denial) = builtin_rule::denial(call) {
            return Decision::Block(denial);
        }
        for level in &self.levels {
            match level.decide(call) {
                blocked @ Decision::Block(_) => return blocked,
                asked @ Decision::Ask(_) if matches!(decision, Decision::Allow) => {
                    decision = asked;
                }
                Decision::Ask(_) | Decision::Allow => {}
            }
        }
        let is_in_force = self.in_run || !self.levels.is_empty();
        match decision {
            Decision::Allow if is_in_force => {
                protected_files::denial(call).map_or(Decision::Allow, Decision::Ask)
            }
            decided => decided,
        }
    }

    /// Returns the denials that a person overrides by allowing a call, outer first; empty if one of them cannot be overridden.
    pub(crate) fn overridden(&self, call: &Call<'_>) -> Vec<Denial<'_>> {
        let denials = self
            .levels
            .iter()
            .filter_map(|level| match level.decide(call) {
                Decision::Allow => None,
                // A list of tools cannot be overridden.
                Decision::Ask(denial) | Decision::Block(denial) => {
                    Some(denial.rule.is_some().then_some(denial))
                }
            });
        denials.collect::<Option<_>>().unwrap_or_default()
    }
}

impl Level {
    fn new(level: LevelRules<'_>) -> Self {
        Self {
            name: level.name.into(),
            in_workflow: !matches!(level.source, RuleSource::Settings(_)),
            list: ToolList::new(level.tools),
            rules: level.rules.iter().map(CompiledRule::new).collect(),
        }
    }

    fn decide(&self, call: &Call<'_>) -> Decision<'_> {
        let denial = |rule, allowed| self.denial(call, rule, allowed);
        if let Some(found) = self.rules.iter().find(|rule| rule.matches(call)) {
            let rule = Some(found);
            return match found.rule.action {
                RuleAction::Allow => Decision::Allow,
                RuleAction::Ask => Decision::Ask(denial(rule, self.allowed(call).into())),
                RuleAction::Block => Decision::Block(denial(rule, self.allowed(call).into())),
            };
        }
        match self.list.blocks(call.tool) {
            Some(allowed) => Decision::Block(denial(None, allowed.into())),
            None => Decision::Allow,
        }
    }

    fn denial<'r>(
        &'r self,
        call: &Call<'_>,
        rule: Option<&'r CompiledRule>,
        allowed: Cow<'r, str>,
    ) -> Denial<'r> {
        Denial {
            level: &self.name,
            override_by: Override::Person,
            in_workflow: self.in_workflow,
            rule: rule.map(|compiled| &compiled.rule),
            allowed,
            seen: rule.map_or_else(String::new, |compiled| compiled.seen(call)),
        }
    }

    /// Returns what its rules allow for the tool of a call, for display.
    fn allowed(&self, call: &Call<'_>) -> String {
        let allowing = self
            .rules
            .iter()
            .map(|compiled| &compiled.rule)
            .filter(|rule| rule.action == RuleAction::Allow && names_match(&rule.tools, call.tool));
        let patterns: Vec<&str> = allowing
            .flat_map(|rule| rule.path.iter().chain(&rule.command))
            .map(String::as_str)
            .collect();
        patterns.join(", ")
    }
}
