//! The types of keys that say nothing of the engine: texts, numbers, words, patterns, lists and maps.

mod finding;
mod guard_text;
mod map;
mod name;
mod number;
mod pattern;
mod text;
mod word;

pub(super) use finding::or_report;
pub(super) use guard_text::command_finding;
pub(super) use map::{ListOf, Map};
pub(super) use name::{is_name, not_a_name};
pub(super) use number::{Cents, Duration, Limit, Seconds, Whole, whole_number};
pub(super) use pattern::{
    Commands, Directory, Fields, File, Files, Glob, Many, One, Partial, Regex, ToolNames,
    ToolPatterns, Variables, items,
};
pub(super) use text::{Choices, CommandName, FilledText, Template, Text, Texts, check_template};
pub(super) use word::{Flag, NamedValues, OneOf, words};
