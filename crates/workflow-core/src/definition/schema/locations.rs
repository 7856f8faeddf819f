//! The locations of the keys of a map, for what explains or checks definitions that were loaded.

use std::collections::BTreeMap;

use crate::definition::syntax::{Entry, Kind, Map, Node, Source, Span};
use crate::diagnostic::Location;

/// The locations of the keys of one map, and of the maps in it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct KeyLocations(BTreeMap<(String, Option<String>), Location>);

impl KeyLocations {
    /// The location of a key. `["continue", "max"]` is a key of a map in the map; where it is not written out,
    /// the location is that of the key around it.
    #[must_use]
    pub fn of(&self, key: &[&str]) -> Option<&Location> {
        let (outer, inner) = (key.first()?, key.get(1));
        let location = |inner: Option<&&str>| {
            let inner = inner.map(|&inner| inner.to_owned());
            self.0.get(&((*outer).to_owned(), inner))
        };
        location(inner).or_else(|| location(None))
    }

    /// The location of an item of a list in a map: `["tools", "rules"]` and the index of a rule.
    #[must_use]
    pub fn of_item(&self, key: [&str; 2], at: usize) -> Option<&Location> {
        self.of(&[key[0], &item_name(key[1], at)])
    }

    /// The locations of the items of a list.
    pub fn items<'k>(&'k self, list: &'k str) -> impl Iterator<Item = &'k Location> {
        (0..).map_while(move |at| self.0.get(&(list.to_owned(), Some(item_name("", at)))))
    }

    pub(super) fn new(source: &Source, map: &Map<'_>) -> Self {
        let mut locations = BTreeMap::new();
        for entry in written(map) {
            let mut add = |inner: Option<String>, span| {
                locations.insert((entry.key.to_string(), inner), source.location(span));
            };
            add(None, entry.key_span);
            for (name, span) in items("", &entry.value) {
                add(Some(name), span);
            }
            let Kind::Map(inner) = &entry.value.kind else {
                continue;
            };
            for inner in written(inner) {
                for (name, span) in items(&inner.key, &inner.value) {
                    add(Some(name), span);
                }
                add(Some(inner.key.to_string()), inner.key_span);
            }
        }
        Self(locations)
    }

    /// Adds a key that is written outside of the map.
    pub(super) fn add(&mut self, key: &str, location: Location) {
        self.0.insert((key.to_owned(), None), location);
    }
}

/// The entries with a value. A key without one is taken as absent.
fn written<'m>(map: &'m Map<'m>) -> impl Iterator<Item = &'m Entry<'m>> {
    let entries = map.entries.iter();
    entries.filter(|entry| entry.value.kind != Kind::Null)
}

/// The items of a list with their names and locations.
fn items(list: &str, node: &Node<'_>) -> Vec<(String, Option<Span>)> {
    let Kind::List(items) = &node.kind else {
        return Vec::new();
    };
    let named = items.iter().enumerate();
    named
        .map(|(at, item)| (item_name(list, at), item.start()))
        .collect()
}

/// The name of an item of a list, which is not a name of a key.
fn item_name(list: &str, at: usize) -> String {
    format!("{list}[{at}]")
}
