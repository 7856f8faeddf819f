//! Conditions under which a phase is entered.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::parameter::scalar;
use crate::definition::schema::{KeyType, Reader, Shape, Written};
use crate::definition::syntax::{Entry, Kind, Node};
use crate::definition::value::{is_name, nodes};
use crate::diagnostic::{Code, Finding, shown};

/// A condition of `when`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Condition {
    /// The value it is about.
    pub subject: Subject,
    /// The allowed values.
    pub values: Vec<Value>,
    /// True if it must be none of them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub negated: bool,
}

/// The value that a condition is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Subject {
    /// `inputs.<name>`.
    Input(String),
    /// `outputs.<phase>.<name>`.
    Output {
        /// The id of the phase.
        phase: String,
        /// The name of the output.
        name: String,
    },
    /// `visits.<phase>`: the number of entries into a phase of the same workflow.
    Visits(String),
}

impl Subject {
    /// The value with a name; `None` if that is not valid.
    pub(crate) fn named(text: &str) -> Option<Self> {
        let parts: Vec<&str> = text.split('.').collect();
        let names = parts.iter().all(|part| is_name(part));
        match (&*parts, names) {
            (["inputs", name], true) => Some(Self::Input((*name).to_owned())),
            (["visits", phase], true) => Some(Self::Visits((*phase).to_owned())),
            (["outputs", phase, name], true) => Some(Self::Output {
                phase: (*phase).to_owned(),
                name: (*name).to_owned(),
            }),
            _ => None,
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(name) => write!(f, "inputs.{name}"),
            Self::Output { phase, name } => write!(f, "outputs.{phase}.{name}"),
            Self::Visits(phase) => write!(f, "visits.{phase}"),
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let values: Vec<String> = self.values.iter().map(value_text).collect();
        let verb = if self.negated { "is not" } else { "is" };
        write!(f, "{} {verb} {}", self.subject, values.join(" or "))
    }
}

/// A value as people write it: a text without quotes.
pub(crate) fn value_text(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// A map of values of a run to what they must be.
pub(crate) struct Conditions;

impl KeyType for Conditions {
    type Value = Vec<Condition>;
    const SHAPE: Shape = Shape::new(
        || {
            let value = json!({"type": ["string", "number", "boolean"]});
            let values =
                json!({"anyOf": [value, {"type": "array", "minItems": 1, "items": value}]});
            json!({
                "type": "object",
                "minProperties": 1,
                "propertyNames": {"pattern": "^(inputs\\.[A-Za-z0-9_-]+|outputs\\.[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+|visits\\.[A-Za-z0-9_-]+)$"},
                "additionalProperties": {"anyOf": [values, {
                    "type": "object",
                    "properties": {"not": values},
                    "required": ["not"],
                    "additionalProperties": false,
                }]},
            })
        },
        || "map of values".to_owned(),
    );

    fn read(reader: &mut Reader<'_>, written: Written<'_>) -> Option<Vec<Condition>> {
        let expected = "a map of values of the run to what they must be";
        let entries = written.entries(reader, expected, "`when` has no condition")?;
        let mut conditions = Vec::new();
        for entry in entries {
            match condition(entry) {
                Ok(condition) => {
                    reader.sites.when.push(entry.key_span);
                    conditions.push(condition);
                }
                Err(finding) => reader.report(finding),
            }
        }
        Some(conditions)
    }
}

fn condition(entry: &Entry<'_>) -> Result<Condition, Finding> {
    let Some(subject) = Subject::named(&entry.key) else {
        let message = format!("`{}` cannot be a condition of `when`", shown(&entry.key));
        let finding = Finding::error(Code::UnknownSubject, entry.key_span, message);
        let help = "write `inputs.<name>`, `outputs.<phase>.<name>` or `visits.<phase>`";
        return Err(finding.help(help));
    };
    let (node, negated) = match &entry.value.kind {
        Kind::Map(inner) => match &*inner.entries {
            [only] if only.key == "not" => (&only.value, true),
            _ => {
                let message = format!("`{}` takes a value, a list or `{{not: value}}`", entry.key);
                let finding = Finding::error(Code::WrongType, entry.value.span, message);
                return Err(finding.help(format!("write `{}: {{not: value}}`", entry.key)));
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
        let finding = Finding::error(Code::WrongType, node.span.or(entry.key_span), message);
        return Err(finding.help("write a value, a list of which it is one, or `{not: value}`"));
    };
    Ok(Condition {
        subject,
        values,
        negated,
    })
}

/// The values of a value or a list of them, at least one.
fn values_of(node: &Node<'_>) -> Option<Vec<Value>> {
    let values: Vec<Value> = nodes(node).iter().map(scalar).collect::<Option<_>>()?;
    (!values.is_empty()).then_some(values)
}
