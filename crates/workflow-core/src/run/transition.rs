//! The transitions of a run: start, advance, follow, loop, jump, cancel.
//!
//! Each is a function of (progress, catalog): on `Err` the caller's progress is as it was, on `Ok` a new one comes back
//! (state-management: "Copy-on-Write Pattern").

use std::collections::BTreeSet;

use crate::definition::{Catalog, OnMaxVisits, Phase, PhaseEntry, Target, Workflow};

use super::data::visit_key;
use super::{Path, Position, RunData, RunProgress, RunState, Stale, Values};

/// Why a transition did not happen.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TransitionError {
    /// The run does not fit its definitions any more.
    #[error(transparent)]
    Stale(#[from] Stale),
    /// The innermost workflow has `loopable: false`.
    #[error("Looping is disabled for this workflow.")]
    NotLoopable,
    /// The phase has been entered as often as it may be.
    #[error(transparent)]
    Limit(#[from] VisitLimit),
}

/// A phase that has been entered as often as it may be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name} has been entered {visits} times, and may not be entered again")]
pub struct VisitLimit {
    /// The phase's name.
    pub name: String,
    /// The number of times.
    pub visits: u32,
    /// True if the phase has `maxVisits`; otherwise the limit is that of the settings.
    pub is_declared: bool,
    /// The key of its visits.
    pub key: String,
}

/// The mover of a run, which decides what limits it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mover {
    /// The agent, or a gate. A phase without `maxVisits` may be the target of a jump as often as this.
    Agent {
        /// The limit.
        jumps: u32,
    },
    /// A person, whom no limit holds.
    Person,
}

/// The start of a new run, on the first phase of its workflow.
///
/// A run that starts in a subworkflow starts with a count of 0 all the same (A05).
#[must_use]
pub fn start(
    workflow: &Workflow,
    catalog: &Catalog,
    inputs: Values,
    task_id: String,
    description: &str,
    now: i64,
) -> RunProgress {
    let path = Path::root(&workflow.key, 0);
    let state = RunState {
        active: true,
        workflow_key: workflow.key.clone(),
        current_path: path.clone(),
        global_step_count: 0,
        task_id,
        task_description: description.to_owned(),
        started_at: now,
        completion_notified: false,
        cancelled: false,
    };
    let data = RunData {
        inputs,
        ..RunData::default()
    };
    let before = RunProgress { state, data };
    let arrived = Arrival::of(&before, catalog).at(Some(path));
    let started = arrived.unwrap_or(before);
    RunProgress {
        state: RunState {
            global_step_count: 0,
            ..started.state
        },
        ..started
    }
}

/// Moves to what follows in order, whatever the limits; the run is done when there is nothing left.
///
/// state-management: "Phase Transitions", cases 1 to 4. Case 1 arises only for stored states
/// that are at a reference: our own transitions always end on a phase (A06).
pub fn advance(from: &RunProgress, catalog: &Catalog) -> Result<RunProgress, Stale> {
    match follow(from, &Target::Next, Mover::Person, catalog) {
        Ok(to) => Ok(to),
        Err(TransitionError::Stale(stale)) => Err(stale),
        Err(TransitionError::NotLoopable | TransitionError::Limit(_)) => {
            unreachable!("a person's move has no limit")
        }
    }
}

/// Moves to a target.
pub fn follow(
    from: &RunProgress,
    target: &Target,
    mover: Mover,
    catalog: &Catalog,
) -> Result<RunProgress, TransitionError> {
    let position = Position::of(&from.state, catalog)?;
    let path = &from.state.current_path;
    let to = match target {
        Target::Next => match position.entry {
            PhaseEntry::Subworkflow(key) => Some(path.entered(key)),
            PhaseEntry::Phase(_) => after(path, catalog),
        },
        Target::End => path.left().and_then(|around| after(&around, catalog)),
        Target::Done => None,
        Target::Cancel => return Ok(cancelled(from)),
        Target::Phase(id) => Some(path.moved_to(index_of(position.scope(), id)?)),
    };
    let arrival = Arrival {
        limit: match mover {
            Mover::Agent { jumps } => Some((target.phase().is_some()).then_some(jumps)),
            Mover::Person => None,
        },
        ..Arrival::of(from, catalog)
    };
    Ok(arrival.at(to)?)
}

