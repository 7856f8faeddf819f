//! The reader of a workflow's map: everything but its phase files.

use super::auto_continue::read_continue;
use super::flow::{PhaseSites, read_budget, read_inputs, read_when};
use super::gate::{read_approval, read_gate};
use super::rule_sets::{OwnRuleSet, ReadRuleSets, RuleSets, read_rule_sets};
use super::tools::{read_openings, read_results, read_tools};
use crate::definition::model::{Approval, Gate, Limits, Show, Subworkflow, Templates, Workflow};
use crate::definition::schema::keys::{reference, workflow};
use crate::definition::schema::{
    Field, MapReader, Section, Text, Typed, ValueType, nearest, wrong_type,
};
use crate::definition::syntax::{Entry, Kind, Map, Node, Reader, Span, raise};
use crate::diagnostic::{Code, Finding, shown};
use crate::template::TemplateKind;

/// A workflow with phases that are not read yet.
pub(super) struct ReadWorkflow<'s> {
    /// The valid part of the workflow; `phases` is empty.
    pub(super) workflow: Workflow,
    /// The location of its command name.
    pub(super) command_name_span: Option<Span>,
    /// The checks of each of its phases, before the phase's own.
    pub(super) gate: Vec<Gate>,
    /// The approval of each of its phases without one.
    pub(super) approve: Option<Approval>,
    /// The keys of what is open where a phase is read-only.
    pub(super) openings: Vec<(&'static str, Option<Span>)>,
    /// The rule sets that its phases may use; `None` if it has none of its own.
    pub(super) sets: Option<RuleSets>,
    /// Those of its own.
    pub(super) own_sets: Vec<OwnRuleSet>,
    /// The locations of its gate, its approval and its templates.
    pub(super) sites: PhaseSites,
    /// The entries of `phases`.
    pub(super) entries: Vec<ReadEntry<'s>>,
}

/// An entry of `phases`.
pub(super) enum ReadEntry<'s> {
    /// A phase file.
    File(Text),
    /// A phase inside the definition.
    Inline(Map<'s>, Option<Span>),
    /// A reference to another workflow.
    Subworkflow(Subworkflow, Box<PhaseSites>),
}

/// Reads the map of a definition. What is not sound is reported, and left at its default.
pub(super) fn read_workflow<'s>(
    reader: &mut Reader<'_>,
    key: &str,
    map: Map<'s>,
    span: Option<Span>,
    limits: &Limits,
    outer: &RuleSets,
) -> ReadWorkflow<'s> {
    let mut keys = MapReader::new(reader, Section::Workflow, map, span);
    keys.get(&workflow::SCHEMA);
    let name = keys.get(&workflow::NAME);
    let show = keys.field(&workflow::SHOW);
    // Under a `show` that is wrong it is not known if they are required.
    let is_started = match &show {
        Field::Wrong { .. } => false,
        Field::Value { value, .. } => *value == Show::User,
        Field::Absent | Field::NoValue => true,
    };
    let (command_name, initial_message) = if is_started {
        (
            keys.get(&workflow::COMMAND_NAME.required()),
            keys.get(&workflow::INITIAL_MESSAGE.required()),
        )
    } else {
        (
            keys.get(&workflow::COMMAND_NAME),
            keys.get(&workflow::INITIAL_MESSAGE),
        )
    };
    let show = show.value().unwrap_or_default();
    if show == Show::User {
        check_command_name(keys.reader, command_name.as_ref());
    }
    let ReadRuleSets { sets, own, .. } = read_rule_sets(&mut keys, &workflow::RULESETS, outer);
    let tools = read_tools(&mut keys, &workflow::TOOLS, sets.as_ref().unwrap_or(outer));
    let mut sites = PhaseSites::default();
    let gate = read_gate(&mut keys, &workflow::GATE, &mut sites.targets);
    let approve = read_approval(&mut keys, &workflow::APPROVE, &mut sites);
    let openings = read_openings(
        &mut keys,
        &workflow::WRITABLE,
        &workflow::RUN,
        &workflow::UNKNOWN,
    );
    let command_name_span = command_name.as_ref().and_then(|text| text.span);
    if let Some(text) = &initial_message {
        sites.refer(keys.reader, TemplateKind::InitialMessage, text);
    }
    let templates = read_templates(&mut keys, &mut sites);
    let owned = |text: Option<Text>| text.map(|text| text.value);
    let workflow = Workflow {
        key: key.to_owned(),
        name: owned(name).unwrap_or_default(),
        command_name: owned(command_name).unwrap_or_default(),
        initial_message: owned(initial_message).unwrap_or_default(),
        show,
        loopable: keys.get(&workflow::LOOPABLE).unwrap_or(true),
        session_name_prefix: owned(keys.get(&workflow::SESSION_NAME_PREFIX_KEY)),
        session_name_max_length: keys.get(&workflow::SESSION_NAME_MAX_LENGTH_KEY),
        templates,
        auto_continue: read_continue(&mut keys, &workflow::CONTINUE),
        context: keys.get(&workflow::CONTEXT),
        phases: Vec::new(),
        tools: tools.access,
        writable: openings.writable,
        run: openings.run,
        unknown: openings.unknown,
        rules: tools.rules,
        results: read_results(&mut keys, &workflow::RESULTS),
        checkpoint: keys.get(&workflow::CHECKPOINT),
        on_repeat: keys.get(&workflow::ON_REPEAT),
        inputs: read_inputs(&mut keys),
        budget: read_budget(&mut keys, &workflow::BUDGET),
        cancel: keys.get(&workflow::CANCEL),
    };
    ReadWorkflow {
        workflow,
        gate,
        approve,
        command_name_span,
        openings: openings.given,
        sets,
        own_sets: own,
        sites,
        entries: read_entries(&mut keys, limits),
    }
}

