//! The transitions of a run: start, advance, follow, turn back, loop, jump, cancel.
//!
//! Each is a function of (progress, catalog): on `Err` the caller's progress is as it was, on `Ok` a new one comes back
//! (state-management: "Copy-on-Write Pattern").

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::definition::{Catalog, PhaseEntry, Target, Workflow};
use crate::text;

use super::data::visit_key;
use super::{
    DefinitionMismatch, HandedOver, Path, Position, RunData, RunProgress, RunState, Values,
};

/// The reason why a transition did not happen.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TransitionError {
    /// The run no longer fits its definitions.
    #[error(transparent)]
    DefinitionMismatch(#[from] DefinitionMismatch),
    /// The innermost workflow has `loopable: false`.
    #[error("Looping is disabled for this workflow.")]
    NotLoopable,
    /// The conditions of the phases do not hold that the move would lead to.
    #[error("The conditions of the phases that it leads to are not met now.")]
    NoneApplies,
    /// The phase has been entered as often as it may be.
    #[error(transparent)]
    Limit(#[from] VisitLimit),
}

/// A phase, or a subworkflow, that has been entered as often as it may be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct VisitLimit {
    /// The name of the phase or of the subworkflow.
    pub name: String,
    /// The number of visits; without `maxVisits`, of jumps.
    pub times: u32,
    /// True if the phase has `maxVisits`; otherwise the limit is that of the settings.
    pub is_declared: bool,
    /// The key of its visits.
    pub key: String,
    /// True if the run would be cancelled now, and only the user may do that.
    pub asks_to_cancel: bool,
}

impl fmt::Display for VisitLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, times, .. } = self;
        let times = text::times(*times);
        if self.is_declared {
            write!(f, "{name} has been entered {times}, which is its limit")
        } else {
            write!(
                f,
                "{name} has been the target of a jump {times}, which is the limit of the settings"
            )
        }
    }
}

/// The actor that moves a run. Limits apply to the agent only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Actor {
    /// The agent, or a gate. A phase without `maxVisits`, and a subworkflow, may be the target of a jump as often as this.
    Agent {
        /// The limit.
        jumps: u32,
    },
    /// The user. No limit applies.
    User,
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
    let mut data = RunData::default();
    data.values.inputs = inputs;
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
pub fn advance(from: &RunProgress, catalog: &Catalog) -> Result<RunProgress, DefinitionMismatch> {
    match follow(from, &Target::Next, Actor::User, catalog) {
        Ok(to) => Ok(to),
        Err(TransitionError::DefinitionMismatch(mismatch)) => Err(mismatch),
        Err(
            TransitionError::NotLoopable | TransitionError::NoneApplies | TransitionError::Limit(_),
        ) => unreachable!("a person's move has no limit, and what follows may be skipped"),
    }
}

/// Moves to a target. A phase whose conditions do not hold is skipped.
pub fn follow(
    from: &RunProgress,
    target: &Target,
    actor: Actor,
    catalog: &Catalog,
) -> Result<RunProgress, TransitionError> {
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
) -> Result<RunProgress, TransitionError> {
    go(from, target, actor, Some(has_failed), catalog)
}

fn go(
    from: &RunProgress,
    target: &Target,
    actor: Actor,
    has_failed: Option<bool>,
    catalog: &Catalog,
) -> Result<RunProgress, TransitionError> {
    let position = Position::of(&from.state, catalog)?;
    // Names in a phase are about the scope that the phase is in.
    let path = down_to_phase(from.state.current_path.clone(), catalog);
    let to = match (target, position.entry) {
        (Target::Next, PhaseEntry::Subworkflow(key)) => Some(from.state.current_path.entered(key)),
        (Target::Cancel, _) => return Ok(cancelled(from, Vec::new())),
        _ => path_to(target, &path, catalog)?,
    };
    let jump = to.as_ref().filter(|_| target.phase().is_some());
    let bound = has_failed.zip(jump);
    let bound = bound.and_then(|(has_failed, to)| ArrivalBound::of_jump(path, to, has_failed));
    let arrival = Arrival {
        visit_bounds: VisitBounds::of(actor, jump.is_some()),
        bound,
        ..Arrival::of(from, catalog)
    };
    arrival.at(to)
}

