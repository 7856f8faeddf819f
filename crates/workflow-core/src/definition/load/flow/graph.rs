//! The flow of a workflow as a graph: the ways between its entries.
//!
//! Every entry has two nodes: one for being about to enter it, where it may be skipped, and one for being in it. So the
//! graph stays as large as the definition, however many phases may be skipped.

use std::collections::HashMap;

use crate::definition::model::graph::strongly_connected;
use crate::definition::model::{PhaseEntry, Target, Workflow};

/// A way from one node to another.
#[derive(Debug, Clone, Copy, Default)]
struct Edge {
    to: usize,
    /// True if the phase is left with its outputs.
    completes: bool,
    /// True if it ends by itself: a person's answer leads there, a check with `tries`, or a budget, which leads elsewhere once.
    is_bounded: bool,
}

impl From<usize> for Edge {
    fn from(to: usize) -> Self {
        Self {
            to,
            ..Self::default()
        }
    }
}

/// The ways between the entries of a workflow.
pub(super) struct FlowGraph<'w> {
    workflow: &'w Workflow,
    /// The first entry of each id.
    ids: HashMap<&'w str, usize>,
    edges: Vec<Vec<Edge>>,
}

impl<'w> FlowGraph<'w> {
    pub(super) fn new(workflow: &'w Workflow) -> Self {
        let mut ids = HashMap::new();
        for (at, entry) in workflow.phases.iter().enumerate() {
            ids.entry(entry.id()).or_insert(at);
        }
        let mut graph = Self {
            workflow,
            ids,
            edges: Vec::new(),
        };
        let number = workflow.phases.len();
        let entering = (0..number).map(|at| graph.skips(at));
        let leaving = (0..number).map(|at| graph.leaves(at));
        graph.edges = entering.chain([Vec::new()]).chain(leaving).collect();
        graph
    }

    /// The node of being about to enter an entry; the one after the last is the end.
    pub(super) fn before(&self, at: usize) -> usize {
        at.min(self.workflow.phases.len())
    }

    /// The node of being in an entry.
    pub(super) fn inside(&self, at: usize) -> usize {
        self.workflow.phases.len() + 1 + at
    }

    /// The node of the end.
    pub(super) fn end(&self) -> usize {
        self.workflow.phases.len()
    }

    /// The first entry with an id.
    pub(super) fn entry(&self, id: &str) -> Option<usize> {
        self.ids.get(id).copied()
    }

    /// The ways from being about to enter an entry.
    fn skips(&self, at: usize) -> Vec<Edge> {
        let mut edges = vec![self.inside(at).into()];
        let entry = &self.workflow.phases[at];
        if !entry.when().is_empty() {
            edges.push(self.before(at + 1).into());
        }
        edges.extend(entry.instead_of_visit().and_then(|to| self.way(at, to)));
        edges
    }

    /// The ways out of an entry.
    fn leaves(&self, at: usize) -> Vec<Edge> {
        let phase = match &self.workflow.phases[at] {
            PhaseEntry::Phase(phase) => phase,
            PhaseEntry::Subworkflow(reference) => {
                let on = [&Target::Next].into_iter();
                let targets = on.chain(reference.outcomes.iter().map(|outcome| &outcome.to));
                let edges = targets.filter_map(|to| self.way(at, to));
                let completes = true;
                let edges = edges.map(|edge| Edge { completes, ..edge });
                return edges.chain(self.at_limits(at)).collect();
            }
        };
        let answers = phase.approve.iter().flat_map(|approve| &approve.targets);
        let mut targets: Vec<&Target> = phase.outcomes.iter().map(|outcome| &outcome.to).collect();
        if targets.is_empty() {
            targets.extend(answers);
            if targets.is_empty() {
                targets.push(&Target::Next);
            }
        } else {
            // `next` goes where the outcome leads.
            targets.extend(answers.filter(|target| **target != Target::Next));
        }
        let completing = targets.into_iter().filter_map(|target| {
            Some(Edge {
                completes: true,
                is_bounded: phase.approve.is_some(),
                ..self.way(at, target)?
            })
        });
        let checks = phase.gate.iter();
        let failing = checks.flat_map(|check| {
            let has_tries = check.tries.is_some();
            [(&check.on_fail, has_tries), (&check.on_limit, false)]
        });
        let limits = [&phase.budget.on_limit, &phase.auto_continue.on_limit];
        let failing = failing.chain(limits.map(|to| (to, false)));
        let failing = failing.filter_map(|(to, is_bounded)| {
            let edge = self.way(at, to.as_ref()?)?;
            Some(Edge { is_bounded, ..edge })
        });
        let of_workflow = self.at_limits(at);
        completing.chain(failing).chain(of_workflow).collect()
    }

