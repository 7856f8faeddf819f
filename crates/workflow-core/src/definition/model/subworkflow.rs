//! References to subworkflows: what is passed to them, how often they run, and what they return.

use std::collections::BTreeMap;
use std::ops::Deref;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::budget::{Bounds, bound_in_words};
use super::condition::{Condition, Conditions, Subject};
use super::parameter::Any;
use super::target::{OnVisitLimit, Outcomes, PhaseOutcome, Target};
use crate::definition::schema::{
    Change, FromMap, KeyType, MapReader, NAME, Reader, Section, Shape, Written, named, section,
};
use crate::definition::syntax::{Kind, Span};
use crate::definition::value::{
    FilledText, Text, WholeOrValue, check_template, is_name, not_a_name,
};
use crate::diagnostic::{Code, Finding, shown};
use crate::template::{Family, Piece, TemplateKind, pieces};

section! {
    Section::new("a subworkflow reference");
    /// A reference to the workflow that runs in this place. It dereferences to the workflow's key.
    #[derive(Default)]
    pub struct Subworkflow {
        /// The key of the workflow that runs here.
        #[key("subworkflow": Text, default: Required, example: r#""review""#)]
        pub key: String,
        /// The id by which this workflow names it.
        #[key("as": FilledText, no_value: Refuse, guard: true, change: Some(Change::Way), default: Described("the key"), example: r#""each""#)]
        #[serde(rename = "as", default, skip_serializing_if = "Option::is_none")]
        pub alias: Option<String>,
        /// A list: it runs once for each item, in order.
        #[key("forEach"?: ListName, no_value: Refuse, guard: true, change: Some(Change::Way), default: Described("it runs once"), example: r#""{outputs.plan.tasks}""#)]
        pub for_each: Option<Subject>,
        /// Its inputs. A placeholder alone keeps its type. In a loop `{item}`, `{item.number}` and `{item.count}` are known.
        #[key("with"?: Passed, no_value: Refuse, guard: true, change: Some(Change::Way), default: Described("the inputs of equal names"), example: r#"{"goal": "{item}", "rounds": 3}"#)]
        pub with: Option<BTreeMap<String, Value>>,
        /// Where its named ends (`{end: stuck}`) lead.
        #[key("outcomes"?: Outcomes, no_value: Refuse, guard: true, change: Some(Change::Way), example: r#"{"stuck": "plan"}"#)]
        pub outcomes: Vec<PhaseOutcome>,
        /// As in a phase, of the whole subworkflow.
        #[key("when"?: Conditions, no_value: Refuse, guard: true, change: Some(Change::Way), default: Described("always"), example: r#"{"visits.reproduce": {"not": 9}}"#)]
        pub when: Vec<Condition>,
        /// How often it may be entered; a loop counts once.
        #[key("maxVisits"?: WholeOrValue, no_value: Refuse, guard: true, change: Some(Change::Guard), default: Described("no limit, but for `limits.maxVisits`"), example: "3")]
        pub max_visits: Option<u32>,
        /// As in a phase.
        #[key("onLimit"?: OnVisitLimit, no_value: Refuse, guard: true, change: Some(Change::Way), default: Text("pause"), example: r#""cancel""#)]
        pub on_limit: Option<Target>,
        /// As in a phase.
        pub bounds?: Bounds,
        /// `limits.items` of the settings, if it is not the default.
        pub max_items?: Option<u32>,
    }
}

impl Subworkflow {
    /// The most items of its list, if the settings do not say otherwise.
    pub(crate) const MAX_ITEMS: u32 = 100;

    /// The id by which the workflow names it.
    pub fn id(&self) -> &str {
        self.alias.as_ref().unwrap_or(&self.key)
    }

    /// How often it may be entered, as people read it: the name of a value that the run does not have.
    pub fn most_visits(&self) -> Option<String> {
        bound_in_words(self.max_visits, "maxVisits", &self.bounds)
    }

    /// The most items of its list.
    pub(crate) fn most_items(&self) -> usize {
        self.max_items.unwrap_or(Self::MAX_ITEMS) as usize
    }

    /// Returns true if it is more than a place in the order of the phases.
    pub(crate) fn has_flow(&self) -> bool {
        let plain = Self {
            alias: self.alias.clone(),
            ..Self::from(&*self.key)
        };
        *self != plain
    }
}

impl FromMap for Subworkflow {
    fn from_map(keys: &mut MapReader<'_, '_, '_>) -> Option<Self> {
        let mut reference: Self = keys.read();
        reference.bounds = std::mem::take(&mut keys.reader.sites.bounds);
        let is_name = reference.alias.as_deref().is_none_or(is_name);
        if let Some(id) = reference.alias.as_ref().filter(|_| !is_name) {
            let span = keys.span_of(&Self::alias);
            keys.report(not_a_name("an id in `as`", id, span));
        }
        let has_list = keys.has("forEach");
        for (name, value) in reference.with.iter().flatten() {
            let text = value.as_str().unwrap_or_default();
            let mut items = names_in(text).filter(|name| is_item(name));
            if let Some(item) = items.next().filter(|_| !has_list) {
                let name = shown(name);
                let message =
                    format!("`{name}` of `with` has `{{{item}}}`, and there is no `forEach`");
                let span = keys.span_of(&Self::with);
                let finding = Finding::error(Code::UnknownSubject, span, message);
                keys.report(finding.help("name the list: `forEach: \"{outputs.plan.tasks}\"`"));
            }
        }
        keys.is_complete.then_some(reference)
    }
}

impl<K: Into<String>> From<K> for Subworkflow {
    /// A reference without anything else.
    fn from(key: K) -> Self {
        Self {
            key: key.into(),
            ..Self::default()
        }
    }
}

