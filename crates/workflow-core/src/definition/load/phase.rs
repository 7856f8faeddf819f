//! The reader of phases: from a phase file, or from a map in the definition itself.

use super::file_map::read_map;
use crate::definition::model::{Opening, Phase, Place, RuleSets, read_level, too_many_patterns};
use crate::definition::schema::{Declared, MapReader, Reader, Sites};
use crate::definition::syntax::{Kind, Map, Node, Span, TreeLimits, frontmatter, yaml};
use crate::definition::value::check_template;
use crate::diagnostic::{Code, Finding};
use crate::template::TemplateKind;

/// The keys of a phase file.
const PHASE_CONTENT: &str = "at least `id`";

/// Reads the phase of a file.
pub(super) fn read_phase_source(
    reader: &mut Reader<'_>,
    limits: TreeLimits,
    sets: &RuleSets,
) -> Option<(Phase, Sites)> {
    let text = reader.source.text();
    let parts = match frontmatter::split(text) {
        Ok(parts) => parts,
        Err(finding) => return reader.refuse(finding),
    };
    let map = match yaml::parse(parts.yaml, parts.yaml_start, limits) {
        // As the host: no text between the lines is an empty map.
        Ok(Node {
            kind: Kind::Null, ..
        }) => Map::default(),
        node => read_map(reader, "the frontmatter", PHASE_CONTENT, node)?.0,
    };
    let end = parts.body_start + parts.body.len();
    let body = Some((parts.body, Span::new(parts.body_start, end)));
    read_phase(reader, &map, Some(frontmatter::opening()), body, sets)
}

/// Reads a phase's map, with the locations of what is checked later. `body` are the instructions of a phase file; without one they are a key.
pub(super) fn read_phase(
    reader: &mut Reader<'_>,
    map: &Map<'_>,
    start: Option<Span>,
    body: Option<(&str, Span)>,
    sets: &RuleSets,
) -> Option<(Phase, Sites)> {
    let mut keys = MapReader::new(reader, Phase::SECTION, map, None);
    keys.start = start;
    let mut phase: Phase = keys.read();
    if !keys.has("name") {
        phase.name = Phase::name_of(&phase.id);
    }
    let instructions = read_instructions(&mut keys, body);
    let (tools, results) = (&Phase::level_tools, &Phase::level_results);
    let level = read_level(&mut keys, tools, results, sets, Place::Phase);
    (phase.tools, phase.rules, phase.results) = (level.tools, level.rules, level.results);
    note_openings(&mut keys, &phase.commands);
    if phase.on_limit.is_some() && phase.max_visits.is_none() {
        let message = "`onLimit` has no effect without `maxVisits`";
        let span = keys.span_of(&Phase::on_limit);
        let finding = Finding::error(Code::IdleVisits, span, message);
        keys.report(finding.help("add `maxVisits: 3`, for example, or remove it"));
    }
    phase.bounds = std::mem::take(&mut keys.reader.sites.bounds);
    keys.reader.keep_locations(map, body.map(|(_, span)| span));
    let sites = Sites {
        id: keys.span_of(&Phase::id),
        max_visits: keys.key_of(&Phase::max_visits),
        budget: keys.span_of(&Phase::budget),
        ..std::mem::take(&mut keys.reader.sites)
    };
    phase.instructions = instructions?;
    keys.is_complete.then_some((phase, sites))
}

/// Notes what is open where a phase is read-only.
pub(super) fn note_openings(keys: &mut MapReader<'_, '_, '_>, commands: &[Opening]) {
    for key in ["writable", "commands"] {
        let entry = keys.entry(key).filter(|_| !keys.is_lost(key));
        let openings = &mut keys.reader.sites.openings;
        openings.extend(entry.map(|entry| (key, entry.key_span)));
    }
    if let Some(finding) = too_many_patterns(commands.len(), keys.start) {
        keys.report(finding);
    }
}

fn read_instructions(
    keys: &mut MapReader<'_, '_, '_>,
    body: Option<(&str, Span)>,
) -> Option<String> {
    let Some((text, span)) = body else {
        return keys.get(&Phase::instructions_key);
    };
    if keys.has("instructions") {
        let message = "`instructions` in the frontmatter is not read";
        let span = keys.key_of(&Phase::instructions_key);
        let finding = Finding::warning(Code::UnknownKey, span, message);
        keys.report(finding.help("write the instructions below the frontmatter"));
    }
    if text.is_empty() {
        let message = "there are no instructions after the frontmatter";
        keys.report(Finding::error(Code::NoInstructions, Some(span), message));
        return None;
    }
    check_template(keys.reader, TemplateKind::Context, text, Some(span));
    Some(text.to_owned())
}
