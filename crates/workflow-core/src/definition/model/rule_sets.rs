//! Rule sets: lists of rules with a name, which `tools` uses.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::rules::Rule;
use crate::definition::schema::{
    Declared, KeyType, Reader, Shape, Written, listed, nearest, schema_of,
};
use crate::definition::syntax::{Entry, Kind, Span};
use crate::definition::value::read_maps;
use crate::diagnostic::{Code, Finding, shown};

/// The rule sets that a level may use: its own and those of the levels around it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct RuleSets(BTreeMap<String, Vec<Rule>>);

/// A rule set of a level itself: its name, its location, and its rules; `None` if they cannot be read.
pub(crate) struct OwnRuleSet {
    pub(crate) name: String,
    pub(crate) span: Option<Span>,
    rules: Option<Vec<Rule>>,
}

impl OwnRuleSet {
    /// The location of its first rule, as `file:line`.
    pub(crate) fn source(&self) -> Option<&str> {
        Some(&self.rules.as_ref()?.first()?.source)
    }
}

impl RuleSets {
    /// Adds the sets of a level further in, and returns the locations of those that are lost, which leave the list.
    pub(crate) fn add(
        &mut self,
        own: &mut Vec<OwnRuleSet>,
        reader: &mut Reader<'_>,
    ) -> Vec<Option<Span>> {
        let mut lost = Vec::new();
        own.retain(|OwnRuleSet { name, span, rules }| {
            if self.0.contains_key(name) {
                let message = format!(
                    "the rule set `{}` is defined further out, and cannot be defined again",
                    shown(name)
                );
                let finding = Finding::error(Code::RuleSet, *span, message);
                reader.report(finding.help("give this one another name"));
            } else if let Some(rules) = rules {
                self.0.insert(name.clone(), rules.clone());
                return true;
            }
            lost.push(*span);
            false
        });
        lost
    }

    /// The rules of the sets that a level uses, in order. `None` was reported.
    pub(super) fn used(
        &self,
        reader: &mut Reader<'_>,
        names: &[String],
        span: Option<Span>,
    ) -> Option<Vec<Rule>> {
        let mut rules = Vec::new();
        let mut is_sound = !names.is_empty();
        for name in names {
            if let Some(set) = self.0.get(name) {
                rules.extend(set.iter().cloned());
                continue;
            }
            is_sound = false;
            let message = format!("there is no rule set `{}`", shown(name));
            let finding = Finding::error(Code::RuleSet, span, message);
            let known = || self.0.keys().map(String::as_str);
            reader.report(match nearest(name, known()) {
                Some(near) => finding.help(format!("did you mean `{near}`?")),
                None if self.0.is_empty() => {
                    finding.help("define it under `rulesets`, here or in the settings")
                }
                None => finding.help(format!("known here: {}", listed(known()))),
            });
        }
        if names.is_empty() {
            let finding = Finding::error(Code::MissingKey, span, "`use` names no rule set");
            reader.report(finding.help("name at least one, or remove it"));
        }
        is_sound.then_some(rules)
    }
}

/// A map of names to lists of rules.
pub(crate) struct NamedRules;

impl KeyType for NamedRules {
    type Value = Vec<OwnRuleSet>;
    const SHAPE: Shape = Shape::new(
        || {
            let rules = json!({"type": "array", "minItems": 1, "items": schema_of(Rule::SECTION)});
            json!({"type": "object", "minProperties": 1, "additionalProperties": rules})
        },
        || "map of lists of rules".to_owned(),
    );

    fn read(reader: &mut Reader<'_>, written: Written<'_>) -> Option<Vec<OwnRuleSet>> {
        let expected = "a map of names to lists of rules";
        let entries = written.entries(reader, expected, "`rulesets` names no set")?;
        let sets = entries.iter().map(|entry| OwnRuleSet {
            name: entry.key.to_string(),
            span: entry.key_span,
            rules: read_set(reader, entry),
        });
        Some(sets.collect())
    }
}

/// Reads a set of at least one rule. `None` was reported.
fn read_set(reader: &mut Reader<'_>, entry: &Entry<'_>) -> Option<Vec<Rule>> {
    let span = entry.value.span.or(entry.key_span);
    let wrong = |code, span, why: String| {
        let message = format!("the rule set `{}` {why}", shown(&entry.key));
        let help = "write a list of rules: `[{block: bash, command: [curl *]}]`";
        Finding::error(code, span, message).help(help)
    };
    match &entry.value.kind {
        Kind::List(items) if items.is_empty() => {
            reader.refuse(wrong(Code::MissingKey, span, "has no rules".to_owned()))
        }
        Kind::List(items) => read_maps(reader, items, |kind, span| {
            wrong(Code::WrongType, span, format!("has a rule that is {kind}"))
        })
        .whole(),
        kind => {
            let why = format!("must be a list of rules, not {}", kind.describe());
            reader.refuse(wrong(Code::WrongType, span, why))
        }
    }
}
