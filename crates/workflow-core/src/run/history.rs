//! The history of a run in the session's entries: states that follow each other by transitions.
//!
//! A session is a file that other programs can write. A state that no transition leads to, or that leaves a phase whose
//! gate and approval are not on record, is left out, and the run stays where it last was. Only a run whose definition
//! the session contains is followed: sessions of the npm package contain none.

use std::collections::BTreeMap;

use crate::definition::{Catalog, PhaseEntry, Target};
use crate::event::Entry;
use crate::policy::gate_report::{Report, failed_check};

use super::state::RunState;
use super::stored::{StoredDefinition, StoredGate, entry_type};
use super::stored_state::{StateDefect, state_from};
use super::transition::{
    ArrivalBound, after, down_to_phase, entry_at, index_of, next_entry, phase_at,
};
use super::weakened::weakened;
use super::{Path, Position, StoredGuards, StoredRun};

/// The last run of a session, as its entries describe it.
#[derive(Debug, Default)]
pub(super) struct History {
    /// The last state that follows from those before it.
    pub(super) state: Option<RunState>,
    /// The definition that was stored with it.
    pub(super) definition: Option<FollowedDefinition>,
    /// The reason why the newest state is not this one.
    pub(super) refused: Option<Refused>,
    /// The guards that an entry with a definition would have weakened without a person's agreement.
    pub(super) weakened: Vec<String>,
    exits: BTreeMap<u64, RecordedExit>,
    /// The step that a person has made, as its entry says before the state itself.
    moved_by_person: Option<u64>,
    /// The other run whose first phases were skipped, as its entry says before its first state.
    begins_later: Option<String>,
}

/// A stored definition that can be used.
#[derive(Debug)]
pub(super) struct FollowedDefinition {
    pub(super) catalog: Catalog,
    pub(super) hash: String,
    pub(super) guards: Option<StoredGuards>,
}

/// The reason why a state is left out.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refused {
    #[error("{0}")]
    Damaged(#[from] StateDefect),
    #[error("no transition leads from the state before to this one")]
    NoTransition,
    #[error("it leaves phase `{0}`, and no passed gate is recorded")]
    NoGate(String),
    #[error("it leaves phase `{0}`, and no approval is recorded")]
    NoApproval(String),
}

/// The conditions of a phase's end that are on record.
#[derive(Debug, Default)]
struct RecordedExit {
    phase: String,
    has_passed: bool,
    /// The index of the check that failed.
    failed: Option<usize>,
    is_approved: bool,
}