/// Restarts the innermost scope (state-management: "Loop Phase"), entering down to a phase (B07).
///
/// The position in the scope does not matter: one that no longer exists can be left by this.
pub fn repeat(
    from: &RunProgress,
    mover: Mover,
    catalog: &Catalog,
) -> Result<RunProgress, TransitionError> {
    let first = from.state.current_path.moved_to(0);
    let at_first = RunState {
        current_path: first.clone(),
        ..from.state.clone()
    };
    if !Position::of(&at_first, catalog)?.scope().loopable {
        return Err(TransitionError::NotLoopable);
    }
    let arrival = Arrival {
        limit: (mover != Mover::Person).then_some(None),
        ..Arrival::of(from, catalog)
    };
    Ok(arrival.at(Some(first))?)
}

/// Moves to another entry of the innermost scope, entering down to a phase. A person does this, whatever the limits and
/// the conditions of the phase.
pub fn jump(from: &RunProgress, index: usize, catalog: &Catalog) -> Result<RunProgress, Stale> {
    let to = moved(&from.state, from.state.current_path.moved_to(index));
    Position::of(&to, catalog)?;
    let arrival = Arrival {
        any_condition: true,
        ..Arrival::of(from, catalog)
    };
    let arrived = arrival.at(Some(to.current_path));
    Ok(arrived.expect("a person's move has no limit"))
}

/// Ends the run at its position.
#[must_use]
pub fn cancel(state: &RunState) -> RunState {
    RunState {
        active: false,
        cancelled: true,
        completion_notified: false,
        ..state.clone()
    }
}

/// A move that ends at the first phase that may be entered.
#[derive(Debug)]
struct Arrival<'a> {
    from: &'a RunProgress,
    catalog: &'a Catalog,
    /// `None` without limits; inside, the limit for phases that have none.
    limit: Option<Option<u32>>,
    /// True if the conditions of the first phase do not count.
    any_condition: bool,
}

impl<'a> Arrival<'a> {
    /// A move without limits.
    fn of(from: &'a RunProgress, catalog: &'a Catalog) -> Self {
        Self {
            from,
            catalog,
            limit: None,
            any_condition: false,
        }
    }

    /// Enters a path, or completes the run without one.
    fn at(mut self, to: Option<Path>) -> Result<RunProgress, VisitLimit> {
        let state = &self.from.state;
        let mut data = RunData {
            skipped: Vec::new(),
            outcome: None,
            refused_visit: None,
            ..self.from.data.clone()
        };
        let has_flow = self.catalog.has_flow(&state.workflow_key);
        let mut redirected = BTreeSet::new();
        let mut waiting = to;
        while let Some(path) = waiting {
            let path = self.enter_scopes(path, &mut data);
            let Some(phase) = phase_at(&path, self.catalog).filter(|_| has_flow) else {
                let state = moved(state, path);
                return Ok(RunProgress { state, data });
            };
            if !std::mem::take(&mut self.any_condition) && !data.admits(phase, &path, self.catalog)
            {
                data.skipped.push(phase.id.clone());
                waiting = after(&path, self.catalog);
                continue;
            }
            if let Some(limit) = self.reached_limit(&path, phase, &data) {
                match &phase.on_max_visits {
                    OnMaxVisits::Cancel if limit.is_declared => return Ok(cancelled(self.from)),
                    OnMaxVisits::Phase(id)
                        if limit.is_declared && redirected.insert(limit.key.clone()) =>
                    {
                        let scope = self.catalog.get(&path.innermost().workflow_key);
                        let index = scope.and_then(|scope| index_of(scope, id).ok());
                        waiting = Some(path.moved_to(index.ok_or(limit)?));
                        continue;
                    }
                    _ => return Err(limit),
                }
            }
            data.visit(&path, &phase.id);
            let state = moved(state, path);
            return Ok(RunProgress { state, data });
        }
        let state = done(state);
        Ok(RunProgress { state, data })
    }

