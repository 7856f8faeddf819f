//! Names of tools in rules.

use super::item::Item;
use crate::diagnostic::{Code, Finding, Severity, shown};

/// Signs that the name of no tool has.
const SIGNS: &str = "?[]{}(),;|&^$!\\\"'`<>=+%";

/// Returns the finding about a name that no tool has.
pub(super) fn finding((name, span): Item<'_>, severity: Severity) -> Option<Finding> {
    let trimmed = name.trim();
    // Names with white space around them are reported where they are read.
    if trimmed.is_empty() || trimmed.len() != name.len() {
        return None;
    }
    let report = |why: &str| {
        let message = format!("no tool is named `{}`: {why}", shown(name));
        Finding::new(severity, Code::NoToolName, span, message)
    };
    if let Some((tool, rest)) = name.split_once('(')
        && let Some(inside) = rest.strip_suffix(')')
        && !tool.is_empty()
    {
        let tool = tool.to_lowercase();
        let (key, pattern) = match tool.as_str() {
            "bash" => ("command", inside.replace(':', " ")),
            _ => ("path", inside.to_owned()),
        };
        return Some(report("a name cannot contain conditions").help(format!(
            "name `{}` and give the rule `{key}: \"{}\"`",
            shown(&tool),
            shown(&pattern)
        )));
    }
    let is_path = [".", "~", "/", "*."]
        .iter()
        .any(|start| name.starts_with(start))
        || name.contains("**")
        || name.ends_with('/');
    if is_path && name != "*" {
        return Some(report("it looks like a path").help(format!(
            "name the tools, and write `path: \"{}\"` under them: `block: [read, write, edit, bash]`",
            shown(name)
        )));
    }
    let sign = name
        .chars()
        .find(|c| SIGNS.contains(*c) || c.is_whitespace())?;
    let why = format!("names do not contain `{}`", shown(&sign.to_string()));
    let finding = report(&why);
    Some(if sign == ',' || sign.is_whitespace() {
        let names: Vec<&str> = name
            .split([',', ' '])
            .filter(|part| !part.is_empty())
            .collect();
        finding.help(format!("write a list: `[{}]`", shown(&names.join(", "))))
    } else {
        finding.help("write the name as the host does, with `*` for any characters")
    })
}
