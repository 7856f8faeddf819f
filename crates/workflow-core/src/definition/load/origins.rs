//! The locations of what was loaded. Only what explains or checks definitions asks for them.

use std::collections::HashMap;

use crate::definition::schema::KeyLocations;
use crate::definition::tier::Tier;
use crate::diagnostic::Location;

/// The locations of the keys of definitions and settings.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Origins {
    settings: Vec<SettingsOrigin>,
    workflows: HashMap<String, WorkflowOrigin>,
}

/// The locations of the keys of a settings file.
#[derive(Debug, Clone, PartialEq)]
pub struct SettingsOrigin {
    /// Its source.
    pub tier: Tier,
    /// The locations of its keys.
    pub keys: KeyLocations,
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

impl Origins {
    pub(super) fn new(
        settings: Vec<SettingsOrigin>,
        workflows: HashMap<String, WorkflowOrigin>,
    ) -> Self {
        Self {
            settings,
            workflows,
        }
    }

    /// The settings files there are, the one that wins first.
    #[must_use]
    pub fn settings(&self) -> &[SettingsOrigin] {
        &self.settings
    }

    /// The origin of a workflow of the catalog.
    #[must_use]
    pub fn workflow(&self, key: &str) -> Option<&WorkflowOrigin> {
        self.workflows.get(key)
    }
}
