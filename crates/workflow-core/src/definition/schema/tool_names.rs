//! Names of tools, and patterns of them.

use super::key::Key;
use super::patterns::some_or_all;
use super::values::{Partial, texts};
use crate::definition::syntax::{Kind, Node, Reader, Span};
use crate::diagnostic::{Code, Finding, shown};
use crate::pattern::names_match;
use crate::white_space::trim;

/// A list of names of tools.
pub(super) fn read_tool_names(
    reader: &mut Reader<'_>,
    key: &Key,
    node: &Node<'_>,
) -> Option<Vec<String>> {
    check_tool_names(reader, key, node);
    texts(reader, key, node)
}

/// A pattern of names of tools, or a list of them. Some of them may be wrong.
pub(super) fn read_tool_patterns(
    reader: &mut Reader<'_>,
    key: &Key,
    node: &Node<'_>,
) -> Option<Partial<String>> {
    check_case(reader, node);
    some_or_all(reader, key, node, no_tool)
}

/// Checks names: one that no tool has would let through the tool that a blacklist is to block.
fn check_tool_names(reader: &mut Reader<'_>, key: &Key, list: &Node<'_>) {
    let Kind::List(items) = &list.kind else {
        return;
    };
    for item in items {
        let Kind::Text(name) = &item.kind else {
            continue;
        };
        if let Some(finding) = no_tool(name, item.span) {
            reader.report(finding);
        } else if name == "workflow_step" && key.name == "blacklist" {
            let message = "`workflow_step` is always allowed";
            reader.report(Finding::warning(Code::IdleRule, item.span, message));
        } else if let Some(finding) = no_such_tool(name, item.span) {
            reader.report(finding);
        }
    }
}

/// The tools that pi brings.
const USUAL_TOOLS: [&str; 7] = ["read", "bash", "edit", "write", "grep", "find", "ls"];

/// A name that hardly any tool has: names are compared as they are, without patterns.
fn no_such_tool(name: &str, span: Option<Span>) -> Option<Finding> {
    if let Some(c) = name
        .chars()
        .find(|c| "*?()[]{},;|&^$!\\\"'`<>=+%".contains(*c) || c.is_whitespace())
        .or_else(|| name.chars().next().filter(|c| "./~".contains(*c)))
    {
        let message = format!(
            "`{}` is not the name of a tool: a list contains names, not patterns (`{}`)",
            shown(name),
            shown(&c.to_string())
        );
        let finding = Finding::warning(Code::IdleRule, span, message);
        return Some(finding.help("write each name as the host does"));
    }
    misspelt(name, span)
}

/// A name that differs little from one of the usual tools.
fn misspelt(name: &str, span: Option<Span>) -> Option<Finding> {
    if USUAL_TOOLS.contains(&name) {
        return None;
    }
    let near = USUAL_TOOLS.iter().find(|usual| {
        let lower = name.to_lowercase();
        lower == **usual || lower.len() > 3 && strsim::osa_distance(&lower, usual) == 1
    })?;
    let message = format!(
        "`{}` is not the tool `{near}`: names are case-sensitive",
        shown(name)
    );
    let finding = Finding::warning(Code::IdleRule, span, message);
    let help = format!("did you mean `{near}`?");
    Some(finding.help(help).fix(name, near))
}

/// Reports tools that a rule names in another case: a pattern that matches one of the usual tools only in small letters.
fn check_case(reader: &mut Reader<'_>, node: &Node<'_>) {
    let items = match &node.kind {
        Kind::List(items) => &**items,
        _ => std::slice::from_ref(node),
    };
    for item in items {
        let Kind::Text(name) = &item.kind else {
            continue;
        };
        let finding = if name.contains('*') {
            other_case(name, item.span)
        } else {
            misspelt(name, item.span)
        };
        if let Some(finding) = finding {
            reader.report(finding);
        }
    }
}

fn other_case(pattern: &str, span: Option<Span>) -> Option<Finding> {
    let lower = [pattern.to_lowercase()];
    let is_about = |patterns: &[String], tool: &&str| names_match(patterns, tool);
    let as_written = [pattern.to_owned()];
    let mut usual = USUAL_TOOLS.iter();
    if usual.clone().any(|tool| is_about(&as_written, tool)) {
        return None;
    }
    let near = usual.find(|tool| is_about(&lower, tool))?;
    let message = format!(
        "`{}` does not match the tool `{near}`: names are case-sensitive",
        shown(pattern)
    );
    let finding = Finding::warning(Code::IdleRule, span, message);
    let help = format!("did you mean `{}`?", shown(&lower[0]));
    Some(finding.help(help).fix(pattern, &lower[0]))
}

fn no_tool(name: &str, span: Option<Span>) -> Option<Finding> {
    if !name.is_empty() && trim(name).len() == name.len() {
        return None;
    }
    let message = format!("no tool is named `{}`", shown(name));
    let finding = Finding::error(Code::InvalidValue, span, message);
    Some(match trim(name) {
        "" => finding.help("remove it"),
        trimmed => finding
            .help(format!("write `{}`", shown(trimmed)))
            .fix(name, trimmed),
    })
}
