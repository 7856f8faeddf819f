//! Rule sets: lists of rules with a name, which `tools` uses.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::rules::Rule;
use crate::definition::schema::{
    Declared, KeyType, MapReader, Reader, Section, Shape, Written, map_to, meant_or, schema_of,
    section,
};
use crate::definition::syntax::{Entry, Kind, Span};
use crate::definition::value::{Text, Texts, read_maps};
use crate::diagnostic::{Code, Finding, shown};

/// The rule sets that a level may use: its own and those of the levels around it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct RuleSets(BTreeMap<String, Vec<Rule>>);

section! {
    Section::guard("an entry of `use`");
    /// A rule set that a level uses, but for some of its phases.
    #[derive(Default)]
    pub(crate) struct UsedSet {
        /// The name of a set in `rulesets`.
        #[key("set": Text, default: Required, example: r#""no-publish""#)]
        pub set: String,
        /// The phases in which the set does not hold: ids; that of a subworkflow is `as`, else its key. Only in `tools` of their workflow.
        #[key("except": Texts, default: Required, example: r#"["publish"]"#)]
        pub except: Vec<String>,
    }
}

/// A list of names of rule sets, and of maps that except phases.
pub(crate) struct Uses;

impl KeyType for Uses {
    type Value = Vec<UsedSet>;
    const SHAPE: Shape = Shape::new(
        || {
            let set = json!({"type": "string"});
            json!({"type": "array", "items": {"anyOf": [set, schema_of(UsedSet::SECTION)]}})
        },
        "list of texts or maps",
    )
    .meant(Texts::SHAPE.meant);

    fn read(reader: &mut Reader<'_>, written: Written<'_>) -> Option<Vec<UsedSet>> {
        let Kind::List(items) = written.kind() else {
            return reader.refuse(written.wrong_type("a list"));
        };
        let mut used = Vec::new();
        for item in items {
            let Kind::Map(map) = &item.kind else {
                // The other texts are reported with it.
                let entry = &written.with_list(vec![item.clone()]);
                let sets = Texts::read(reader, Written { entry, ..written })?.into_iter();
                let except = Vec::new;
                used.extend(sets.map(|set| UsedSet {
                    set,
                    except: except(),
                }));
                continue;
            };
            let mut keys = MapReader::new(reader, UsedSet::SECTION, map, item.span);
            let set: UsedSet = keys.read();
            if !keys.is_complete || !keys.all_known() {
                return None;
            }
            let span = keys.span_of(&UsedSet::except);
            let excepted = &mut keys.reader.sites.excepted;
            excepted.extend(set.except.iter().map(|id| (id.clone(), span)));
            used.push(set);
        }
        Some(used)
    }
}

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
                let name = shown(name);
                let message = format!(
                    "the rule set `{name}` is defined further out, and cannot be defined again"
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
        used: &[UsedSet],
        span: Option<Span>,
    ) -> Option<Vec<Rule>> {
        let mut rules = Vec::new();
        let mut is_sound = !used.is_empty();
        for UsedSet { set: name, except } in used {
            if let Some(set) = self.0.get(name) {
                let except = |rule: &Rule| Rule {
                    except: except.clone(),
                    ..rule.clone()
                };
                rules.extend(set.iter().map(except));
                continue;
            }
            is_sound = false;
            let message = format!("there is no rule set `{}`", shown(name));
            let finding = Finding::error(Code::RuleSet, span, message);
            let known = || self.0.keys().map(String::as_str);
            let nothing = "define it under `rulesets`, here or in the settings";
            reader.report(finding.help(meant_or(name, known(), nothing)));
        }
        if used.is_empty() {
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
        || map_to(&json!({"type": "array", "minItems": 1, "items": schema_of(Rule::SECTION)})),
        "map of lists of rules",
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
    let span = entry.span();
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
