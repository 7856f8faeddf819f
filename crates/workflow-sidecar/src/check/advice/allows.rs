//! Rules that allow and change nothing: nothing blocks the tool, or an outer level blocks it nevertheless.

use workflow_core::definition::{Loaded, RuleAction, ToolAccess, Workflow};
use workflow_core::diagnostic::{Code, Diagnostic, Severity, shown};

use super::levels::{Level, Levels, SHELL};

/// Finds the rules that allow and change nothing.
pub(super) fn idle(levels: &Levels<'_>, loaded: &Loaded) -> Vec<Diagnostic> {
    let of_level = |level| of_level(level, levels, loaded);
    levels.iter().flat_map(of_level).collect()
}

/// Finds the rules of a level that allow and change nothing.
fn of_level<'a>(level: &Level<'a>, levels: &Levels<'a>, loaded: &Loaded) -> Vec<Diagnostic> {
    let mut outer = levels.outer(level);
    if let Some(workflow) = level.workflow {
        let catalog = &loaded.catalog;
        let contains = |outer: &&Workflow| {
            let mut inner = catalog.reachable_from(&outer.key).into_iter().skip(1);
            inner.any(|inner| inner.key == workflow.key)
        };
        let around = catalog.iter().filter(contains);
        let around = around.filter_map(|outer| levels.of_workflow(&outer.key).next());
        outer.splice(2..2, around);
    }
    let rules = level.rules.iter().enumerate();
    let allows = rules.filter(|(_, rule)| rule.action == RuleAction::Allow);
    let found = allows.flat_map(|(at, rule)| {
        let mut found = Vec::new();
        let mut idle: Vec<&str> = Vec::new();
        let is_reached = |tool: &&String| {
            let before = &level.rules[..at];
            !before
                .iter()
                .any(|rule| rule.is_unconditional() && rule.names(tool))
        };
        for tool in rule.tools.iter().filter(is_reached) {
            let overruled = outer
                .iter()
                .find_map(|outer| Some((outer, outer.overrules(tool, rule)?)));
            if let Some((outer, why)) = overruled.filter(|_| !tool.contains('*')) {
                found.push(overruled_allow(tool, outer, &why));
            } else if !acts(level, at, tool) && !is_intended(level, &outer, at, tool) {
                match closed_around(level) {
                    Some(source) => found.push(closed_allow(tool, source)),
                    None => idle.push(tool),
                }
            }
        }
        if !idle.is_empty() {
            found.push(idle_allow(&idle, level));
        }
        found.into_iter().map(move |found| level.at_rule(at, found))
    });
    found.collect()
}

/// Returns true if a rule allows calls that its level would not.
fn acts(level: &Level<'_>, at: usize, tool: &str) -> bool {
    let any_tool = tool.contains('*');
    let list = if any_tool {
        level.list.is_some()
    } else {
        level.lists_out(tool)
    };
    let mut later = level.rules[at + 1..].iter();
    let is_read_only = matches!(level.list, Some(ToolAccess::ReadOnly { .. }));
    list || is_read_only
        || later.any(|rule| rule.action != RuleAction::Allow && (any_tool || rule.names(tool)))
}

/// Returns true if a rule says that the shell may write where other tools may not.
fn is_intended(level: &Level<'_>, outer: &[&Level<'_>], at: usize, tool: &str) -> bool {
    let blocks_writing = |level: &Level<'_>| {
        ["edit", "write"]
            .iter()
            .any(|tool| level.blocks(tool).is_some())
    };
    tool == SHELL
        && level.rules[at].is_unconditional()
        && (blocks_writing(level) || outer.iter().copied().any(blocks_writing))
}

/// Returns the location of the `read-only` of the workflow of a phase, which no rule of the phase opens.
fn closed_around<'a>(level: &Level<'a>) -> Option<&'a str> {
    level.workflow?.read_only_of(Some(level.phase?))
}

fn closed_allow(tool: &str, source: &str) -> Diagnostic {
    let (tool, source) = (shown(tool), shown(source));
    let message =
        format!("`allow` of `{tool}` opens nothing that the `read-only` at {source} closes");
    Diagnostic::new(Code::OverruledAllow, Severity::Warning, message).with_help(
        "open it with `writable` or `commands`, or lift the `read-only` with `mode: all` beside the rules",
    )
}

fn idle_allow(tools: &[&str], level: &Level<'_>) -> Diagnostic {
    let names: Vec<String> = tools
        .iter()
        .map(|tool| format!("`{}`", shown(tool)))
        .collect();
    let message = format!(
        "`allow` has no effect: nothing in {} blocks {}",
        level.name,
        names.join(" or ")
    );
    let list: Vec<String> = tools.iter().map(|tool| shown(tool)).collect();
    let list = match &*list {
        [tool] if tool == "*" => "\"*\"".to_owned(),
        [tool] => tool.clone(),
        _ => format!("[{}]", list.join(", ")),
    };
    Diagnostic::new(Code::IdleAllow, Severity::Warning, message).with_help(format!(
        "add the rule `block: {list}` after it, so that only this is allowed; or remove it"
    ))
}

fn overruled_allow(tool: &str, outer: &Level<'_>, why: &str) -> Diagnostic {
    let message = format!("`allow` of `{}` has no effect: {why}", shown(tool));
    Diagnostic::new(Code::OverruledAllow, Severity::Warning, message).with_help(format!(
        "an inner level cannot allow what an outer one blocks: move this rule to {}, before the rules that block",
        outer.name
    ))
}
