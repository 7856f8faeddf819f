//! Conditions of a rule that no call of its tools meets.
//!
//! A rule that can never act is an error. One that never acts on some of its tools is a warning.

use crate::definition::schema::MapReader;
use crate::definition::syntax::Kind;
use crate::definition::value::items;
use crate::diagnostic::{Code, Finding, Severity, Span};

/// A text of a rule and its location.
type Item<'m> = (&'m str, Option<Span>);

/// Checks the conditions of a rule.
pub(super) fn report(keys: &mut MapReader<'_, '_, '_>) {
    let mut heads = ["block", "ask", "allow"].iter();
    let Some(tools) = heads.find_map(|name| keys.entry(name)) else {
        return;
    };
    let tools: Vec<_> = items(&tools.value).collect();
    for finding in dead_conditions(keys, &tools) {
        keys.report(finding);
    }
}

/// The usual tools without a shell line.
const WITHOUT_LINE: [&str; 6] = ["read", "edit", "write", "grep", "find", "ls"];
/// Those of them that change no file.
const READING: [&str; 4] = ["read", "grep", "find", "ls"];
/// Those of them that always change a file.
const WRITING: [&str; 2] = ["edit", "write"];

/// Finds conditions that some or all of the tools can never meet.
fn dead_conditions(keys: &MapReader<'_, '_, '_>, tools: &[Item<'_>]) -> Vec<Finding> {
    let writes = keys.entry("writes").map(|entry| &entry.value.kind);
    let conditions = [
        (
            "command",
            keys.entry("command").is_some(),
            &WITHOUT_LINE[..],
            "runs no command",
        ),
        (
            "writes",
            writes == Some(&Kind::Bool(true)),
            &READING,
            "changes no file",
        ),
        (
            "writes",
            writes == Some(&Kind::Bool(false)),
            &WRITING,
            "always changes a file",
        ),
    ];
    let mut found = Vec::new();
    for (key, is_set, never, why) in conditions {
        let dead: Vec<&Item<'_>> = tools
            .iter()
            .filter(|(tool, _)| is_set && never.contains(tool))
            .collect();
        let Some((tool, tool_span)) = dead.first() else {
            continue;
        };
        let all_dead = dead.len() == tools.len();
        let key_span = keys.entry(key);
        let (severity, span) = if all_dead {
            (Severity::Error, key_span.and_then(|entry| entry.key_span))
        } else {
            (Severity::Warning, *tool_span)
        };
        let message = format!("the rule never acts on `{tool}` with `{key}`: `{tool}` {why}");
        let finding = Finding::new(severity, Code::DeadCondition, span, message);
        found.push(match (key, all_dead) {
            ("command", true) => {
                finding.help("name the shell, for example `bash`, or remove `command`")
            }
            (_, true) => finding.help(format!("remove `{key}`, or name another tool")),
            (_, false) => finding.help(format!(
                "write another rule for `{tool}` without `{key}`, or remove `{tool}`"
            )),
        });
    }
    found
}
