//! The keys of the definition language, declared once.
//!
//! A row of [`keys`] names a key, its type, its default, its purpose and an example. The rows read values and report
//! what is wrong with them, and yield the JSON Schemas and the tables of docs/DEFINITIONS.md. Checks across keys are in
//! `load/`.

mod forms;
mod guard_text;
pub(super) mod json_schema;
mod key;
pub(super) mod keys;
mod map_reader;
mod names;
mod numbers;
mod patterns;
mod section;
pub(super) mod tables;
mod typed;
mod unknown_keys;
mod values;

pub(super) use guard_text::command_finding;
pub use key::{Default, Key, ValueType};
pub(super) use map_reader::{Field, List, MapReader};
pub(super) use names::listed;
pub use names::nearest;
pub use section::Section;
pub(super) use typed::Typed;
pub(super) use unknown_keys::lost_guards;
pub(super) use values::{Text, check_template, read_choices, references_in, texts, wrong_type};
