//! Conditions of a rule that no call of its tools meets.
//!
//! A rule that can never act is an error. One that never acts on some of its tools is a warning.

use crate::definition::schema::MapReader;
use crate::definition::syntax::Kind;
use crate::definition::value::items;
use crate::diagnostic::{Code, Finding, Severity};

/// The usual tools without a shell line.
const WITHOUT_LINE: &[&str] = &["read", "edit", "write", "grep", "find", "ls"];
/// Those of them that change no file.
pub(crate) const READING: &[&str] = &["read", "grep", "find", "ls"];
/// Those of them that always change a file.
pub(crate) const WRITING: &[&str] = &["edit", "write"];

/// Reports conditions of a rule that some or all of its tools can never meet.
pub(super) fn report(keys: &mut MapReader<'_, '_, '_>) {
    let mut heads = ["block", "ask", "allow"].iter();
    let Some(tools) = heads.find_map(|name| keys.entry(name)) else {
        return;
    };
    let tools: Vec<_> = items(&tools.value).collect();
    let writes = match keys.entry("writes").map(|entry| &entry.value.kind) {
        Some(Kind::Bool(true)) => Some(("writes", READING, "changes no file")),
        Some(Kind::Bool(false)) => Some(("writes", WRITING, "always changes a file")),
        _ => None,
    };
    let command = Some(("command", WITHOUT_LINE, "runs no command"));
    for (key, never, why) in command.into_iter().chain(writes) {
        let Some(condition) = keys.entry(key) else {
            continue;
        };
        let dead = tools.iter().filter(|(tool, _)| never.contains(tool));
        let dead: Vec<_> = dead.collect();
        let Some((tool, tool_span)) = dead.first() else {
            continue;
        };
        let all_dead = dead.len() == tools.len();
        let (of_all, of_tool) = (condition.key_span, *tool_span);
        let span = if all_dead { of_all } else { of_tool };
        let severity = Severity::error_if(all_dead);
        let help = match (key, all_dead) {
            ("command", true) => "name the shell, for example `bash`, or remove `command`".into(),
            (_, true) => format!("remove `{key}`, or name another tool"),
            (_, false) => {
                format!("write another rule for `{tool}` without `{key}`, or remove `{tool}`")
            }
        };
        let message = format!("the rule never acts on `{tool}` with `{key}`: `{tool}` {why}");
        keys.report(Finding::new(severity, Code::DeadCondition, span, message).help(help));
    }
}
