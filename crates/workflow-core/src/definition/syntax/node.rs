//! The tree of values with spans that both formats are read into.

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::{Value, json};

use crate::diagnostic::{Code, Finding, Span};

/// A value and its location.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node<'s> {
    pub(crate) kind: Kind<'s>,
    /// `None` where a format's positions could not be matched: then only the file is known.
    pub(crate) span: Option<Span>,
}

/// The kind of a value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kind<'s> {
    Null,
    Bool(bool),
    Number(f64),
    Text(Cow<'s, str>),
    List(Vec<Node<'s>>),
    Map(Map<'s>),
    /// A value that a YAML tag such as `!!binary` makes something else, which no key takes: its name in messages.
    Tagged(&'static str),
}

impl<'s> Kind<'s> {
    /// The text, if it is one.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The map, if it is one.
    pub(crate) fn map(&self) -> Option<&Map<'s>> {
        match self {
            Self::Map(map) => Some(map),
            _ => None,
        }
    }

    /// Its name in messages.
    pub(crate) fn describe(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Bool(_) => "true or false",
            Self::Number(_) => "a number",
            Self::Text(_) => "text",
            Self::List(_) => "a list",
            Self::Map(_) => "a map",
            Self::Tagged(name) => name,
        }
    }
}

/// Entries in their order in the text.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Map<'s> {
    pub(crate) entries: Vec<Entry<'s>>,
}

/// A key and its value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry<'s> {
    pub(crate) key: Cow<'s, str>,
    pub(crate) key_span: Option<Span>,
    pub(crate) value: Node<'s>,
}

impl Entry<'_> {
    /// The location of its value, or else of its key.
    pub(crate) fn span(&self) -> Option<Span> {
        self.value.span.or(self.key_span)
    }
}

impl<'s> Map<'s> {
    /// The entry of a key.
    pub(crate) fn get(&self, key: &str) -> Option<&Entry<'s>> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// The location of the map's first key, for findings about missing keys.
    pub(crate) fn first_key(&self) -> Option<Span> {
        self.entries.first().and_then(|entry| entry.key_span)
    }
}

impl Node<'_> {
    /// The location of a map's first key, or of another value.
    pub(crate) fn start(&self) -> Option<Span> {
        match &self.kind {
            Kind::Map(map) => map.first_key().or(self.span),
            _ => self.span,
        }
    }

    /// The value as JSON, with the first entry of a key that comes twice.
    pub(crate) fn value(&self) -> Value {
        match &self.kind {
            Kind::Null => Value::Null,
            Kind::Bool(flag) => Value::Bool(*flag),
            Kind::Number(number) => number_value(*number),
            Kind::Text(text) => Value::from(&**text),
            // JSON has none of them: no schema of a key takes this.
            Kind::Tagged(name) => json!([null, name]),
            Kind::List(items) => items.iter().map(Node::value).collect(),
            Kind::Map(map) => {
                let entries = map.entries.iter().rev();
                let entries = entries.map(|entry| (entry.key.to_string(), entry.value.value()));
                Value::Object(entries.collect())
            }
        }
    }

    /// Drops every entry with a key that came before it in the same map, and notes it.
    pub(crate) fn drop_duplicates(&mut self, dropped: &mut Vec<(String, Option<Span>)>) {
        match &mut self.kind {
            Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::Text(_) | Kind::Tagged(_) => {}
            Kind::List(items) => {
                for item in items {
                    item.drop_duplicates(dropped);
                }
            }
            Kind::Map(map) => {
                let mut seen = HashSet::with_capacity(map.entries.len());
                map.entries.retain(|entry| {
                    let is_first = seen.insert(entry.key.clone());
                    if !is_first {
                        dropped.push((entry.key.to_string(), entry.key_span));
                    }
                    is_first
                });
                for entry in &mut map.entries {
                    entry.value.drop_duplicates(dropped);
                }
            }
        }
    }
}

/// A number as a value: a whole one without decimals, so that it equals one that was given without. JSON has no infinity and
/// no NaN.
fn number_value(number: f64) -> Value {
    const WHOLE: f64 = 9_007_199_254_740_992.0;
    if number.fract() == 0.0 && number.abs() <= WHOLE {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "it is whole and in the range"
        )]
        return Value::from(number as i64);
    }
    Value::from(number)
}

/// The help for a definition that is over a limit.
pub(crate) fn raise(limit: &str) -> String {
    format!("make it smaller, or raise `limits.{limit}` in the settings")
}

/// The limits of a tree. The number of nodes bounds the cost of aliases and of long lists of nothing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TreeLimits {
    /// Levels of maps and lists inside each other.
    pub(crate) depth: usize,
    /// Values, keys and bytes copied by aliases, together.
    pub(crate) size: usize,
}

impl TreeLimits {
    pub(crate) fn too_deep(self, span: Option<Span>) -> Finding {
        let message = format!("more than {} levels of maps and lists", self.depth);
        Finding::error(Code::OverLimit, span, message).help(raise("maxDepth"))
    }

    pub(crate) fn too_large(self, span: Option<Span>) -> Finding {
        let size = self.size;
        let message = format!("more than {size} values, counting what aliases repeat");
        Finding::error(Code::OverLimit, span, message).help("make it smaller")
    }
}
