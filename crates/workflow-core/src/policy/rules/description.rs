//! Descriptions of the rules in force: the lists, `read-only` and rules of all levels as one sentence, for people and
//! for the model.
//!
//! A tool that a list blocks and a rule opens is described by what is left: `write only in docs/**`.

use super::known::Known;
use super::level_rules::LevelRules;
use super::reason::tool_names;
use crate::definition::{Rule, RuleAction, ToolAccess};
use crate::policy::tool_list::STEP_TOOL;

/// Rules that are described one by one; of more, the number.
const MAX_RULES: usize = 24;
/// Patterns of a rule that are described; of more, the number.
const MAX_PATTERNS: usize = 16;
/// A name that no rule and no list of a definition contains: it behaves as every unnamed tool.
const UNNAMED: &str = "\u{0}";

/// The rules of levels, outer first, to be described.
#[derive(Debug)]
pub(crate) struct Description<'a> {
    levels: &'a [LevelRules<'a>],
}

/// The calls of a tool that may run, apart from rules on single calls.
#[derive(Debug, Clone, PartialEq)]
enum Access<'a> {
    All,
    /// Only those that one of these rules of each level opens.
    Only(Vec<Vec<&'a Rule>>),
    None,
}

impl<'a> Description<'a> {
    pub(crate) fn of(levels: &'a [LevelRules<'a>]) -> Self {
        Self { levels }
    }

    /// The description; `None` if everything is allowed.
    pub(crate) fn text(&self) -> Option<String> {
        let mut clauses = self.read_only();
        clauses.extend(self.lists());
        let mut rules: Vec<String> = self
            .levels
            .iter()
            .flat_map(|level| self.rules(level))
            .collect();
        let hidden = rules.len().saturating_sub(MAX_RULES);
        rules.truncate(MAX_RULES);
        if hidden > 0 {
            rules.push(format!("{hidden} more rules"));
        }
        clauses.extend(rules);
        (!clauses.is_empty()).then(|| clauses.join("; "))
    }

    /// True if no file can be changed with the usual tools for that.
    pub(crate) fn forbids_edits(&self) -> bool {
        let is_closed = |level: &LevelRules<'_>| {
            level
                .read_only
                .as_ref()
                .is_some_and(|open| open.writable.is_empty())
                && !level
                    .rules
                    .iter()
                    .any(|rule| rule.action != RuleAction::Block)
        };
        let is_blocked = |tool: &&str| self.access(tool) == Access::None;
        self.levels.iter().any(is_closed) || ["edit", "write"].iter().all(is_blocked)
    }

    /// Describes the levels that are read-only.
    fn read_only(&self) -> Vec<String> {
        let mut described = Vec::new();
        for level in self.levels {
            let Some(read_only) = &level.read_only else {
                continue;
            };
            let opened = level
                .rules
                .iter()
                .filter(|rule| rule.action != RuleAction::Block);
            let opened = opened.map(|rule| match opening(rule) {
                calls if calls.is_empty() => tool_names(&rule.tools, "and"),
                calls => format!("{} {calls}", tool_names(&rule.tools, "and")),
            });
            let text = read_only.describe_with(opened);
            if !described.contains(&text) {
                described.push(text);
            }
        }
        described
    }

    /// Describes the tools that may run and those that may not.
    fn lists(&self) -> Option<String> {
        let mut all = Vec::new();
        let mut none = Vec::new();
        let mut only: Vec<(String, Vec<String>)> = Vec::new();
        for name in self.named() {
            match self.access(name) {
                Access::All => all.push(name.to_owned()),
                Access::None => none.push(name.to_owned()),
                Access::Only(opened) => {
                    let calls = calls(&opened);
                    match only.iter_mut().find(|(known, _)| *known == calls) {
                        Some((_, names)) => names.push(name.to_owned()),
                        None => only.push((calls, vec![name.to_owned()])),
                    }
                }
            }
        }
        let only: Vec<String> = only
            .into_iter()
            .map(|(calls, names)| (tool_names(&names, "and"), calls))
            .map(|(names, calls)| match self.access(UNNAMED) {
                Access::None => format!("{names} {calls}"),
                Access::All | Access::Only(_) => format!("{names} only {calls}"),
            })
            .collect();
        let mut clauses = Vec::new();
        match self.access(UNNAMED) {
            Access::All => {
                if !none.is_empty() {
                    clauses.push(format!("all except {}", tool_names(&none, "and")));
                }
                clauses.extend(only);
            }
            Access::None => {
                let mut open = Vec::new();
                if !all.is_empty() {
                    open.push(tool_names(&all, "and"));
                }
                open.extend(only);
                let open = match &*open {
                    [] => STEP_TOOL.to_owned(),
                    open => open.join(", and "),
                };
                clauses.push(format!("only {open}"));
            }
            Access::Only(opened) => {
                clauses.push(format!("tools only {}", calls(&opened)));
                if !all.is_empty() {
                    clauses.push(format!("{} without this limit", tool_names(&all, "and")));
                }
                if !none.is_empty() {
                    clauses.push(format!("no {}", tool_names(&none, "or")));
                }
                clauses.extend(only);
            }
        }
        (!clauses.is_empty()).then(|| clauses.join("; "))
    }

    /// The tools that lists and rules name, in order.
    fn named(&self) -> Vec<&'a str> {
        let mut names: Vec<&str> = Vec::new();
        for level in self.levels {
            let listed = match level.tools {
                Some(ToolAccess::Blacklist(names) | ToolAccess::Whitelist(names)) => &names[..],
                Some(ToolAccess::ReadOnly { .. }) | None => &[],
            };
            let ruled = level.rules.iter().flat_map(|rule| &rule.tools);
            for name in listed.iter().chain(ruled).map(String::as_str) {
                if name != STEP_TOOL && name != "*" && !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        names
    }

    fn access(&self, tool: &str) -> Access<'a> {
        let mut opened = Vec::new();
        for level in self.levels {
            match access(level, tool) {
                Access::All => {}
                Access::None => return Access::None,
                Access::Only(rules) => opened.extend(rules),
            }
        }
        if opened.is_empty() {
            Access::All
        } else {
            Access::Only(opened)
        }
    }

    /// Describes the rules of a level on single calls.
    fn rules(&self, level: &LevelRules<'a>) -> Vec<String> {
        let mut described = Vec::new();
        for (index, rule) in level.rules.iter().enumerate() {
            let can_act = rule.tools.iter().any(|tool| {
                let is_open = match access(level, tool) {
                    Access::All => true,
                    // What it asks about is described with the tool.
                    Access::Only(_) => rule.action == RuleAction::Block,
                    Access::None => false,
                };
                is_open && self.access(tool) != Access::None
            });
            let before = &level.rules[..index];
            let is_dead = before
                .iter()
                .any(|earlier| earlier.covers(rule) == Known::Yes);
            if !can_act || is_dead {
                continue;
            }
            let tools = tool_names(&rule.tools, "and");
            let text = match (rule.action, rule.is_unconditional()) {
                (RuleAction::Allow, _) | (RuleAction::Block, true) => continue,
                (RuleAction::Block, false) if tools == "*" => {
                    format!("no tool may {}", action(rule))
                }
                (RuleAction::Block, false) => format!("{tools} may not {}", action(rule)),
                (RuleAction::Ask, true) if tools == "*" => {
                    "every tool only if the user agrees".to_owned()
                }
                (RuleAction::Ask, true) => format!("{tools} only if the user agrees"),
                (RuleAction::Ask, false) if tools == "*" => {
                    format!("tools may {} only if the user agrees", action(rule))
                }
                (RuleAction::Ask, false) => {
                    format!("{tools} may {} only if the user agrees", action(rule))
                }
            };
            let excepted: Vec<String> = before
                .iter()
                .filter(|earlier| earlier.action == RuleAction::Allow)
                .filter(|earlier| rule.covers(earlier) != Known::No)
                .map(|earlier| exception(earlier, rule))
                .collect();
            described.push(match &*excepted {
                [] => text,
                excepted => format!("{text}, except {}", excepted.join(" or ")),
            });
        }
        described
    }
}

