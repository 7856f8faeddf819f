//! Rules on tool calls.
//!
//! Every level has rules and a list of tools: the user's settings, the project's settings, the workflows around the phase, the
//! phase. In each level the first matching rule decides; without one, the list does. The strictest level wins, and of equally strict
//! ones the outermost: an inner level can add restrictions, but not remove them. Unknown properties of a call count against it. The
//! built-in rule precedes all levels.

mod acting_fields;
mod arguments;
pub(crate) mod builtin_rule;
mod call;
mod command_patterns;
mod comparisons;
mod compiled_rule;
mod coverage;
mod deciding_files;
mod decision;
mod description;
mod file_access;
mod glob_intersection;
mod globs;
mod known;
mod level_rules;
mod line_verdict;
mod patches;
mod path_matcher;
mod paths;
mod protected_files;
mod read_only;
mod reason;
mod shell_lines;
mod suggestion;

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::definition::{OnRepeat, RuleAction, ToolAccess};
use crate::policy::tool_list::{STEP_TOOL, VisibleTools};

pub use call::Call;
pub(crate) use call::hash_of;
use compiled_rule::CompiledRule;
pub use decision::{CallDecision, Denial};
pub(crate) use description::Description;
pub use known::Known;
pub use level_rules::{LevelRules, RuleSource};
pub use line_verdict::{LineReport, PartReport};
pub use patches::{PatchedFile, contains_patch, directory_of_patch, path_in};
pub use paths::{PLAIN_PATHS, PathForm, Paths, WrittenPaths, definition_paths, normalized_path};
pub use read_only::ReadOnly;
pub use reason::describe_rule;
pub(crate) use reason::{block_notice, cause, reason};

/// The rules of all levels, outer first.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    levels: Vec<CompiledLevel>,
    /// The reaction of the strictest level to a call that is denied again and again.
    on_repeat: Option<OnRepeat>,
    /// True if the rules are those of a run.
    in_run: bool,
}

#[derive(Debug, Clone)]
struct CompiledLevel {
    name: Arc<str>,
    /// True if it is a workflow or a phase.
    in_workflow: bool,
    list: Option<ToolAccess>,
    /// Its rules, the last one of which may be that it is read-only.
    rules: Vec<CompiledRule>,
    /// A description of what is allowed, for a call that the list blocks.
    allowed: String,
    /// The strictest decision on unknown commands and tools that this level or one around it gives.
    unknown: Option<RuleAction>,
}

impl Rules {
    /// Compiles the rules of the levels, outer first.
    pub fn new<'a>(levels: impl IntoIterator<Item = LevelRules<'a>>) -> Self {
        let (mut unknown, mut on_repeat, mut known) = (None, None, Vec::new());
        let levels = levels.into_iter().filter_map(|level| {
            // A greater one is stricter, and none is the least.
            unknown = unknown.max(level.unknown);
            on_repeat = on_repeat.max(level.on_repeat);
            known.extend(level.tools_that_the_user_knows().cloned());
            let restricts =
                level.tools.is_some() || !level.rules.is_empty() || level.read_only.is_some();
            restricts.then(|| CompiledLevel::new(&level, unknown, &known))
        });
        let levels = levels.collect();
        Self {
            levels,
            on_repeat,
            in_run: false,
        }
    }

    /// The same rules, as those of a run: what they are loaded from is protected even if there are none.
    pub(crate) fn of_run(mut self) -> Self {
        self.in_run = true;
        self
    }

    /// Returns whether there are no rules, apart from the built-in one.
    pub fn is_empty(&self) -> bool {
        self.levels.is_empty()
    }

    /// Returns whether a level has rules, so that a decision may depend on the input of a tool. The built-in rule, which
    /// always reads it, does not count.
    pub(crate) fn depend_on_input(&self) -> bool {
        self.levels.iter().any(|level| !level.rules.is_empty())
    }

    /// The reaction to a repeated denial: the strictest of the rule and of the levels.
    pub(crate) fn on_repeat(&self, denial: &Denial<'_>) -> OnRepeat {
        let of_rule = denial.rule.and_then(|rule| rule.on_repeat);
        of_rule.max(self.on_repeat).unwrap_or(OnRepeat::Ask)
    }

    /// The tools that the lists of all levels leave.
    pub(crate) fn visible_tools(&self) -> VisibleTools {
        let mut visible = VisibleTools::default();
        for list in self.levels.iter().filter_map(|level| level.list.as_ref()) {
            visible.narrow(list);
        }
        visible
    }

    /// Decides on a call that the user has not allowed before.
    pub fn decide(&self, call: &Call<'_>) -> CallDecision<'_> {
        self.decide_with(call, None)
    }

    /// Decides on a call. `workflow_step` is always allowed, and so are unknown calls like those that the user allowed.
    pub(crate) fn decide_with(
        &self,
        call: &Call<'_>,
        allowed: Option<&BTreeSet<String>>,
    ) -> CallDecision<'_> {
        let mut decision = CallDecision::Allow;
        if call.tool == STEP_TOOL {
            return decision;
        }
        if let Some(denial) = builtin_rule::denial(call) {
            return CallDecision::Block(denial);
        }
        let is_in_force = self.in_run || !self.levels.is_empty();
        if is_in_force && let Some(denial) = builtin_rule::unreadable(call) {
            return CallDecision::Block(denial);
        }
        // Each level decides once: patterns are compared a limited number of times for a call.
        let mut denying = Vec::new();
        for level in &self.levels {
            let found = level.decide(call, allowed);
            let (CallDecision::Ask(denial) | CallDecision::Block(denial)) = &found else {
                continue;
            };
            let is_by_list = denial.rule.is_none();
            denying.push(denial.location());
            if decision.is_less_strict_than(&found) {
                decision = found;
            }
            // A list of tools cannot be overridden, so what the other levels say does not matter.
            if is_by_list {
                return decision;
            }
        }
        match &mut decision {
            CallDecision::Ask(denial) | CallDecision::Block(denial) => {
                denial.denied_by = denying;
                decision
            }
            CallDecision::Allow if is_in_force => {
                protected_files::denial(call).map_or(CallDecision::Allow, CallDecision::Ask)
            }
            CallDecision::Allow => CallDecision::Allow,
        }
    }
}

