//! Conditions of a rule that no call of its tools meets.
//!
//! A rule that can never act is an error. One that never acts on some of its tools is a warning.

use crate::definition::schema::keys::rule;
use crate::definition::syntax::{Kind, Map, Node, Reader};
use crate::diagnostic::{Code, Finding, Severity, Span};

/// A text of a rule and its location.
type Item<'m> = (&'m str, Option<Span>);

/// Checks a rule before it is read.
pub(super) fn report(reader: &mut Reader<'_>, map: &Map<'_>) {
    let heads = [
        rule::BLOCK.key.name,
        rule::ASK.key.name,
        rule::ALLOW.key.name,
    ];
    let Some(tools) = heads.iter().find_map(|name| Some(items(value(map, name)?))) else {
        return;
    };
    for finding in dead_conditions(map, &tools) {
        reader.report(finding);
    }
}

/// The usual tools without a shell line.
const WITHOUT_LINE: [&str; 6] = ["read", "edit", "write", "grep", "find", "ls"];
/// Those of them that change no file.
const READING: [&str; 4] = ["read", "grep", "find", "ls"];
/// Those of them that always change a file.
const WRITING: [&str; 2] = ["edit", "write"];

/// Finds conditions that some or all of the tools can never meet.
fn dead_conditions(map: &Map<'_>, tools: &[Item<'_>]) -> Vec<Finding> {
    let writes = value(map, rule::WRITES.key.name).map(|node| &node.kind);
    let conditions = [
        (
            rule::COMMAND.key.name,
            value(map, rule::COMMAND.key.name).is_some(),
            &WITHOUT_LINE[..],
            "runs no command",
        ),
        (
            rule::WRITES.key.name,
            writes == Some(&Kind::Bool(true)),
            &READING,
            "changes no file",
        ),
        (
            rule::WRITES.key.name,
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
        let key_span = map.entries.iter().find(|entry| entry.key == key);
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

fn value<'m, 's>(map: &'m Map<'s>, key: &str) -> Option<&'m Node<'s>> {
    let entry = map.entries.iter().find(|entry| entry.key == key)?;
    (entry.value.kind != Kind::Null).then_some(&entry.value)
}

/// Returns the texts of a value that is a text or a list of texts.
fn items<'m>(node: &'m Node<'_>) -> Vec<Item<'m>> {
    let nodes = match &node.kind {
        Kind::List(nodes) => &**nodes,
        _ => std::slice::from_ref(node),
    };
    let texts = nodes.iter().filter_map(|node| match &node.kind {
        Kind::Text(text) => Some((&**text, node.span)),
        _ => None,
    });
    texts.collect()
}
