//! Reads a workflow's map: everything but what its phase files say.

use super::continue_rule::{read_context, read_continue};
use super::findings::{Finding, Reader, raise};
use super::keys::{self, nearest};
use super::language::Level;
use super::model::{Limits, Show, Templates, Workflow};
use super::node::{Entry, Kind, Map, Node};
use super::source::Span;
use super::tool_rules::{read_results, read_tools};
use super::triggers::read_checkpoint;
use super::values::{
    Text, check_template, choice, optional_text, present, required_text, whole_number, wrong_type,
};
use crate::diagnostic::{Code, Severity, shown};
use crate::template::Place;

/// A workflow whose phases are still to be read.
pub(super) struct ReadWorkflow<'s> {
    /// What is said about it, as far as that is sound; `phases` is empty.
    pub(super) workflow: Workflow,
    /// Where its command name stands.
    pub(super) command_name_span: Option<Span>,
    /// What stands under `phases`.
    pub(super) entries: Vec<ReadEntry<'s>>,
}

/// An entry of `phases`.
pub(super) enum ReadEntry<'s> {
    /// A phase file.
    File(Text<'s>),
    /// A phase written out here.
    Inline(Map<'s>, Option<Span>),
    /// A reference to another workflow.
    Subworkflow(Text<'s>),
}

/// Reads the map of a definition. What is not sound is reported, and left at its default.
pub(super) fn read_workflow<'s>(
    reader: &mut Reader<'_>,
    key: &str,
    mut map: Map<'s>,
    span: Option<Span>,
    limits: &Limits,
) -> ReadWorkflow<'s> {
    keys::check(reader, Level::Workflow, &map);
    optional_text(reader, &mut map, "$schema");
    let start = map.first_key().or(span);
    let name = required_text(reader, &mut map, Level::Workflow, "name", start);
    let show = read_show(reader, &mut map);
    // With a `show` that means nothing, what it would require is not known.
    let (command_name, initial_message) = if show == Some(Show::User) {
        (
            required_text(reader, &mut map, Level::Workflow, "commandName", start),
            required_text(reader, &mut map, Level::Workflow, "initialMessage", start),
        )
    } else {
        (
            optional_text(reader, &mut map, "commandName"),
            optional_text(reader, &mut map, "initialMessage"),
        )
    };
    let show = show.unwrap_or_default();
    check_command_name(reader, show, command_name.as_ref());
    if let Some(text) = &initial_message {
        check_template(reader, Place::InitialMessage, &text.value, text.span);
    }
    let tools = read_tools(reader, &mut map);
    let command_name_span = command_name.as_ref().and_then(|text| text.span);
    let workflow = Workflow {
        key: key.to_owned(),
        name: owned(name).unwrap_or_default(),
        command_name: owned(command_name).unwrap_or_default(),
        initial_message: owned(initial_message).unwrap_or_default(),
        show,
        loopable: read_loopable(reader, &mut map),
        session_name_prefix: owned(optional_text(reader, &mut map, "sessionNamePrefix")),
        session_name_max_length: read_max_length(reader, &mut map),
        templates: read_templates(reader, &mut map),
        auto_continue: read_continue(reader, &mut map),
        context: read_context(reader, &mut map),
        phases: Vec::new(),
        tools: tools.access,
        rules: tools.rules,
        results: read_results(reader, &mut map),
        checkpoint: read_checkpoint(reader, &mut map),
    };
    ReadWorkflow {
        workflow,
        command_name_span,
        entries: read_entries(reader, &mut map, start, limits),
    }
}

fn owned(text: Option<Text<'_>>) -> Option<String> {
    text.map(|text| text.value.into_owned())
}

/// `None` is a value that means nothing, and was reported (B34).
fn read_show(reader: &mut Reader<'_>, map: &mut Map<'_>) -> Option<Show> {
    let words = [("user", Show::User), ("workflows", Show::Workflows)];
    match present(reader, map, "show") {
        None => Some(Show::User),
        Some(entry) => choice(reader, Severity::Error, &entry, &words),
    }
}

/// Only a visible workflow is started by its command name.
fn check_command_name(reader: &mut Reader<'_>, show: Show, name: Option<&Text<'_>>) {
    let Some(name) = name.filter(|_| show == Show::User) else {
        return;
    };
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if !name.value.bytes().all(allowed) {
        let message = format!("`commandName` cannot be `{}`", shown(&name.value));
        let finding = Finding::error(Code::InvalidValue, name.span, message);
        reader.report(finding.help("only the letters a to z and A to Z, digits, `_` and `-`"));
    }
}

