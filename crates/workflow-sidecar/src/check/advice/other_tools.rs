//! Rules that close a path to `edit` or `write`, while another tool can still change it.

use workflow_core::definition::{Rule, RuleAction};
use workflow_core::diagnostic::{Code, Diagnostic, Severity, shown};

use super::levels::{Level, Levels, SHELL};

/// Tools that change files, as the usual hosts call them.
const CHANGING: [&str; 3] = ["edit", "write", SHELL];

/// Finds such rules of a level.
pub(super) fn bypassed(level: &Level<'_>, levels: &Levels<'_>) -> Vec<Diagnostic> {
    let rules = level.rules.iter().enumerate();
    let found = rules.filter_map(|(at, rule)| Some(level.at_rule(at, about(rule, level, levels)?)));
    found.collect()
}

fn about(rule: &Rule, level: &Level<'_>, levels: &Levels<'_>) -> Option<Diagnostic> {
    let is_about_files = rule.command.is_empty() && rule.input.is_empty();
    let blocks_files = rule.action == RuleAction::Block && !rule.path.is_empty() && is_about_files;
    let closed = || {
        let mut tools = CHANGING.iter().filter(|tool| **tool != SHELL);
        tools.find(|tool| rule.names(tool))
    };
    let closed = blocks_files.then(closed).flatten()?;
    let outer = levels.outer(level);
    let is_open = |tool: &&&str| {
        let mut all = outer.iter().copied().chain([level]);
        !level.is_read_only && !all.any(|level| closes_all(level, tool, rule))
    };
    let open: Vec<String> = CHANGING
        .iter()
        .filter(is_open)
        .map(|tool| format!("`{tool}`"))
        .collect();
    if open.is_empty() {
        return None;
    }
    let path = shown(rule.path.first()?);
    let message = format!(
        "`{path}` is closed to `{closed}`, while {} can change it as well",
        open.join(" and ")
    );
    let help = format!(
        "write `block: [{}]` with `writes: true` and this `path`",
        CHANGING.join(", ")
    );
    Some(Diagnostic::new(Code::FreeShell, Severity::Warning, message).with_help(help))
}

/// Returns true if a level has something to say about each change that a tool makes to the paths of a rule.
fn closes_all(level: &Level<'_>, tool: &str, rule: &Rule) -> bool {
    let concerns = |other: &&Rule| {
        let paths = || rule.path.iter().all(|path| other.path.contains(path));
        other.names(tool)
            && other.command.is_empty()
            && other.input.is_empty()
            && other.writes != Some(false)
            && (other.path.is_empty() || paths() || other.path.iter().any(|path| path == "./**"))
    };
    level.lists_out(tool) || level.rules.iter().any(|other| concerns(&other))
}
