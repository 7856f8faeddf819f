//! Conditions under which a phase is entered.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Number, Value, json};

use crate::definition::schema::{KeyType, Reader, Shape, Written, map_to, one_or_list, only};
use crate::definition::syntax::{Entry, Kind, Map, Node};
use crate::definition::value::{is_name, nodes, scalar, words};
use crate::diagnostic::{Code, Finding, shown};
use crate::pattern::ProjectGlob;
use crate::text::join;

/// A condition of `when`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Condition {
    /// A value of the run is as it must be.
    Is(Comparison),
    /// All comparisons of one of these groups hold.
    Any {
        /// The groups.
        any: Vec<Vec<Comparison>>,
    },
}

/// A value of a run, and what it must be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comparison {
    /// The value.
    pub subject: Subject,
    /// What it must be.
    #[serde(flatten)]
    pub test: Test,
}

/// What a value must be. One that there is not yet equals nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Test {
    /// One of some values. A list must contain one of them.
    Values {
        /// The values.
        values: Vec<Value>,
        /// True if it must be none of them.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        negated: bool,
    },
    /// All of `change.paths` match one of some globs.
    Only {
        /// The globs.
        only: Vec<Value>,
    },
    /// A number, or the length of a list, within bounds.
    Within {
        /// The smallest one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        min: Option<Number>,
        /// The largest one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max: Option<Number>,
    },
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
    /// `outcome.<phase>`: the outcome with which a phase was left last.
    Outcome(String),
    /// `answer.<phase>.choice`: the user's last answer to the approval of a phase.
    Choice(String),
    /// `answer.<phase>.comment`: the comment with it.
    Comment(String),
    /// `visits.<phase>`: the number of entries into a phase of the same workflow.
    Visits(String),
    /// `item`: the item of a loop; only in `with`.
    Item,
    /// `item.number`, from 1.
    ItemNumber,
    /// `item.count`.
    ItemCount,
    /// `change.files`, `change.lines` or `change.paths`: what was changed since the start of the run.
    Change(Fact),
}

words! {
    /// A fact of what was changed since the start of a run.
    pub enum Fact {
        /// The number of files.
        "files" => Files,
        /// The number of lines, added and removed.
        "lines" => Lines,
        /// The paths of the files, relative to the project.
        "paths" => Paths,
    }
}

impl Subject {
    /// The value with a name; `None` if that is not valid.
    pub(crate) fn named(text: &str) -> Option<Self> {
        let parts: Vec<&str> = text.split('.').collect();
        if !parts.iter().all(|part| is_name(part)) {
            return None;
        }
        let owned = |part: &&str| (*part).to_owned();
        Some(match &*parts {
            ["inputs", name] => Self::Input(owned(name)),
            ["outputs", phase, name] => Self::Output {
                phase: owned(phase),
                name: owned(name),
            },
            ["outcome", phase] => Self::Outcome(owned(phase)),
            ["answer", phase, "choice"] => Self::Choice(owned(phase)),
            ["answer", phase, "comment"] => Self::Comment(owned(phase)),
            ["visits", phase] => Self::Visits(owned(phase)),
            ["change", fact] => Self::Change(Fact::named(fact)?),
            ["item"] => Self::Item,
            ["item", "number"] => Self::ItemNumber,
            ["item", "count"] => Self::ItemCount,
            _ => return None,
        })
    }

    /// Returns true if it is the item of a loop, or its place.
    pub(crate) fn is_item(&self) -> bool {
        matches!(self, Self::Item | Self::ItemNumber | Self::ItemCount)
    }

    /// The phase that gives it its value.
    pub(crate) fn producer(&self) -> Option<&str> {
        match self {
            Self::Output { phase, .. }
            | Self::Outcome(phase)
            | Self::Choice(phase)
            | Self::Comment(phase) => Some(phase),
            _ => None,
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(name) => write!(f, "inputs.{name}"),
            Self::Output { phase, name } => write!(f, "outputs.{phase}.{name}"),
            Self::Outcome(phase) => write!(f, "outcome.{phase}"),
            Self::Choice(phase) => write!(f, "answer.{phase}.choice"),
            Self::Comment(phase) => write!(f, "answer.{phase}.comment"),
            Self::Visits(phase) => write!(f, "visits.{phase}"),
            Self::Change(fact) => write!(f, "change.{}", fact.word()),
            Self::Item => f.write_str("item"),
            Self::ItemNumber => f.write_str("item.number"),
            Self::ItemCount => f.write_str("item.count"),
        }
    }
}

impl Condition {
    /// Its comparisons, in the order in which they are written.
    pub fn comparisons(&self) -> impl Iterator<Item = &Comparison> {
        let (one, any) = match self {
            Self::Is(comparison) => (Some(comparison), &[][..]),
            Self::Any { any } => (None, &**any),
        };
        one.into_iter().chain(any.iter().flatten())
    }

