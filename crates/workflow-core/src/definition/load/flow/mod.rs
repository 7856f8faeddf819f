//! Readers of the flow of a workflow: inputs, outputs, outcomes, conditions, visits, budgets. All are guards: any mistake
//! is an error. The checks across phases are in `checks`.

mod checks;
mod graph;
mod located;
mod names;
mod parameters;
mod references;
mod sites;

use self::names::{is_name, not_a_name};
use super::super::model::{Budget, Condition, Hints, OnMaxVisits, PhaseOutcome, Subject, Target};
use crate::definition::schema::keys::{budget, phase};
use crate::definition::schema::{Field, Key, MapReader, Section, wrong_type};
use crate::definition::syntax::{Kind, Map, Node, Reader, Span};
use crate::diagnostic::{Code, Finding, shown};
use crate::white_space::trim;

pub(super) use checks::check_flow;
pub(super) use located::Flow;
pub(super) use parameters::{read_inputs, read_outputs};
pub(super) use sites::{JumpKind, PhaseSites, Site, TemplateReference};

/// The valid part of the flow of a phase.
#[derive(Debug, Default)]
pub(super) struct ReadFlow {
    pub(super) outcomes: Vec<PhaseOutcome>,
    pub(super) when: Vec<Condition>,
    pub(super) max_visits: Option<u32>,
    pub(super) on_max_visits: OnMaxVisits,
    pub(super) budget: Budget,
    pub(super) hints: Hints,
}

/// Reads the keys of the flow of a phase, and notes their locations.
pub(super) fn read_flow(keys: &mut MapReader<'_, '_, '_>, sites: &mut PhaseSites) -> ReadFlow {
    let outcomes = read_targets(
        keys,
        &phase::OUTCOMES,
        JumpKind::Outcome,
        &mut sites.targets,
    );
    let outcomes = outcomes.into_iter();
    let when = read_when(keys, &phase::WHEN, sites);
    sites.budget = keys.value_of(&phase::BUDGET, |_| true).flatten();
    let max_visits = keys.field(&phase::MAX_VISITS);
    if let Field::Value { key_span, .. } = max_visits {
        sites.max_visits = key_span;
    }
    let max_visits = max_visits.value();
    let on_max_visits = keys.get(&phase::ON_MAX_VISITS).map(|text| {
        if max_visits.is_none() {
            let message = "`onMaxVisits` has no effect without `maxVisits`";
            let finding = Finding::error(Code::IdleVisits, text.span, message);
            keys.report(finding.help("add `maxVisits: 3`, for example, or remove it"));
        }
        let instead = match text.value.as_str() {
            "pause" => OnMaxVisits::Pause,
            "cancel" => OnMaxVisits::Cancel,
            id => OnMaxVisits::Phase(id.to_owned()),
        };
        let (kind, span) = (JumpKind::OnMaxVisits, text.span);
        let site = instead.target().map(|to| Site { kind, to, span });
        sites.targets.extend(site);
        instead
    });
    ReadFlow {
        outcomes: outcomes
            .map(|(name, to)| PhaseOutcome { name, to })
            .collect(),
        when,
        max_visits,
        on_max_visits: on_max_visits.unwrap_or_default(),
        budget: read_budget(keys, &phase::BUDGET),
        hints: Hints {
            model: keys.get(&phase::MODEL).map(|text| text.value),
            thinking: keys.get(&phase::THINKING),
            active_tools: keys.get(&phase::ACTIVE_TOOLS).unwrap_or(false),
        },
    }
}

/// Reads a map of names to targets. A value that could not be read was reported.
fn read_targets(
    keys: &mut MapReader<'_, '_, '_>,
    key: &Key,
    jump: JumpKind,
    sites: &mut Vec<Site>,
) -> Vec<(String, Target)> {
    let Some(entry) = keys.entry(key) else {
        return Vec::new();
    };
    let span = entry.value.span;
    match entry.value.kind {
        Kind::Map(map) => targets_of(keys.reader, key, jump, &map, span, sites),
        kind => {
            keys.report(wrong_type(key, "a map of names to targets", &kind, span));
            Vec::new()
        }
    }
}