    /// Enters subworkflows until the path ends on a phase. Ends, as no workflow contains itself.
    fn enter_scopes(&self, mut path: Path, data: &mut RunData) -> Path {
        let before = &self.from.state.current_path;
        if path.depth() > before.depth() {
            data.enter_scope(&path);
        }
        while let Some(PhaseEntry::Subworkflow(key)) = entry_at(&path, self.catalog) {
            path = path.entered(key);
            data.enter_scope(&path);
        }
        path
    }

    /// The limit of a phase, if it has been entered as often as it may be.
    fn reached_limit(&self, path: &Path, phase: &Phase, data: &RunData) -> Option<VisitLimit> {
        let default = self.limit?;
        let most = phase.max_visits.or(default)?;
        let most = most.saturating_add(data.extra_visits(path, &phase.id));
        let visits = data.visits(path, &phase.id);
        (visits >= most).then(|| VisitLimit {
            name: phase.name.clone(),
            visits,
            is_declared: phase.max_visits.is_some(),
            key: visit_key(path, &phase.id),
        })
    }
}

/// The path of a run that goes to the next entry in order, whatever the conditions of the phases. `None` at the end.
pub(super) fn in_order(state: &RunState, catalog: &Catalog) -> Option<Path> {
    match entry_at(&state.current_path, catalog) {
        Some(PhaseEntry::Subworkflow(key)) => Some(state.current_path.entered(key)),
        _ => after(&state.current_path, catalog),
    }
    .map(|path| down_to_phase(path, catalog))
}

/// The entry that follows a path: in its scope, or in the scopes around it (cases 2 and 4).
pub(super) fn after(path: &Path, catalog: &Catalog) -> Option<Path> {
    let mut path = path.clone();
    loop {
        let scope = path.innermost();
        let next = scope.phase_index + 1;
        if catalog
            .get(&scope.workflow_key)
            .is_some_and(|workflow| next < workflow.phases.len())
        {
            return Some(path.moved_to(next));
        }
        path = path.left()?;
    }
}

/// Enters subworkflows until the path ends on a phase.
pub(super) fn down_to_phase(mut path: Path, catalog: &Catalog) -> Path {
    while let Some(PhaseEntry::Subworkflow(key)) = entry_at(&path, catalog) {
        path = path.entered(key);
    }
    path
}

fn entry_at<'c>(path: &Path, catalog: &'c Catalog) -> Option<&'c PhaseEntry> {
    let scope = path.innermost();
    catalog
        .get(&scope.workflow_key)?
        .phases
        .get(scope.phase_index)
}

pub(super) fn phase_at<'c>(path: &Path, catalog: &'c Catalog) -> Option<&'c Phase> {
    match entry_at(path, catalog)? {
        PhaseEntry::Phase(phase) => Some(phase),
        PhaseEntry::Subworkflow(_) => None,
    }
}

/// The index of an entry of a workflow, by the id with which outcomes name it.
pub(super) fn index_of(workflow: &Workflow, id: &str) -> Result<usize, Stale> {
    let mut entries = workflow.phases.iter();
    entries
        .position(|entry| entry.id() == id)
        .ok_or_else(|| Stale::TargetGone {
            workflow: workflow.key.clone(),
            id: id.to_owned(),
        })
}

fn cancelled(from: &RunProgress) -> RunProgress {
    RunProgress {
        state: cancel(&from.state),
        data: from.data.clone(),
    }
}

fn moved(state: &RunState, path: Path) -> RunState {
    RunState {
        current_path: path,
        global_step_count: state.global_step_count.saturating_add(1),
        ..state.clone()
    }
}

/// Case 3. The path keeps the root's last entry, so that it stays a position in the workflow (A07).
fn done(state: &RunState) -> RunState {
    let root = &state.current_path.segments()[0];
    RunState {
        active: false,
        completion_notified: false,
        ..moved(state, Path::root(&root.workflow_key, root.phase_index))
    }
}
