//! The position of a run in its definitions (state-management: "`ActiveWorkflow` Resolution").

use crate::definition::{Catalog, Condition, Phase, PhaseEntry, Workflow};

use super::{RunState, down_to_phase};
use crate::text;

/// The reason why a run does not fit its definitions, as people read it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct DefinitionMismatch(String);

impl DefinitionMismatch {
    /// A phase that the run should go to is not there.
    pub(super) fn target_gone(workflow: &Workflow, id: &str) -> Self {
        Self(format!("workflow `{}` has no phase `{id}`", workflow.key))
    }
}

/// Returns the name of the phase or the end that a state is at, for display; empty if it does not fit.
pub(crate) fn phase_name(state: &RunState, catalog: &Catalog) -> String {
    if !state.active {
        return "the end".to_owned();
    }
    Position::of(state, catalog)
        .map_or_else(|_| String::new(), |position| position.phase.name.clone())
}

/// The position of a run, resolved down to a phase.
#[derive(Debug)]
pub struct Position<'c> {
    /// The workflow and the entry of each segment, root first; never empty.
    pub levels: Vec<ScopeLevel<'c>>,
    /// Levels below a reference that the run is at, down to the phase; empty at a phase.
    pub drilled: Vec<ScopeLevel<'c>>,
    /// The current phase.
    pub phase: &'c Phase,
    /// The definitions.
    pub(crate) catalog: &'c Catalog,
}

/// A workflow and the index of an entry in it.
#[derive(Debug, Clone, Copy)]
pub struct ScopeLevel<'c> {
    /// The workflow of this scope.
    pub workflow: &'c Workflow,
    /// The entry's index.
    pub index: usize,
}

impl<'c> Position<'c> {
    /// Resolves a state, or says why it does not fit.
    pub fn of(state: &RunState, catalog: &'c Catalog) -> Result<Self, DefinitionMismatch> {
        let gone = |key: &str| DefinitionMismatch(format!("workflow `{key}` is not defined"));
        // References are followed to their first entries.
        let path = down_to_phase(state.current_path.clone(), catalog);
        let mut levels: Vec<ScopeLevel<'c>> = Vec::with_capacity(path.depth());
        let (mut inside, mut entry) = (Some(&*state.workflow_key), None);
        for segment in path.segments() {
            let (key, index) = (&*segment.workflow_key, segment.phase_index);
            let workflow = catalog.get(key).ok_or_else(|| gone(key))?;
            if inside != Some(key) {
                // A segment is not what the one around it refers to (B44).
                let outer = levels.last().map(|level| &level.workflow.key);
                return Err(DefinitionMismatch(format!(
                    "workflow `{}` does not contain `{key}` where the run is",
                    outer.unwrap_or(&state.workflow_key)
                )));
            }
            let at = entry_at(workflow, index)?;
            (inside, entry) = (at.subworkflow().map(|inner| &*inner.key), Some(at));
            levels.push(ScopeLevel { workflow, index });
        }
        let drilled = levels.split_off(state.current_path.depth());
        let phase = entry.and_then(PhaseEntry::phase);
        Ok(Self {
            levels,
            drilled,
            phase: phase.ok_or_else(|| gone(&state.workflow_key))?,
            catalog,
        })
    }

    /// The root workflow: its templates apply to the whole run.
    pub fn root(&self) -> &'c Workflow {
        self.levels[0].workflow
    }

    /// The levels down to the phase, root first.
    pub(crate) fn scopes(&self) -> impl DoubleEndedIterator<Item = &ScopeLevel<'c>> {
        self.levels.iter().chain(&self.drilled)
    }

    /// The innermost workflow of the path.
    pub fn scope(&self) -> &'c Workflow {
        self.innermost().workflow
    }

    /// The innermost level of the path.
    pub(crate) fn innermost(&self) -> ScopeLevel<'c> {
        self.levels[self.levels.len() - 1]
    }

    /// The workflow that contains the phase.
    pub(crate) fn own_workflow(&self) -> &'c Workflow {
        let drilled = self.drilled.last().copied();
        drilled.unwrap_or(self.innermost()).workflow
    }

    /// The workflow names from the root to the innermost scope.
    pub(crate) fn breadcrumb(&self) -> String {
        text::join(self.levels.iter().map(|level| &level.workflow.name), " > ")
    }
}

impl<'c> ScopeLevel<'c> {
    pub(crate) fn entry(self) -> Option<&'c PhaseEntry> {
        self.workflow.phases.get(self.index)
    }

    /// The conditions of the entry.
    pub(crate) fn conditions(self) -> &'c [Condition] {
        self.entry().map_or(&[], PhaseEntry::when)
    }

    /// The entry before this one.
    pub(crate) fn previous(self) -> Option<&'c PhaseEntry> {
        self.workflow.phases.get(self.index.checked_sub(1)?)
    }

    /// `{what} [{n}/{m}]`, as the status line shows a level; a loop with its item.
    pub(crate) fn progress(self, item: Option<String>, catalog: &Catalog) -> String {
        let what = match self.entry() {
            Some(PhaseEntry::Phase(phase)) => phase.label(),
            Some(entry) => entry_name(entry, catalog).to_owned(),
            None => String::new(),
        };
        let item = item.map_or_else(String::new, |item| format!(" {item}"));
        let (number, all) = (self.index + 1, self.workflow.phases.len());
        format!("{what}{item} [{number}/{all}]")
    }
}

/// The name of an entry: the phase's, or the subworkflow's.
pub fn entry_name<'c>(entry: &'c PhaseEntry, catalog: &'c Catalog) -> &'c str {
    match entry {
        PhaseEntry::Phase(phase) => &phase.name,
        PhaseEntry::Subworkflow(key) => catalog.get(key).map_or(key, |workflow| &workflow.name),
    }
}

fn entry_at(workflow: &Workflow, index: usize) -> Result<&PhaseEntry, DefinitionMismatch> {
    let Workflow { key, phases, .. } = workflow;
    phases.get(index).ok_or_else(|| {
        DefinitionMismatch(format!(
            "workflow `{key}` has {} phase entries, and the run is at number {}",
            phases.len(),
            index.saturating_add(1)
        ))
    })
}
