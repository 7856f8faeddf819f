//! The reader of the keys of one map, which reports unknown keys.

use std::borrow::Cow;

use super::key::{Default, Key, NoValue, Written};
use super::names::listed;
use super::reader::Reader;
use super::section::Section;
use super::typed::{KeyType, Typed};
use super::unknown_keys;
use crate::definition::syntax::{Entry, Kind, Map, Span};
use crate::diagnostic::{Code, Finding};

/// A map, and the state of reading its keys.
pub(crate) struct MapReader<'r, 'a, 'm> {
    pub(crate) reader: &'r mut Reader<'a>,
    map: &'m Map<'m>,
    pub(crate) section: &'static Section,
    /// Where the map is the value of a key.
    pub(crate) of: Option<Written<'m>>,
    /// The location of what is missing in the map.
    pub(crate) start: Option<Span>,
    /// The keys that have no meaning here.
    unknown: Vec<&'m Entry<'m>>,
    /// True if the keys are required that a workflow needs to be started.
    pub(crate) is_started: bool,
    /// True if no required key was missing or unreadable.
    pub(crate) is_complete: bool,
    /// The keys that are there, with a value that could not be read or with none.
    unreadable: Vec<&'static str>,
}

impl<'r, 'a, 'm> MapReader<'r, 'a, 'm> {
    /// Begins with the keys that have no meaning. `span` is the location of the map.
    pub(crate) fn new(
        reader: &'r mut Reader<'a>,
        section: &'static Section,
        map: &'m Map<'m>,
        span: Option<Span>,
    ) -> Self {
        let unknown = unknown_keys::report(reader, section, map);
        Self {
            reader,
            of: None,
            start: map.first_key().or(span),
            map,
            section,
            unknown,
            is_started: false,
            is_complete: true,
            unreadable: Vec::new(),
        }
    }

    /// The first of several keys that is there. None is reported.
    pub(crate) fn first_of(
        &mut self,
        names: &[&'static str],
        help: impl Into<Cow<'static, str>>,
    ) -> Option<&'static str> {
        let known = names.iter().copied();
        let first = known.clone().find(|name| self.has(name));
        if first.is_none() {
            let message = format!("{} needs one of {}", self.section.name, listed(known));
            self.report(Finding::error(Code::MissingKey, self.start, message).help(help));
        }
        first
    }

    /// Reports more than one of several keys, and returns true if there are.
    pub(crate) fn has_several(
        &mut self,
        names: &[&str],
        help: impl Into<Cow<'static, str>>,
    ) -> bool {
        let mut there = names.iter().filter_map(|name| self.map.get(name));
        let (Some(first), Some(second)) = (there.next(), there.next()) else {
            return false;
        };
        let (what, first, span) = (self.section.name, &first.key, second.key_span);
        let message = format!("{what} cannot have both `{first}` and `{}`", second.key);
        self.report(Finding::error(Code::BothLists, span, message).help(help));
        true
    }

    /// Returns true if a key is there, with a value or without.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.map.get(key).is_some()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.map.entries.is_empty()
    }

    /// The entry of a key that has a value.
    pub(crate) fn entry(&self, key: &str) -> Option<&'m Entry<'m>> {
        let entry = self.map.get(key)?;
        (entry.value.kind != Kind::Null).then_some(entry)
    }

    pub(crate) fn report(&mut self, finding: Finding) {
        self.reader.report(finding);
    }

    /// Reads a key, and gives its value if it could be read.
    pub(crate) fn get<T: KeyType>(&mut self, typed: &Typed<T>) -> Option<T::Value> {
        let mut key = typed.key;
        if self.is_started && key.default == Default::RequiredToStart {
            key.default = Default::Required;
        }
        let entry = self.take(&key);
        let value = entry.and_then(|entry| T::read(self.reader, Written { key: &key, entry }));
        if value.is_none() {
            self.unreadable.push(key.name);
            self.is_complete &= !key.is_required();
        }
        value
    }

    /// What is written at a key, for a value that depends on other keys.
    pub(crate) fn written<T>(&mut self, typed: &'m Typed<T>) -> Option<Written<'m>> {
        let key = &typed.key;
        let entry = self.take(key)?;
        Some(Written { key, entry })
    }

    /// The entry of a key. It is reported if it is missing, or has no value.
    fn take(&mut self, key: &Key) -> Option<&'m Entry<'m>> {
        let Some(entry) = self.map.get(key.name) else {
            if key.is_required() {
                self.report(missing(key, self.start, "is missing"));
            }
            return None;
        };
        if entry.value.kind == Kind::Null && key.no_value != NoValue::WrongType {
            self.report(without_value(key, entry.key_span));
            return None;
        }
        Some(entry)
    }

    /// Returns true if a key is there, and its value could not be read.
    pub(crate) fn is_unreadable<T>(&self, typed: &Typed<T>) -> bool {
        self.is_lost(typed.key.name)
    }

    /// The same of a key by its name.
    pub(crate) fn is_lost(&self, key: &str) -> bool {
        self.has(key) && self.unreadable.contains(&key)
    }

    /// Returns true if every key has a meaning.
    pub(crate) fn all_known(&self) -> bool {
        self.unknown.is_empty()
    }

    /// The unknown keys that may be misspelled guards, each as the guard that it resembles.
    pub(crate) fn lost_guards(&self) -> Vec<(&'static str, Option<Span>)> {
        let guard = |key| unknown_keys::lost_guard(self.reader.sections, key);
        let unknown = self.unknown.iter();
        let lost = unknown.filter_map(|entry| Some((guard(&entry.key)?, entry.key_span)));
        lost.collect()
    }

    /// The locations of the keys that could not be read, and of the map if it has an unknown one.
    pub(crate) fn lost(&self) -> impl Iterator<Item = Option<Span>> {
        let lost = self.unreadable.iter().filter_map(|key| self.map.get(key));
        let lost = lost.map(Entry::span);
        lost.chain((!self.all_known()).then_some(self.start))
    }

    /// The entry of a key that has a value, which may be wrong.
    pub(crate) fn place<T>(&self, typed: &Typed<T>) -> Option<&'m Entry<'m>> {
        let entry = self.map.get(typed.key.name)?;
        let has_value = entry.value.kind != Kind::Null || typed.key.no_value == NoValue::WrongType;
        has_value.then_some(entry)
    }

    /// The location of a key, which may have no value.
    pub(crate) fn key_of<T>(&self, typed: &Typed<T>) -> Option<Span> {
        self.map.get(typed.key.name)?.key_span
    }

    /// The location of the value of a key.
    pub(crate) fn span_of<T>(&self, typed: &Typed<T>) -> Option<Span> {
        self.place(typed)?.value.span
    }
}

/// The finding about a required key that is missing or empty.
pub(crate) fn missing(key: &Key, span: Option<Span>, why: &str) -> Finding {
    let (name, example) = (key.name, key.example);
    let finding = Finding::error(Code::MissingKey, span, format!("`{name}` {why}"));
    finding.help(format!("write `{name}: {example}`, for example"))
}

fn without_value(key: &Key, span: Option<Span>) -> Finding {
    if key.is_required() {
        return missing(key, span, "has no value");
    }
    let message = format!("`{}` has no value", key.name);
    if key.no_value == NoValue::Refuse {
        Finding::error(Code::MissingKey, span, message).help("give it a value, or remove it")
    } else {
        let message = format!("{message}: the default is used");
        Finding::warning(Code::NoValue, span, message)
    }
}
