//! What of a project a person must allow first: the commands of its gates, its triggers.
//!
//! Owns which commands those are, and the one way to ask. Whether they are trusted already the process knows. What
//! was shown goes with the question, so that a yes is about that and nothing else.

use crate::Session;
use crate::definition::{Catalog, Check, Listing, Outcome, PhaseEntry, RunCheck, Tier, Workflow};
use crate::effect::{Effects, Question};
use crate::run::reachable;
use crate::session::Waiting;

/// What of a run does not come from the user's own workflows.
#[derive(Debug, Clone)]
pub(crate) struct Foreign {
    /// The workflows' keys.
    workflows: Vec<String>,
    /// The commands of their gates.
    commands: Vec<RunCheck>,
}

impl Foreign {
    /// What it is in a run of this root.
    pub(crate) fn of(root: &str, catalog: &Catalog, index: &[Listing]) -> Self {
        let workflows = foreign_workflows(root, catalog, index);
        let commands = foreign_gates(root, catalog, index);
        Self {
            workflows: workflows.map(|workflow| workflow.key.clone()).collect(),
            commands: commands.map(|(run, _)| run.clone()).collect(),
        }
    }

    /// The commands that must be trusted before a gate of this workflow runs: none at a gate of the user's own.
    pub(crate) fn commands_of(&self, workflow: &str) -> &[RunCheck] {
        if self.workflows.iter().any(|key| key == workflow) {
            &self.commands
        } else {
            &[]
        }
    }
}

/// The commands of a run that run only if the user trusts them, each with its place: those of the
/// workflow of this key and of all it refers to, but for the user's own workflows.
pub fn foreign_gates<'c>(
    root: &str,
    catalog: &'c Catalog,
    index: &[Listing],
) -> impl Iterator<Item = (&'c RunCheck, &'c str)> {
    let phases = foreign_workflows(root, catalog, index)
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

fn foreign_workflows<'c>(
    root: &str,
    catalog: &'c Catalog,
    index: &[Listing],
) -> impl Iterator<Item = &'c Workflow> {
    let is_own = move |key: &str| {
        index.iter().any(|listing| {
            listing.key == key && listing.tier == Tier::Global && listing.outcome == Outcome::Loaded
        })
    };
    reachable(root, catalog)
        .into_iter()
        .filter(move |workflow| !is_own(&workflow.key))
}

impl Session {
    /// Asks a person to allow what is listed, all of it or nothing.
    pub(crate) fn ask_for_trust(
        &mut self,
        title: &str,
        about: &str,
        listed: &[String],
        waiting: Waiting,
        out: &mut Effects,
    ) {
        let lines: Vec<String> = listed.iter().map(|line| format!("  {line}")).collect();
        let id = self.next_question();
        out.questions.push(Question {
            id,
            title: title.to_owned(),
            message: format!("{about}\n{}", lines.join("\n")),
            options: Vec::new(),
            show: None,
        });
        self.waiting.insert(id, waiting);
    }
}