impl History {
    /// Reads the entries, oldest first.
    pub(super) fn of(entries: &[Entry<'_>]) -> Self {
        let mut history = Self::default();
        for (at, entry) in entries.iter().enumerate() {
            let Some(data) = entry.data else { continue };
            match entry.custom_type {
                entry_type::STATE => {
                    if let Some(state) = state_from(data) {
                        history.on_state(state, &entries[at + 1..]);
                    }
                }
                // Damaged ones are reported where the last of them is used.
                entry_type::DEFINITION => {
                    if let Ok(stored) = serde_json::from_str(data.get()) {
                        history.on_definition(stored);
                    }
                }
                entry_type::GATE => {
                    if let Ok(stored) = serde_json::from_str(data.get()) {
                        history.on_gate(&stored);
                    }
                }
                entry_type::RUN => history.on_run(data.get()),
                _ => {}
            }
        }
        history
    }

    fn on_state(&mut self, state: Result<RunState, StateDefect>, later: &[Entry<'_>]) {
        let active = self.state.as_ref().filter(|state| state.active);
        let (Some(before), Some(definition)) = (active, &self.definition) else {
            // Nothing is known that it would have to follow from.
            return match state {
                Ok(state) => self.accept(state),
                Err(damage) => {
                    *self = Self::default();
                    self.refused = Some(damage.into());
                }
            };
        };
        let catalog = &definition.catalog;
        let checked = state.map_err(Refused::from).and_then(|next| {
            let checked = if next.task_id == before.task_id {
                self.check(before, &next, catalog)
            } else {
                self.check_start(before, &next, catalog, later)
            };
            checked.map(|()| next)
        });
        match checked {
            Ok(state) => self.accept(state),
            Err(refused) => self.refused = Some(refused),
        }
    }

    fn accept(&mut self, state: RunState) {
        let before = self.state.as_ref().map(|before| &before.task_id);
        if before != Some(&state.task_id) {
            *self = Self::default();
        }
        self.refused = None;
        self.state = Some(state);
    }

    fn on_definition(&mut self, stored: StoredDefinition) {
        let Some(state) = self.of_run(&stored.task_id, stored.version) else {
            return;
        };
        let Some(catalog) = Catalog::checked(stored.workflows) else {
            return;
        };
        if let Some(before) = self.definition.as_ref().filter(|_| !stored.agreed) {
            let mut lost = weakened(&before.catalog, &catalog, state);
            let [was, is] =
                [&before.guards, &stored.guards].map(|guards| guards.clone().unwrap_or_default());
            lost.extend(was.weakened(&is));
            if !lost.is_empty() {
                self.weakened = lost;
                return;
            }
        }
        self.weakened.clear();
        self.definition = Some(FollowedDefinition {
            catalog,
            hash: stored.hash,
            guards: stored.guards,
        });
    }

    fn on_gate(&mut self, stored: &StoredGate) {
        if self.of_run(&stored.task_id, stored.version).is_none() {
            return;
        }
        let reports = &stored.reports;
        let exit = RecordedExit {
            phase: stored.phase.clone(),
            has_passed: !reports.is_empty() && reports.iter().all(Report::has_passed),
            failed: failed_check(reports),
            is_approved: stored.approved,
        };
        self.exits.insert(stored.step, exit);
    }

    fn on_run(&mut self, text: &str) {
        self.moved_by_person = None;
        // Most entries say nothing of this, and a long run has many long ones.
        if !text.contains(r#""movedBy""#) && !text.contains(r#""skipped""#) {
            return;
        }
        let Ok(stored) = serde_json::from_str::<StoredRun>(text) else {
            return;
        };
        if self.of_run(&stored.task_id, stored.version).is_some() {
            self.moved_by_person = stored.moved_by.as_ref().map(|moved| moved.step);
        } else if stored.step == Some(0) && !stored.data.skipped.is_empty() {
            self.begins_later = Some(stored.task_id);
        }
    }

    /// The state, if an entry of this task and version belongs to it.
    fn of_run(&self, task_id: &str, version: u32) -> Option<&RunState> {
        let state = self.state.as_ref()?;
        (state.task_id == task_id && version <= super::stored::VERSION).then_some(state)
    }

    /// Checks that a state is the first one of another run: on the first phase, or on one behind phases that are skipped.
    fn check_start(
        &self,
        before: &RunState,
        next: &RunState,
        catalog: &Catalog,
        later: &[Entry<'_>],
    ) -> Result<(), Refused> {
        if Position::of(before, catalog).is_err() {
            // What does not fit its definition follows no rules.
            return Ok(());
        }
        let indexes = next.current_path.segments().iter();
        let is_first = indexes.map(|segment| segment.phase_index).all(|at| at == 0);
        let may_begin_later = || match definition_of(&next.task_id, later) {
            Some(catalog) => {
                let mut starts = Vec::new();
                let first = Path::root(&next.workflow_key, 0);
                Arrivals::at(Some(first)).find(&catalog, &mut starts);
                starts.contains(&Some(next.current_path.clone()))
            }
            None => self.begins_later.as_ref() == Some(&next.task_id),
        };
        if next.global_step_count == 0 && next.active && (is_first || may_begin_later()) {
            Ok(())
        } else {
            Err(Refused::NoTransition)
        }
    }

    /// Checks that a state follows from the one before.
    fn check(&self, before: &RunState, next: &RunState, catalog: &Catalog) -> Result<(), Refused> {
        let Ok(position) = Position::of(before, catalog) else {
            // What does not fit its definition follows no rules.
            return Ok(());
        };
        // The agent may always cancel.
        if next.cancelled && !next.active {
            return Ok(());
        }
        let is_persons = self.moved_by_person == Some(next.global_step_count);
        let place = |state: &RunState| {
            let path = down_to_phase(state.current_path.clone(), catalog);
            state.active.then_some(path)
        };
        let to = place(next);
        let is_next_step = next.global_step_count == before.global_step_count.saturating_add(1);
        if to == place(before)
            && (next.active, next.global_step_count) == (before.active, before.global_step_count)
        {
            return Ok(());
        }
        if is_persons && is_next_step && (!next.active || Position::of(next, catalog).is_ok()) {
            return Ok(());
        }
        // The npm package completes a run without counting a step.
        if !is_next_step && next.active {
            return Err(Refused::NoTransition);
        }
        let phase = position.phase;
        let exit = self.exits.get(&before.global_step_count);
        let exit = exit.filter(|exit| exit.phase == phase.id);
        let moves = PossibleMoves::of(before, &position, exit, catalog);
        if moves.loops.contains(&to) || moves.after_failure.contains(&to) {
            return Ok(());
        }
        if !moves.onward.contains(&to) {
            return Err(Refused::NoTransition);
        }
        if !phase.gate.is_empty() && !exit.is_some_and(|exit| exit.has_passed) {
            return Err(Refused::NoGate(phase.name.clone()));
        }
        if phase.approve.is_some() && !exit.is_some_and(|exit| exit.is_approved) {
            return Err(Refused::NoApproval(phase.name.clone()));
        }
        Ok(())
    }
}

/// The paths to which the transitions of a phase may lead; `None` is the end. The values that conditions and limits
/// depend on are not looked at.
#[derive(Debug, Default)]
struct PossibleMoves {
    /// Those of `loop`.
    loops: Vec<Option<Path>>,
    /// Those after a gate that did not pass.
    after_failure: Vec<Option<Path>>,
    /// Those after the gate and the approval.
    onward: Vec<Option<Path>>,
}

impl PossibleMoves {
    fn of(
        before: &RunState,
        position: &Position<'_>,
        exit: Option<&RecordedExit>,
        catalog: &Catalog,
    ) -> Self {
        let mut moves = Self::default();
        let (path, phase) = (&before.current_path, position.phase);
        if position.scope().loopable {
            let first = Arrivals {
                bound: Some(ArrivalBound::of_loop(path)),
                ..Arrivals::at(Some(path.moved_to(0)))
            };
            first.find(catalog, &mut moves.loops);
        }
        let own = down_to_phase(path.clone(), catalog);
        // The entry of this id; a check that failed, or an answer, leads no further than to it and to this phase.
        let jump = |id: &str, stops_here: bool| {
            let index = index_of(position.own_workflow(), id).ok()?;
            let bound = stops_here.then(|| ArrivalBound::of_turn(&own, index));
            Some(Arrivals {
                bound,
                ..Arrivals::at(Some(own.moved_to(index)))
            })
        };
        let failed = exit.and_then(|exit| phase.gate.get(exit.failed?));
        if let Some(named) = failed.and_then(|gate| jump(gate.on_fail.as_deref()?, true)) {
            named.find(catalog, &mut moves.after_failure);
        }
        let mut to = |target: &Target, is_answer: bool| {
            let arrivals = match target {
                Target::Cancel => return,
                Target::Next => Arrivals::at(next_entry(before, catalog)),
                Target::End => Arrivals::at(own.left().and_then(|around| after(&around, catalog))),
                Target::Done => Arrivals::at(None),
                Target::Phase(id) => match jump(id, is_answer) {
                    None => return,
                    Some(arrivals) => arrivals,
                },
            };
            arrivals.find(catalog, &mut moves.onward);
        };
        let answers = phase.approve.iter().flat_map(|approve| &approve.targets);
        answers
            .clone()
            .filter(|target| **target != Target::Next)
            .for_each(|target| to(target, true));
        // Without an answer that leads elsewhere, the outcome decides.
        if answers.clone().next().is_none() || answers.clone().any(|to| *to == Target::Next) {
            match &*phase.outcomes {
                [] => to(&Target::Next, false),
                outcomes => outcomes.iter().for_each(|outcome| to(&outcome.to, false)),
            }
        }
        moves
    }
}

/// A move with a known beginning and an unknown end: phases with conditions may be skipped, and phases with a limit may lead
/// elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Arrivals {
    to: Option<Path>,
    bound: Option<ArrivalBound>,
}

impl Arrivals {
    fn at(to: Option<Path>) -> Self {
        Self { to, bound: None }
    }

    /// Adds the paths at which the move may end.
    fn find(self, catalog: &Catalog, found: &mut Vec<Option<Path>>) {
        let mut seen = Vec::new();
        let mut waiting = vec![self];
        while let Some(mut arrival) = waiting.pop() {
            while let Some(path) = &arrival.to
                && let Some(entry @ PhaseEntry::Subworkflow(key)) = entry_at(path, catalog)
            {
                if !entry.when().is_empty() {
                    waiting.push(Self {
                        to: after(path, catalog),
                        ..arrival.clone()
                    });
                }
                arrival.to = Some(path.entered(key));
            }
            let is_within = match (&arrival.bound, &arrival.to) {
                (None, _) => true,
                (Some(bound), Some(path)) => bound.contains(path),
                (Some(_), None) => false,
            };
            if !is_within || seen.contains(&arrival) {
                continue;
            }
            if let Some(path) = &arrival.to
                && let Some(phase) = phase_at(path, catalog)
            {
                if !phase.when.is_empty() {
                    waiting.push(Self {
                        to: after(path, catalog),
                        ..arrival.clone()
                    });
                }
                if let Some(id) = phase.redirect()
                    && let Some(scope) = catalog.get(&path.innermost().workflow_key)
                    && let Ok(index) = index_of(scope, id)
                {
                    let to = path.moved_to(index);
                    let mut bound = arrival.bound.clone();
                    if bound.as_mut().is_none_or(|bound| bound.redirect(&to)) {
                        waiting.push(Self {
                            to: Some(to),
                            bound,
                        });
                    }
                }
            }
            if !found.contains(&arrival.to) {
                found.push(arrival.to.clone());
            }
            seen.push(arrival);
        }
    }
}

/// The definition that the later entries contain of a run.
fn definition_of(task_id: &str, later: &[Entry<'_>]) -> Option<Catalog> {
    let stored = later
        .iter()
        .filter(|entry| entry.custom_type == entry_type::DEFINITION)
        .filter_map(|entry| serde_json::from_str::<StoredDefinition>(entry.data?.get()).ok())
        .find(|stored| stored.task_id == task_id)?;
    Catalog::checked(stored.workflows)
}
