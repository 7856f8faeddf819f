//! The locations of what was loaded. Only what explains or checks definitions asks for them.

use std::collections::HashMap;

use crate::definition::schema::KeyLocations;
use crate::definition::tier::Tier;
use crate::diagnostic::Location;

/// The locations of the keys of definitions and settings.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Origins {
    /// Those of the settings files: the user's and the project's.
    pub settings: [KeyLocations; 2],
    /// Those of each workflow of the catalog, by its key.
    pub workflows: HashMap<String, WorkflowOrigin>,
}

/// The locations of a workflow's keys.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkflowOrigin {
    /// The directory it comes from.
    pub tier: Tier,
    /// The keys of its definition.
    pub keys: KeyLocations,
    /// Its phase entries, in order.
    pub entries: Vec<EntryOrigin>,
}

/// The location of one phase entry.
#[derive(Debug, Clone, PartialEq)]
pub struct EntryOrigin {
    /// The entry in the definition.
    pub entry: Option<Location>,
    /// The keys of the phase: in its own file, or in the definition.
    pub keys: KeyLocations,
}