impl Deref for Subworkflow {
    type Target = String;

    fn deref(&self) -> &String {
        &self.key
    }
}

/// The names of the variables in a text.
pub(crate) fn names_in(text: &str) -> impl Iterator<Item = &str> {
    pieces(text).filter_map(|piece| match piece {
        Piece::Variable(name, _) => Some(name),
        Piece::Text(_) => None,
    })
}

/// The value that a text consists of, if it is one placeholder.
pub(crate) fn only_name(text: &str) -> Option<Subject> {
    let name = text.strip_prefix('{')?.strip_suffix('}')?;
    Subject::named(name)
}

fn is_item(name: &str) -> bool {
    name == "item" || Family::of(name) == Some(Family::Item)
}

/// The values of the inputs of a subworkflow, by their names.
pub(crate) struct Passed;

impl KeyType for Passed {
    type Value = Option<BTreeMap<String, Value>>;
    const SHAPE: Shape = Shape::new(
        || {
            json!({
                "type": "object",
                "propertyNames": {"pattern": NAME},
                "additionalProperties": (Any::SHAPE.schema)(),
            })
        },
        "map of values",
    );

    fn read(reader: &mut Reader<'_>, written: Written<'_>) -> Option<Self::Value> {
        let Kind::Map(map) = written.kind() else {
            let wrong = written.wrong_type("a map of inputs to values");
            return reader.refuse(wrong.help("write `with: {goal: \"{item}\"}`"));
        };
        let mut passed = BTreeMap::new();
        for entry in &map.entries {
            let span = entry.span();
            let value = Any::read(reader, Written { entry, ..written });
            let Some(value) = value else {
                let (name, kind) = (shown(&entry.key), entry.value.kind.describe());
                let message = format!("`{name}` of `with` must be a value, not {kind}");
                let finding = Finding::error(Code::WrongType, span, message);
                let help = "write a text, a number, true, false, or a list of them";
                reader.report(finding.help(help));
                continue;
            };
            check_passed(reader, &entry.key, &value, span);
            passed.insert(entry.key.to_string(), value);
        }
        Some(Some(passed))
    }
}

fn check_passed(reader: &mut Reader<'_>, name: &str, value: &Value, span: Option<Span>) {
    match value {
        Value::String(text) => check_template(reader, TemplateKind::With, text, span),
        Value::Array(items) => {
            let texts = items.iter().filter_map(Value::as_str);
            if let Some(variable) = texts.flat_map(names_in).next() {
                let name = shown(name);
                let message = format!(
                    "`{name}` of `with` has `{{{variable}}}` in a list, where it is not replaced"
                );
                let finding = Finding::error(Code::UnknownVariable, span, message);
                let help = "pass a list by its name alone: `\"{outputs.plan.tasks}\"`";
                reader.report(finding.help(help));
            }
        }
        _ => {}
    }
}

/// The name of a list: one placeholder.
pub(crate) struct ListName;

impl KeyType for ListName {
    type Value = Option<Subject>;
    const SHAPE: Shape = Shape::new(
        || json!({"type": "string", "pattern": r"^\{(inputs\.[A-Za-z0-9_-]+|outputs\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+)\}$"}),
        "`{outputs.<phase>.<name>}` or `{inputs.<name>}`",
    );

    fn read(reader: &mut Reader<'_>, written: Written<'_>) -> Option<Option<Subject>> {
        let text = written.kind().text().unwrap_or_default();
        let is_list =
            |subject: &Subject| matches!(subject, Subject::Input(_) | Subject::Output { .. });
        let Some(subject) = only_name(text).filter(is_list) else {
            let of = written.key.name;
            let message = format!("`{of}` must be the name of a list, as one placeholder");
            let finding = Finding::error(Code::WrongType, written.span(), message);
            return reader.refuse(finding.help(written.key.for_example()));
        };
        check_template(reader, TemplateKind::With, text, written.span());
        Some(Some(subject))
    }
}

/// A value that a workflow returns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Returned {
    /// Its name.
    pub name: String,
    /// The id of the phase that hands it over.
    pub phase: String,
    /// The name that it has there.
    pub output: String,
}

impl Returned {
    /// What it is in its workflow.
    pub(crate) fn subject(&self) -> Subject {
        Subject::Output {
            phase: self.phase.clone(),
            name: self.output.clone(),
        }
    }
}

/// What a workflow returns, by name.
pub(crate) struct ReturnedOutputs;

impl KeyType for ReturnedOutputs {
    type Value = Vec<Returned>;
    const SHAPE: Shape = Shape::new(
        || {
            let of_phase = r"^\{outputs\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\}$";
            named(&json!({"type": "string", "pattern": of_phase}))
        },
        "map of `{outputs.<phase>.<name>}`",
    );

    fn read(reader: &mut Reader<'_>, written: Written<'_>) -> Option<Vec<Returned>> {
        let expected = "a map of names to outputs of its phases";
        let mut returned = Vec::new();
        for entry in written.entries(reader, expected, "`outputs` names nothing")? {
            let span = entry.span();
            let text = entry.value.kind.text().unwrap_or_default();
            if !is_name(&entry.key) {
                reader.report(not_a_name("an output", &entry.key, entry.key_span));
            } else if let Some(Subject::Output { phase, name }) = only_name(text) {
                check_template(reader, TemplateKind::With, text, span);
                returned.push(Returned {
                    name: entry.key.to_string(),
                    phase,
                    output: name,
                });
            } else {
                let name = shown(&entry.key);
                let message =
                    format!("the output `{name}` must be that of a phase, as one placeholder");
                let finding = Finding::error(Code::WrongType, span, message);
                reader.report(finding.help(written.key.for_example()));
            }
        }
        Some(returned)
    }
}
