//! YAML, JSON5 and frontmatter, read into one tree of values with spans. It knows no key of the definition language.

mod findings;
pub(crate) mod frontmatter;
pub(crate) mod json5;
mod node;
mod source;
mod tokens;
pub(crate) mod yaml;

pub(crate) use crate::diagnostic::Span;
pub(crate) use findings::Findings;
pub(crate) use node::{Entry, Kind, Map, Node, TreeLimits, raise};
pub(crate) use source::Source;

/// Quotes of word processors.
pub(crate) const TYPOGRAPHIC_QUOTES: [char; 12] =
    ['“', '”', '„', '‟', '‘', '’', '‚', '‛', '«', '»', '‹', '›'];