/// Reads the templates, and notes what they refer to.
fn read_templates(keys: &mut MapReader<'_, '_, '_>, sites: &mut PhaseSites) -> Templates {
    let mut read = |key: &Typed<Text>| {
        let text = keys.get(key)?;
        if let ValueType::Template(kind) = key.key.value {
            sites.refer(keys.reader, kind, &text);
        }
        Some(text.value)
    };
    Templates {
        role_instruction: read(&workflow::ROLE_INSTRUCTION),
        advance_reminder: read(&workflow::ADVANCE_REMINDER),
        block_reason_template: read(&workflow::BLOCK_REASON_TEMPLATE),
        completion_message: read(&workflow::COMPLETION_MESSAGE),
        cancelled_message: read(&workflow::CANCELLED_MESSAGE),
        not_done_reminder: read(&workflow::NOT_DONE_REMINDER),
    }
}

/// Checks a command name. Only a visible workflow is started by it.
fn check_command_name(reader: &mut Reader<'_>, name: Option<&Text>) {
    let Some(name) = name else {
        return;
    };
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if !name.value.bytes().all(allowed) {
        let message = format!("`commandName` cannot be `{}`", shown(&name.value));
        let finding = Finding::error(Code::InvalidValue, name.span, message);
        reader.report(finding.help("use the letters a to z and A to Z, digits, `_` and `-`"));
    }
}

fn read_entries<'s>(keys: &mut MapReader<'_, '_, 's>, limits: &Limits) -> Vec<ReadEntry<'s>> {
    let key = &workflow::PHASES;
    let Some(entry) = keys.entry(key) else {
        let finding = Finding::error(Code::MissingKey, keys.start, "`phases` is missing");
        keys.report(finding.help(key.for_example()));
        return Vec::new();
    };
    let span = entry.value.span;
    let Kind::List(items) = entry.value.kind else {
        keys.report(wrong_type(key, "a list", &entry.value.kind, span));
        return Vec::new();
    };
    if items.is_empty() {
        let finding = Finding::error(Code::MissingKey, span, "`phases` is empty");
        keys.report(finding.help(key.for_example()));
    }
    let most = limits.max_phases as usize;
    if let Some(first) = items.get(most) {
        let message = format!("more than {most} phases");
        let finding = Finding::error(Code::OverLimit, first.span, message);
        keys.report(finding.help(raise("maxPhases")));
        return Vec::new();
    }
    items
        .into_iter()
        .filter_map(|item| read_entry(keys.reader, item))
        .collect()
}

fn read_entry<'s>(reader: &mut Reader<'_>, item: Node<'s>) -> Option<ReadEntry<'s>> {
    let span = item.span;
    match item.kind {
        Kind::Text(value) => Some(ReadEntry::File(Text {
            value: value.into_owned(),
            span,
        })),
        Kind::Map(map)
            if map
                .entries
                .iter()
                .any(|entry| entry.key == reference::SUBWORKFLOW.key.name) =>
        {
            let mut keys = MapReader::new(reader, Section::Reference, map, span);
            let target = keys.get(&reference::SUBWORKFLOW);
            let mut sites = PhaseSites::default();
            let when = read_when(&mut keys, &reference::WHEN, &mut sites);
            target.map(|target| {
                sites.id = target.span;
                let reference = Subworkflow {
                    key: target.value,
                    when,
                };
                ReadEntry::Subworkflow(reference, Box::new(sites))
            })
        }
        Kind::Map(map) => match nearly_reference(&map) {
            Some(entry) => {
                let message = format!("unknown key `{}` in a reference", shown(&entry.key));
                let finding = Finding::error(Code::UnknownKey, entry.key_span, message);
                reader.report(finding.help("did you mean `subworkflow`?"));
                None
            }
            None => Some(ReadEntry::Inline(map, span)),
        },
        kind => {
            let message = format!(
                "an entry of `phases` must be a file name, `{{subworkflow: key}}` or a phase, not {}",
                kind.describe()
            );
            let finding = Finding::error(Code::WrongType, span, message);
            reader.report(finding.help(workflow::PHASES.for_example()));
            None
        }
    }
}

/// The only key of a map, if it is `subworkflow` misspelled.
fn nearly_reference<'m, 's>(map: &'m Map<'s>) -> Option<&'m Entry<'s>> {
    let [entry] = &*map.entries else {
        return None;
    };
    nearest(&entry.key, [reference::SUBWORKFLOW.key.name]).map(|_| entry)
}
