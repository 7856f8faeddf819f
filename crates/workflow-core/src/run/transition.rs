//! The transitions of a run: start, advance, loop, jump, cancel.
//!
//! Each is a function of (state, catalog): on `Err` the caller's state is as it was, on `Ok`
//! a new one comes back (state-management: "Copy-on-Write Pattern").

use crate::definition::{Catalog, PhaseEntry, Workflow};

use super::{Path, Position, RunState, Stale};

/// Why a transition did not happen.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TransitionError {
    /// The run does not fit its definitions any more.
    #[error(transparent)]
    Stale(#[from] Stale),
    /// The innermost workflow has `loopable: false`.
    #[error("Looping is disabled for this workflow.")]
    NotLoopable,
}

/// The state of a new run, on the first phase of its workflow.
///
/// A run that starts in a subworkflow starts with a count of 0 all the same (A05).
#[must_use]
pub fn start(
    workflow: &Workflow,
    catalog: &Catalog,
    task_id: String,
    description: &str,
    now: i64,
) -> RunState {
    RunState {
        active: true,
        workflow_key: workflow.key.clone(),
        current_path: down_to_phase(Path::root(&workflow.key, 0), catalog),
        global_step_count: 0,
        task_id,
        task_description: description.to_owned(),
        started_at: now,
        completion_notified: false,
        cancelled: false,
    }
}

/// Moves to what `next` enters; the run is done when there is nothing left.
///
/// state-management: "Phase Transitions", cases 1 to 4. Case 1 arises only for stored states
/// that are at a reference: our own transitions always end on a phase (A06).
pub fn advance(state: &RunState, catalog: &Catalog) -> Result<RunState, Stale> {
    let position = Position::of(state, catalog)?;
    let path = match position.entry {
        PhaseEntry::Subworkflow(key) => {
            Some(down_to_phase(state.current_path.entered(key), catalog))
        }
        PhaseEntry::Phase(_) => after(&state.current_path, catalog),
    };
    Ok(match path {
        Some(path) => moved(state, path),
        None => done(state),
    })
}

/// Restarts the innermost scope (state-management: "Loop Phase"), entering down to a phase (B07).
///
/// The position in the scope does not matter: one that no longer exists can be left by this.
pub fn repeat(state: &RunState, catalog: &Catalog) -> Result<RunState, TransitionError> {
    let first = moved(state, state.current_path.moved_to(0));
    let scope = Position::of(&first, catalog)?.scope();
    if !scope.loopable {
        return Err(TransitionError::NotLoopable);
    }
    let path = down_to_phase(first.current_path.clone(), catalog);
    Ok(RunState {
        current_path: path,
        ..first
    })
}

/// Moves to another entry of the innermost scope, entering down to a phase.
pub fn jump(state: &RunState, index: usize, catalog: &Catalog) -> Result<RunState, Stale> {
    let moved = moved(state, state.current_path.moved_to(index));
    Position::of(&moved, catalog)?;
    let path = down_to_phase(moved.current_path.clone(), catalog);
    Ok(RunState {
        current_path: path,
        ..moved
    })
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

/// The phase that follows a path: in its scope, or in the scopes around it (cases 2 and 4).
fn after(path: &Path, catalog: &Catalog) -> Option<Path> {
    let mut path = path.clone();
    loop {
        let scope = path.innermost();
        let next = scope.phase_index + 1;
        if catalog
            .get(&scope.workflow_key)
            .is_some_and(|workflow| next < workflow.phases.len())
        {
            return Some(down_to_phase(path.moved_to(next), catalog));
        }
        path = path.left()?;
    }
}

/// Enters subworkflows until the path ends on a phase. Ends, as no workflow contains itself.
pub(super) fn down_to_phase(mut path: Path, catalog: &Catalog) -> Path {
    loop {
        let scope = path.innermost();
        let entry = catalog
            .get(&scope.workflow_key)
            .and_then(|workflow| workflow.phases.get(scope.phase_index));
        match entry {
            Some(PhaseEntry::Subworkflow(key)) => path = path.entered(key),
            Some(PhaseEntry::Phase(_)) | None => return path,
        }
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
