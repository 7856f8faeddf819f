//! The workflows that can run.

use std::collections::{BTreeMap, BTreeSet};

use super::budget::{Bounds, Budget, least};
use super::condition::Subject;
use super::defaults::Defaults;
use super::graph::{contains_itself, levels, strongly_connected};
use super::phase::Phase;
use super::settings::Limits;
use super::workflow::{CancelBy, PhaseEntry, Show, Workflow};
use crate::text;

/// The workflows that can run, in order: global keys first, an override keeps the position of the global one.
///
/// Every reference in a catalog leads to a workflow of the catalog, no workflow contains itself, and no two phases of a
/// workflow have the same id.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Catalog {
    workflows: Vec<Workflow>,
    by_key: BTreeMap<String, usize>,
    /// The built-in workflow, which is started and found by its name only.
    quick: Option<Box<Workflow>>,
}

/// The key of the built-in workflow.
const QUICK_KEY: &str = "workflow-quick";
/// The name by which it is started.
pub const QUICK: &str = "quick";

impl Catalog {
    /// The workflows of a run of this root with the numbers of its values as bounds; `None` if no bound is a value.
    pub(crate) fn with_bounds(
        &self,
        root: &str,
        number: impl Fn(&str, &Subject) -> Option<u64>,
    ) -> Option<Self> {
        let mut workflows: Vec<Workflow> = self.reachable_from(root).into_iter().cloned().collect();
        let mut has_any = false;
        for workflow in &mut workflows {
            let number = |name: &str| number(&workflow.key, &Subject::named(name)?);
            // Lowers the bounds of a map: those of its budget, and its other one.
            let mut fill = |bounds: &Bounds, budget: &mut Budget, other: &mut Option<u32>| {
                has_any |= !bounds.is_empty();
                for (key, name) in bounds {
                    let Some(most) = number(name) else { continue };
                    if matches!(&**key, "maxVisits" | "tries") {
                        let most = u32::try_from(most).unwrap_or(u32::MAX);
                        *other = least(*other, Some(most));
                    } else {
                        budget.lower(key, most);
                    }
                }
            };
            let unbounded = &mut Budget::default();
            fill(&workflow.bounds, &mut workflow.budget, &mut None);
            for entry in &mut workflow.phases {
                match entry {
                    PhaseEntry::Phase(of) => {
                        fill(&of.bounds, &mut of.budget, &mut of.max_visits);
                        for gate in &mut of.gate {
                            fill(&gate.bounds, unbounded, &mut gate.tries);
                        }
                    }
                    PhaseEntry::Subworkflow(of) => {
                        fill(&of.bounds, unbounded, &mut of.max_visits);
                    }
                }
            }
        }
        has_any.then(|| Self::new(workflows))
    }

    /// Creates a catalog of workflows with valid references; the last of equal keys wins.
    pub fn new(workflows: Vec<Workflow>) -> Self {
        let keys = workflows.iter().map(|workflow| workflow.key.clone());
        Self {
            by_key: keys.zip(0..).collect(),
            workflows,
            quick: None,
        }
    }

    /// The same catalog with the built-in workflow: one phase.
    #[must_use]
    pub fn with_quick(mut self) -> Self {
        let phase = Phase {
            id: "change".to_owned(),
            name: "Change".to_owned(),
            emoji: "⚡".to_owned(),
            instructions: text::QUICK_INSTRUCTIONS.to_owned(),
            ..Phase::default()
        };
        self.quick = Some(Box::new(Workflow {
            key: QUICK_KEY.to_owned(),
            name: "Quick".to_owned(),
            command_name: QUICK.to_owned(),
            initial_message: text::QUICK_MESSAGE.to_owned(),
            loopable: true,
            phases: vec![PhaseEntry::Phase(phase)],
            ..Workflow::default()
        }));
        self
    }

    /// The catalog of workflows from elsewhere, if they fulfil the conditions of a catalog.
    pub fn checked(workflows: Vec<Workflow>) -> Option<Self> {
        let catalog = Self::new(workflows);
        let targets = catalog.iter().map(|workflow| catalog.targets_of(workflow));
        let targets: Option<Vec<Vec<usize>>> = targets.collect();
        let (targets, unique) = (targets?, catalog.by_key.len() == catalog.workflows.len());
        let groups = strongly_connected(&targets);
        let cyclic = groups.iter().any(|group| contains_itself(group, &targets));
        let order: Vec<usize> = groups.into_iter().flatten().collect();
        let mut levels = levels(&targets, &order).into_iter();
        let too_deep = levels.any(|levels| levels > Limits::HIGHEST_NESTING);
        (unique && !cyclic && !too_deep).then_some(catalog)
    }

