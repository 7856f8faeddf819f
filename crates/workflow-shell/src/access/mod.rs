//! Paths that a simple command accesses, beyond the files that the program tables say it writes.
//!
//! `operands` decides which arguments may be paths, and which are text or search patterns. `trees`
//! finds directories that are removed, moved or copied as a whole.

mod operands;
mod trees;

pub(crate) use operands::named_locations;
pub(crate) use trees::{changes_only_git_directory, whole_trees};