    /// Returns true if it holds, where a function says which comparisons do.
    pub(crate) fn holds(&self, holds: impl Fn(&Comparison) -> bool) -> bool {
        match self {
            Self::Is(comparison) => holds(comparison),
            Self::Any { any } => any.iter().any(|group| group.iter().all(&holds)),
        }
    }
}

impl Test {
    /// Returns true if a value is as it must be; `None` is none yet.
    pub fn holds(&self, value: Option<&Value>) -> bool {
        match self {
            Self::Values { values, negated } => {
                let is_one = |value: &Value| values.iter().any(|one| same(one, value));
                let is_one = value.is_some_and(|value| match value {
                    Value::Array(items) => items.iter().any(is_one),
                    value => is_one(value),
                });
                is_one != *negated
            }
            // Only the measured change knows its paths.
            Self::Only { .. } => true,
            Self::Within { min, max } => value.is_some_and(|value| {
                let number = match value {
                    Value::Array(items) => Number::from(items.len()).as_f64(),
                    value => value.as_f64(),
                };
                let bound = |bound: &Option<Number>| bound.as_ref().and_then(Number::as_f64);
                number.is_some_and(|number| {
                    bound(min).is_none_or(|min| min <= number)
                        && bound(max).is_none_or(|max| number <= max)
                })
            }),
        }
    }

    /// The globs of a test of paths.
    pub(crate) fn globs(&self) -> Option<Vec<String>> {
        match self {
            Self::Values { values: globs, .. } | Self::Only { only: globs } => {
                Some(globs.iter().map(value_text).collect())
            }
            Self::Within { .. } => None,
        }
    }
}

/// Compares values; numbers by their value, so that `1` is `1.0`.
fn same(one: &Value, other: &Value) -> bool {
    match (one.as_f64(), other.as_f64()) {
        (Some(one), Some(other)) => one.total_cmp(&other).is_eq(),
        _ => one == other,
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Is(comparison) => comparison.fmt(f),
            Self::Any { any } => {
                let group = |group: &Vec<Comparison>| {
                    join(group.iter().map(Comparison::to_string), " and ")
                };
                write!(f, "({})", join(any.iter().map(group), ", or "))
            }
        }
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.subject, self.test)
    }
}

impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Values { values, negated } => {
                let verb = if *negated { "is not" } else { "is" };
                write!(f, "{verb} {}", join(values.iter().map(value_text), " or "))
            }
            Self::Only { only } => {
                write!(f, "is only {}", join(only.iter().map(value_text), " or "))
            }
            Self::Within { min, max } => match (min, max) {
                (Some(min), Some(max)) => write!(f, "is from {min} to {max}"),
                (Some(min), None) => write!(f, "is at least {min}"),
                (None, Some(max)) => write!(f, "is at most {max}"),
                (None, None) => write!(f, "is any"),
            },
        }
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

/// The key of groups of comparisons, one of which must hold.
const ANY: &str = "any";

impl KeyType for Conditions {
    type Value = Vec<Condition>;
    const SHAPE: Shape = Shape::new(
        || {
            let value = json!({"type": ["string", "number", "boolean"]});
            let values = one_or_list(&value);
            let name = "[A-Za-z0-9_-]+";
            let subject = format!(
                "^(inputs\\.{name}|outputs\\.{name}\\.{name}|(outcome|visits)\\.{name}|answer\\.{name}\\.(choice|comment)|change\\.(files|lines|paths))$"
            );
            let within = json!({
                "type": "object",
                "minProperties": 1,
                "properties": {"min": {"type": "number"}, "max": {"type": "number"}},
                "additionalProperties": false,
            });
            let test =
                json!({"anyOf": [values, only("not", &values), only("only", &values), within]});
            let mut group = map_to(&test);
            group["propertyNames"] = json!({"pattern": subject});
            json!({
                "type": "object",
                "minProperties": 1,
                "properties": {ANY: {"type": "array", "minItems": 1, "items": group}},
                "patternProperties": {subject: test},
                "additionalProperties": false,
            })
        },
        "map of values",
    );

    fn read(reader: &mut Reader<'_>, written: Written<'_>) -> Option<Vec<Condition>> {
        let expected = "a map of values of the run to what they must be";
        let entries = written.entries(reader, expected, "`when` has no condition")?;
        let mut conditions = Vec::new();
        for entry in entries {
            conditions.extend(if entry.key == ANY {
                any(reader, entry)
            } else {
                comparison(reader, entry).map(Condition::Is)
            });
        }
        Some(conditions)
    }
}

