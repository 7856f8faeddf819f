//! The reader of the keys of one map, which reports unknown keys.

use super::key::{Key, NoValue, ValueType};
use super::section::Section;
use super::typed::Typed;
use super::unknown_keys;
use super::values::{missing, wrong_type};
use crate::definition::syntax::{Entry, Kind, Map, Reader, Span};
use crate::diagnostic::{Code, Finding, Severity};

/// A map, and the state of reading its keys.
pub(in crate::definition) struct MapReader<'r, 'a, 's> {
    pub(in crate::definition) reader: &'r mut Reader<'a>,
    map: Map<'s>,
    /// The location of what is missing in the map.
    pub(in crate::definition) start: Option<Span>,
    /// True if every key has a meaning.
    pub(in crate::definition) all_known: bool,
}

/// A key of a map, and the part of its value that could be read.
#[derive(Debug)]
pub(in crate::definition) enum Field<T> {
    /// The key is not there.
    Absent,
    /// The key has no value.
    NoValue,
    /// The value is wrong, and was reported.
    Wrong {
        key_span: Option<Span>,
        span: Option<Span>,
    },
    /// The value.
    Value {
        key_span: Option<Span>,
        span: Option<Span>,
        value: T,
    },
}

impl<T> Field<T> {
    /// The value, if there is one that could be read.
    pub(in crate::definition) fn value(self) -> Option<T> {
        match self {
            Self::Value { value, .. } => Some(value),
            Self::Absent | Self::NoValue | Self::Wrong { .. } => None,
        }
    }

    /// Returns true if the key is there, and its value could not be read.
    pub(in crate::definition) fn is_unreadable(&self) -> bool {
        matches!(self, Self::NoValue | Self::Wrong { .. })
    }
}

/// The maps of a list that could be read, and the locations of what could not be.
pub(in crate::definition) struct List<T> {
    pub(in crate::definition) all: Vec<T>,
    pub(in crate::definition) lost: Vec<Option<Span>>,
}

impl<'r, 'a, 's> MapReader<'r, 'a, 's> {
    /// Begins with the keys that have no meaning. `span` is the location of the map.
    pub(in crate::definition) fn new(
        reader: &'r mut Reader<'a>,
        section: Section,
        map: Map<'s>,
        span: Option<Span>,
    ) -> Self {
        let all_known = unknown_keys::report(reader, section, &map);
        Self {
            reader,
            start: map.first_key().or(span),
            map,
            all_known,
        }
    }

    /// Returns true if a key is there, with a value or without.
    pub(in crate::definition) fn has(&self, key: &str) -> bool {
        self.map.entries.iter().any(|entry| entry.key == key)
    }

    pub(in crate::definition) fn is_empty(&self) -> bool {
        self.map.entries.is_empty()
    }

    pub(in crate::definition) fn report(&mut self, finding: Finding) {
        self.reader.report(finding);
    }

    /// Reads a key.
    pub(in crate::definition) fn field<T>(&mut self, typed: &Typed<T>) -> Field<T> {
        let key = &typed.key;
        let is_there = self.has(key.name);
        let Some(entry) = self.entry(key) else {
            if is_there {
                return Field::NoValue;
            }
            if key.is_required() {
                self.reader.report(missing(key, self.start, "is missing"));
            }
            return Field::Absent;
        };
        let (key_span, span) = (entry.key_span, entry.value.span);
        match (typed.read)(self.reader, key, &entry.value) {
            Some(value) => Field::Value {
                key_span,
                span,
                value,
            },
            None => Field::Wrong { key_span, span },
        }
    }

    /// Reads a key, and gives its value if it could be read.
    pub(in crate::definition) fn get<T>(&mut self, typed: &Typed<T>) -> Option<T> {
        self.field(typed).value()
    }

    /// Takes the entry of a key, with a value or without.
    pub(in crate::definition) fn take(&mut self, key: &Key) -> Option<Entry<'s>> {
        self.map.take(key.name)
    }

    /// Takes the entry of a key that has a value.
    pub(in crate::definition) fn entry(&mut self, key: &Key) -> Option<Entry<'s>> {
        let entry = self.map.take(key.name)?;
        if entry.value.kind != Kind::Null || key.no_value == NoValue::WrongType {
            return Some(entry);
        }
        let (name, span) = (key.name, entry.key_span);
        self.reader.report(match key.no_value {
            NoValue::Missing => missing(key, span, "has no value"),
            NoValue::Refuse => {
                Finding::error(Code::MissingKey, span, format!("`{name}` has no value"))
                    .help("give it a value, or remove it")
            }
            NoValue::UseDefault | NoValue::WrongType => {
                let message = format!("`{name}` has no value: the default is used");
                Finding::warning(Code::NoValue, span, message)
            }
        });
        None
    }

    /// Returns the location of a value if it is of this kind.
    #[expect(
        clippy::option_option,
        reason = "another kind, or one without a location"
    )]
    pub(in crate::definition) fn value_of(
        &self,
        key: &Key,
        is_kind: fn(&Kind<'_>) -> bool,
    ) -> Option<Option<Span>> {
        let mut entries = self.map.entries.iter();
        let entry = entries.find(|entry| entry.key == key.name)?;
        is_kind(&entry.value.kind).then_some(entry.value.span)
    }

    /// Takes the entry of a key that has a map, with that map.
    pub(in crate::definition) fn map(&mut self, key: &Key) -> Field<Map<'s>> {
        let is_there = self.has(key.name);
        let Some(entry) = self.entry(key) else {
            return if is_there {
                Field::NoValue
            } else {
                Field::Absent
            };
        };
        let (key_span, span) = (entry.key_span, entry.value.span);
        match entry.value.kind {
            Kind::Map(value) => Field::Value {
                key_span,
                span,
                value,
            },
            kind => {
                let section = match key.value {
                    ValueType::Map(section) => section,
                    _ => Section::Tools,
                };
                let expected = match key.value {
                    ValueType::ReadOnlyOrTools => {
                        "`read-only`, or a map with `blacklist`, `whitelist` or `rules`"
                    }
                    _ => section.expected(),
                };
                self.reader.report(wrong_type(key, expected, &kind, span));
                Field::Wrong { key_span, span }
            }
        }
    }

    /// Reads the maps of a list.
    pub(in crate::definition) fn list<T>(
        &mut self,
        key: &Key,
        read: impl Fn(&mut Reader<'_>, Map<'s>, Option<Span>) -> Option<T>,
    ) -> List<T> {
        let (mut all, mut lost) = (Vec::new(), Vec::new());
        let without_value = self.map.entries.iter().find(|entry| entry.key == key.name);
        let without_value = without_value.map(|entry| entry.key_span);
        let Some(entry) = self.entry(key) else {
            lost.extend(without_value);
            return List { all, lost };
        };
        let Kind::List(items) = entry.value.kind else {
            let (kind, span) = (&entry.value.kind, entry.value.span);
            self.reader
                .report(wrong_type(key, "a list of maps", kind, span));
            lost.push(span);
            return List { all, lost };
        };
        for item in items {
            match item.kind {
                Kind::Map(entry) => all.extend(read(self.reader, entry, item.span)),
                kind => {
                    let message = format!(
                        "an entry of `{}` must be a map, not {}",
                        key.name,
                        kind.describe()
                    );
                    self.reader.report(Finding::new(
                        Severity::Error,
                        Code::WrongType,
                        item.span,
                        message,
                    ));
                    lost.push(item.span);
                }
            }
        }
        List { all, lost }
    }
}
