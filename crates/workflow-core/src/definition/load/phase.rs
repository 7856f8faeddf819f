//! The reader of phases: from a phase file, or from a map in the definition itself.

use super::auto_continue::read_continue;
use super::flow::{PhaseSites, read_flow, read_outputs};
use super::gate::{read_approval, read_gate};
use super::rule_sets::RuleSets;
use super::tools::{read_openings, read_results, read_tools};
use crate::definition::model::Phase;
use crate::definition::schema::keys::phase;
use crate::definition::schema::{MapReader, Section, Text, check_template};
use crate::definition::syntax::{Map, Reader, Span};
use crate::diagnostic::{Code, Finding};
use crate::template::TemplateKind;

/// A phase, and the locations of what is checked later.
pub(super) struct ReadPhase {
    pub(super) phase: Phase,
    pub(super) sites: PhaseSites,
    /// The keys of what is open where the phase is read-only.
    pub(super) openings: Vec<(&'static str, Option<Span>)>,
}

/// Reads a phase's map. `body` are the instructions of a phase file; without one they are a key.
pub(super) fn read_phase(
    reader: &mut Reader<'_>,
    map: Map<'_>,
    start: Option<Span>,
    body: Option<Text>,
    sets: &RuleSets,
) -> Option<ReadPhase> {
    let mut keys = MapReader::new(reader, Section::Phase, map, None);
    keys.start = start;
    let id = keys.get(&phase::ID);
    let name = keys.get(&phase::NAME);
    let emoji = keys.get(&phase::EMOJI);
    let instructions = read_instructions(&mut keys, body);
    let mut sites = PhaseSites::default();
    if let Some(text) = &instructions {
        sites.refer(keys.reader, TemplateKind::Context, text);
    }
    let tools = read_tools(&mut keys, &phase::TOOLS, sets);
    let openings = read_openings(&mut keys, &phase::WRITABLE, &phase::RUN, &phase::UNKNOWN);
    let results = read_results(&mut keys, &phase::RESULTS);
    let gate = read_gate(&mut keys, &phase::GATE, &mut sites.targets);
    let approve = read_approval(&mut keys, &phase::APPROVE, &mut sites);
    let checkpoint = keys.get(&phase::CHECKPOINT);
    let available_profiles = keys.get(&phase::AVAILABLE_PROFILES);
    let auto_continue = read_continue(&mut keys, &phase::CONTINUE);
    let outputs = read_outputs(&mut keys);
    let flow = read_flow(&mut keys, &mut sites);

    let id = id?;
    sites.id = id.span;
    Some(ReadPhase {
        sites,
        openings: openings.given,
        phase: Phase {
            id: id.value,
            name: name?.value,
            emoji: emoji?.value,
            instructions: instructions?.value,
            tools: tools.access,
            writable: openings.writable,
            run: openings.run,
            unknown: openings.unknown,
            available_profiles,
            auto_continue,
            rules: tools.rules,
            results,
            gate,
            approve,
            checkpoint,
            outputs,
            outcomes: flow.outcomes,
            when: flow.when,
            max_visits: flow.max_visits,
            on_max_visits: flow.on_max_visits,
            budget: flow.budget,
            hints: flow.hints,
        },
    })
}

fn read_instructions(keys: &mut MapReader<'_, '_, '_>, body: Option<Text>) -> Option<Text> {
    let Some(text) = body else {
        return keys.get(&phase::INSTRUCTIONS);
    };
    if let Some(entry) = keys.take(&phase::INSTRUCTIONS.key) {
        let message = "`instructions` in the frontmatter is not read";
        let finding = Finding::warning(Code::UnknownKey, entry.key_span, message);
        keys.report(finding.help("write the instructions below the frontmatter"));
    }
    if text.value.is_empty() {
        let message = "there are no instructions after the frontmatter";
        keys.report(Finding::error(Code::NoInstructions, text.span, message));
        return None;
    }
    check_template(keys.reader, TemplateKind::Context, &text.value, text.span);
    Some(text)
}
