//! Reads a phase: from a phase file, or from a map in the definition itself.

use super::continue_rule::read_continue;
use super::findings::{Finding, Reader};
use super::gate::{read_approval, read_gate};
use super::keys;
use super::language::Level;
use super::model::Phase;
use super::node::Map;
use super::source::Span;
use super::tool_rules::{read_results, read_tools};
use super::triggers::read_checkpoint;
use super::values::{Text, check_template, present, required_text, texts};
use crate::diagnostic::{Code, Severity};
use crate::template::Place;

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
    let results = read_results(reader, &mut map);
    let gate = read_gate(reader, &mut map);
    let approve = read_approval(reader, &mut map);
    let checkpoint = read_checkpoint(reader, &mut map);
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
            tools: tools.access,
            available_profiles,
            auto_continue,
            rules: tools.rules,
            results,
            gate,
            approve,
            checkpoint,
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