    /// The workflows that a workflow refers to; `None` if one is not here, if it has no phases, or two with the same id.
    fn targets_of(&self, workflow: &Workflow) -> Option<Vec<usize>> {
        let mut ids = BTreeSet::new();
        if workflow.phases.is_empty() || !workflow.own_phases().all(|phase| ids.insert(&phase.id)) {
            return None;
        }
        let keys = workflow.subworkflows().map(|reference| &reference.key);
        keys.map(|key| self.by_key.get(key).copied()).collect()
    }

    /// The workflow of this key.
    pub fn get(&self, key: &str) -> Option<&Workflow> {
        let own = self.by_key.get(key).map(|&at| &self.workflows[at]);
        own.or_else(|| self.quick().filter(|quick| quick.key == key))
    }

    /// The built-in workflow.
    pub fn quick(&self) -> Option<&Workflow> {
        self.quick.as_deref()
    }

    /// Adds the defaults of a settings file to all workflows.
    pub(crate) fn apply(&mut self, defaults: &Defaults) {
        let all = self.workflows.iter_mut().chain(self.quick.as_deref_mut());
        all.for_each(|workflow| defaults.apply(workflow));
    }

    /// A workflow and those that it refers to, each once, in the order in which a run meets them.
    pub fn reachable_from(&self, root: &str) -> Vec<&Workflow> {
        let mut met = BTreeSet::new();
        let mut waiting = vec![root];
        let mut workflows = Vec::new();
        while let Some(key) = waiting.pop() {
            let Some(workflow) = self.get(key).filter(|_| met.insert(key.to_owned())) else {
                continue;
            };
            workflows.push(workflow);
            let references = workflow.subworkflows().rev();
            waiting.extend(references.map(|reference| &*reference.key));
        }
        workflows
    }

    /// Returns true if a run of this workflow may take another way than that of its entries.
    pub(crate) fn has_flow(&self, root: &str) -> bool {
        let mut workflows = self.reachable_from(root).into_iter();
        workflows.any(|workflow| {
            !workflow.outputs.is_empty() || workflow.phases.iter().any(PhaseEntry::has_flow)
        })
    }

    /// Returns true if only the user may cancel a run of this root.
    pub(crate) fn is_cancelled_by_user(&self, root: &str) -> bool {
        let root = self.get(root);
        root.is_some_and(|root| root.cancel == Some(CancelBy::User))
    }

    /// All workflows, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Workflow> {
        self.workflows.iter()
    }

    /// The workflows a person can start, in order.
    pub fn startable(&self) -> impl Iterator<Item = &Workflow> {
        self.iter().filter(|workflow| workflow.show == Show::User)
    }

    /// The workflow that `/workflow NAME` starts.
    pub fn started_by(&self, name: &str) -> Option<&Workflow> {
        let is_meant = |workflow: &Workflow| workflow.command_name == name;
        let own = self.startable().find(|workflow| is_meant(workflow));
        own.or_else(|| self.quick().filter(|quick| is_meant(quick)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Phase;
    use super::*;

    fn workflow(key: &str, references: &[&str]) -> Workflow {
        Workflow {
            key: key.to_owned(),
            name: key.to_owned(),
            show: Show::Workflows,
            loopable: true,
            phases: references
                .iter()
                .map(|key| PhaseEntry::Subworkflow((*key).into()))
                .chain([PhaseEntry::Phase(Phase {
                    id: "p".to_owned(),
                    name: "P".to_owned(),
                    emoji: "p".to_owned(),
                    instructions: "Do it.".to_owned(),
                    ..Phase::default()
                })])
                .collect(),
            ..Workflow::default()
        }
    }

    #[test]
    fn a_checked_catalog_keeps_its_invariants() {
        assert!(Catalog::checked(vec![workflow("a", &["b"]), workflow("b", &[])]).is_some());
        assert!(Catalog::checked(vec![workflow("a", &["b"])]).is_none());
        assert!(Catalog::checked(vec![workflow("a", &["a"])]).is_none());
        assert!(Catalog::checked(vec![workflow("a", &["b"]), workflow("b", &["a"])]).is_none());
        assert!(Catalog::checked(vec![workflow("a", &[]), workflow("a", &[])]).is_none());
        let mut empty = workflow("a", &[]);
        empty.phases.clear();
        assert!(Catalog::checked(vec![empty]).is_none());
        let mut same_id = workflow("a", &[]);
        same_id.phases.extend(workflow("a", &[]).phases);
        assert!(Catalog::checked(vec![same_id]).is_none());
    }
}
