//! The transitions of a run: start, advance, follow, turn back, loop, jump, cancel.
//!
//! Each is a function of (progress, catalog): on `Err` the caller's progress is as it was, on `Ok` a new one comes back
//! (state-management: "Copy-on-Write Pattern").

use crate::definition::{Catalog, Target, Workflow};
use crate::reminders::PauseReason;

use super::arrival::{Actor, Arrival, ArrivalBound, Moved, TransitionError, cancelled, moved};
use super::data::count;
use super::steps::{Step, down_to_phase, step_to};
use super::{Path, Position, RunData, RunProgress, RunState, Values};

/// A limit that is reached.
#[derive(Debug, Clone)]
pub(crate) struct ReachedLimit {
    /// What happens.
    pub(crate) to: Target,
    /// The number of the scopes around which it counts: its target is in the innermost of them.
    pub(crate) depth: usize,
    /// The reason, as people read it.
    pub(crate) why: String,
    /// The reason of the pause, if it pauses the run.
    pub(crate) reason: PauseReason,
}

/// The start of a new run, on the first phase of its workflow that applies. It is over where none does.
///
/// A run that starts in a subworkflow starts with a count of 0 as well (A05).
pub fn start(
    workflow: &Workflow,
    catalog: &Catalog,
    inputs: Values,
    task_id: String,
    description: &str,
    now: i64,
) -> Moved {
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
    let mut data = RunData::default();
    data.values.inputs = inputs;
    let before = RunProgress { state, data };
    let mut started = Arrival::of(&before, Actor::User, catalog).at(Step::Entry(path))?;
    started.state.global_step_count = 0;
    Ok(started)
}

/// Moves to what follows in order, whatever the limits; the run is done when there is nothing left.
///
/// state-management: "Phase Transitions", cases 1 to 4. Case 1 arises only for stored states
/// that are at a reference: our own transitions always end on a phase (A06).
pub fn advance(from: &RunProgress, catalog: &Catalog) -> Moved {
    follow(from, &Target::Next, Actor::User, catalog)
}

/// Moves to a target. A phase whose conditions do not hold is skipped.
pub fn follow(from: &RunProgress, target: &Target, actor: Actor, catalog: &Catalog) -> Moved {
    go(from, target, actor, None, catalog)
}

/// Moves where a check that failed or a person's answer leads. A phase whose conditions do not hold is skipped, but a way back
/// never leads past the phase that it is made from, and that of a check neither past the entry that it names: that would pass a
/// gate or an approval.
pub fn turn_back(
    from: &RunProgress,
    target: &Target,
    has_failed: bool,
    actor: Actor,
    catalog: &Catalog,
) -> Moved {
    go(from, target, actor, Some(has_failed), catalog)
}

fn go(
    from: &RunProgress,
    target: &Target,
    actor: Actor,
    has_failed: Option<bool>,
    catalog: &Catalog,
) -> Moved {
    Position::of(&from.state, catalog)?;
    let current = &from.state.current_path;
    // Names in a phase are about the scope that the phase is in.
    let path = down_to_phase(current.clone(), catalog);
    let to = match target {
        Target::Next if path != *current => Step::Inside(current.clone()),
        Target::Cancel => return Ok(cancelled(from, Vec::new())),
        _ => step_to(target, &path, catalog)?,
    };
    let mut arrival = Arrival::of(from, actor, catalog);
    arrival.has_failed = has_failed;
    arrival.keeps_outcome = has_failed.is_none();
    arrival.keeps_failures = has_failed == Some(true);
    arrival.jump(&path, target, to)
}

/// Moves where a limit leads that was reached.
pub(crate) fn follow_limit(
    from: &RunProgress,
    limit: &ReachedLimit,
    jumps: u32,
    catalog: &Catalog,
) -> Moved {
    let why = limit.why.clone();
    if limit.to == Target::Cancel {
        return Ok(cancelled(from, vec![why]));
    }
    let path = from.state.current_path.up_to(limit.depth);
    let to = step_to(&limit.to, &path, catalog)?;
    let mut arrival = Arrival::of(from, Actor::Agent { jumps }, catalog);
    arrival.has_failed = Some(true);
    let mut to = arrival.jump(&path, &limit.to, to)?;
    to.data.limits.insert(0, why);
    Ok(to)
}

/// Restarts the innermost scope (state-management: "Loop Phase"), entering down to a phase (B07).
///
/// The position in the scope does not matter: one that no longer exists can be left by this. Phases whose conditions do not
/// hold are skipped, up to the current one: what lies behind it is reached by its gate and its approval only.
pub fn repeat(from: &RunProgress, actor: Actor, catalog: &Catalog) -> Moved {
    let current = &from.state.current_path;
    let first = current.moved_to(0);
    let at_first = moved(&from.state, first.clone());
    if !Position::of(&at_first, catalog)?.scope().loopable {
        return Err(TransitionError::NotLoopable);
    }
    let mut arrival = Arrival::of(from, actor, catalog);
    arrival.bound = Some(ArrivalBound::of_loop(current.clone()));
    arrival.keeps_outcome = true;
    arrival.keeps_failures = true;
    arrival.at(Step::Entry(first))
}

/// Moves to another entry of a scope around the phase, entering down to a phase. A person does this, whatever the limits and
/// the conditions of the entry; those of the phases in a subworkflow hold.
pub fn jump(from: &RunProgress, to: &Path, catalog: &Catalog) -> Moved {
    Position::of(&moved(&from.state, to.clone()), catalog)?;
    let from = counted(from, catalog);
    let mut arrival = Arrival::of(&from, Actor::User, catalog);
    arrival.any_condition = true;
    arrival.bound = Some(ArrivalBound::of_loop(to.clone()));
    arrival.at(Step::Entry(to.clone()))
}

/// The progress with its visits. A run without flow counts them from the first `/workflow-goto`, which may pass phases
/// over: up to there it has entered everything up to its phase.
fn counted(from: &RunProgress, catalog: &Catalog) -> RunProgress {
    let mut counted = from.clone();
    let visits = &mut counted.data.visits;
    if visits.is_empty() && !catalog.has_flow(&from.state.workflow_key) {
        for path in from.state.current_path.scopes() {
            for index in 0..=path.innermost().phase_index {
                if let Some(entry) = path.moved_to(index).entry(catalog) {
                    count(visits, &path.visit_key(entry.id()));
                }
            }
        }
    }
    counted
}
