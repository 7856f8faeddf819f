//! Arrivals: a move that ends at the first phase that may be entered.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::definition::{Catalog, PhaseEntry, Subworkflow, Target, Workflow};
use crate::text;

use super::data::{ScopeValues, count, times};
use super::scopes::wrong_items;
use super::steps::{Step, behind, down_to_phase, step_to};
use super::{DefinitionMismatch, HandedOver, Path, RunData, RunProgress, RunState, entry_name};

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
    /// What is stored of the run does not say which item the loop over this subworkflow is at.
    #[error("It is not known which item {0} is at.")]
    NoItem(String),
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

/// The progress after a transition.
pub type Moved = Result<RunProgress, TransitionError>;

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
        let (name, times) = (&self.name, text::times(self.times));
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

/// The last entry of a scope up to which a move must end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ArrivalBound {
    last: Path,
    /// True if the phase to which a limit leads may lie behind it.
    follows_limits: bool,
}

impl ArrivalBound {
    /// The bound of a `loop` or a jump of the user, which is at this entry.
    pub(super) fn of_loop(last: Path) -> Self {
        Self {
            last,
            follows_limits: false,
        }
    }

    /// The bound of a jump: a way back ends before it passes the current entry, and after a failure one on does not pass the
    /// named one.
    fn of_jump(current: Path, to: &Path, has_failed: bool) -> Option<Self> {
        let here = Self {
            follows_limits: true,
            ..Self::of_loop(current)
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
pub(super) struct Arrival<'a> {
    from: &'a RunProgress,
    catalog: &'a Catalog,
    /// The times that a jump may lead into what declares no limit; `None` if no limit holds.
    jumps: Option<u32>,
    /// True if the move is a jump. One that a limit has redirected is a jump, too.
    is_jump: bool,
    /// True if the conditions of the first entry do not count.
    pub(super) any_condition: bool,
    /// True if the move is made because something failed, false if by a person's answer.
    pub(super) has_failed: Option<bool>,
    /// The entry up to which the move must end, if not anywhere.
    pub(super) bound: Option<ArrivalBound>,
    /// True if the phase is left with the outcome that the agent named, which is forgotten otherwise.
    pub(super) keeps_outcome: bool,
    /// True if the way back to the phase belongs to its visit, so that the failures of its checks count on.
    pub(super) keeps_failures: bool,
}

impl<'a> Arrival<'a> {
    /// A move of an actor.
    pub(super) fn of(from: &'a RunProgress, actor: Actor, catalog: &'a Catalog) -> Self {
        Self {
            from,
            catalog,
            jumps: match actor {
                Actor::Agent { jumps } => Some(jumps),
                Actor::User => None,
            },
            is_jump: false,
            any_condition: false,
            has_failed: None,
            bound: None,
            keeps_outcome: false,
            keeps_failures: false,
        }
    }

    /// Goes where a target leads from an entry.
    pub(super) fn jump(mut self, from: &Path, target: &Target, to: Step) -> Moved {
        self.note_jump(from, target, &to);
        self.at(to)
    }

    /// Notes that a target leads elsewhere than on.
    fn note_jump(&mut self, from: &Path, target: &Target, to: &Step) {
        if let Some(to) = to.path().filter(|_| target.phase().is_some()) {
            let bound = |failed| ArrivalBound::of_jump(from.clone(), to, failed);
            (self.is_jump, self.bound) = (true, self.has_failed.and_then(bound));
        }
    }

    /// Goes to a place, or on from there.
    pub(super) fn at(mut self, to: Step) -> Moved {
        let (from, catalog) = (self.from, self.catalog);
        let state = &from.state;
        let failures = match self.jumps {
            _ if self.keeps_failures => from.data.failures.clone(),
            Some(_) => from.data.failures_elsewhere(state, catalog),
            None => BTreeMap::new(),
        };
        // What is about the last move begins anew.
        let mut data = RunData {
            skipped: Vec::new(),
            empty_lists: BTreeSet::new(),
            outcome: None,
            limits: Vec::new(),
            refused_visit: None,
            handed_over: HandedOver::default(),
            failures,
            ..from.data.clone()
        };
        if !self.keeps_outcome {
            data.forget_outcome(state, catalog);
        }
        let counts = !data.visits.is_empty() || catalog.has_flow(&state.workflow_key);
        let mut redirected = BTreeSet::new();
        let mut to = self.leave(to, &mut data)?;
        loop {
            let path = match to {
                Step::Inside(path) if counts => {
                    to = self.begin(&path, &mut data)?;
                    continue;
                }
                Step::Entry(path) | Step::Inside(path) => path,
                Step::End(..) | Step::Done => {
                    data.keep_scopes(None);
                    let state = done(state);
                    return Ok(RunProgress { state, data });
                }
            };
            let Some(entry) = path.entry(catalog).filter(|_| counts) else {
                let state = moved(state, down_to_phase(path, catalog));
                return Ok(RunProgress { state, data });
            };
            let reference = entry.subworkflow();
            let items = reference.and_then(|reference| data.items(reference, &path, catalog));
            let is_empty = items.is_some_and(|items| items.is_empty());
            let any_condition = std::mem::take(&mut self.any_condition);
            if is_empty || !any_condition && !data.admits(entry, &path, catalog) {
                data.skipped.push(entry.id().to_owned());
                if let Some(reference) = reference.filter(|_| is_empty) {
                    data.begin_lists(reference, &path, catalog);
                    data.empty_lists.insert(entry.id().to_owned());
                }
                to = self.leave(behind(&path, catalog), &mut data)?;
                if let Some(bound) = &self.bound
                    && !to.path().is_some_and(|path| bound.contains(path))
                {
                    return Err(TransitionError::NoneApplies);
                }
                continue;
            }
            let key = path.visit_key(entry.id());
            if let Some(limit) = self.limit(&path, entry, &key, &mut data) {
                data.limits.push(limit.to_string());
                data.forget_outcome(state, catalog);
                to = match entry.instead_of_visit() {
                    None | Some(Target::Pause) => return Err(limit.into()),
                    Some(_) if limit.asks_to_cancel || limit.passes_guard => {
                        return Err(limit.into());
                    }
                    Some(Target::Cancel) => return Ok(cancelled(from, data.limits)),
                    Some(target) => {
                        let to = step_to(target, &path, catalog)?;
                        let to = self.leave(to, &mut data)?;
                        let bound = self.bound.as_ref();
                        if !redirected.insert(key)
                            || bound.is_some_and(|bound| !bound.admits(target, to.path()))
                        {
                            return Err(limit.into());
                        }
                        self.is_jump |= target.phase().is_some();
                        if let (Some(bound), Some(to)) = (&mut self.bound, to.path())
                            && !bound.contains(to)
                        {
                            bound.last.clone_from(to);
                        }
                        to
                    }
                };
                continue;
            }
            if self.is_jump && self.jumps.is_some() && entry.max_visits().is_none() {
                count(&mut data.jumps, &key);
            }
            count(&mut data.visits, &key);
            if reference.is_some() {
                to = Step::Inside(path);
                continue;
            }
            data.keep_scopes(Some(&path));
            let state = moved(state, path);
            return Ok(RunProgress { state, data });
        }
    }

    /// Begins the subworkflow of the reference at a path, in a loop with its first item. Ends, as no workflow contains itself.
    fn begin(&self, path: &Path, data: &mut RunData) -> Result<Step, TransitionError> {
        let Some(reference) = path.subworkflow(self.catalog) else {
            return Ok(Step::Entry(path.clone()));
        };
        let outcome = path.output_key(reference.id());
        data.values.outcomes.remove(&outcome);
        let items = data.items(reference, path, self.catalog);
        if let (Some(items), Some(list)) = (&items, &reference.for_each) {
            if let Some(wrong) = wrong_items(&items.clone().into(), reference.most_items()) {
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
        self.begin_item(path, reference, &items.unwrap_or_default(), data)
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
        let scope = inside.scope_key();
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
            let Some(reference) = around.subworkflow(self.catalog) else {
                return Ok(Step::Entry(around));
            };
            let end = end.as_deref();
            data.return_from(scope, &around, reference, end, self.catalog);
            let mut outcomes = reference.outcomes.iter();
            let outcome = outcomes.find(|outcome| Some(&*outcome.name) == end);
            let values = data.values.scopes.get(&scope.scope_key());
            to = if let Some(outcome) = outcome {
                let to = step_to(&outcome.to, &around, self.catalog)?;
                self.note_jump(&around, &outcome.to, &to);
                to
            } else if reference.for_each.is_none() {
                behind(&around, self.catalog)
            } else if values.is_none_or(|values| values.item().is_none()) {
                let name = self.catalog.get(&reference.key).map(|inner| &inner.name);
                let name = name.unwrap_or(&reference.key).clone();
                return Err(TransitionError::NoItem(name));
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
        entry: &PhaseEntry,
        key: &str,
        data: &mut RunData,
    ) -> Option<VisitLimit> {
        let (jumps, root) = (self.jumps?, &self.from.state.workflow_key);
        let declared = entry.max_visits();
        let (counts, most) = match declared {
            Some(most) => (&data.visits, most),
            None if self.is_jump => (&data.jumps, jumps),
            None => return None,
        };
        let times = times(counts, key);
        if times < most || data.allowed_visits.remove(key) {
            return None;
        }
        let cancels = entry.instead_of_visit() == Some(&Target::Cancel);
        let (index, is_root) = (path.innermost().phase_index, path.depth() == 1);
        let workflow = path.workflow(self.catalog);
        let passes = |workflow: &Workflow| workflow.limit_passes_guard(index, is_root);
        Some(VisitLimit {
            name: entry_name(entry, self.catalog).to_owned(),
            times,
            is_declared: declared.is_some(),
            key: key.to_owned(),
            asks_to_cancel: cancels && self.catalog.is_cancelled_by_user(root),
            passes_guard: workflow.is_some_and(passes),
        })
    }
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

/// The end of a run that is cancelled, because of these limits if there are any.
pub(super) fn cancelled(from: &RunProgress, limits: Vec<String>) -> RunProgress {
    let data = RunData {
        limits,
        ..from.data.clone()
    };
    let state = cancel(&from.state);
    RunProgress { state, data }
}

pub(super) fn moved(state: &RunState, path: Path) -> RunState {
    RunState {
        current_path: path,
        global_step_count: state.global_step_count.saturating_add(1),
        ..state.clone()
    }
}

/// Case 3. The path keeps the root's last entry, so that it stays a position in the workflow (A07).
fn done(state: &RunState) -> RunState {
    RunState {
        active: false,
        completion_notified: false,
        ..moved(state, state.current_path.up_to(1))
    }
}
