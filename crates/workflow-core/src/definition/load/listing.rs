//! The workflows that were found, in the catalog or not.

use crate::definition::model::Show;
use crate::definition::tier::Tier;

/// A workflow that was found, in the catalog or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// Its directory's name.
    pub key: String,
    /// Its source.
    pub tier: Tier,
    /// The path of its definition, as it is shown.
    pub source: String,
    /// Its name; empty if it could not be read.
    pub name: String,
    /// Its command name; empty if it has none or it could not be read.
    pub command_name: String,
    /// Its visibility.
    pub show: Show,
    /// The number of its phase entries.
    pub phases: usize,
    /// True if it replaces a workflow of the user with the same key.
    pub shadows: bool,
    /// The outcome of loading it.
    pub outcome: LoadOutcome,
}

/// The outcome of loading a workflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadOutcome {
    /// It is in the catalog.
    Loaded,
    /// The project's workflow of the same key replaces it.
    Shadowed,
    /// Something is wrong with it, or with what it refers to.
    LeftOut,
}
