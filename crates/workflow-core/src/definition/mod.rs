//! Definitions of workflows: loading directories into a [`Catalog`].
//!
//! `syntax/` reads bytes into a tree with source spans. `model/` declares the maps of the language, which the engine uses as
//! they are, with the types of `value/` and the means of `schema/`: by its declaration each key is read, and described in
//! schemas and tables. `load/` reads files and directories, checks phases against each other, merges the user's and the
//! project's workflows and resolves references. The result is plain data and *all* diagnostics. Nothing here reads a file:
//! the [`Files`] port does.
//!
//! ```
//! use workflow_core::definition::{MemoryFiles, Tier, load};
//!
//! let files = MemoryFiles::new()
//!     .with(Tier::Project, "fix/workflow.yaml", r#"
//! name: Fix
//! commandName: fix
//! initialMessage: "Fix {description}"
//! phases: [look.md]
//! "#)
//!     .with(Tier::Project, "fix/look.md", "---\nid: look\nname: Look\nemoji: 👀\n---\nFind the cause.");
//! let loaded = load(&files);
//! assert!(loaded.diagnostics.is_empty());
//! assert_eq!(loaded.catalog.get("fix").unwrap().phases.len(), 1);
//! ```

mod guard_text;
mod load;
mod model;
mod schema;
mod schema_file;
mod syntax;
mod tier;
mod value;

pub use crate::pattern::ProjectGlob;
pub use load::{
    EntryOrigin, FilePath, FileProblem, Files, Listing, LoadOutcome, Loaded, MemoryFiles, Origins,
    TierEntry, WorkflowOrigin, document, load, load_located,
};
pub use model::*;
pub(crate) use schema::{Change, Declared, is_absent};
pub use schema::{Default, Key, KeyLocations, Section, nearest};
pub use schema_file::SchemaFile;
pub use tier::{Root, Tier};
pub use value::spelled_duration;
pub(crate) use value::{NamedValues, words};
