//! Commands of a project that need trust.
//!
//! A workflow of the user needs none. The platform knows which commands are trusted already.

use crate::definition::{Catalog, Check, Listing, Outcome, PhaseEntry, RunCheck, Tier, Workflow};

/// The workflows of a run that are not the user's own, and their commands.
#[derive(Debug, Clone)]
pub(crate) struct ProjectCommands {
    /// The workflows' keys.
    workflows: Vec<String>,
    /// The commands of their gates.
    commands: Vec<RunCheck>,
}

impl ProjectCommands {
    /// Collects them for a run of this root.
    pub(crate) fn of(root: &str, catalog: &Catalog, index: &[Listing]) -> Self {
        let workflows = project_workflows(root, catalog, index);
        let commands = project_gate_commands(root, catalog, index);
        Self {
            workflows: workflows.map(|workflow| workflow.key.clone()).collect(),
            commands: commands.map(|(run, _)| run.clone()).collect(),
        }
    }

    /// The commands that must be trusted before a gate of this workflow runs; none for a workflow of the user.
    pub(crate) fn needed_for(&self, workflow: &str) -> &[RunCheck] {
        if self.workflows.iter().any(|key| key == workflow) {
            &self.commands
        } else {
            &[]
        }
    }
}

/// The commands of a run that run only if the user trusts them, each with its location: those of the workflow of this
/// key and of all workflows it refers to, except the user's own.
pub fn project_gate_commands<'c>(
    root: &str,
    catalog: &'c Catalog,
    index: &[Listing],
) -> impl Iterator<Item = (&'c RunCheck, &'c str)> {
    let phases = project_workflows(root, catalog, index)
        .flat_map(|workflow| &workflow.phases)
        .filter_map(|entry| match entry {
            PhaseEntry::Phase(phase) => Some(phase),
            PhaseEntry::Subworkflow(_) => None,
        });
    phases
        .flat_map(|phase| &phase.gate)
        .filter_map(|gate| match &gate.check {
            Check::Run(run) => Some((run, &*gate.source)),
            Check::File(_) | Check::Git(_) => None,
        })
}

fn project_workflows<'c>(
    root: &str,
    catalog: &'c Catalog,
    index: &[Listing],
) -> impl Iterator<Item = &'c Workflow> {
    let is_own = move |key: &str| {
        index.iter().any(|listing| {
            listing.key == key && listing.tier == Tier::Global && listing.outcome == Outcome::Loaded
        })
    };
    catalog
        .reachable_from(root)
        .into_iter()
        .filter(move |workflow| !is_own(&workflow.key))
}
