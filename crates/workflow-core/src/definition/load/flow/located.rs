//! A workflow with the locations of its flow, and findings in its files.

use std::ops::Deref;

use crate::definition::model::{Phase, Workflow};
use crate::definition::schema::{Reader, Sites};
use crate::definition::syntax::Source;
use crate::diagnostic::Finding;

/// The locations of an entry of a workflow, or of the workflow outside of its entries.
pub(crate) struct PhaseSites {
    /// The phase file; `None` is the definition itself.
    pub(crate) source: Option<Source>,
    pub(crate) sites: Sites,
}

impl PhaseSites {
    pub(crate) fn new(source: Option<Source>, sites: Sites) -> Self {
        Self { source, sites }
    }
}

impl Deref for PhaseSites {
    type Target = Sites;

    fn deref(&self) -> &Sites {
        &self.sites
    }
}

/// A workflow with the locations of its flow.
pub(crate) struct Flow<'a> {
    pub(crate) workflow: &'a Workflow,
    /// The locations of what the workflow says for all of its phases.
    pub(crate) own: &'a PhaseSites,
    /// The locations of its entries, in order.
    pub(crate) phases: &'a [PhaseSites],
    /// The jumps that lead into a phase without `maxVisits` at most.
    pub(crate) jumps: u32,
    /// Finds the key of another workflow with a phase of this id.
    pub(crate) elsewhere: &'a dyn Fn(&str) -> Option<String>,
}

/// Findings in one of the files of a workflow.
pub(super) fn report_in(reader: &mut Reader<'_>, source: Option<&Source>, finding: Finding) {
    match source {
        Some(source) => reader.findings.add(source, finding),
        None => reader.report(finding),
    }
}

impl<'a> Flow<'a> {
    /// Its phases, each with its index and its locations.
    pub(super) fn phases(&self) -> impl Iterator<Item = (usize, &'a Phase, &'a PhaseSites)> {
        let entries = self.workflow.phases.iter().zip(self.phases).enumerate();
        entries.filter_map(|(at, (entry, sites))| Some((at, entry.phase()?, sites)))
    }

    /// The phase with an id.
    pub(super) fn phase(&self, id: &str) -> Option<(usize, &'a Phase)> {
        let mut phases = self.phases();
        phases.find_map(|(at, phase, _)| (phase.id == id).then_some((at, phase)))
    }

    /// The ids of its phases.
    pub(super) fn phase_ids(&self) -> impl Iterator<Item = &'a str> {
        self.phases().map(|(_, phase, _)| &*phase.id)
    }

    /// Returns whether it has anything to check. Most workflows have not.
    pub(super) fn is_plain(&self) -> bool {
        let is_plain = |sites: &PhaseSites| {
            sites.targets.is_empty()
                && sites.when.is_empty()
                && sites.max_visits.is_none()
                && sites.references.is_empty()
        };
        is_plain(self.own) && self.phases.iter().all(is_plain)
    }
}
