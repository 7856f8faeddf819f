//! Rules that allow and change nothing, as nothing in their level blocks the tool.

use workflow_core::definition::RuleAction;
use workflow_core::diagnostic::{Code, Diagnostic, Severity, shown};

use super::levels::{Level, Levels, SHELL};

/// Finds the rules of a level that allow and change nothing.
pub(super) fn idle<'a>(
    level: &'a Level<'a>,
    levels: &'a Levels<'a>,
) -> impl Iterator<Item = Diagnostic> + 'a {
    let outer = levels.outer(level);
    let rules = level.rules.iter().enumerate();
    let allows = rules.filter(|(_, rule)| rule.action == RuleAction::Allow);
    allows.filter_map(move |(at, rule)| {
        let is_idle = |tool: &&str| {
            let mut before = level.rules[..at].iter();
            !before.any(|rule| rule.is_unconditional() && rule.names(tool))
                && !acts(level, at, tool)
                && !is_intended(level, &outer, at, tool)
        };
        let idle = rule.tools.iter().map(String::as_str).filter(is_idle);
        let idle: Vec<&str> = idle.collect();
        (!idle.is_empty()).then(|| level.at_rule(at, idle_allow(&idle, level)))
    })
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
    list || level.is_read_only
        || later.any(|rule| rule.action != RuleAction::Allow && (any_tool || rule.names(tool)))
}

/// Returns true if a rule says that the shell may write where other tools may not.
fn is_intended(level: &Level<'_>, outer: &[&Level<'_>], at: usize, tool: &str) -> bool {
    let blocks_writing = |level: &Level<'_>| level.blocks("edit") || level.blocks("write");
    tool == SHELL
        && level.rules[at].is_unconditional()
        && (blocks_writing(level) || outer.iter().copied().any(blocks_writing))
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
