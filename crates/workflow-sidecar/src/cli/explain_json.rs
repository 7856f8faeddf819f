//! The rows of `explain --format json`.

use serde::ser::{Serialize, SerializeMap, Serializer};
use workflow_core::diagnostic::Location;
use workflow_core::explain::{OriginKind, Row, Topic, Value};

/// Rows as nested maps: sections, keys, and the value with its source.
pub(super) struct Sections<'a>(pub(super) &'a [Row]);

struct OneSection<'a>(&'a [Row], Topic);

struct OneRow<'a>(&'a Row);

pub(super) struct OneValue<'a>(pub(super) &'a Value);

impl Serialize for Sections<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for section in Topic::ALL {
            if self.0.iter().any(|row| row.topic == section) {
                map.serialize_entry(section.name(), &OneSection(self.0, section))?;
            }
        }
        map.end()
    }
}

impl Serialize for OneSection<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let rows = self.0.iter().filter(|row| row.topic == self.1);
        let mut map = serializer.serialize_map(None)?;
        let mut listed: Vec<&str> = Vec::new();
        for row in rows.clone() {
            if !REPEATED.contains(&row.key) {
                map.serialize_entry(row.key, &OneRow(row))?;
            } else if !listed.contains(&row.key) {
                listed.push(row.key);
                let alike = rows.clone().filter(|other| other.key == row.key);
                let alike: Vec<OneRow<'_>> = alike.map(OneRow).collect();
                map.serialize_entry(row.key, &alike)?;
            }
        }
        map.end()
    }
}

/// Keys that can occur several times; their values are always a list.
const REPEATED: [&str; 12] = [
    "input",
    "output",
    "outcome",
    "when",
    "budget",
    "allowedAround",
    "allow",
    "ask",
    "block",
    "results",
    "gate",
    "trigger",
];

/// Splits a location into file and line; the location of a guard is a single text.
fn file_and_line(location: &Location) -> (&str, Option<u32>) {
    let written = location.file.rsplit_once(':');
    let guards = written.and_then(|(file, line)| Some((file, line.parse().ok()?)));
    match (location.line(), guards) {
        (None, Some((file, line))) => (file, Some(line)),
        (line, _) => (&location.file, line),
    }
}

impl Serialize for OneRow<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("value", &OneValue(&self.0.value))?;
        if let Some(origin) = &self.0.origin {
            map.serialize_entry("from", origin.kind.name())?;
            if let OriginKind::Settings(tier) = origin.kind {
                map.serialize_entry("tier", &tier)?;
            }
            if let Some(location) = &origin.location {
                let (file, line) = file_and_line(location);
                map.serialize_entry("file", file)?;
                if let Some(line) = line {
                    map.serialize_entry("line", &line)?;
                }
            }
        }
        map.end()
    }
}

impl Serialize for OneValue<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::None => serializer.serialize_none(),
            Value::Flag(flag) => serializer.serialize_bool(*flag),
            Value::Count(count) => serializer.serialize_u64(*count),
            Value::Names(names) => names.serialize(serializer),
            Value::Label(text) | Value::Text(text) | Value::Part(text) => {
                text.serialize(serializer)
            }
        }
    }
}
