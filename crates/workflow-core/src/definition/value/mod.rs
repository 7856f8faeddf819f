//! The types of keys that say nothing of the engine: texts, numbers, words, patterns, lists and maps.

mod finding;
mod list;
mod map;
mod number;
mod text;
mod word;

pub(super) use crate::template::is_name;
pub(super) use finding::not_a_name;
pub(super) use list::{
    Choices, NamedTexts, TextOrTexts, Texts, ToolPatterns, items, nodes, scalar,
};
pub(super) use map::{List, ListOf, Map, MapByHand, read_maps};
pub use number::spelled_duration;
pub(super) use number::{
    Cents, Duration, Limit, OrValue, Seconds, VALUE_OF_RUN, Whole, WholeOrValue, whole_number,
};
pub(super) use text::{CommandName, FilledText, Template, Text, check_template, note_values};
pub(super) use word::{Flag, OneOf};
pub(crate) use word::{NamedValues, words};
