//! The tables of docs/DEFINITIONS.md.

use super::key::{Default, ValueType};
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

/// The rows of the table that documents the keys of a section: name, type, default, example, description.
#[must_use]
pub fn table(section: Section) -> String {
    let rows = section.keys().iter().map(|key| {
        let (name, value, default) = (
            key.name,
            describe_type(key.value),
            describe_default(key.default),
        );
        // A vertical bar would end the cell.
        let example = key.example.replace('|', "\\|");
        format!(
            "| `{name}` | {value} | {default} | `{example}` | {} |\n",
            key.summary
        )
    });
    rows.collect()
}
