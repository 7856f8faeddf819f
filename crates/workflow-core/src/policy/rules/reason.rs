//! Messages to the agent about a blocked call: the rule, what is allowed, and how to continue.

use std::fmt::Write;

use super::decision::Denial;
use crate::definition::Rule;

/// Formats the message about a denial, for an agent in this phase or in none.
pub(crate) fn reason(denial: &Denial<'_>, tool: &str, phase: Option<&str>) -> String {
    let Denial {
        level,
        rule,
        allowed,
        seen,
        ..
    } = denial;
    let mut text = format!("[workflow] The tool \"{tool}\" is blocked by {level}");
    match rule {
        None => text += ".",
        Some(rule) => {
            if !rule.source.is_empty() {
                let _ = write!(text, " ({})", rule.source);
            }
            let why = rule.reason.clone().unwrap_or_else(|| describe_rule(rule));
            let _ = write!(text, ": {}.", why.trim_end_matches('.'));
            if !seen.is_empty() {
                let _ = write!(text, " {seen}");
            }
        }
    }
    if !allowed.is_empty() {
        let _ = write!(text, "\nAllowed here: {allowed}.");
    }
    text += match phase {
        Some(_) => {
            "\nGo on in another way, or call workflow_step with action='next' if the phase is done."
        }
        None => "\nGo on in another way, or ask the user.",
    };
    text
}

/// Describes a rule as part of a sentence: `` `write` to `.env` ``.
pub(crate) fn describe_rule(rule: &Rule) -> String {
    let list = |items: &[String]| {
        let quoted: Vec<String> = items.iter().map(|item| format!("`{item}`")).collect();
        quoted.join(", ")
    };
    let mut text = list(&rule.tools);
    match rule.writes {
        Some(true) => text += " that writes files",
        Some(false) => text += " that writes no files",
        None => {}
    }
    if !rule.path.is_empty() {
        let _ = write!(text, " on {}", list(&rule.path));
    }
    if !rule.command.is_empty() {
        let _ = write!(text, " with a command like {}", list(&rule.command));
    }
    for (field, pattern) in &rule.input {
        let _ = write!(text, " whose `{field}` matches `{pattern}`");
    }
    text
}
