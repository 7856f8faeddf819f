//! Reads a phase: from a phase file, or from a map in the definition itself.

use super::continue_rule::read_continue;
use super::findings::{Finding, Reader};
use super::keys;
use super::language::Level;
use super::model::{Phase, ToolAccess};
use super::node::{Entry, Kind, Map, Node};
use super::source::Span;
use super::values::{Text, check_template, present, required_text, texts, wrong_type};
use crate::diagnostic::{Code, Severity, shown};
use crate::template::Place;
use crate::white_space::trim;

/// A phase, and where its id stands.
pub(super) struct ReadPhase {
    pub(super) phase: Phase,
    pub(super) id_span: Option<Span>,
}

/// Reads a phase's map. `body` are the instructions of a phase file; without one they are a key.
pub(super) fn read_phase<'s>(
    reader: &mut Reader<'_>,
    mut map: Map<'s>,
    start: Option<Span>,
    body: Option<Text<'s>>,
) -> Option<ReadPhase> {
    keys::check(reader, Level::Phase, &map);
    let id = required_text(reader, &mut map, Level::Phase, "id", start);
    let name = required_text(reader, &mut map, Level::Phase, "name", start);
    let emoji = required_text(reader, &mut map, Level::Phase, "emoji", start);
    let instructions = instructions(reader, &mut map, start, body);
    let tools = read_tools(reader, &mut map);
    let available_profiles = present(reader, &mut map, "availableProfiles")
        .and_then(|entry| texts(reader, Severity::Warning, "availableProfiles", entry.value));
    let auto_continue = read_continue(reader, &mut map);

    let id = id?;
    Some(ReadPhase {
        id_span: id.span,
        phase: Phase {
            id: id.value.into_owned(),
            name: name?.value.into_owned(),
            emoji: emoji?.value.into_owned(),
            instructions: instructions?.value.into_owned(),
            tools,
            available_profiles,
            auto_continue,
        },
    })
}

fn instructions<'s>(
    reader: &mut Reader<'_>,
    map: &mut Map<'s>,
    start: Option<Span>,
    body: Option<Text<'s>>,
) -> Option<Text<'s>> {
    let text = match body {
        None => required_text(reader, map, Level::Phase, "instructions", start)?,
        Some(body) => {
            if let Some(entry) = map.take("instructions") {
                let message = "`instructions` in the frontmatter is not read";
                let finding = Finding::warning(Code::UnknownKey, entry.key_span, message);
                reader.report(finding.help("the instructions are what follows the frontmatter"));
            }
            body
        }
    };
    if text.value.is_empty() {
        let message = "there are no instructions after the frontmatter";
        reader.report(Finding::error(Code::NoInstructions, text.span, message));
        return None;
    }
    check_template(reader, Place::Context, &text.value, text.span);
    Some(text)
}

/// What a phase says under `tools`. It is a guard: whatever is wrong is an error (B33, B56).
fn read_tools(reader: &mut Reader<'_>, map: &mut Map<'_>) -> Option<ToolAccess> {
    let entry = present(reader, map, "tools")?;
    let span = entry.value.span;
    let Kind::Map(mut tools) = entry.value.kind else {
        let expected = "a map with `blacklist` or `whitelist`";
        reader.report(wrong_type(
            Severity::Error,
            "tools",
            expected,
            &entry.value.kind,
            span,
        ));
        return None;
    };
    keys::check(reader, Level::Tools, &tools);
    let none = tools.entries.is_empty();
    match (tools.take("blacklist"), tools.take("whitelist")) {
        (Some(_), Some(whitelist)) => {
            let message = "cannot set both `blacklist` and `whitelist`";
            reader.report(Finding::error(Code::BothLists, whitelist.key_span, message));
            None
        }
        (Some(list), None) => read_tool_names(reader, list).map(ToolAccess::Blacklist),
        (None, Some(list)) => read_tool_names(reader, list).map(ToolAccess::Whitelist),
        (None, None) => {
            if none {
                let message = "`tools` has no list: all tools are allowed";
                reader.report(Finding::warning(Code::NoValue, entry.key_span, message));
            }
            None
        }
    }
}

fn read_tool_names(reader: &mut Reader<'_>, list: Entry<'_>) -> Option<Vec<String>> {
    check_tool_names(reader, &list.key, &list.value);
    texts(reader, Severity::Error, &list.key, list.value)
}

/// Names that no tool has would make a blacklist let through what it means to block.
fn check_tool_names(reader: &mut Reader<'_>, key: &str, list: &Node<'_>) {
    let Kind::List(items) = &list.kind else {
        return;
    };
    for item in items {
        let Kind::Text(name) = &item.kind else {
            continue;
        };
        if name.is_empty() || trim(name).len() != name.len() {
            let message = format!("no tool is named `{}`", shown(name));
            let finding = Finding::error(Code::InvalidValue, item.span, message);
            reader.report(match trim(name) {
                "" => finding.help("remove it"),
                trimmed => finding.help(format!("write `{}`", shown(trimmed))),
            });
        } else if name == "workflow_step" && key == "blacklist" {
            let message = "`workflow_step` is always allowed";
            reader.report(Finding::warning(Code::IdleRule, item.span, message));
        } else if let Some(finding) = meant_otherwise(name, item.span) {
            reader.report(finding);
        }
    }
}

/// The tools that pi brings.
const USUAL_TOOLS: [&str; 7] = ["read", "bash", "edit", "write", "grep", "find", "ls"];

/// A name that hardly any tool has: names are compared as they are, without patterns.
fn meant_otherwise(name: &str, span: Option<Span>) -> Option<Finding> {
    if let Some(c) = name
        .chars()
        .find(|c| "*?()[]{},;|".contains(*c) || c.is_whitespace())
    {
        let message = format!(
            "`{}` names no tool: a list has names, not patterns (`{}`)",
            shown(name),
            shown(&c.to_string())
        );
        let finding = Finding::warning(Code::IdleRule, span, message);
        return Some(finding.help("write each tool's name as the host does"));
    }
    if USUAL_TOOLS.contains(&name) {
        return None;
    }
    let near = USUAL_TOOLS.iter().find(|usual| {
        let lower = name.to_lowercase();
        lower == **usual || lower.len() > 3 && strsim::osa_distance(&lower, usual) == 1
    })?;
    let message = format!(
        "`{}` is not the tool `{near}`: names differ by case, too",
        shown(name)
    );
    let finding = Finding::warning(Code::IdleRule, span, message);
    Some(finding.help(format!("did you mean `{near}`?")))
}