/// Moves where a limit leads that was reached for this reason. `depth` is the number of the scopes around which it counts: its
/// target is in the innermost of them.
pub fn follow_limit(
    from: &RunProgress,
    target: &Target,
    depth: usize,
    why: String,
    jumps: u32,
    catalog: &Catalog,
) -> Result<RunProgress, TransitionError> {
    if *target == Target::Cancel {
        return Ok(cancelled(from, vec![why]));
    }
    let mut path = from.state.current_path.clone();
    while path.depth() > depth
        && let Some(around) = path.left()
    {
        path = around;
    }
    let to = path_to(target, &path, catalog)?;
    let jump = to.as_ref().filter(|_| target.phase().is_some());
    let arrival = Arrival {
        visit_bounds: VisitBounds::of(Actor::Agent { jumps }, jump.is_some()),
        bound: jump.and_then(|to| ArrivalBound::of_jump(path, to, true)),
        ..Arrival::of(from, catalog)
    };
    let mut to = arrival.at(to)?;
    to.data.limits.insert(0, why);
    to.data.forget_outcome(&from.state, catalog);
    Ok(to)
}

/// The entry to which a target leads from an entry; `None` completes the run.
fn path_to(
    target: &Target,
    from: &Path,
    catalog: &Catalog,
) -> Result<Option<Path>, DefinitionMismatch> {
    Ok(match target {
        Target::Pause | Target::Cancel => Some(from.clone()),
        Target::Next => after(from, catalog),
        Target::End => from.left().and_then(|around| after(&around, catalog)),
        Target::Done => None,
        Target::Phase(id) => {
            let scope = catalog.get(&from.innermost().workflow_key);
            let index = scope.map(|scope| index_of(scope, id)).transpose()?;
            index.map(|index| from.moved_to(index))
        }
    })
}

/// Restarts the innermost scope (state-management: "Loop Phase"), entering down to a phase (B07).
///
/// The position in the scope does not matter: one that no longer exists can be left by this. Phases whose conditions do not
/// hold are skipped, up to the current one: what lies behind it is reached by its gate and its approval only.
pub fn repeat(
    from: &RunProgress,
    actor: Actor,
    catalog: &Catalog,
) -> Result<RunProgress, TransitionError> {
    let first = from.state.current_path.moved_to(0);
    let at_first = moved(&from.state, first.clone());
    if !Position::of(&at_first, catalog)?.scope().loopable {
        return Err(TransitionError::NotLoopable);
    }
    let arrival = Arrival {
        visit_bounds: VisitBounds::of(actor, false),
        bound: Some(ArrivalBound::of_loop(from.state.current_path.clone())),
        ..Arrival::of(from, catalog)
    };
    arrival.at(Some(first))
}

/// Moves to another entry of the innermost scope, entering down to a phase. A person does this, whatever the limits and
/// the conditions of the entry; those of the phases in a subworkflow hold.
pub fn jump(
    from: &RunProgress,
    index: usize,
    catalog: &Catalog,
) -> Result<RunProgress, TransitionError> {
    let to = from.state.current_path.moved_to(index);
    Position::of(&moved(&from.state, to.clone()), catalog)?;
    let mut from = counted(from, catalog);
    from.data.forget_outcome(&from.state, catalog);
    let from = &from;
    let arrival = Arrival {
        any_condition: true,
        bound: Some(ArrivalBound::of_loop(to.clone())),
        ..Arrival::of(from, catalog)
    };
    arrival.at(Some(to))
}

/// Ends the run at its position.
pub fn cancel(state: &RunState) -> RunState {
    RunState {
        active: false,
        cancelled: true,
        completion_notified: false,
        ..state.clone()
    }
}

/// The limits of visits that hold for a move of the agent: those that phases declare.
#[derive(Debug, Clone, Copy)]
struct VisitBounds {
    /// The limit of jumps into what declares none.
    jumps: u32,
    /// True if the move is a jump. One that a limit has redirected is a jump, too.
    is_jump: bool,
}

impl VisitBounds {
    fn of(actor: Actor, is_jump: bool) -> Option<Self> {
        match actor {
            Actor::User => None,
            Actor::Agent { jumps } => Some(Self { jumps, is_jump }),
        }
    }

    /// The count of what is limited, where it has reached its limit.
    fn reached(self, declared: Option<u32>, key: &str, data: &RunData) -> Option<u32> {
        let (counts, most) = match declared {
            Some(most) => (&data.visits, most),
            None if self.is_jump => (&data.jumps, self.jumps),
            None => return None,
        };
        let count = counts.get(key).copied().unwrap_or_default();
        (count >= most).then_some(count)
    }
}

/// The last entry of a scope up to which a move must end.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ArrivalBound {
    last: Path,
    /// True if the phase to which a limit leads may lie behind it.
    follows_limits: bool,
}

