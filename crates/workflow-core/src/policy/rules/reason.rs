//! Messages to the agent about a blocked call: the rule, what is allowed, and how to continue.

use super::decision::{Denial, Subject};
use crate::definition::Rule;
use crate::diagnostic::shown;
use crate::template;
use crate::text::{joined, quoted};

/// Formats the message about a denial, for an agent in this phase or in none.
pub(crate) fn reason(denial: &Denial<'_>, tool: &str, phase: Option<&str>) -> String {
    let cause = cause(denial, tool);
    let mut text = format!("[workflow] The tool \"{tool}\" is blocked by {cause}");
    match (&*denial.allowed, denial.rule) {
        ("", _) => {}
        (sentence, Some(_)) => text = format!("{text}\n{sentence}"),
        (items, None) => text = format!("{text}\nAllowed here: {items}."),
    }
    text += match phase {
        Some(_) => {
            "\nUse another approach, or call workflow_step with action='next' if the phase is done."
        }
        None => "\nUse another approach, or ask the user.",
    };
    text
}

/// Formats the notification of a person about a call that a rule blocks.
pub(crate) fn block_notice(denial: &Denial<'_>, rule: &Rule, tool: &str) -> String {
    let why = sentence(rule, tool, &denial.subject);
    let (tool, location) = (shown(tool), denial.location());
    format!("[workflow] A call of \"{tool}\" was blocked by {location}: {why}.")
}

/// The reason of a rule with its variables filled in, without a full stop; without a reason the rule in words.
fn sentence(rule: &Rule, tool: &str, subject: &Subject) -> String {
    let Some(reason) = &rule.reason else {
        return describe_rule(rule);
    };
    let tool = shown(tool);
    let text = template::resolve(reason, |name| match name {
        "tool" => Some(&*tool),
        "path" => Some(&*subject.path),
        "command" => Some(&*subject.command),
        _ => None,
    });
    text.trim_end_matches('.').to_owned()
}

/// Formats the level, the location and the reason of a denial, for people and for the agent.
pub(crate) fn cause(denial: &Denial<'_>, tool: &str) -> String {
    let location = denial.location();
    let Some(rule) = denial.rule else {
        return location + ".";
    };
    let text = format!("{location}: {}.", sentence(rule, tool, &denial.subject));
    match &*denial.seen {
        "" => text,
        seen => format!("{text} {seen}"),
    }
}

/// Describes a rule as part of a sentence: `` `write` to `.env` ``.
pub fn describe_rule(rule: &Rule) -> String {
    let list = |items: &[String]| quoted(items).join(", ");
    let mut parts = vec![list(&rule.tools)];
    let writes = on_writes(rule, "that writes files", "that writes no files");
    parts.extend(writes.map(str::to_owned));
    if !rule.path.is_empty() {
        parts.push(format!("on {}", list(&rule.path)));
    }
    if !rule.command.is_empty() {
        parts.push(format!("with a command like {}", list(&rule.command)));
    }
    parts.extend(input(rule));
    parts.join(" ")
}

/// What is said of a rule on calls that write, or on calls that do not.
pub(super) fn on_writes<'t>(rule: &Rule, yes: &'t str, no: &'t str) -> Option<&'t str> {
    rule.writes.map(|writes| if writes { yes } else { no })
}

/// Describes the conditions of a rule on fields of the arguments.
pub(super) fn input(rule: &Rule) -> impl Iterator<Item = String> {
    let fields = rule.input.iter();
    fields.map(|(field, pattern)| format!("with a `{field}` that matches `{pattern}`"))
}

/// The names of tools in a sentence; the last two are joined by this word.
pub(super) fn tool_names(names: &[String], last: &str) -> String {
    if names.iter().any(|name| name == "*") {
        return "*".to_owned();
    }
    joined(names, last)
}
