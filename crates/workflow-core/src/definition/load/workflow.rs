//! The reader of a workflow's map: everything but its phase files.

use super::phase::note_openings;
use crate::definition::model::{
    Approval, Gate, Limits, OwnRuleSet, RuleSets, Show, Subworkflow, Workflow, read_level,
};
use crate::definition::schema::{Declared, FromMap, MapReader, Reader, Sites, Written, nearest};
use crate::definition::syntax::{Entry, Kind, Map, Node, Span, raise};
use crate::diagnostic::{Code, Finding, shown};

/// A workflow with phases that are not read yet.
pub(super) struct ReadWorkflow<'m> {
    /// The valid part of the workflow; `phases` is empty.
    pub(super) workflow: Workflow,
    /// The location of its command name.
    pub(super) command_name: Option<Span>,
    /// The checks of each of its phases, before the phase's own.
    pub(super) gate: Vec<Gate>,
    /// The approval of each of its phases without one.
    pub(super) approve: Option<Approval>,
    /// The rule sets that its phases may use; `None` if it has none of its own.
    pub(super) sets: Option<RuleSets>,
    /// Those of its own.
    pub(super) own_sets: Vec<OwnRuleSet>,
    /// The locations in it that are checked later.
    pub(super) sites: Sites,
    /// The entries of `phases`, each with its location.
    pub(super) entries: Vec<(Option<Span>, ReadEntry<'m>)>,
}

/// An entry of `phases`.
pub(super) enum ReadEntry<'m> {
    /// A phase file.
    File(&'m str),
    /// A phase inside the definition.
    Inline(&'m Map<'m>),
    /// A reference to another workflow.
    Subworkflow(Subworkflow, Box<Sites>),
}

/// Reads the map of a definition. What is not sound is reported, and left at its default.
pub(super) fn read_workflow<'m>(
    reader: &mut Reader<'_>,
    key: &str,
    map: &'m Map<'m>,
    span: Option<Span>,
    limits: &Limits,
    outer: &RuleSets,
) -> ReadWorkflow<'m> {
    let mut keys = MapReader::new(reader, Workflow::SECTION, map, span);
    // Under a `show` that is wrong it is not known if they are required.
    keys.is_started = keys.entry("show").is_none_or(
        |entry| matches!(&entry.value.kind, Kind::Text(show) if show == Show::User.word()),
    );
    let mut workflow = Workflow {
        key: key.to_owned(),
        loopable: true,
        ..Workflow::default()
    };
    workflow.read_keys(&mut keys);
    let command_name = keys.span_of(&Workflow::command_name);
    if workflow.show == Show::User {
        check_command_name(keys.reader, &workflow.command_name, command_name);
    }
    keys.get(&Workflow::schema);
    let own_sets = keys.get(&Workflow::rulesets);
    let mut sets = own_sets.is_some().then(|| outer.clone());
    let mut own_sets = own_sets.unwrap_or_default();
    if let Some(sets) = &mut sets {
        sets.add(&mut own_sets, keys.reader);
    }
    let level = read_level(
        &mut keys,
        &Workflow::level_tools,
        &Workflow::level_results,
        sets.as_ref().unwrap_or(outer),
    );
    (workflow.tools, workflow.rules, workflow.results) = level;
    note_openings(&mut keys, &workflow.commands);
    let gate = keys.get(&Workflow::gate).map(Vec::from).unwrap_or_default();
    let approve = keys.get(&Workflow::approve);
    keys.reader.keep_locations(map, None);
    let sites = std::mem::take(&mut keys.reader.sites);
    ReadWorkflow {
        workflow,
        gate,
        approve,
        command_name,
        sets,
        own_sets,
        sites,
        entries: read_entries(&mut keys, limits),
    }
}

/// Checks a command name. Only a visible workflow is started by it.
fn check_command_name(reader: &mut Reader<'_>, name: &str, span: Option<Span>) {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if !name.bytes().all(allowed) {
        let message = format!("`commandName` cannot be `{}`", shown(name));
        let finding = Finding::error(Code::InvalidValue, span, message);
        reader.report(finding.help("use the letters a to z and A to Z, digits, `_` and `-`"));
    }
}

fn read_entries<'m>(
    keys: &mut MapReader<'_, '_, 'm>,
    limits: &Limits,
) -> Vec<(Option<Span>, ReadEntry<'m>)> {
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
    let most = limits.max_phases as usize;
    if let Some(first) = items.get(most) {
        let message = format!("more than {most} phases");
        let finding = Finding::error(Code::OverLimit, first.span, message);
        keys.report(finding.help(raise("maxPhases")));
        return Vec::new();
    }
    let read = items
        .iter()
        .filter_map(|item| Some((item.span, read_entry(keys.reader, written, item)?)));
    read.collect()
}

fn read_entry<'m>(
    reader: &mut Reader<'_>,
    written: Written<'_>,
    item: &'m Node<'m>,
) -> Option<ReadEntry<'m>> {
    let span = item.span;
    match &item.kind {
        Kind::Text(path) => Some(ReadEntry::File(path)),
        Kind::Map(map) if map.get("subworkflow").is_some() => {
            let mut keys = MapReader::new(reader, Subworkflow::SECTION, map, span);
            let reference = Subworkflow::from_map(&mut keys);
            let id = keys.span_of(&Subworkflow::key);
            keys.reader.keep_locations(map, None);
            let sites = std::mem::take(&mut keys.reader.sites);
            Some(ReadEntry::Subworkflow(
                reference?,
                Box::new(Sites { id, ..sites }),
            ))
        }
        Kind::Map(map) => match nearly_reference(map) {
            Some(entry) => {
                let message = format!("unknown key `{}` in a reference", shown(&entry.key));
                let finding = Finding::error(Code::UnknownKey, entry.key_span, message);
                reader.report(finding.help("did you mean `subworkflow`?"));
                None
            }
            None => Some(ReadEntry::Inline(map)),
        },
        kind => {
            let message = format!(
                "an entry of `phases` must be a file name, `{{subworkflow: key}}` or a phase, not {}",
                kind.describe()
            );
            let finding = Finding::error(Code::WrongType, span, message);
            reader.report(finding.help(written.key.for_example()));
            None
        }
    }
}

/// The only key of a map, if it is `subworkflow` misspelled.
fn nearly_reference<'m>(map: &'m Map<'m>) -> Option<&'m Entry<'m>> {
    let [entry] = &*map.entries else {
        return None;
    };
    nearest(&entry.key, ["subworkflow"]).map(|_| entry)
}