/// Returns the calls of a tool that a level opens. The first rule that matches decides, and without one the list.
fn access<'a>(level: &LevelRules<'a>, tool: &str) -> Access<'a> {
    let mut opened = Vec::new();
    let only = |opened: Vec<&'a Rule>| match &*opened {
        [] => Access::None,
        _ => Access::Only(vec![opened]),
    };
    if tool == STEP_TOOL {
        return Access::All;
    }
    for rule in level.rules.iter().filter(|rule| rule.names(tool)) {
        match (rule.action, rule.is_unconditional()) {
            (RuleAction::Allow | RuleAction::Ask, true) => return Access::All,
            (RuleAction::Allow | RuleAction::Ask, false) => opened.push(rule),
            (RuleAction::Block, true) => return only(opened),
            (RuleAction::Block, false) => {}
        }
    }
    let has = |names: &[String]| names.iter().any(|name| name == tool);
    match level.tools {
        Some(ToolAccess::Blacklist(names)) if has(names) => only(opened),
        Some(ToolAccess::Whitelist(names)) if !has(names) => only(opened),
        Some(_) | None => Access::All,
    }
}

/// Describes the calls that an earlier rule takes out of a later one.
fn exception(earlier: &Rule, rule: &Rule) -> String {
    let calls = opening(earlier);
    let tools = tool_names(&earlier.tools, "and");
    match (calls.is_empty(), earlier.tools == rule.tools) {
        (true, _) => tools,
        (false, true) => calls,
        (false, false) => format!("{tools} {calls}"),
    }
}