    /// The ways out of an entry at the limits of the workflow.
    fn at_limits(&self, at: usize) -> impl Iterator<Item = Edge> {
        let workflow = self.workflow;
        let (budget, reminders) = (&workflow.budget, &workflow.auto_continue);
        let limits = [(&budget.on_limit, true), (&reminders.on_limit, false)];
        limits.into_iter().filter_map(move |(target, is_bounded)| {
            let edge = self.way(at, target.as_ref()?)?;
            Some(Edge { is_bounded, ..edge })
        })
    }

    /// The way from an entry to a target of it.
    fn way(&self, at: usize, target: &Target) -> Option<Edge> {
        let to = match target {
            Target::Next => self.before(at + 1),
            Target::End | Target::EndAs(_) | Target::Done => self.end(),
            Target::Pause | Target::Cancel => return None,
            Target::Phase(id) => self.entry(id)?,
        };
        Some(to.into())
    }

    /// The nodes that are reached from the start, without leaving `without` with its outputs.
    pub(super) fn reached(&self, without: Option<usize>) -> Vec<bool> {
        self.reached_from(vec![self.before(0)], without)
    }

    /// The nodes that are reached after an entry was left with its outputs.
    pub(super) fn after(&self, at: usize) -> Vec<bool> {
        let edges = self.edges[self.inside(at)].iter();
        let starts = edges.filter(|edge| edge.completes).map(|edge| edge.to);
        self.reached_from(starts.collect(), None)
    }

    fn reached_from(&self, mut waiting: Vec<usize>, without: Option<usize>) -> Vec<bool> {
        let closed = without.map(|at| self.inside(at));
        let mut reached = vec![false; self.edges.len()];
        while let Some(node) = waiting.pop() {
            if std::mem::replace(&mut reached[node], true) {
                continue;
            }
            let edges = self.edges[node].iter();
            let open = edges.filter(|edge| !(edge.completes && closed == Some(node)));
            waiting.extend(open.map(|edge| edge.to));
        }
        reached
    }

    /// The group of nodes with which each node forms a loop; `None` if it is in none.
    ///
    /// Without a bound: only loops that no phase's `maxVisits` and no person's answer ends.
    pub(super) fn loops(&self, without_bound: bool) -> Vec<Option<usize>> {
        let is_open = |node: usize, edge: &&Edge| {
            let bounded = node < self.workflow.phases.len()
                && edge.to == self.inside(node)
                && self.workflow.phases[node].max_visits().is_some();
            !(without_bound && (bounded || edge.is_bounded))
        };
        let targets = self.edges.iter().enumerate().map(|(node, edges)| {
            let open = edges.iter().filter(|edge| is_open(node, edge));
            open.map(|edge| edge.to).collect()
        });
        let targets: Vec<Vec<usize>> = targets.collect();
        let mut group_of = vec![None; self.edges.len()];
        for (number, group) in strongly_connected(&targets).into_iter().enumerate() {
            // A loop has two nodes of each of its entries.
            if group.len() > 1 {
                for node in group {
                    group_of[node] = Some(number);
                }
            }
        }
        group_of
    }
}
