//! The reader of a definition: the workflow's map, then its phases.

use std::collections::HashSet;

use super::directory::{Directory, Draft, ReferenceSites};
use super::flow::{Flow, check_flow, report_in};
use super::idle::{check_openings, check_rule_sets};
use super::origins::{EntryOrigin, WorkflowOrigin};
use super::phase::{note_openings, read_phase};
use crate::definition::model::{
    Gate, Limits, PhaseEntry, Place, RuleSets, Show, Subworkflow, Workflow, read_level,
};
use crate::definition::schema::{Declared, FromMap, MapReader, Reader, Sites, Written, nearest};
use crate::definition::syntax::{Kind, Map, Node, Span, raise};
use crate::definition::value::is_name;
use crate::diagnostic::{Code, Finding, shown};

impl Directory<'_> {
    /// Reads a workflow with its valid phases, and the number of its entries. What is not sound is reported, and left at its
    /// default.
    pub(super) fn read_workflow(
        &self,
        reader: &mut Reader<'_>,
        map: &Map<'_>,
        span: Option<Span>,
    ) -> (Draft, usize) {
        let mut keys = MapReader::new(reader, Workflow::SECTION, map, span);
        // Under a `show` that is wrong it is not known if they are required.
        keys.is_started = keys.entry("show").is_none_or(
            |entry| matches!(&entry.value.kind, Kind::Text(show) if show == Show::User.word()),
        );
        let mut workflow = Workflow {
            key: self.key.to_owned(),
            loopable: true,
            ..Workflow::default()
        };
        workflow.read_keys(&mut keys);
        let command_name = keys.span_of(&Workflow::command_name);
        if workflow.show == Show::User {
            check_command_name(keys.reader, &workflow.command_name, command_name);
        }
        keys.get(&Workflow::schema);
        let mut sets = self.sets.clone();
        let mut own_sets = keys.get(&Workflow::rulesets).unwrap_or_default();
        sets.add(&mut own_sets, keys.reader);
        let (tools, results) = (&Workflow::level_tools, &Workflow::level_results);
        let level = read_level(&mut keys, tools, results, &sets, Place::Workflow);
        (workflow.tools, workflow.rules) = (level.tools, level.rules);
        workflow.results = level.results;
        note_openings(&mut keys, &workflow.commands);
        let gate: Vec<Gate> = keys.get(&Workflow::gate).map(Vec::from).unwrap_or_default();
        let approve = keys.get(&Workflow::approve);
        keys.reader.keep_locations(map, None);
        let own = std::mem::take(&mut keys.reader.sites);
        workflow.bounds.clone_from(&own.bounds);
        let entries = self.entries(&mut keys);
        let (reader, mut sites, mut ids) = (keys.reader, Vec::new(), HashSet::new());
        for (written, item) in &entries {
            let Some((mut entry, mut of_entry)) = self.read_entry(reader, *written, item, &sets)
            else {
                continue;
            };
            if !is_new(&entry, &mut ids) {
                let message = format!("duplicate phase id `{}`", shown(entry.id()));
                let finding = Finding::error(Code::DuplicatePhaseId, of_entry.id, message);
                report_in(reader, &of_entry, finding);
                continue;
            }
            if let PhaseEntry::Phase(phase) = &mut entry {
                for finding in phase.budget.check_within(&workflow.budget, of_entry.budget) {
                    report_in(reader, &of_entry, finding);
                }
                phase.gate.splice(0..0, gate.iter().cloned());
                phase.approve = phase.approve.take().or_else(|| approve.clone());
            }
            of_entry.entry = item.span;
            workflow.phases.push(entry);
            sites.push(of_entry);
        }
        let flow = Flow {
            workflow: &workflow,
            own: &own,
            phases: &sites,
            jumps: self.limits.jumps,
            find: &|_| None,
        };
        let mut pending = Vec::new();
        check_openings(reader, &flow, self.is_read_only);
        // Of an entry that could not be read it is not known what it uses and where it leads.
        if workflow.phases.len() == entries.len() {
            check_rule_sets(reader, &flow, &own_sets);
            pending = check_flow(reader, &flow);
        }
        note_bounds(&mut workflow);
        let location = |span| reader.source.location(span);
        let references = entries.iter().zip(&sites);
        let references =
            references.filter_map(|((_, item), sites)| reference_sites(reader, item, sites));
        let ends = sites.iter().chain([&own]).flat_map(|sites| &sites.ends);
        let ends = ends.cloned().collect();
        let draft = Draft {
            file: location(None),
            command_name: location(command_name),
            references: references.collect(),
            pending,
            ends,
            origin: self.keeps_locations.then(|| WorkflowOrigin {
                tier: self.root.tier(),
                keys: own.keys,
                entries: (sites.into_iter())
                    .map(|sites| EntryOrigin {
                        entry: sites.entry.map(|span| location(Some(span))),
                        keys: sites.keys,
                    })
                    .collect(),
            }),
            workflow,
        };
        (draft, entries.len())
    }

    /// The entries of `phases`, each with the key.
    fn entries<'m>(&self, keys: &mut MapReader<'_, '_, 'm>) -> Vec<(Written<'m>, &'m Node<'m>)> {
        if !keys.has("phases") {
            let finding = Finding::error(Code::MissingKey, keys.start, "`phases` is missing");
            keys.report(finding.help(Workflow::entries.key.for_example()));
            return Vec::new();
        }
        let Some(written) = keys.written(&Workflow::entries) else {
            return Vec::new();
        };
        let Kind::List(items) = written.kind() else {
            keys.report(written.wrong_type("a list"));
            return Vec::new();
        };
        if items.is_empty() {
            keys.report(written.empty("`phases` is empty"));
        }
        let most = self.limits.max_phases as usize;
        if let Some(first) = items.get(most) {
            let message = format!("more than {most} phases");
            let finding = Finding::error(Code::OverLimit, first.span, message);
            keys.report(finding.help(raise("maxPhases")));
            return Vec::new();
        }
        items.iter().map(|item| (written, item)).collect()
    }

    /// Reads an entry of `phases`: a phase file, a reference to another workflow, or a phase inside the definition.
    fn read_entry(
        &self,
        reader: &mut Reader<'_>,
        written: Written<'_>,
        item: &Node<'_>,
        sets: &RuleSets,
    ) -> Option<(PhaseEntry, Sites)> {
        let span = item.span;
        let (phase, sites) = match &item.kind {
            Kind::Text(path) => self.read_phase_file(reader, path, span, sets)?,
            Kind::Map(map) if map.get("subworkflow").is_some() => {
                let mut keys = MapReader::new(reader, Subworkflow::SECTION, map, span);
                let mut reference = Subworkflow::from_map(&mut keys);
                if let Some(reference) = &mut reference {
                    let most = self.limits.items;
                    let is_default = most == Limits::default().items;
                    reference.max_items =
                        (!is_default && reference.for_each.is_some()).then_some(most);
                }
                let id = keys.span_of(&Subworkflow::key);
                keys.reader.keep_locations(map, None);
                let sites = std::mem::take(&mut keys.reader.sites);
                return Some((PhaseEntry::Subworkflow(reference?), Sites { id, ..sites }));
            }
            Kind::Map(map) => {
                if let [entry] = &*map.entries
                    && nearest(&entry.key, ["subworkflow"]).is_some()
                {
                    let message = format!("unknown key `{}` in a reference", shown(&entry.key));
                    let finding = Finding::error(Code::UnknownKey, entry.key_span, message);
                    return reader.refuse(finding.help("did you mean `subworkflow`?"));
                }
                read_phase(reader, map, map.first_key().or(span), None, sets)?
            }
            kind => {
                let message = format!(
                    "an entry of `phases` must be a file name, `{{subworkflow: key}}` or a phase, not {}",
                    kind.describe()
                );
                let finding = Finding::error(Code::WrongType, span, message);
                return reader.refuse(finding.help(written.key.for_example()));
            }
        };
        Some((PhaseEntry::Phase(phase), sites))
    }
}