impl ArrivalBound {
    /// The bound of a `loop`: the current entry.
    fn of_loop(last: Path) -> Self {
        Self {
            last,
            follows_limits: false,
        }
    }

    /// The bound of a jump: a way back ends before it passes the current entry, and after a failure one on does not pass the
    /// named one.
    fn of_jump(current: Path, to: &Path, has_failed: bool) -> Option<Self> {
        let here = Self {
            last: current,
            follows_limits: true,
        };
        if here.contains(to) {
            return Some(here);
        }
        has_failed.then(|| Self {
            last: to.clone(),
            ..here
        })
    }

    fn contains(&self, path: &Path) -> bool {
        let segments = self.last.segments();
        let (last, around) = segments.split_last().expect("a path is not empty");
        let at = path.segments().get(around.len());
        path.segments().starts_with(around)
            && at.is_some_and(|at| {
                at.workflow_key == last.workflow_key && at.phase_index <= last.phase_index
            })
    }

    /// Returns true if a limit may lead to this entry, which completes the run if it is none. Behind the bound, only a place
    /// that is named may.
    fn admits(&self, target: &Target, to: Option<&Path>) -> bool {
        let is_named = self.follows_limits && *target != Target::Next;
        is_named || to.is_some_and(|to| self.contains(to))
    }
}

/// A move that ends at the first phase that may be entered.
struct Arrival<'a> {
    from: &'a RunProgress,
    catalog: &'a Catalog,
    visit_bounds: Option<VisitBounds>,
    /// True if the conditions of the first entry do not count.
    any_condition: bool,
    /// The entry up to which the move must end, if not anywhere.
    bound: Option<ArrivalBound>,
}

impl<'a> Arrival<'a> {
    /// A move without limits.
    fn of(from: &'a RunProgress, catalog: &'a Catalog) -> Self {
        Self {
            from,
            catalog,
            visit_bounds: None,
            any_condition: false,
            bound: None,
        }
    }

    /// Enters a path, or completes the run without one.
    fn at(mut self, to: Option<Path>) -> Result<RunProgress, TransitionError> {
        let state = &self.from.state;
        let mut data = RunData {
            skipped: Vec::new(),
            outcome: None,
            limits: Vec::new(),
            refused_visit: None,
            handed_over: HandedOver::default(),
            ..self.from.data.clone()
        };
        if self.visit_bounds.is_none() {
            data.failures.clear();
        } else {
            data.failures = data.failures_elsewhere(state, self.catalog);
        }
        let counts = !data.visits.is_empty() || self.catalog.has_flow(&state.workflow_key);
        if let Some(path) = to.as_ref().filter(|_| counts)
            && path.depth() > state.current_path.depth()
        {
            data.enter_scope(path);
        }
        let mut redirected = BTreeSet::new();
        let mut waiting = to;
        while let Some(path) = waiting {
            if !counts {
                let state = moved(state, down_to_phase(path, self.catalog));
                return Ok(RunProgress { state, data });
            }
            let Some(entry) = entry_at(&path, self.catalog) else {
                let state = moved(state, path);
                return Ok(RunProgress { state, data });
            };
            if !std::mem::take(&mut self.any_condition) && !data.admits(entry, &path, self.catalog)
            {
                data.skipped.push(entry.id().to_owned());
                waiting = after(&path, self.catalog);
                if let Some(bound) = &self.bound
                    && !waiting.as_ref().is_some_and(|path| bound.contains(path))
                {
                    return Err(TransitionError::NoneApplies);
                }
                continue;
            }
            let phase = match entry {
                PhaseEntry::Subworkflow(key) => {
                    waiting = Some(self.enter_scope(&path, key, &mut data)?);
                    continue;
                }
                PhaseEntry::Phase(phase) => phase,
            };
            let limit = self.limit(&path, &phase.id, &phase.name, phase.max_visits, &mut data);
            if let Some(limit) = limit {
                data.limits.push(limit.to_string());
                data.forget_outcome(state, self.catalog);
                waiting = match phase.instead_of_visit() {
                    Some(Target::Cancel)
                        if self.catalog.is_cancelled_by_user(&state.workflow_key) =>
                    {
                        let asks_to_cancel = true;
                        return Err(VisitLimit {
                            asks_to_cancel,
                            ..limit
                        }
                        .into());
                    }
                    Some(Target::Cancel) => return Ok(cancelled(self.from, data.limits)),
                    Some(target) if *target != Target::Pause => {
                        let to = path_to(target, &path, self.catalog)?;
                        let is_new = redirected.insert(limit.key.clone());
                        let bound = self.bound.as_ref();
                        if !is_new || bound.is_some_and(|bound| !bound.admits(target, to.as_ref()))
                        {
                            return Err(limit.into());
                        }
                        let bounds = self.visit_bounds.iter_mut();
                        bounds.for_each(|bounds| bounds.is_jump |= target.phase().is_some());
                        if let (Some(bound), Some(to)) = (&mut self.bound, &to)
                            && !bound.contains(to)
                        {
                            bound.last.clone_from(to);
                        }
                        to
                    }
                    Some(_) | None => return Err(limit.into()),
                };
                continue;
            }
            self.visit(&path, &phase.id, phase.max_visits, &mut data);
            let state = moved(state, path);
            return Ok(RunProgress { state, data });
        }
        let state = done(state);
        Ok(RunProgress { state, data })
    }