impl CompiledLevel {
    fn new(level: &LevelRules<'_>, unknown: Option<RuleAction>, known: &[String]) -> Self {
        let rules = level.rules.iter().cloned().map(CompiledRule::new);
        let read_only = level.read_only.iter();
        let read_only = read_only.map(|open| CompiledRule::read_only(open, known));
        Self {
            name: (*level.name).into(),
            in_workflow: !matches!(level.source, RuleSource::Settings(_)),
            list: level.tools.cloned(),
            rules: rules.chain(read_only).collect(),
            allowed: allowed_by_list(level).unwrap_or_default(),
            unknown,
        }
    }

    /// Returns the decision on a call that a rule forbids only because a shell command or the tool is unknown.
    fn on_unknown(&self, of_rule: Option<RuleAction>) -> RuleAction {
        let action = of_rule.or(self.unknown).unwrap_or(RuleAction::Ask);
        self.unknown.map_or(action, |outer| outer.max(action))
    }

    fn decide(&self, call: &Call<'_>, allowed: Option<&BTreeSet<String>>) -> CallDecision<'_> {
        let read_only = self.rules.last().and_then(|rule| rule.open.as_ref());
        let writable = read_only.map(|open| &open.writable);
        for found in &self.rules {
            let matched = found.matches(call, writable);
            let is_allowed = || allowed.is_some_and(|all| all.contains(&call.likeness()));
            let unknown = || match self.on_unknown(found.rule.unknown) {
                RuleAction::Allow => None,
                RuleAction::Ask if is_allowed() => None,
                action => Some(action),
            };
            let action = match matched {
                Known::No => None,
                Known::Yes => Some(found.rule.action),
                Known::Unknown => unknown(),
            };
            let Some(action) = action else { continue };
            let denial = || Denial {
                in_workflow: self.in_workflow,
                allowed: found.allowed(&self.allowed_by_rules(call)).into(),
                seen: found.seen(call, matched),
                subject: found.subject(call),
                is_unknown: matched == Known::Unknown,
                ..Denial::new(&self.name, Some(&found.rule))
            };
            return match action {
                RuleAction::Allow => CallDecision::Allow,
                RuleAction::Ask => CallDecision::Ask(denial()),
                RuleAction::Block => CallDecision::Block(denial()),
            };
        }
        match &self.list {
            Some(list) if list.blocks(call.tool) => CallDecision::Block(Denial {
                in_workflow: self.in_workflow,
                allowed: (&*self.allowed).into(),
                ..Denial::new(&self.name, None)
            }),
            Some(_) | None => CallDecision::Allow,
        }
    }

    /// Returns the patterns of the rules that allow calls of the tool, for display.
    fn allowed_by_rules(&self, call: &Call<'_>) -> Vec<&str> {
        let rules = self.rules.iter().map(|compiled| &compiled.rule);
        let allowing =
            rules.filter(|rule| rule.action == RuleAction::Allow && rule.names(call.tool));
        let patterns = allowing.flat_map(|rule| rule.path.iter().chain(&rule.command));
        patterns.map(String::as_str).collect()
    }
}

/// Describes what is allowed where a list blocks: the list of a workflow as hook-lifecycle does, a list with rules together
/// with them. `None` if nothing is blocked.
pub(crate) fn allowed_by_list(level: &LevelRules<'_>) -> Option<String> {
    let is_settings = matches!(level.source, RuleSource::Settings(_));
    if is_settings || !level.rules.is_empty() {
        Description(std::slice::from_ref(level)).text()
    } else {
        level.tools?.allowed()
    }
}