/// Notes which values of a workflow are bounds.
fn note_bounds(workflow: &mut Workflow) {
    let bounds = workflow.all_bounds().cloned();
    let bounds: HashSet<_> = bounds.map(|(_, name)| name).collect();
    for input in &mut workflow.inputs {
        input.limits.whole = bounds.contains(&format!("inputs.{}", input.name));
    }
    for phase in workflow.phases.iter_mut().filter_map(PhaseEntry::phase_mut) {
        for output in &mut phase.outputs {
            output.limits.whole = bounds.contains(&format!("outputs.{}.{}", phase.id, output.name));
        }
    }
}

/// Notes the id of an entry. Returns false if another has it; a key without `as` may be there twice.
fn is_new(entry: &PhaseEntry, ids: &mut HashSet<String>) -> bool {
    let reference = entry.subworkflow();
    let has_id = reference.is_none_or(|reference| reference.alias.is_some());
    !has_id || ids.insert(entry.id().to_owned())
}

/// The locations of a reference and its parts, if an entry of `phases` is one.
fn reference_sites(reader: &Reader<'_>, item: &Node<'_>, sites: &Sites) -> Option<ReferenceSites> {
    let map = item.kind.map()?;
    let key = map.get("subworkflow")?.value.kind.text()?;
    let location = |span| reader.source.location(span);
    let inside = |key: &str| {
        let inner = map.get(key).and_then(|entry| entry.value.kind.map());
        let entries = inner.into_iter().flat_map(|map| &map.entries);
        let located = entries.map(|entry| (entry.key.to_string(), location(entry.key_span)));
        located.collect()
    };
    Some(ReferenceSites {
        key: key.to_owned(),
        location: location(sites.id),
        with: inside("with"),
        outcomes: inside("outcomes"),
        list: map.get("forEach").map(|entry| location(entry.value.span)),
    })
}

/// Checks a command name. Only a visible workflow is started by it.
fn check_command_name(reader: &mut Reader<'_>, name: &str, span: Option<Span>) {
    if !name.is_empty() && !is_name(name) {
        let message = format!("`commandName` cannot be `{}`", shown(name));
        let finding = Finding::error(Code::InvalidValue, span, message);
        reader.report(finding.help("use the letters a to z and A to Z, digits, `_` and `-`"));
    }
}
