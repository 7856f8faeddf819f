//! The locations of the keys of a map, for what explains or checks definitions that were loaded.

use std::collections::BTreeMap;

use crate::definition::syntax::{Kind, Map, Source};
use crate::diagnostic::Location;

/// The locations of the keys of one map, and of the maps in it: `continue`, `continue.max`, `tools.rules[0]`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct KeyLocations(BTreeMap<String, Location>);

impl KeyLocations {
    /// The location of a key. `["continue", "max"]` is a key of a map in the map, and `["tools", "rules[0]"]` an item of a
    /// list there; where it is not written out, the location is that of the key around it.
    pub fn of(&self, key: &[&str]) -> Option<&Location> {
        let written = self.0.get(&key.join("."));
        written.or_else(|| self.0.get(*key.first()?))
    }

    /// The locations of the items of a list.
    pub fn items<'k>(&'k self, list: &'k str) -> impl Iterator<Item = &'k Location> {
        (0..).map_while(move |at| self.0.get(&item_name(list, at)))
    }

    /// Adds the keys of a map whose name starts with `start`. A key without a value is taken as absent.
    pub(super) fn add_all(&mut self, source: &Source, start: &str, map: &Map<'_>) {
        let written = map.entries.iter();
        for entry in written.filter(|entry| entry.value.kind != Kind::Null) {
            let name = format!("{start}{}", entry.key);
            self.add(&name, source.location(entry.key_span));
            match &entry.value.kind {
                Kind::List(items) => {
                    for (at, item) in items.iter().enumerate() {
                        self.add(&item_name(&name, at), source.location(item.start()));
                    }
                }
                Kind::Map(map) if start.matches('.').count() < 2 => {
                    self.add_all(source, &format!("{name}."), map);
                }
                _ => {}
            }
        }
    }

    /// Adds a key that is written outside of the map.
    pub(super) fn add(&mut self, key: &str, location: Location) {
        self.0.insert(key.to_owned(), location);
    }
}

/// The name of an item of a list, which is not a name of a key.
fn item_name(list: &str, at: usize) -> String {
    format!("{list}[{at}]")
}
