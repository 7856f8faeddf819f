//! Definitions of workflows: loading directories into a [`Catalog`].
//!
//! `syntax/` reads bytes into a tree with source spans, `schema/` declares the keys and reads their values, `load/` checks
//! keys against each other, merges the user's and the project's workflows and resolves references. The result is plain
//! data, `model/`, and *all* diagnostics. Nothing here reads a file: the [`Files`] port does.
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

mod load;
mod model;
mod schema;
mod syntax;

pub use crate::pattern::ProjectGlob;
pub use load::{
    EntryOrigin, FilePath, FileProblem, Files, KeyLocations, Listing, LoadOutcome, Loaded,
    MemoryFiles, Origins, PathProblem, SettingsOrigin, TierEntry, TierSettings, WorkflowOrigin,
    document, load,
};
pub use model::{
    Approval, Bound, Budget, CancelBy, Catalog, Check, Checkpoint, Condition, ContextMode,
    ContinueRule, ExpectedExit, FileCheck, Gate, GitCheck, Guards, Hints, Limits, OnLimit,
    OnMaxVisits, OnRepeat, OnStop, OutputStream, Parameter, ParameterKind, Phase, PhaseEntry,
    PhaseOutcome, ResultKind, ResultRule, Rule, RuleAction, RunCheck, SETTINGS_FILE, Settings,
    SettingsStatus, Show, Subject, Subworkflow, Target, Templates, Thinking, Tier, Token,
    ToolAccess, Trigger, TriggerOn, UnknownAction, Workflow,
};
pub use schema::json_schema::SchemaFile;
pub use schema::tables::{shared_table, table};
pub use schema::{Default, Key, Section, ValueType, nearest};
