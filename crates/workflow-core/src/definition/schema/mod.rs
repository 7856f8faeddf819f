//! How the keys of the language are declared and read.
//!
//! [`section`] declares a map. Its rows read values and report what is wrong with them, and yield the JSON Schemas and the
//! tables of docs/DEFINITIONS.md. The maps are in `model/`, the types of their keys in `value/` and beside the maps.

mod declaration;
mod json_schema;
mod key;
mod locations;
mod map_reader;
mod names;
mod reader;
mod section;
mod typed;
mod unknown_keys;

pub(crate) use declaration::{Declared, is_absent};
pub(super) use declaration::{FromMap, count, flat, section};
pub(super) use json_schema::{NAME, map_of, map_to, named, one_or_list, only, schema_of};
pub(crate) use key::Change;
pub use key::{Default, Key};
pub(super) use key::{NoValue, Shape, Written};
pub use locations::KeyLocations;
pub(super) use map_reader::{MapReader, missing};
pub use names::nearest;
pub(super) use names::{listed, meant_or};
pub(super) use reader::{JumpKind, Reader, Site, Sites, TemplateReference};
pub use section::Section;
pub(super) use section::Sections;
pub(super) use typed::{KeyType, Typed};