/// Reads groups of comparisons, one of which must hold.
fn any(reader: &mut Reader<'_>, entry: &Entry<'_>) -> Option<Condition> {
    let groups = match &entry.value.kind {
        Kind::List(groups) => groups.iter().map(|group| group.kind.map()).collect(),
        _ => None,
    };
    let is_filled = |group: &&Map<'_>| !group.entries.is_empty();
    let groups = groups.filter(|groups: &Vec<&Map<'_>>| groups.iter().all(is_filled));
    let Some(groups) = groups.filter(|groups| !groups.is_empty()) else {
        let message = "`any` takes a list of maps like `when`, none of them empty";
        let span = entry.span();
        let help = "write `any: [{inputs.hotfix: true}, {visits.build: {min: 2}}]`";
        return reader.refuse(Finding::error(Code::WrongType, span, message).help(help));
    };
    let groups = groups.into_iter().map(|group| {
        let entries = group.entries.iter();
        let comparisons = entries.filter_map(|entry| comparison(reader, entry));
        comparisons.collect()
    });
    let any = groups.collect();
    Some(Condition::Any { any })
}

/// Reads a value and what it must be, and notes its location.
fn comparison(reader: &mut Reader<'_>, entry: &Entry<'_>) -> Option<Comparison> {
    match read_comparison(entry) {
        Ok(comparison) => {
            reader.sites.when.push(entry.key_span);
            Some(comparison)
        }
        Err(finding) => reader.refuse(finding),
    }
}

fn read_comparison(entry: &Entry<'_>) -> Result<Comparison, Finding> {
    let key = &*entry.key;
    if key == ANY {
        let message = "`any` inside `any` has no meaning";
        let finding = Finding::error(Code::UnknownSubject, entry.key_span, message);
        return Err(finding.help("write each group into the outer list"));
    }
    let Some(subject) = Subject::named(key) else {
        let message = format!("`{}` cannot be a condition of `when`", shown(key));
        let finding = Finding::error(Code::UnknownSubject, entry.key_span, message);
        return Err(finding.help(Code::UnknownSubject.help()));
    };
    let is_paths = subject == Subject::Change(Fact::Paths);
    let no_paths = || {
        let message =
            format!("`{key}` takes globs of the project, `{{not: globs}}` or `{{only: globs}}`");
        let finding = Finding::error(Code::WrongType, entry.span(), message);
        finding.help(format!("write `{key}: [migrations/**]`"))
    };
    let (node, way) = match &entry.value.kind {
        Kind::Map(inner) => match &*inner.entries {
            [one] if one.key == "not" || is_paths && one.key == "only" => (&one.value, &*one.key),
            _ if is_paths => return Err(no_paths()),
            bounds => {
                let test = within(bounds).ok_or_else(|| {
                    let message = format!(
                        "`{key}` takes a value, a list, `{{not: value}}` or `{{min: 1, max: 3}}`"
                    );
                    let finding = Finding::error(Code::WrongType, entry.value.span, message);
                    finding.help(format!("write `{key}: {{not: value}}`"))
                })?;
                return Ok(Comparison { subject, test });
            }
        },
        _ => (&entry.value, ""),
    };
    let Some(values) = values_of(node) else {
        let kind = node.kind.describe();
        let message =
            format!("`{key}` must be compared with texts, numbers, true or false, not {kind}");
        let finding = Finding::error(Code::WrongType, node.span.or(entry.key_span), message);
        return Err(finding.help("write a value, a list of which it is one, or `{not: value}`"));
    };
    let negated = way == "not";
    let test = match way {
        "only" => Test::Only { only: values },
        _ => Test::Values { values, negated },
    };
    let is_glob = |glob: &String| ProjectGlob::read(glob).is_none_or(|read| read.is_ok());
    let fits = |globs: Vec<String>| globs.iter().all(is_glob);
    if is_paths && !test.globs().is_some_and(fits) {
        return Err(no_paths());
    }
    Ok(Comparison { subject, test })
}

/// Bounds of a number: `min`, `max` or both.
fn within(bounds: &[Entry<'_>]) -> Option<Test> {
    let (mut min, mut max) = (None, None);
    for bound in bounds {
        let Value::Number(number) = bound.value.value() else {
            return None;
        };
        match &*bound.key {
            "min" => min = Some(number),
            "max" => max = Some(number),
            _ => return None,
        }
    }
    (!bounds.is_empty()).then_some(Test::Within { min, max })
}

/// The values of a value or a list of them, at least one.
fn values_of(node: &Node<'_>) -> Option<Vec<Value>> {
    let values: Vec<Value> = nodes(node).iter().map(scalar).collect::<Option<_>>()?;
    (!values.is_empty()).then_some(values)
}
