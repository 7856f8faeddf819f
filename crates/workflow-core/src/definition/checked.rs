//! A catalog from workflows that nobody loaded here, as those of a stored entry.

use std::collections::BTreeMap;

use super::model::{Catalog, Limits, PhaseEntry, Workflow};

impl Catalog {
    /// Takes workflows that may be anything; `None` if a catalog cannot hold them.
    ///
    /// The keys must differ, every workflow must have an entry, every reference must lead to one of
    /// them, and none may contain itself or nest deeper than the limit.
    #[must_use]
    pub fn checked(workflows: Vec<Workflow>) -> Option<Self> {
        let catalog = Self::new(workflows);
        let keys = catalog.iter().map(|workflow| &workflow.key);
        let differ =
            keys.collect::<std::collections::BTreeSet<_>>().len() == catalog.iter().count();
        let filled = catalog.iter().all(|workflow| !workflow.phases.is_empty());
        (differ && filled && catalog.nests_within(Limits::default().max_nesting)).then_some(catalog)
    }

    /// Whether every reference leads somewhere, and none more than `levels` deep.
    ///
    /// Takes away, level by level, the workflows that refer only to those taken already: what is
    /// left at the end refers to itself or to nothing.
    fn nests_within(&self, levels: u32) -> bool {
        let mut waiting: BTreeMap<&str, Vec<&str>> = self
            .iter()
            .map(|workflow| (workflow.key.as_str(), references(workflow)))
            .collect();
        for _ in 0..levels {
            let (ready, rest): (BTreeMap<_, _>, BTreeMap<_, _>) = waiting
                .into_iter()
                .partition(|(_, references)| references.is_empty());
            waiting = rest;
            for references in waiting.values_mut() {
                references.retain(|key| !ready.contains_key(key));
            }
        }
        waiting.is_empty()
    }
}

fn references(workflow: &Workflow) -> Vec<&str> {
    let entries = workflow.phases.iter().filter_map(|entry| match entry {
        PhaseEntry::Subworkflow(key) => Some(key.as_str()),
        PhaseEntry::Phase(_) => None,
    });
    entries.collect()
}
