//! The transitions of a run: start, advance, follow, turn back, loop, jump, cancel.
//!
//! Each is a function of (progress, catalog): on `Err` the caller's progress is as it was, on `Ok` a new one comes back
//! (state-management: "Copy-on-Write Pattern").

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::definition::{Catalog, PhaseEntry, Subworkflow, Target, Workflow};
use crate::text;

use super::data::{scope_key, visit_key};
use super::scopes::{ScopeValues, wrong_items};
use super::{
    DefinitionMismatch, HandedOver, Path, Position, RunData, RunProgress, RunState, Values,
    entry_name,
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
    /// A subworkflow cannot begin with what its reference passes.
    #[error("{0}")]
    Given(String),
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
    /// True if its `onLimit` would pass the gate or the approval of the phase.
    pub passes_guard: bool,
}

impl fmt::Display for VisitLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, times, .. } = self;
        let times = text::times(*times);
        if self.is_declared {
            write!(f, "{name} has been entered {times}, which is its limit")?;
            if self.passes_guard {
                f.write_str("; what `onLimit` says would pass its gate or its approval")?;
            }
            Ok(())
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
) -> Result<RunProgress, TransitionError> {
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
    let started = Arrival::of(&before, catalog).at(Step::Entry(path))?;
    Ok(RunProgress {
        state: RunState {
            global_step_count: 0,
            ..started.state
        },
        ..started
    })
}

/// Moves to what follows in order, whatever the limits; the run is done when there is nothing left.
///
/// state-management: "Phase Transitions", cases 1 to 4. Case 1 arises only for stored states
/// that are at a reference: our own transitions always end on a phase (A06).
pub fn advance(from: &RunProgress, catalog: &Catalog) -> Result<RunProgress, TransitionError> {
    follow(from, &Target::Next, Actor::User, catalog)
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
        (Target::Next, PhaseEntry::Subworkflow(_)) => Step::Inside(from.state.current_path.clone()),
        (Target::Cancel, _) => return Ok(cancelled(from, Vec::new())),
        _ => step_to(target, &path, catalog)?,
    };
    let arrival = Arrival {
        visit_bounds: VisitBounds::of(actor, false),
        has_failed,
        ..Arrival::of(from, catalog)
    };
    arrival.jump(&path, target, to)
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
    let to = step_to(target, &path, catalog)?;
    let arrival = Arrival {
        visit_bounds: VisitBounds::of(Actor::Agent { jumps }, false),
        has_failed: Some(true),
        ..Arrival::of(from, catalog)
    };
    let mut to = arrival.jump(&path, target, to)?;
    to.data.limits.insert(0, why);
    to.data.forget_outcome(&from.state, catalog);
    Ok(to)
}

/// Where a move comes to next.
#[derive(Debug, Clone)]
enum Step {
    /// An entry, which may be skipped.
    Entry(Path),
    /// The inside of the reference at a path.
    Inside(Path),
    /// The end of the scope of a path, with its name if it has one.
    End(Path, Option<String>),
    /// The end of the run.
    Done,
}

impl Step {
    /// The entry, if it is one.
    fn path(&self) -> Option<&Path> {
        match self {
            Self::Entry(path) | Self::Inside(path) => Some(path),
            Self::End(..) | Self::Done => None,
        }
    }
}

/// Where a target leads from an entry.
fn step_to(target: &Target, from: &Path, catalog: &Catalog) -> Result<Step, DefinitionMismatch> {
    Ok(match target {
        Target::Pause | Target::Cancel => Step::Entry(from.clone()),
        Target::Next => behind(from, catalog),
        Target::End => Step::End(from.clone(), None),
        Target::EndAs(name) => Step::End(from.clone(), Some(name.clone())),
        Target::Done => Step::Done,
        Target::Phase(id) => match catalog.get(&from.innermost().workflow_key) {
            Some(scope) => Step::Entry(from.moved_to(index_of(scope, id)?)),
            None => Step::Done,
        },
    })
}

