//! The tables of docs/DEFINITIONS.md.

use std::collections::BTreeSet;

use super::model::{Phase, TierSettings, Workflow};
use super::schema::{Declared, Default, Key, Section};

fn describe_default(default: Default) -> String {
    match default {
        Default::Required | Default::RequiredToStart => "required".to_owned(),
        Default::Text(text) if text.contains(' ') => format!("`{text:?}`"),
        Default::Text(text) => format!("`{text}`"),
        Default::Number(number) => number.to_string(),
        Default::True => "true".to_owned(),
        Default::Described(words) => words.to_owned(),
    }
}

/// The row of a key: its name, and type, default, example and description.
fn row(key: &Key) -> (&'static str, String) {
    // A vertical bar would end the cell.
    let example = key.example.replace('|', "\\|");
    let (value, default) = ((key.shape.describe)(), describe_default(key.default));
    (
        key.name,
        format!("{value} | {default} | `{example}` | {} |\n", key.summary),
    )
}

/// The maps whose keys overlap, and their names in the table of shared keys.
const LEVELS: [(&Section, &str); 3] = [
    (Workflow::SECTION, "workflow"),
    (Phase::SECTION, "phase"),
    (TierSettings::SECTION, "settings"),
];

/// The names of the levels that have a row.
fn levels_with(row_of_level: &(&'static str, String)) -> Vec<&'static str> {
    let has = |section: &Section| section.keys.iter().any(|key| row(key) == *row_of_level);
    let levels = LEVELS.iter().filter(|(section, _)| has(section));
    levels.map(|(_, name)| *name).collect()
}

/// The rows of the keys that are the same in several levels: name, levels, type, default, example, description.
#[must_use]
pub fn shared_table() -> String {
    let mut rows: Vec<_> = LEVELS
        .iter()
        .flat_map(|(section, _)| section.keys.iter().map(row))
        .collect();
    let mut printed = BTreeSet::new();
    rows.retain(|row| levels_with(row).len() > 1 && printed.insert(row.0));
    let rows = rows.iter().map(|row| {
        let levels = levels_with(row).join(", ");
        format!("| `{}` | {levels} | {}", row.0, row.1)
    });
    rows.collect()
}

/// The rows of the table that documents the keys of a section, without those of [`shared_table`]: name, type, default,
/// example, description.
#[must_use]
pub fn table(section: &Section) -> String {
    let is_level = LEVELS.iter().any(|(level, _)| level.name == section.name);
    let own = section.keys.iter().map(row);
    let own = own.filter(|row| !is_level || levels_with(row).len() < 2);
    let rows = own.map(|(name, rest)| format!("| `{name}` | {rest}"));
    rows.collect()
}