/// Describes the calls that rules open, level by level.
fn calls(opened: &[Vec<&Rule>]) -> String {
    let levels: Vec<String> = opened
        .iter()
        .map(|rules| {
            let rules: Vec<String> = rules.iter().map(|rule| opening(rule)).collect();
            rules.join(" or ")
        })
        .collect();
    levels.join(", and of these only ")
}

/// Describes the calls that a rule opens: "in `docs/**`", "to run `git status`".
fn opening(rule: &Rule) -> String {
    let mut parts = Vec::new();
    if !rule.command.is_empty() {
        parts.push(format!("to run {}", patterns(&rule.command)));
    }
    match rule.writes {
        Some(true) => parts.push("for calls that write files".to_owned()),
        Some(false) => parts.push("for calls that write no files".to_owned()),
        None => {}
    }
    if !rule.path.is_empty() {
        parts.push(format!("in {}", patterns(&rule.path)));
    }
    parts.extend(input(rule));
    if rule.action == RuleAction::Ask {
        parts.push("if the user agrees".to_owned());
    }
    parts.join(" ")
}

/// Describes the calls that a rule is about, after "may not": "run `git push`", "write to `.env`".
fn action(rule: &Rule) -> String {
    const WRITING: [&str; 2] = ["edit", "write"];
    const READING: [&str; 4] = ["read", "grep", "find", "ls"];
    let all_in = |known: &[&str]| rule.tools.iter().all(|tool| known.contains(&tool.as_str()));
    let path = (!rule.path.is_empty()).then(|| patterns(&rule.path));
    let mut text = match (&*rule.command, path) {
        ([], None) => match rule.writes {
            Some(true) => "write files".to_owned(),
            Some(false) => "make calls that write no files".to_owned(),
            None => "be called".to_owned(),
        },
        ([], Some(path)) => match rule.writes {
            Some(true) => format!("write to {path}"),
            Some(false) => format!("only read {path}"),
            None if all_in(&WRITING) => format!("write to {path}"),
            None if all_in(&READING) => format!("read {path}"),
            None => format!("access {path}"),
        },
        (command, path) => {
            let mut text = format!("run {}", patterns(command));
            match rule.writes {
                Some(true) => text += " where that writes files",
                Some(false) => text += " where that writes no files",
                None => {}
            }
            if let Some(path) = path {
                text = format!("{text} on {path}");
            }
            text
        }
    };
    for part in input(rule) {
        text = format!("{text} {part}");
    }
    text
}

fn input(rule: &Rule) -> impl Iterator<Item = String> {
    let fields = rule.input.iter();
    fields.map(|(field, pattern)| format!("with a `{field}` that matches `{pattern}`"))
}

fn patterns(all: &[String]) -> String {
    let mut quoted: Vec<String> = all
        .iter()
        .take(MAX_PATTERNS)
        .map(|pattern| match pattern.as_str() {
            "./**" => "this project".to_owned(),
            pattern => format!("`{pattern}`"),
        })
        .collect();
    if all.len() > MAX_PATTERNS {
        quoted.push(format!("{} more", all.len() - MAX_PATTERNS));
    }
    crate::text::joined(&quoted, "or")
}

#[cfg(test)]
mod tests;
