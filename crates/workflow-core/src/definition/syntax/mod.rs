//! YAML, JSON5 and frontmatter, read into one tree of values with spans. It knows no key of the definition language.

pub(in crate::definition) mod frontmatter;
pub(in crate::definition) mod json5;
mod node;
mod reader;
mod source;
mod tokens;
pub(in crate::definition) mod yaml;

pub(in crate::definition) use crate::diagnostic::Span;
pub(in crate::definition) use node::{Entry, Kind, Map, Node, TreeLimits, raise};
pub(in crate::definition) use reader::{Findings, Reader};
pub(in crate::definition) use source::Source;

/// Quotes of word processors.
pub(in crate::definition) const TYPOGRAPHIC_QUOTES: [char; 12] =
    ['“', '”', '„', '‟', '‘', '’', '‚', '‛', '«', '»', '‹', '›'];
