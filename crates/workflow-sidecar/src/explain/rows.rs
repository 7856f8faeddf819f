//! The values of a phase or a workflow, for people and as JSON.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use workflow_core::explain::{Row, Topic, Value};

use crate::present::{DIMMED, Page, TITLE, count};

/// Rows, topic by topic.
pub(super) struct Topics(pub(super) Vec<Row>);

/// Width of the column of keys.
const KEYS: usize = 20;

/// Keys whose values are always a list, even of one.
#[rustfmt::skip] // Names that belong together.
const REPEATED: [&str; 16] = [
    "input", "output", "outcome", "when", "budget", "allowedAround", "writable", "commands", "unknown", "onRepeat", "allow", "ask", "block",
    "results", "gate", "trigger",
];

impl Topics {
    /// Each topic with its title and its rows, if it has any.
    fn each(&self) -> impl Iterator<Item = (Topic, &'static str, Vec<&Row>)> {
        let all = Topic::ALL.into_iter().map(|(topic, title)| {
            let rows = self.0.iter().filter(move |row| row.topic == topic);
            (topic, title, rows.collect())
        });
        all.filter(|(.., rows): &(_, _, Vec<_>)| !rows.is_empty())
    }

    /// Adds them for people.
    pub(super) fn text(&self, page: &mut Page) {
        for (_, title, rows) in self.each() {
            page.line(format_args!("\n{TITLE}{title}{TITLE:#}"));
            for row in rows {
                add_row(page, row);
            }
        }
    }
}

/// The words of a key.
pub(super) fn words(key: &str) -> String {
    let words = key.chars().flat_map(|c| {
        let space = c.is_ascii_uppercase().then_some(' ');
        space.into_iter().chain([c.to_ascii_lowercase()])
    });
    words.collect()
}

fn add_row(page: &mut Page, row: &Row) {
    let value = match &row.value {
        Value::Text(text) if text.is_empty() => "empty".to_owned(),
        Value::Text(text) => count(text.chars().count(), "character"),
        other => other.to_string(),
    };
    let origin = row.origin.as_ref();
    let origin = origin.map_or_else(String::new, |from| format!("  {DIMMED}← {from}{DIMMED:#}"));
    let key = words(row.key);
    page.line(format_args!("  {key:KEYS$} {value}{origin}"));
    if let Value::Text(text) = &row.value {
        page.block("    ", text);
    }
}

/// As nested maps: topics, keys, and the value with its source.
impl Serialize for Topics {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.each().map(|(topic, _, rows)| (topic, OfTopic(rows))))
    }
}

struct OfTopic<'a>(Vec<&'a Row>);

impl Serialize for OfTopic<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut keys: Vec<(&str, Vec<&Row>)> = Vec::new();
        for row in &self.0 {
            match keys.iter_mut().find(|(key, _)| *key == row.key) {
                Some((_, rows)) => rows.push(row),
                None => keys.push((row.key, vec![row])),
            }
        }
        let mut map = serializer.serialize_map(Some(keys.len()))?;
        for (key, rows) in &keys {
            match &**rows {
                rows if REPEATED.contains(key) => map.serialize_entry(key, rows)?,
                [row] => map.serialize_entry(key, row)?,
                rows => {
                    let values = rows.iter().map(|row| row.value.to_string());
                    let joined = Row {
                        value: Value::Label(values.collect::<Vec<_>>().join("; ")),
                        ..rows[0].clone()
                    };
                    map.serialize_entry(key, &joined)?;
                }
            }
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_with_several_values_keeps_its_form() {
        let row = |value: &str| Row {
            topic: Topic::Tools,
            key: "allowed",
            value: Value::Label(value.to_owned()),
            origin: None,
        };
        let (read_only, list) = (row("read-only"), row("read"));
        let json = serde_json::to_string(&OfTopic(vec![&read_only, &list])).unwrap();
        assert_eq!(json, r#"{"allowed":{"value":"read-only; read"}}"#);
    }
}