/// Reads the entries of a map of names to targets.
pub(in crate::definition::load) fn targets_of(
    reader: &mut Reader<'_>,
    key: &Key,
    jump: JumpKind,
    map: &Map<'_>,
    span: Option<Span>,
    sites: &mut Vec<Site>,
) -> Vec<(String, Target)> {
    if map.entries.is_empty() {
        let message = format!("`{}` is empty: nothing leads out of the phase", key.name);
        let finding = Finding::error(Code::MissingKey, span, message);
        reader.report(finding.help(key.for_example()));
    }
    let mut read = Vec::new();
    for entry in &map.entries {
        if !is_name(&entry.key) && jump == JumpKind::Outcome {
            reader.report(not_a_name("an outcome", &entry.key, entry.key_span));
            continue;
        }
        if trim(&entry.key).is_empty() {
            let message = format!("an answer of `{}` is empty", key.name);
            reader.report(Finding::error(Code::MissingKey, entry.key_span, message));
            continue;
        }
        let span = entry.value.span.or(entry.key_span);
        match &entry.value.kind {
            Kind::Text(to) if !trim(to).is_empty() => {
                let to = Target::from(&**to);
                sites.push(Site {
                    kind: jump,
                    to: to.clone(),
                    span,
                });
                read.push((entry.key.to_string(), to));
            }
            kind => {
                let what = match jump {
                    JumpKind::Choice => "answer",
                    JumpKind::Outcome | JumpKind::OnFail | JumpKind::OnMaxVisits => "outcome",
                };
                let name = shown(&entry.key);
                let message = match kind {
                    Kind::Null | Kind::Text(_) => format!("{what} `{name}` has no target"),
                    kind => {
                        let kind = kind.describe();
                        format!("the target of {what} `{name}` must be text, not {kind}")
                    }
                };
                let finding = Finding::error(Code::WrongType, span, message);
                reader.report(finding.help(format!(
                    "write `{}: next`, or the id of a phase of this workflow",
                    shown(&entry.key)
                )));
            }
        }
    }
    read
}

/// Reads `budget`.
pub(super) fn read_budget(keys: &mut MapReader<'_, '_, '_>, key: &Key) -> Budget {
    let Field::Value {
        key_span,
        span,
        value: map,
    } = keys.map(key)
    else {
        return Budget::default();
    };
    let find = |name: &&str| map.entries.iter().find(|entry| entry.key == **name);
    let reported: Vec<&str> = ["tokens", "usd"]
        .into_iter()
        .filter(|name| find(name).is_some())
        .collect();
    let reported_at = reported.first().and_then(find).map(|entry| entry.key_span);
    let is_enforced = ["turns", "toolCalls", "minutes"]
        .iter()
        .any(|name| find(name).is_some());
    let mut keys = MapReader::new(keys.reader, Section::Budget, map, span);
    if keys.is_empty() {
        let finding = Finding::error(Code::MissingKey, key_span, "`budget` limits nothing");
        keys.report(finding.help(key.for_example()));
    }
    if let Some(span) = reported_at {
        let verb = if reported.len() == 1 { "is" } else { "are" };
        let names = reported.join("` and `");
        let message = format!("`{names}` {verb} enforced only where the host reports usage");
        let severity = crate::diagnostic::Severity::Info;
        let finding = Finding::new(severity, Code::HostReports, span, message);
        keys.report(if is_enforced {
            finding.help("nothing: the other limits of this budget are enforced everywhere")
        } else {
            finding
        });
    }
    let wide = |number: Option<u32>| number.map(u64::from);
    Budget {
        turns: wide(keys.get(&budget::TURNS)),
        tool_calls: wide(keys.get(&budget::TOOL_CALLS)),
        minutes: wide(keys.get(&budget::MINUTES)),
        tokens: wide(keys.get(&budget::TOKENS)),
        us_cents: keys.get(&budget::USD),
    }
}