/// B34: anything but a boolean is an error.
fn read_loopable(reader: &mut Reader<'_>, map: &mut Map<'_>) -> bool {
    let Some(entry) = present(reader, map, "loopable") else {
        return true;
    };
    if let Kind::Bool(loopable) = entry.value.kind {
        return loopable;
    }
    let Node { kind, span } = &entry.value;
    reader.report(wrong_type(
        Severity::Error,
        "loopable",
        "true or false",
        kind,
        *span,
    ));
    true
}

/// B17: a whole number from 0 on, or the default.
fn read_max_length(reader: &mut Reader<'_>, map: &mut Map<'_>) -> Option<u32> {
    let entry = present(reader, map, "sessionNameMaxLength")?;
    let length = whole_number(&entry.value);
    if length.is_none() {
        let message =
            "`sessionNameMaxLength` must be a whole number from 0 on: the default is used";
        let finding = Finding::warning(Code::InvalidValue, entry.value.span, message);
        reader.report(finding.example(&entry.key));
    }
    length
}

fn read_templates(reader: &mut Reader<'_>, map: &mut Map<'_>) -> Templates {
    let mut template = |key: &str, place: Place| {
        let text = optional_text(reader, map, key)?;
        check_template(reader, place, &text.value, text.span);
        Some(text.value.into_owned())
    };
    Templates {
        role_instruction: template("roleInstruction", Place::Context),
        advance_reminder: template("advanceReminder", Place::Context),
        block_reason_template: template("blockReasonTemplate", Place::BlockReason),
        completion_message: template("completionMessage", Place::Completion),
        cancelled_message: template("cancelledMessage", Place::Completion),
        not_done_reminder: template("notDoneReminder", Place::NotDone),
    }
}

fn read_entries<'s>(
    reader: &mut Reader<'_>,
    map: &mut Map<'s>,
    start: Option<Span>,
    limits: &Limits,
) -> Vec<ReadEntry<'s>> {
    let Some(entry) = map.take("phases") else {
        let finding = Finding::error(Code::MissingKey, start, "`phases` is missing");
        reader.report(finding.example("phases"));
        return Vec::new();
    };
    let span = entry.value.span;
    let Kind::List(items) = entry.value.kind else {
        let finding = wrong_type(Severity::Error, "phases", "a list", &entry.value.kind, span);
        reader.report(finding);
        return Vec::new();
    };
    if items.is_empty() {
        let finding = Finding::error(Code::MissingKey, span, "`phases` is empty");
        reader.report(finding.example("phases"));
    }
    let most = limits.max_phases as usize;
    if let Some(first) = items.get(most) {
        let message = format!("more than {most} phases");
        let finding = Finding::error(Code::OverLimit, first.span, message);
        reader.report(finding.help(raise("maxPhases")));
        return Vec::new();
    }
    items
        .into_iter()
        .filter_map(|item| read_entry(reader, item))
        .collect()
}

fn read_entry<'s>(reader: &mut Reader<'_>, item: Node<'s>) -> Option<ReadEntry<'s>> {
    let span = item.span;
    match item.kind {
        Kind::Text(value) => Some(ReadEntry::File(Text { value, span })),
        Kind::Map(mut map) => match map.take("subworkflow") {
            None if is_nearly_reference(&map) => {
                let entry = &map.entries[0];
                let message = format!("unknown key `{}` in a reference", shown(&entry.key));
                let finding = Finding::error(Code::UnknownKey, entry.key_span, message);
                reader.report(finding.help("did you mean `subworkflow`?"));
                None
            }
            None => Some(ReadEntry::Inline(map, span)),
            Some(reference) => {
                keys::check(reader, Level::Reference, &map);
                read_reference(reader, reference)
            }
        },
        kind => {
            let message = format!(
                "an entry of `phases` must be a file name, `{{subworkflow: key}}` or a phase, not {}",
                kind.words()
            );
            let finding = Finding::error(Code::WrongType, span, message);
            reader.report(finding.example("phases"));
            None
        }
    }
}

/// Whether a map is a reference with its key misspelt.
fn is_nearly_reference(map: &Map<'_>) -> bool {
    let [entry] = &*map.entries else {
        return false;
    };
    nearest(&entry.key, ["subworkflow"]).is_some()
}

fn read_reference<'s>(reader: &mut Reader<'_>, reference: Entry<'s>) -> Option<ReadEntry<'s>> {
    let mut map = Map {
        entries: vec![reference],
    };
    let start = map.first_key();
    required_text(reader, &mut map, Level::Reference, "subworkflow", start)
        .map(ReadEntry::Subworkflow)
}
