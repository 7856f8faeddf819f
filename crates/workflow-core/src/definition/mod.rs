//! What the files say: loading workflow directories into a [`Catalog`].
//!
//! Bytes become a tree with source spans, the tree becomes meaning and *all* diagnostics, the tiers
//! are merged, references are resolved. Nothing here reads a file: the [`Files`] port does.
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

mod closed;
mod continue_rule;
mod directory;
mod document;
mod files;
mod findings;
mod frontmatter;
mod gate;
mod gates;
mod graph;
mod json5;
mod keys;
mod language;
mod load;
mod model;
mod node;
mod origins;
mod phase;
mod references;
mod rules;
mod settings;
mod source;
mod tiers;
mod tokens;
mod tool_rules;
mod triggers;
mod values;
mod workflow;
mod yaml;

pub use document::document;
pub use files::{FilePath, FileProblem, Files, MemoryFiles, PathProblem, SETTINGS_FILE, TierEntry};
pub use gates::{Approval, Check, ExpectedExit, FileCheck, Gate, GitCheck, RunCheck};
pub use keys::nearest;
pub use language::{Key, Level, Takes, Without};
pub use load::{Listing, Loaded, Outcome, load};
pub use model::{
    Bound, Catalog, ContextMode, ContinueRule, Limits, OnLimit, OnStop, Phase, PhaseEntry,
    Settings, Show, Templates, Tier, ToolAccess, Workflow,
};
pub use origins::{EntryOrigin, KeyPlaces, Origins, SettingsOrigin, WorkflowOrigin};
pub use rules::{Guards, Reading, ResultKind, ResultRule, Rule, Verdict};
pub use settings::TierSettings;
pub use triggers::{Checkpoint, Token, Trigger, TriggerOn};