/// Reports bounds of a phase that its workflow's come before.
pub(super) fn check_phase_budget(
    reader: &mut Reader<'_>,
    workflow: &Budget,
    phase: &Budget,
    span: Option<Span>,
) {
    let bounds = [
        ("turns", phase.turns, workflow.turns),
        ("toolCalls", phase.tool_calls, workflow.tool_calls),
        ("minutes", phase.minutes, workflow.minutes),
        ("tokens", phase.tokens, workflow.tokens),
        ("usd", phase.us_cents, workflow.us_cents),
    ];
    for (name, of_phase, of_run) in bounds {
        if of_phase.zip(of_run).is_some_and(|(phase, run)| phase > run) {
            let message =
                format!("`{name}` of the phase can never act: that of the workflow is lower");
            let finding = Finding::warning(Code::IdleVisits, span, message);
            reader.report(finding.help("lower it, or remove it"));
        }
    }
}

/// Reads `when`, and notes the locations of its conditions.
pub(super) fn read_when(
    keys: &mut MapReader<'_, '_, '_>,
    key: &Key,
    sites: &mut PhaseSites,
) -> Vec<Condition> {
    let Some(entry) = keys.entry(key) else {
        return Vec::new();
    };
    let span = entry.value.span;
    let Kind::Map(map) = entry.value.kind else {
        let expected = "a map of values of the run to what they must be";
        keys.report(wrong_type(key, expected, &entry.value.kind, span).help(key.for_example()));
        return Vec::new();
    };
    if map.entries.is_empty() {
        let finding = Finding::error(Code::MissingKey, span, "`when` has no condition");
        keys.report(finding.help(key.for_example()));
    }
    let mut conditions = Vec::new();
    for entry in &map.entries {
        let Some(subject) = subject(&entry.key) else {
            let message = format!("`{}` cannot be a condition of `when`", shown(&entry.key));
            let finding = Finding::error(Code::UnknownSubject, entry.key_span, message);
            keys.report(
                finding.help("write `inputs.<name>`, `outputs.<phase>.<name>` or `visits.<phase>`"),
            );
            continue;
        };
        let (node, negated) = match &entry.value.kind {
            Kind::Map(inner) => match &*inner.entries {
                [only] if only.key == "not" => (&only.value, true),
                _ => {
                    let message =
                        format!("`{}` takes a value, a list or `{{not: value}}`", entry.key);
                    let finding = Finding::error(Code::WrongType, entry.value.span, message);
                    keys.report(finding.help(format!("write `{}: {{not: value}}`", entry.key)));
                    continue;
                }
            },
            _ => (&entry.value, false),
        };
        let Some(values) = values_of(node) else {
            let message = format!(
                "`{}` must be compared with texts, numbers, true or false, not {}",
                entry.key,
                node.kind.describe()
            );
            let span = node.span.or(entry.key_span);
            keys.report(
                Finding::error(Code::WrongType, span, message)
                    .help("write a value, a list of which it is one, or `{not: value}`"),
            );
            continue;
        };
        sites.when.push(entry.key_span);
        conditions.push(Condition {
            subject,
            values,
            negated,
        });
    }
    conditions
}

/// The value that a condition tests; `None` if its name is not valid.
fn subject(text: &str) -> Option<Subject> {
    let parts: Vec<&str> = text.split('.').collect();
    let names = parts.iter().all(|part| is_name(part));
    match (&*parts, names) {
        (["inputs", name], true) => Some(Subject::Input((*name).to_owned())),
        (["visits", phase], true) => Some(Subject::Visits((*phase).to_owned())),
        (["outputs", phase, name], true) => Some(Subject::Output {
            phase: (*phase).to_owned(),
            name: (*name).to_owned(),
        }),
        _ => None,
    }
}

/// The values of a value or a list of them, at least one.
fn values_of(node: &Node<'_>) -> Option<Vec<serde_json::Value>> {
    let items = match &node.kind {
        Kind::List(items) if items.is_empty() => return None,
        Kind::List(items) => &**items,
        _ => std::slice::from_ref(node),
    };
    items.iter().map(parameters::scalar).collect()
}
