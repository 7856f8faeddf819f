//! The declaration of a key: its type, its default, its treatment when it is wrong.

use serde_json::Value;

use crate::definition::guard_text::GuardText;
use crate::definition::syntax::{Entry, Kind, Node, Span};
use crate::diagnostic::{Finding, Severity};
use crate::template::TemplateKind;

/// What the schema and the documents say of a type.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    /// Its JSON Schema.
    pub(crate) schema: fn() -> Value,
    /// Its name in the tables of the documents.
    pub(crate) described: &'static str,
    /// The same where its parameters decide it.
    pub(crate) describe: Option<fn() -> String>,
    /// The pattern of a text where the key is required.
    pub(crate) pattern: &'static str,
    /// The finding about a value of another type, with the form that it most likely means.
    pub(crate) meant: Meant,
}

/// The finding about a wrong value, with what it most likely means.
pub(crate) type Meant = fn(Finding, Written<'_>) -> Option<Finding>;

impl Shape {
    pub(crate) const fn new(schema: fn() -> Value, described: &'static str) -> Self {
        Self {
            schema,
            described,
            describe: None,
            pattern: "\\S",
            meant: |_, _| None,
        }
    }

    pub(crate) const fn of(schema: fn() -> Value, describe: fn() -> String) -> Self {
        let describe = Some(describe);
        Self {
            describe,
            ..Self::new(schema, "")
        }
    }

    pub(crate) const fn meant(self, meant: Meant) -> Self {
        Self { meant, ..self }
    }

    /// Its name in the tables of the documents.
    pub(crate) fn described_type(&self) -> String {
        let described = || self.described.to_owned();
        self.describe.map_or_else(described, |describe| describe())
    }
}

/// What a file has at a key.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Written<'n> {
    pub(crate) key: &'n Key,
    pub(crate) entry: &'n Entry<'n>,
}

impl<'n> Written<'n> {
    pub(crate) fn kind(self) -> &'n Kind<'n> {
        &self.entry.value.kind
    }

    pub(crate) fn span(self) -> Option<Span> {
        self.entry.value.span
    }

    /// The same with some items of a list.
    pub(crate) fn with_list(self, items: Vec<Node<'n>>) -> Entry<'n> {
        let kind = Kind::List(items);
        let value = Node {
            kind,
            ..self.entry.value.clone()
        };
        Entry {
            value,
            ..self.entry.clone()
        }
    }
}

/// The declaration of a key.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// Its name in a file.
    pub name: &'static str,
    /// Its value where it is absent.
    pub default: Default,
    /// Its purpose, in a sentence.
    pub summary: &'static str,
    /// A value that makes sense, as JSON.
    pub example: &'static str,
    /// True if it restricts the agent, so that it must not be dropped.
    pub guard: bool,
    /// What a change of it means to an active run, where that is not the usual: of a guard the stored definition holds.
    pub(crate) change: Option<Change>,
    /// True if a wrong value is an error, required or not.
    pub(crate) strict: bool,
    pub(crate) no_value: NoValue,
    /// The help for a value out of range; `None` is the example.
    pub(crate) hint: Option<&'static str>,
    /// What its texts are, where they are checked.
    pub(crate) check: Option<GuardText>,
    /// The use of a template.
    pub(crate) template: Option<TemplateKind>,
    pub(crate) shape: Shape,
}

/// What a change of a key means to a run that has begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// It restricts nothing and leads nowhere: it applies at once.
    Text,
    /// It restricts: the old value and the new one hold together, as levels of rules or by `hold_in_…` of `run/changes.rs`.
    Guard,
    /// Old and new cannot hold together, as where it decides where the run goes: the stored definition holds.
    Way,
}

/// The value of a key that is absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Default {
    /// None: the key is required.
    Required,
    /// None: the key is required in a workflow that a person starts.
    RequiredToStart,
    /// This text.
    Text(&'static str),
    /// This number.
    Number(u32),
    /// True.
    True,
    /// The value that this text describes.
    Described(&'static str),
}

/// The treatment of a key without a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoValue {
    /// A warning: the default is used.
    UseDefault,
    /// An error, as is a wrong value: a guard must not be dropped.
    Refuse,
    /// As any other value of the wrong type.
    WrongType,
}

impl Key {
    /// A key that has no default. A wrong value is a warning; of a guard it is an error, as it is to write none.
    pub(crate) const fn new(name: &'static str, doc: &'static str, of_guard: bool) -> Self {
        Self {
            name,
            default: Default::Described("none"),
            summary: doc.trim_ascii(),
            example: "",
            guard: false,
            change: None,
            strict: of_guard,
            no_value: if of_guard {
                NoValue::Refuse
            } else {
                NoValue::UseDefault
            },
            hint: None,
            check: None,
            template: None,
            shape: Shape::new(|| Value::Null, ""),
        }
    }

    /// The JSON Schema of its values.
    pub fn schema(&self) -> Value {
        (self.shape.schema)()
    }

    /// The name of its type in the tables of the documents.
    pub fn described_type(&self) -> String {
        self.shape.described_type()
    }

    pub(crate) fn is_required(&self) -> bool {
        self.default == Default::Required
    }

    /// The severity of a wrong value; a warning means that the default is used.
    pub(crate) fn severity(&self) -> Severity {
        if self.strict || self.is_required() || self.no_value == NoValue::Refuse {
            Severity::Error
        } else {
            Severity::Warning
        }
    }

    /// What a change of it means to a run that has begun.
    pub(crate) fn change(&self) -> Change {
        let usual = if self.guard {
            Change::Way
        } else {
            Change::Text
        };
        self.change.unwrap_or(usual)
    }
}
