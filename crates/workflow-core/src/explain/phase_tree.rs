//! The phases and subworkflows of a workflow, in the order of a run, with their names.

use std::collections::HashMap;

use crate::definition::{Catalog, Condition, Phase, PhaseEntry, Subject, Workflow, nearest};
use crate::diagnostic::{few, shown};
use crate::run::{Path, RunState, Values, start};
use crate::text::join;

/// A placeholder for the description, which only a run knows.
const DESCRIPTION: &str = "{description}";
/// A placeholder for the task's id.
const TASK_ID: &str = "{taskId}";

/// The limit on nodes of one workflow: subworkflows in subworkflows multiply.
const MAX_NODES: usize = 2_000;

/// The phases and subworkflows of a workflow.
#[derive(Debug)]
pub struct PhaseTree<'c> {
    /// Each phase and each subworkflow; a subworkflow comes before its content.
    pub nodes: Vec<PhaseNode<'c>>,
    /// True if there are more than the limit.
    pub cut: bool,
    root: &'c Workflow,
    catalog: &'c Catalog,
}

/// A phase or a subworkflow in a workflow.
#[derive(Debug)]
pub struct PhaseNode<'c> {
    /// Its name: the keys of the subworkflows around it and its own id, as `build/verify`.
    pub name: String,
    /// The number of subworkflows around it.
    pub depth: usize,
    /// Its number in its scope, from 1.
    pub number: usize,
    /// A phase or a subworkflow.
    pub kind: NodeKind<'c>,
    /// The list over which a subworkflow loops.
    pub for_each: Option<&'c Subject>,
    /// The conditions under which it is entered.
    pub when: &'c [Condition],
    root: &'c Workflow,
    /// The names of each part of the path.
    parts: Vec<[String; 3]>,
    path: Path,
    /// The number of phases before it.
    steps: u64,
}

/// The kind of a node.
#[derive(Debug, Clone, Copy)]
pub enum NodeKind<'c> {
    /// A phase.
    Phase(&'c Phase),
    /// A subworkflow.
    Subworkflow(&'c Workflow),
}

/// The tree of a workflow, in the order of a run.
pub fn phase_tree<'c>(workflow: &'c Workflow, catalog: &'c Catalog) -> PhaseTree<'c> {
    let mut tree = PhaseTree {
        nodes: Vec::new(),
        cut: false,
        root: workflow,
        catalog,
    };
    tree.visit(workflow, &Path::root(&workflow.key, 0), &mut Vec::new());
    tree
}

impl<'c> PhaseTree<'c> {
    fn visit(&mut self, workflow: &'c Workflow, path: &Path, parts: &mut Vec<[String; 3]>) {
        let mut met: HashMap<&str, usize> = HashMap::new();
        for (index, entry) in workflow.phases.iter().enumerate() {
            if self.nodes.len() == MAX_NODES {
                self.cut = true;
                return;
            }
            let path = path.moved_to(index);
            let (names, kind) = match entry {
                PhaseEntry::Phase(phase) => {
                    let names = [&phase.id, &phase.id, &phase.name].map(String::clone);
                    (names, NodeKind::Phase(phase))
                }
                PhaseEntry::Subworkflow(reference) => {
                    let Some(inner) = self.catalog.get(&reference.key) else {
                        continue;
                    };
                    let id = reference.id();
                    let time = met.entry(id).or_default();
                    *time += 1;
                    let own = match *time {
                        1 => id.to_owned(),
                        time => format!("{id}#{time}"),
                    };
                    let names = [own, reference.key.clone(), inner.name.clone()];
                    (names, NodeKind::Subworkflow(inner))
                }
            };
            parts.push(names);
            let steps = self.phases().count() as u64;
            self.nodes.push(PhaseNode {
                name: join(parts.iter().map(|[own, ..]| own), "/"),
                depth: parts.len() - 1,
                number: index + 1,
                kind,
                for_each: entry
                    .subworkflow()
                    .and_then(|inner| inner.for_each.as_ref()),
                when: entry.when(),
                root: self.root,
                parts: parts.clone(),
                path: path.clone(),
                steps,
            });
            if let NodeKind::Subworkflow(inner) = kind {
                self.visit(inner, &path.entered(&inner.key), parts);
            }
            parts.pop();
        }
    }

    /// The phases among them.
    pub fn phases(&self) -> impl Iterator<Item = &PhaseNode<'c>> {
        let is_phase = |node: &&PhaseNode<'_>| matches!(node.kind, NodeKind::Phase(_));
        self.nodes.iter().filter(is_phase)
    }

    /// The phase of this name: its id or name, after those of subworkflows around it where that is needed.
    pub fn find(&self, wanted: &str) -> Result<&PhaseNode<'c>, NotFound> {
        if let Some(node) = self.phases().find(|node| node.name == wanted) {
            return Ok(node);
        }
        let split: Vec<&str> = wanted.split('/').collect();
        // A name may have a slash in it.
        let [whole, parts] = [&[wanted], &*split].map(|names| {
            let matching = self.phases().filter(|node| node.ends_in(names));
            matching.collect::<Vec<_>>()
        });
        match if whole.is_empty() { &*parts } else { &*whole } {
            [node] => Ok(node),
            [] => Err(self.unknown(wanted)),
            several => Err(NotFound(format!(
                "`{}` is more than one phase: say which of {}",
                shown(wanted),
                listed(several.iter().copied())
            ))),
        }
    }

    fn unknown(&self, wanted: &str) -> NotFound {
        let names = self.phases().flat_map(|node| {
            let last = node.parts.last().into_iter().flatten();
            last.map(String::as_str).chain([node.name.as_str()])
        });
        let instead = match nearest(wanted, names) {
            Some(near) => format!(": did you mean `{}`?", shown(near)),
            None if self.phases().next().is_none() => String::new(),
            None => format!(": there are {}", listed(self.phases())),
        };
        NotFound(format!("there is no phase `{}`{instead}", shown(wanted)))
    }
}

impl PhaseNode<'_> {
    /// The state of a run that came straight here; `None` if it is not a phase.
    ///
    /// The description and the task's id are placeholders.
    pub fn state(&self) -> Option<RunState> {
        let NodeKind::Phase(_) = self.kind else {
            return None;
        };
        let (catalog, values, id) = (Catalog::default(), Values::default(), TASK_ID.to_owned());
        let start = start(self.root, &catalog, values, id, DESCRIPTION, 0).ok()?;
        Some(RunState {
            current_path: self.path.clone(),
            global_step_count: self.steps,
            ..start.state
        })
    }

    /// Returns true if these are names of the last parts of its path.
    fn ends_in(&self, wanted: &[&str]) -> bool {
        let Some(first) = self.parts.len().checked_sub(wanted.len()) else {
            return false;
        };
        let mut both = self.parts[first..].iter().zip(wanted);
        both.all(|(names, wanted)| names.iter().any(|name| name == wanted))
    }
}

/// The reason why no phase is found by a name: there is none, or there are several.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct NotFound(String);

/// The names of phases, the first of them if there are many.
fn listed<'n>(nodes: impl Iterator<Item = &'n PhaseNode<'n>>) -> String {
    let names = nodes.map(|node| format!("`{}`", shown(&node.name)));
    few(&names.collect::<Vec<_>>(), 12)
}
