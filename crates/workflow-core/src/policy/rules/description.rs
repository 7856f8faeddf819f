//! Descriptions of the rules in force: the lists, `read-only` and rules of all levels as one sentence, for people and
//! for the model.
//!
//! A tool that a list blocks and a rule opens is described by what is left: `write only in docs/**`.

use super::known::Known;
use super::level_rules::LevelRules;
use super::reason::{input, on_writes, tool_names};
use crate::definition::{READING, Rule, RuleAction, ToolAccess, WRITING};
use crate::policy::tool_list::STEP_TOOL;
use crate::text::{few, joined};

/// Rules that are described one by one; of more, the number.
const MAX_RULES: usize = 24;
/// Patterns of a rule that are described; of more, the number.
const MAX_PATTERNS: usize = 16;
/// A name that no rule and no list of a definition contains: it behaves as every unnamed tool.
const UNNAMED: &str = "\u{0}";

/// The rules of levels, outer first, to be described.
pub(crate) struct Description<'a>(pub(crate) &'a [LevelRules<'a>]);

impl<'a> Description<'a> {
    /// The description; `None` if everything is allowed.
    pub(crate) fn text(&self) -> Option<String> {
        let mut clauses = self.read_only();
        clauses.extend(self.lists());
        let rules = self.0.iter().flat_map(|level| self.rules(level));
        let more = |hidden| format!("{hidden} more rules");
        clauses.extend(few(rules.collect(), MAX_RULES, more));
        (!clauses.is_empty()).then(|| clauses.join("; "))
    }

    /// True if no file can be changed with the usual tools for that.
    pub(crate) fn forbids_edits(&self) -> bool {
        let is_closed = |level: &LevelRules<'_>| {
            let mut read_only = level.read_only.iter();
            read_only.any(|open| open.writable.is_empty()) && opening(level).next().is_none()
        };
        let is_blocked = |tool: &&str| self.calls(tool).is_none();
        self.0.iter().any(is_closed) || ["edit", "write"].iter().all(is_blocked)
    }

    /// Describes the levels that are read-only, and those that are not because the phase lifts it.
    fn read_only(&self) -> Vec<String> {
        let mut described = Vec::new();
        for level in self.0 {
            let text = match (&level.read_only, level.tools) {
                (Some(open), _) => open.describe_with(opening(level).map(with_tools)),
                (None, Some(ToolAccess::ReadOnly { .. })) => {
                    format!("not read-only, which {} otherwise is", level.name)
                }
                _ => continue,
            };
            if !described.contains(&text) {
                described.push(text);
            }
        }
        described
    }

    /// Describes the tools that may run and those that may not.
    fn lists(&self) -> Option<String> {
        let mut groups: Vec<(Option<String>, Vec<String>)> = Vec::new();
        for name in self.named() {
            let calls = self.calls(name);
            match groups.iter_mut().find(|(known, _)| *known == calls) {
                Some((_, names)) => names.push(name.to_owned()),
                None => groups.push((calls, vec![name.to_owned()])),
            }
        }
        let unnamed = self.calls(UNNAMED);
        let limit = if unnamed.is_none() { "" } else { "only " };
        let (mut all, mut none, mut only) = (None, None, Vec::new());
        for (calls, names) in &groups {
            let listed = tool_names(names, "and");
            match calls.as_deref() {
                None => none = Some(names),
                Some("") => all = Some(listed),
                Some(calls) => only.push(format!("{listed} {limit}{calls}")),
            }
        }
        let mut clauses = Vec::new();
        match unnamed.as_deref() {
            Some("") => {
                let names = none.map(|names| tool_names(names, "and"));
                clauses.extend(names.map(|names| format!("all except {names}")));
                clauses.extend(only);
            }
            None => {
                let open: Vec<String> = all.into_iter().chain(only).collect();
                clauses.push(match &*open {
                    [] => format!("only {STEP_TOOL}"),
                    open => format!("only {}", open.join(", and ")),
                });
            }
            Some(calls) => {
                clauses.push(format!("tools only {calls}"));
                clauses.extend(all.map(|names| format!("{names} without this limit")));
                let names = none.map(|names| tool_names(names, "or"));
                clauses.extend(names.map(|names| format!("no {names}")));
                clauses.extend(only);
            }
        }
        (!clauses.is_empty()).then(|| clauses.join("; "))
    }

    /// The tools that lists and rules name, in order.
    fn named(&self) -> Vec<&'a str> {
        let mut names: Vec<&str> = Vec::new();
        for level in self.0 {
            let listed = match level.tools {
                Some(ToolAccess::Blacklist(names) | ToolAccess::Whitelist(names)) => &names[..],
                Some(ToolAccess::ReadOnly { .. } | ToolAccess::All { .. }) | None => &[],
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

    /// The calls of a tool that may run, apart from rules on single calls; empty if all, `None` if there are none.
    fn calls(&self, tool: &str) -> Option<String> {
        let levels = self.0.iter().map(|level| opened(level, tool));
        let mut levels = levels.collect::<Option<Vec<String>>>()?;
        levels.retain(|calls| !calls.is_empty());
        Some(levels.join(", and of these only "))
    }

    /// Describes the rules of a level on single calls.
    fn rules(&self, level: &LevelRules<'a>) -> Vec<String> {
        let mut described = Vec::new();
        for (index, rule) in level.rules.iter().enumerate() {
            let can_act = rule.tools.iter().any(|tool| {
                let is_open = match opened(level, tool) {
                    // What it asks about is described with the tool.
                    Some(calls) => calls.is_empty() || rule.action == RuleAction::Block,
                    None => false,
                };
                is_open && self.calls(tool).is_some()
            });
            let before = &level.rules[..index];
            let is_dead = before
                .iter()
                .any(|earlier| earlier.covers(rule) == Known::Yes);
            if !can_act || is_dead {
                continue;
            }
            let tools = tool_names(&rule.tools, "and");
            let (who, every) = match &*tools {
                "*" => ("tools", "every tool"),
                tools => (tools, tools),
            };
            let text = match (rule.action, rule.is_unconditional()) {
                (RuleAction::Allow, _) | (RuleAction::Block, true) => continue,
                (RuleAction::Block, false) if tools == "*" => {
                    format!("no tool may {}", action(rule))
                }
                (RuleAction::Block, false) => format!("{tools} may not {}", action(rule)),
                (RuleAction::Ask, true) => format!("{every} only if the user agrees"),
                (RuleAction::Ask, false) => {
                    format!("{who} may {} only if the user agrees", action(rule))
                }
            };
            let excepted: Vec<String> = before
                .iter()
                .filter(|earlier| earlier.action == RuleAction::Allow)
                .filter(|earlier| rule.covers(earlier) != Known::No)
                .map(|earlier| match opened_by(earlier) {
                    calls if !calls.is_empty() && earlier.tools == rule.tools => calls,
                    _ => with_tools(earlier),
                })
                .collect();
            described.push(match &*excepted {
                [] => text,
                excepted => format!("{text}, except {}", excepted.join(" or ")),
            });
        }
        described
    }
}

/// Returns the rules of a level that open calls.
fn opening<'l>(level: &'l LevelRules<'_>) -> impl Iterator<Item = &'l Rule> {
    let rules = level.rules.iter();
    rules.filter(|rule| rule.action != RuleAction::Block)
}

/// Returns the calls of a tool that a level opens; empty if all, `None` if there are none. The first rule that matches decides,
/// and without one the list.
fn opened(level: &LevelRules<'_>, tool: &str) -> Option<String> {
    let mut opened = Vec::new();
    let mut is_closed = level.tools.is_some_and(|list| list.blocks(tool));
    if tool == STEP_TOOL {
        return Some(String::new());
    }
    for rule in level.rules.iter().filter(|rule| rule.names(tool)) {
        match (rule.action, rule.is_unconditional()) {
            (RuleAction::Allow | RuleAction::Ask, true) => return Some(String::new()),
            (RuleAction::Allow | RuleAction::Ask, false) => opened.push(opened_by(rule)),
            (RuleAction::Block, true) => {
                is_closed = true;
                break;
            }
            (RuleAction::Block, false) => {}
        }
    }
    match &*opened {
        _ if !is_closed => Some(String::new()),
        [] => None,
        opened => Some(opened.join(" or ")),
    }
}

/// Describes the calls that a rule opens, with the tools.
fn with_tools(rule: &Rule) -> String {
    let text = format!("{} {}", tool_names(&rule.tools, "and"), opened_by(rule));
    text.trim_end().to_owned()
}

/// Describes the calls that a rule opens: "in `docs/**`", "to run `git status`".
fn opened_by(rule: &Rule) -> String {
    let mut parts = Vec::new();
    if !rule.command.is_empty() {
        parts.push(format!("to run {}", patterns(&rule.command)));
    }
    let (writing, not_writing) = (
        "for calls that write files",
        "for calls that write no files",
    );
    parts.extend(on_writes(rule, writing, not_writing).map(str::to_owned));
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
    let all_in = |known: &[&str]| rule.tools.iter().all(|tool| known.contains(&tool.as_str()));
    let path = (!rule.path.is_empty()).then(|| patterns(&rule.path));
    let mut parts = vec![match (&*rule.command, path) {
        ([], None) => {
            let what = on_writes(rule, "write files", "make calls that write no files");
            what.unwrap_or("be called").to_owned()
        }
        ([], Some(path)) => {
            let verb = match on_writes(rule, "write to", "only read") {
                Some(verb) => verb,
                None if all_in(WRITING) => "write to",
                None if all_in(READING) => "read",
                None => "access",
            };
            format!("{verb} {path}")
        }
        (command, path) => {
            let (yes, no) = (" where that writes files", " where that writes no files");
            let writes = on_writes(rule, yes, no).unwrap_or_default();
            let path = path.map_or_else(String::new, |path| format!(" on {path}"));
            let command = patterns(command);
            format!("run {command}{writes}{path}")
        }
    }];
    parts.extend(input(rule));
    parts.join(" ")
}

fn patterns(all: &[String]) -> String {
    let quoted = all.iter().map(|pattern| match pattern.as_str() {
        "./**" => "this project".to_owned(),
        pattern => format!("`{pattern}`"),
    });
    let more = |hidden| format!("{hidden} more");
    joined(&few(quoted.collect(), MAX_PATTERNS, more), "or")
}

#[cfg(test)]
mod tests;
