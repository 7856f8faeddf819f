//! The tables of docs/DEFINITIONS.md.

use std::collections::BTreeSet;

use super::key::{Default, Key, ValueType};
use super::section::Section;

/// Describes the type of a value.
fn describe_type(value: ValueType) -> String {
    match value {
        ValueType::Text | ValueType::FilledText => "text".to_owned(),
        ValueType::CommandName => "`a-z A-Z 0-9 _ -`".to_owned(),
        ValueType::Template(_) => "template".to_owned(),
        ValueType::Flag => "true or false".to_owned(),
        ValueType::OneOf(words) => {
            let words: Vec<String> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
            words.join(", ")
        }
        ValueType::Whole(from, None) => format!("whole number from {from}"),
        ValueType::Whole(from, Some(to)) => format!("whole number, {from} to {to}"),
        ValueType::Bound => "whole number, `unlimited`".to_owned(),
        ValueType::Texts | ValueType::ToolNames | ValueType::Choices => "list of texts".to_owned(),
        ValueType::Phases => "list".to_owned(),
        ValueType::Map(_) | ValueType::Tools => "map".to_owned(),
        ValueType::ReadOnlyOrTools => "`read-only`, or a map".to_owned(),
        ValueType::ListOf(_) => "list of maps".to_owned(),
        ValueType::ToolPatterns => "tool, or list of tools".to_owned(),
        ValueType::Patterns => "text, or list of texts".to_owned(),
        ValueType::Fields => "map of texts".to_owned(),
        ValueType::CommandLine => "list of texts, or text".to_owned(),
        ValueType::Duration => "seconds, `30s`, `10m`, `1h`".to_owned(),
        ValueType::ExitCode => "0 to 255, `nonzero`".to_owned(),
        ValueType::WaitOr(_) => "`wait`, or a map".to_owned(),
        ValueType::ChoicesOrTargets => "list of texts, or map of targets".to_owned(),
        ValueType::Targets => "map of targets".to_owned(),
        ValueType::Conditions => "map of values".to_owned(),
        ValueType::Named(_) => "map of maps".to_owned(),
        ValueType::ParameterType => "`text`, `number`, `flag`, `list`, `{oneOf: [..]}`".to_owned(),
        ValueType::Any => "a value of its type".to_owned(),
        ValueType::RuleSets => "map of lists of rules".to_owned(),
        ValueType::Money => "number with two decimals".to_owned(),
    }
}

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
    let (value, default) = (describe_type(key.value), describe_default(key.default));
    (
        key.name,
        format!("{value} | {default} | `{example}` | {} |\n", key.summary),
    )
}

/// The maps whose keys overlap, and their names in the table of shared keys.
const LEVELS: [(Section, &str); 3] = [
    (Section::Workflow, "workflow"),
    (Section::Phase, "phase"),
    (Section::Settings, "settings"),
];

/// The names of the levels that have a row.
fn levels_with(row_of_level: &(&'static str, String)) -> Vec<&'static str> {
    let has = |section: Section| section.keys().iter().any(|key| row(key) == *row_of_level);
    let levels = LEVELS.iter().filter(|(section, _)| has(*section));
    levels.map(|(_, name)| *name).collect()
}

/// The rows of the keys that are the same in several levels: name, levels, type, default, example, description.
#[must_use]
pub fn shared_table() -> String {
    let mut rows: Vec<_> = LEVELS
        .iter()
        .flat_map(|(section, _)| section.keys().iter().map(row))
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
pub fn table(section: Section) -> String {
    let is_level = LEVELS.iter().any(|(level, _)| *level == section);
    let own = section.keys().iter().map(row);
    let own = own.filter(|row| !is_level || levels_with(row).len() < 2);
    let rows = own.map(|(name, rest)| format!("| `{name}` | {rest}"));
    rows.collect()
}
