//! Decides single tool calls by what every level says: the user's settings, the project's, the workflows
//! around the phase, the phase.
//!
//! The first rule of a level that matches speaks for the level; where none does, its list. The strictest
//! level decides, the outer one of equals: an inner level can add, and lift nothing. What cannot be
//! seen of a call counts against it. One rule of our own stands before all levels.

mod arguments;
pub(crate) mod builtin_rule;
mod call;
mod compiled_rule;
mod file_access;
mod glob_intersection;
mod path_matcher;
mod paths;
mod pattern;
mod reason;
mod shell_lines;

use std::borrow::Cow;
use std::sync::Arc;

use crate::definition::{Rule, Tier, ToolAccess, Verdict};
use crate::policy::{STEP_TOOL, ToolGuard};

pub use call::Call;
use compiled_rule::CompiledRule;
pub use paths::{PathForm, Paths, PlainPaths};
pub(crate) use pattern::{check_glob, names_match, regex};
pub(crate) use reason::{in_words, reason};

/// What one level says.
#[derive(Debug, Clone, Copy)]
pub struct LevelRules<'a> {
    /// What the level is, as people read it: `the Plan phase`.
    pub name: &'a str,
    /// Whose word it is.
    pub whose: Whose<'a>,
    /// Which tools may run at all.
    pub tools: Option<&'a ToolAccess>,
    /// Its rules, in order.
    pub rules: &'a [Rule],
}

/// Who says something about tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose<'a> {
    /// A settings file.
    Settings(Tier),
    /// The workflow of this key.
    Workflow(&'a str),
    /// The phase.
    Phase,
}

/// The rules of all levels, outer first.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    levels: Vec<Level>,
}

#[derive(Debug, Clone)]
struct Level {
    name: Arc<str>,
    /// Whether it is a workflow or a phase.
    in_workflow: bool,
    list: ToolGuard,
    rules: Vec<CompiledRule>,
}

/// What becomes of a call.
#[derive(Debug)]
pub enum Decision<'r> {
    /// It may run.
    Allowed,
    /// A person decides.
    Asked(Denial<'r>),
    /// It must not run.
    Blocked(Denial<'r>),
}

/// Why a call may not simply run.
#[derive(Debug)]
pub struct Denial<'r> {
    /// What the level is.
    pub level: &'r str,
    /// Who may have the call run in spite of it.
    pub lift: Lift,
    /// Whether the level is a workflow or a phase.
    pub in_workflow: bool,
    /// The rule; `None` where the level's list decides.
    pub rule: Option<&'r Rule>,
    /// What the level allows instead, as people read it; may be empty.
    pub allowed: Cow<'r, str>,
    /// What was seen of the call that the rule asks for, as people read it; may be empty.
    pub seen: String,
}

/// Who may have a call run in spite of what denies it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lift {
    /// A person, who is shown what denies it.
    Person,
    /// Nobody.
    Never,
}

impl Rules {
    /// Takes the levels, outer first.
    #[must_use]
    pub fn new<'a>(levels: impl IntoIterator<Item = LevelRules<'a>>) -> Self {
        let levels = levels
            .into_iter()
            .filter(|level| level.tools.is_some() || !level.rules.is_empty());
        Self {
            levels: levels.map(Level::new).collect(),
        }
    }

    /// Whether no level denies a call.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.levels.is_empty()
    }

    /// Which tools the lists of all levels leave, as people read it; `None` where there is no list.
    pub(crate) fn lists(&self) -> Option<String> {
        let lists: Vec<&str> = self
            .levels
            .iter()
            .filter_map(|level| level.list.leaves())
            .collect();
        (!lists.is_empty()).then(|| lists.join("; of these: "))
    }

    /// Whether a decision may hang on what a tool is given, and not on its name alone.
    #[must_use]
    pub fn look_at_input(&self) -> bool {
        self.levels.iter().any(|level| !level.rules.is_empty())
    }

    /// What becomes of a call. `workflow_step` may always run.
    #[must_use]
    pub fn decide(&self, call: &Call<'_>) -> Decision<'_> {
        let mut decision = Decision::Allowed;
        if call.tool == STEP_TOOL {
            return decision;
        }
        if let Some(denial) = builtin_rule::denial(call) {
            return Decision::Blocked(denial);
        }
        for level in &self.levels {
            match level.decide(call) {
                blocked @ Decision::Blocked(_) => return blocked,
                asked @ Decision::Asked(_) if matches!(decision, Decision::Allowed) => {
                    decision = asked;
                }
                Decision::Asked(_) | Decision::Allowed => {}
            }
        }
        decision
    }
}

impl Rules {
    /// All that a person lifts who lets a call run, outer first; nothing if one level does not let a person.
    pub(crate) fn lifted(&self, call: &Call<'_>) -> Vec<Denial<'_>> {
        let denials = self
            .levels
            .iter()
            .filter_map(|level| match level.decide(call) {
                Decision::Allowed => None,
                // A list is no rule that asks or is asked about.
                Decision::Asked(denial) | Decision::Blocked(denial) => {
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
            in_workflow: !matches!(level.whose, Whose::Settings(_)),
            list: ToolGuard::new(level.tools),
            rules: level.rules.iter().map(CompiledRule::new).collect(),
        }
    }

    fn decide(&self, call: &Call<'_>) -> Decision<'_> {
        let denial = |rule, allowed| self.denial(call, rule, allowed);
        if let Some(found) = self.rules.iter().find(|rule| rule.matches(call)) {
            let rule = Some(found);
            return match found.rule.verdict {
                Verdict::Allow => Decision::Allowed,
                Verdict::Ask => Decision::Asked(denial(rule, self.allowed(call).into())),
                Verdict::Block => Decision::Blocked(denial(rule, self.allowed(call).into())),
            };
        }
        match self.list.blocks(call.tool) {
            Some(allowed) => Decision::Blocked(denial(None, allowed.into())),
            None => Decision::Allowed,
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
            lift: Lift::Person,
            in_workflow: self.in_workflow,
            rule: rule.map(|compiled| &compiled.rule),
            allowed,
            seen: rule.map_or_else(String::new, |compiled| compiled.seen(call)),
        }
    }

    /// What its rules allow of a call's tool.
    fn allowed(&self, call: &Call<'_>) -> String {
        let allowing = self
            .rules
            .iter()
            .map(|compiled| &compiled.rule)
            .filter(|rule| rule.verdict == Verdict::Allow && names_match(&rule.tools, call.tool));
        let patterns: Vec<&str> = allowing
            .flat_map(|rule| rule.path.iter().chain(&rule.command))
            .map(String::as_str)
            .collect();
        patterns.join(", ")
    }
}
