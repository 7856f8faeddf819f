//! The checks of the flow of a workflow: targets, loops, visits, conditions, references.

use super::PhaseSites;
use crate::definition::model::Workflow;
use crate::definition::syntax::Reader;

/// A workflow with the locations of its flow.
pub(in crate::definition::load) struct Flow<'a> {
    pub(in crate::definition::load) workflow: &'a Workflow,
    /// The locations of what the workflow says for all of its phases.
    pub(in crate::definition::load) own: &'a PhaseSites,
    /// The locations of its entries, in order.
    pub(in crate::definition::load) phases: &'a [PhaseSites],
    /// The jumps that lead into a phase without `maxVisits` at most.
    pub(in crate::definition::load) max_visits: u32,
}

/// Checks the flow of a workflow.
pub(in crate::definition::load) fn check_flow(_reader: &mut Reader<'_>, _flow: &Flow<'_>) {}
