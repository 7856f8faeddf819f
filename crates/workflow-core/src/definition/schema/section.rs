//! A map of the language: its keys, and what holds for them together.

use serde_json::Value;

use super::key::Key;

/// A map of the definition language.
#[derive(Debug, Clone, Copy)]
pub struct Section {
    /// Its description in a message.
    pub name: &'static str,
    /// The keys that have a meaning here, in the order in which they are documented.
    pub keys: &'static [Key],
    /// True if the whole map is a guard.
    pub is_guard: bool,
    /// Keys, exactly one of which is required.
    pub alternatives: &'static [&'static str],
    /// Keys, at least one of which is required.
    pub effects: &'static [&'static str],
    /// The keys that have a meaning only beside another, each with that other.
    pub companions: &'static [(&'static str, &'static str)],
    /// The type of its map, as a message about another type names it.
    pub(crate) expected: &'static str,
    /// Adds to its schema what the keys do not say.
    pub(crate) more: fn(&mut Value),
}

impl Section {
    pub(crate) const fn new(name: &'static str) -> Self {
        Self {
            name,
            keys: &[],
            is_guard: false,
            alternatives: &[],
            effects: &[],
            companions: &[],
            expected: "a map",
            more: |_| {},
        }
    }

    /// A map that restricts the agent as a whole.
    pub(crate) const fn guard(name: &'static str) -> Self {
        Self {
            is_guard: true,
            ..Self::new(name)
        }
    }
}

/// Maps of the language.
pub(crate) type Sections = &'static [&'static Section];