    /// Enters a subworkflow, and counts that. Ends, as no workflow contains itself.
    fn enter_scope(&self, path: &Path, key: &str, data: &mut RunData) -> Result<Path, VisitLimit> {
        let inner = self.catalog.get(key);
        let name = inner.map_or(key, |inner| &inner.name);
        if let Some(limit) = self.limit(path, key, name, None, data) {
            return Err(limit);
        }
        self.visit(path, key, None, data);
        let path = path.entered(key);
        data.enter_scope(&path);
        Ok(path)
    }

    /// The limit of a phase or a subworkflow that has been entered as often as it may be. A visit that a person has allowed
    /// is used up.
    fn limit(
        &self,
        path: &Path,
        id: &str,
        name: &str,
        declared: Option<u32>,
        data: &mut RunData,
    ) -> Option<VisitLimit> {
        let key = visit_key(path, id);
        let times = self.visit_bounds?.reached(declared, &key, data)?;
        (!data.allowed_visits.remove(&key)).then(|| VisitLimit {
            name: name.to_owned(),
            times,
            is_declared: declared.is_some(),
            key,
            asks_to_cancel: false,
        })
    }

    /// Counts an entry.
    fn visit(&self, path: &Path, id: &str, declared: Option<u32>, data: &mut RunData) {
        let key = visit_key(path, id);
        if declared.is_none() && self.visit_bounds.is_some_and(|bounds| bounds.is_jump) {
            count(&mut data.jumps, &key);
        }
        count(&mut data.visits, &key);
    }
}

/// The progress with its visits. A run without flow counts them from the first `/workflow-goto`, which may pass phases
/// over: up to there it has entered everything up to its phase.
fn counted(from: &RunProgress, catalog: &Catalog) -> RunProgress {
    let mut counted = from.clone();
    let visits = &mut counted.data.visits;
    let is_first = visits.is_empty() && !catalog.has_flow(&from.state.workflow_key);
    let mut waiting = is_first.then(|| from.state.current_path.clone());
    while let Some(path) = waiting {
        for index in 0..=path.innermost().phase_index {
            if let Some(entry) = entry_at(&path.moved_to(index), catalog) {
                count(visits, &visit_key(&path, entry.id()));
            }
        }
        waiting = path.left();
    }
    counted
}

fn count(counts: &mut BTreeMap<String, u32>, key: &str) {
    let count = counts.entry(key.to_owned()).or_default();
    *count = count.saturating_add(1);
}

/// The path of a run that goes to the next phase in order, whatever the conditions. `None` at the end.
pub(crate) fn in_order(state: &RunState, catalog: &Catalog) -> Option<Path> {
    let next = match entry_at(&state.current_path, catalog) {
        Some(PhaseEntry::Subworkflow(key)) => Some(state.current_path.entered(key)),
        _ => after(&state.current_path, catalog),
    };
    next.map(|path| down_to_phase(path, catalog))
}

/// The entry that follows a path: in its scope, or in the scopes around it (cases 2 and 4).
fn after(path: &Path, catalog: &Catalog) -> Option<Path> {
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
fn down_to_phase(mut path: Path, catalog: &Catalog) -> Path {
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

/// The index of an entry of a workflow, by the id with which outcomes name it.
fn index_of(workflow: &Workflow, id: &str) -> Result<usize, DefinitionMismatch> {
    let mut entries = workflow.phases.iter();
    entries
        .position(|entry| entry.id() == id)
        .ok_or_else(|| DefinitionMismatch::target_gone(workflow, id))
}

/// The end of a run that is cancelled, because of these limits if there are any.
fn cancelled(from: &RunProgress, limits: Vec<String>) -> RunProgress {
    let data = RunData {
        limits,
        ..from.data.clone()
    };
    RunProgress {
        state: cancel(&from.state),
        data,
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