/// What follows an entry: the next one of its scope, or the end of that.
fn behind(path: &Path, catalog: &Catalog) -> Step {
    let scope = path.innermost();
    let next = scope.phase_index + 1;
    let workflow = catalog.get(&scope.workflow_key);
    if workflow.is_some_and(|workflow| next < workflow.phases.len()) {
        Step::Entry(path.moved_to(next))
    } else {
        Step::End(path.clone(), None)
    }
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
    arrival.at(Step::Entry(first))
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
    arrival.at(Step::Entry(to))
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
    /// True if the move is made because something failed, false if by a person's answer.
    has_failed: Option<bool>,
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
            has_failed: None,
            bound: None,
        }
    }

    /// Goes where a target leads from an entry.
    fn jump(
        mut self,
        from: &Path,
        target: &Target,
        to: Step,
    ) -> Result<RunProgress, TransitionError> {
        self.note_jump(from, target, &to);
        self.at(to)
    }

    /// Notes that a target leads elsewhere than on.
    fn note_jump(&mut self, from: &Path, target: &Target, to: &Step) {
        let Some(to) = to.path().filter(|_| target.phase().is_some()) else {
            return;
        };
        let bounds = self.visit_bounds.iter_mut();
        bounds.for_each(|bounds| bounds.is_jump = true);
        let bound = self.has_failed;
        self.bound = bound.and_then(|failed| ArrivalBound::of_jump(from.clone(), to, failed));
    }

    /// The data of the run, without what is about its last move.
    fn data(&self) -> RunData {
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
            data.failures = data.failures_elsewhere(&self.from.state, self.catalog);
        }
        data
    }

    /// Goes to a place, or on from there.
    fn at(mut self, to: Step) -> Result<RunProgress, TransitionError> {
        let state = &self.from.state;
        let mut data = self.data();
        let counts = !data.visits.is_empty() || self.catalog.has_flow(&state.workflow_key);
        let mut redirected = BTreeSet::new();
        let mut waiting = self.leave(to, &mut data)?;
        loop {
            let path = match waiting {
                Step::Inside(path) if counts => {
                    let reference = entry_at(&path, self.catalog).and_then(PhaseEntry::subworkflow);
                    let items = reference.and_then(|of| data.items(of, &path, self.catalog));
                    waiting = self.begin(&path, items.as_deref(), &mut data)?;
                    continue;
                }
                Step::Entry(path) | Step::Inside(path) => path,
                Step::End(..) | Step::Done => break,
            };
            if !counts {
                let state = moved(state, down_to_phase(path, self.catalog));
                return Ok(RunProgress { state, data });
            }
            let Some(entry) = entry_at(&path, self.catalog) else {
                let state = moved(state, path);
                return Ok(RunProgress { state, data });
            };
            let items = entry.subworkflow();
            let items = items.and_then(|reference| data.items(reference, &path, self.catalog));
            let is_empty = items.as_ref().is_some_and(Vec::is_empty);
            let any_condition = std::mem::take(&mut self.any_condition);
            if is_empty || !any_condition && !data.admits(entry, &path, self.catalog) {
                data.skipped.push(entry.id().to_owned());
                if let Some(reference) = entry.subworkflow().filter(|_| is_empty) {
                    data.begin_lists(reference, &path, self.catalog);
                }
                waiting = self.leave(behind(&path, self.catalog), &mut data)?;
                if let Some(bound) = &self.bound
                    && !waiting.path().is_some_and(|path| bound.contains(path))
                {
                    return Err(TransitionError::NoneApplies);
                }
                continue;
            }
            let most = entry.max_visits();
            let name = entry_name(entry, self.catalog);
            if let Some(limit) = self.limit(&path, entry.id(), name, most, &mut data) {
                data.limits.push(limit.to_string());
                data.forget_outcome(state, self.catalog);
                waiting = match entry.instead_of_visit() {
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
                    Some(_) if self.passes_guard(&path) => {
                        let passes_guard = true;
                        return Err(VisitLimit {
                            passes_guard,
                            ..limit
                        }
                        .into());
                    }
                    Some(target) if *target != Target::Pause => {
                        let to = step_to(target, &path, self.catalog)?;
                        let to = self.leave(to, &mut data)?;
                        let is_new = redirected.insert(limit.key.clone());
                        let bound = self.bound.as_ref();
                        if !is_new || bound.is_some_and(|bound| !bound.admits(target, to.path())) {
                            return Err(limit.into());
                        }
                        let bounds = self.visit_bounds.iter_mut();
                        bounds.for_each(|bounds| bounds.is_jump |= target.phase().is_some());
                        if let (Some(bound), Some(to)) = (&mut self.bound, to.path())
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
            self.visit(&path, entry.id(), most, &mut data);
            if let PhaseEntry::Subworkflow(_) = entry {
                waiting = self.begin(&path, items.as_deref(), &mut data)?;
                continue;
            }
            data.keep_scopes(Some(&path));
            let state = moved(state, path);
            return Ok(RunProgress { state, data });
        }
        data.keep_scopes(None);
        let state = done(state);
        Ok(RunProgress { state, data })
    }

    /// Begins the subworkflow of the reference at a path, in a loop with its first item. Ends, as no workflow contains itself.
    fn begin(
        &self,
        path: &Path,
        items: Option<&[String]>,
        data: &mut RunData,
    ) -> Result<Step, TransitionError> {
        let Some(PhaseEntry::Subworkflow(reference)) = entry_at(path, self.catalog) else {
            return Ok(Step::Entry(path.clone()));
        };
        data.forget_outcome_of(path, reference.id());
        if let Some(items) = items {
            if let Some(wrong) = wrong_items(&items.into(), reference.most_items()) {
                let list = reference.for_each.as_ref().map(ToString::to_string);
                let list = list.unwrap_or_default();
                return Err(TransitionError::Given(format!(
                    "The list `{list}` {wrong}."
                )));
            }
            data.begin_lists(reference, path, self.catalog);
            // All of them, so that a loop does not end in the middle.
            for number in 2..=items.len() {
                let given = data.given(reference, path, items, number, self.catalog);
                given.map_err(TransitionError::Given)?;
            }
        }
        self.begin_item(path, reference, items.unwrap_or_default(), data)
    }

    /// Begins a subworkflow anew, in a loop with the item that follows the one it is at.
    fn begin_item(
        &self,
        path: &Path,
        reference: &Subworkflow,
        items: &[String],
        data: &mut RunData,
    ) -> Result<Step, TransitionError> {
        let inside = path.entered(&reference.key);
        let scope = scope_key(&inside);
        let before = data.values.scopes.remove(&scope);
        let next = before.filter(|_| items.is_empty());
        let number = next.as_ref().and_then(ScopeValues::next);
        let number = number.unwrap_or(usize::from(!items.is_empty()));
        let items = next.map_or_else(|| items.to_vec(), |scope| scope.items);
        let given = data.given(reference, path, &items, number, self.catalog);
        let given = given.map_err(TransitionError::Given)?;
        data.enter_scope(&inside, self.catalog);
        if given != ScopeValues::default() {
            data.values.scopes.insert(scope, given);
        }
        Ok(Step::Entry(inside))
    }

    /// Leaves the scopes that end here: a subworkflow returns its outputs, a loop takes its next item, and an end with a name goes
    /// where the reference leads it.
    fn leave(&mut self, mut to: Step, data: &mut RunData) -> Result<Step, TransitionError> {
        while let Step::End(scope, end) = &to {
            let Some(around) = scope.left() else {
                return Ok(Step::Done);
            };
            let reference = entry_at(&around, self.catalog).and_then(PhaseEntry::subworkflow);
            let Some(reference) = reference else {
                return Ok(Step::Entry(around));
            };
            let end = end.as_deref();
            data.return_from(scope, &around, reference, end, self.catalog);
            let mut outcomes = reference.outcomes.iter();
            let outcome = outcomes.find(|outcome| Some(&*outcome.name) == end);
            let values = data.values.scopes.get(&scope_key(scope));
            to = if let Some(outcome) = outcome {
                let to = step_to(&outcome.to, &around, self.catalog)?;
                self.note_jump(&around, &outcome.to, &to);
                to
            } else if values.is_some_and(|values| values.next().is_some()) {
                self.begin_item(&around, reference, &[], data)?
            } else {
                behind(&around, self.catalog)
            };
        }
        Ok(to)
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
            passes_guard: false,
        })
    }

    /// Returns true if the limit of the entry at a path leads past its gate or its approval.
    fn passes_guard(&self, path: &Path) -> bool {
        let scope = path.innermost();
        let workflow = self.catalog.get(&scope.workflow_key);
        workflow.is_some_and(|workflow| {
            workflow.limit_passes_guard(scope.phase_index, path.depth() == 1)
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
