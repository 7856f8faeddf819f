//! Rule sets: lists of rules with a name, which `tools` uses.

use std::collections::{BTreeMap, HashSet};

use super::rule::read_rule;
use crate::definition::model::{Rule, Workflow};
use crate::definition::schema::keys::tools;
use crate::definition::schema::{Field, Key, MapReader, listed, nearest, wrong_type};
use crate::definition::syntax::{Kind, Map, Node, Reader, Span};
use crate::diagnostic::{Code, Finding, shown};

/// The rule sets that a level may use: its own and those of the levels around it.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct RuleSets(BTreeMap<String, Vec<Rule>>);

/// The rule sets that were read.
#[derive(Debug, Default)]
pub(super) struct ReadRuleSets {
    /// With those further out; `None` if the level has none of its own.
    pub(super) sets: Option<RuleSets>,
    /// Its own, in order.
    pub(super) own: Vec<OwnRuleSet>,
    /// The locations of what could not be read.
    pub(super) lost: Vec<Option<Span>>,
}

/// A rule set of a level itself: its name, its location, and the source of its first rule.
#[derive(Debug)]
pub(super) struct OwnRuleSet {
    name: String,
    span: Option<Span>,
    source: String,
}

/// Reports the rule sets of a workflow that none of its levels uses: their rules never act.
pub(super) fn check_unused_sets(reader: &mut Reader<'_>, workflow: &Workflow, own: &[OwnRuleSet]) {
    let of_phases = workflow.own_phases().flat_map(|phase| &phase.rules);
    let in_force: HashSet<&str> = workflow
        .rules
        .iter()
        .chain(of_phases)
        .map(|rule| &*rule.source)
        .collect();
    for OwnRuleSet { name, span, source } in own {
        if !in_force.contains(&**source) {
            let name = shown(name);
            let message = format!("the rule set `{name}` is not used: its rules never act");
            let finding = Finding::warning(Code::RuleSet, *span, message);
            reader.report(finding.help(format!("write `tools: {{use: [{name}]}}`, or remove it")));
        }
    }
}

impl RuleSets {
    /// These sets and those further out.
    pub(super) fn within(&self, outer: &Self) -> Self {
        let both = outer.0.iter().chain(&self.0);
        Self(
            both.map(|(name, rules)| (name.clone(), rules.clone()))
                .collect(),
        )
    }

    /// Takes `use` of a level: the rules of the sets, in order. An error is the location of what could not be read.
    pub(super) fn used(&self, keys: &mut MapReader<'_, '_, '_>) -> Result<Vec<Rule>, Option<Span>> {
        let (names, span) = match keys.field(&tools::USE) {
            Field::Absent => return Ok(Vec::new()),
            Field::NoValue => return Err(None),
            Field::Wrong { span, .. } => return Err(span),
            Field::Value { value, span, .. } => (value, span),
        };
        let mut rules = Vec::new();
        let mut is_sound = true;
        for name in &names {
            if let Some(set) = self.0.get(name) {
                rules.extend(set.iter().cloned());
                continue;
            }
            is_sound = false;
            let message = format!("there is no rule set `{}`", shown(name));
            let finding = Finding::error(Code::RuleSet, span, message);
            let known = || self.0.keys().map(String::as_str);
            keys.report(match nearest(name, known()) {
                Some(near) => finding.help(format!("did you mean `{near}`?")),
                None if self.0.is_empty() => {
                    finding.help("define it under `rulesets`, here or in the settings")
                }
                None => finding.help(format!("known here: {}", listed(known()))),
            });
        }
        if names.is_empty() {
            is_sound = false;
            let finding = Finding::error(Code::MissingKey, span, "`use` names no rule set");
            keys.report(finding.help("name at least one, or remove it"));
        }
        if is_sound { Ok(rules) } else { Err(span) }
    }
}

/// Reads `rulesets`, in addition to those further out.
pub(super) fn read_rule_sets(
    keys: &mut MapReader<'_, '_, '_>,
    key: &Key,
    outer: &RuleSets,
) -> ReadRuleSets {
    let is_there = keys.has(key.name);
    let Some(entry) = keys.entry(key) else {
        let lost = is_there.then_some(None).into_iter().collect();
        return ReadRuleSets {
            lost,
            ..ReadRuleSets::default()
        };
    };
    let span = entry.value.span.or(entry.key_span);
    let map = match entry.value.kind {
        Kind::Map(map) if !map.entries.is_empty() => map,
        Kind::Map(_) => {
            let finding = Finding::error(Code::MissingKey, span, "`rulesets` names no set");
            keys.report(finding.help(key.for_example()));
            return ReadRuleSets {
                lost: vec![span],
                ..ReadRuleSets::default()
            };
        }
        kind => {
            let finding = wrong_type(key, "a map of names to lists of rules", &kind, span);
            keys.report(finding.help(key.for_example()));
            return ReadRuleSets {
                lost: vec![span],
                ..ReadRuleSets::default()
            };
        }
    };
    read_sets(keys.reader, map, outer)
}

fn read_sets(reader: &mut Reader<'_>, map: Map<'_>, outer: &RuleSets) -> ReadRuleSets {
    let mut sets = outer.clone();
    let (mut own, mut lost) = (Vec::new(), Vec::new());
    for entry in map.entries {
        let span = entry.key_span;
        if outer.0.contains_key(&*entry.key) {
            let message = format!(
                "the rule set `{}` is defined further out, and cannot be defined again",
                shown(&entry.key)
            );
            let finding = Finding::error(Code::RuleSet, span, message);
            reader.report(finding.help("give this one another name"));
            lost.push(span);
            continue;
        }
        match read_set(reader, &entry.key, span, entry.value) {
            Ok(rules) => {
                let name = entry.key.into_owned();
                own.extend(rules.first().map(|first| OwnRuleSet {
                    name: name.clone(),
                    span,
                    source: first.source.clone(),
                }));
                sets.0.insert(name, rules);
            }
            Err(()) => lost.push(span),
        }
    }
    ReadRuleSets {
        sets: Some(sets),
        own,
        lost,
    }
}

/// Reads a set of at least one rule. An error was reported.
fn read_set(
    reader: &mut Reader<'_>,
    name: &str,
    key_span: Option<Span>,
    node: Node<'_>,
) -> Result<Vec<Rule>, ()> {
    let span = node.span.or(key_span);
    let wrong = |reader: &mut Reader<'_>, code, span, why: &str| {
        let message = format!("the rule set `{}` {why}", shown(name));
        let finding = Finding::error(code, span, message);
        reader.report(finding.help("write a list of rules: `[{block: bash, command: [curl *]}]`"));
    };
    let items = match node.kind {
        Kind::List(items) => items,
        kind => {
            let why = format!("must be a list of rules, not {}", kind.describe());
            wrong(reader, Code::WrongType, span, &why);
            return Err(());
        }
    };
    if items.is_empty() {
        wrong(reader, Code::MissingKey, span, "has no rules");
        return Err(());
    }
    let mut rules = Vec::new();
    let mut is_sound = true;
    for item in items {
        match item.kind {
            Kind::Map(map) => rules.extend(read_rule(reader, map, item.span)),
            kind => {
                let why = format!("has a rule that is {}", kind.describe());
                wrong(reader, Code::WrongType, item.span, &why);
                is_sound = false;
            }
        }
    }
    is_sound.then_some(rules).ok_or(())
}
