//! The history of a run in the session's entries: states that follow each other by transitions.
//!
//! A session is a file that other programs can write. A state that no transition leads to, or that leaves a phase whose
//! gate and approval are not on record, is left out, and the run stays where it last was. Only a run whose definition
//! the session contains is followed: sessions of the npm package contain none.

use std::collections::BTreeMap;

use crate::definition::{Catalog, OnMaxVisits, Target};
use crate::event::Entry;
use crate::policy::gate_report::Report;

use super::state::RunState;
use super::stored::{StoredDefinition, StoredGate, entry_type};
use super::stored_state::{Damage, state_from};
use super::transition::{after, down_to_phase, in_order, index_of, phase_at};
use super::weakened::weakened;
use super::{Path, Position, StoredGuards, StoredRun};

/// What a session's entries say of its last run.
#[derive(Debug, Default)]
pub(super) struct History {
    /// The last state that follows from those before it.
    pub(super) state: Option<RunState>,
    /// The definition that was stored with it.
    pub(super) definition: Option<FollowedDefinition>,
    /// Why the newest state is not this one.
    pub(super) refused: Option<Refused>,
    /// What an entry with a definition would have weakened without a person's agreement.
    pub(super) weakened: Vec<String>,
    exits: BTreeMap<u64, Exit>,
    /// The step that a person has made, as its entry says before the state itself.
    moved_by_person: Option<u64>,
}

/// A stored definition that can be used.
#[derive(Debug)]
pub(super) struct FollowedDefinition {
    pub(super) catalog: Catalog,
    pub(super) hash: String,
    pub(super) guards: Option<StoredGuards>,
}

/// Why a state is left out.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refused {
    #[error("{0}")]
    Damaged(#[from] Damage),
    #[error("no transition leads from the state before to this one")]
    NoTransition,
    #[error("it leaves phase `{0}`, and no passed gate is recorded")]
    NoGate(String),
    #[error("it leaves phase `{0}`, and no approval is recorded")]
    NoApproval(String),
}

/// The conditions of a phase's end that are on record.
#[derive(Debug, Default)]
struct Exit {
    phase: String,
    has_passed: bool,
    is_approved: bool,
}

impl History {
    /// Reads the entries, oldest first.
    pub(super) fn of(entries: &[Entry<'_>]) -> Self {
        let mut history = Self::default();
        for entry in entries {
            let Some(data) = entry.data else { continue };
            match entry.custom_type {
                entry_type::STATE => {
                    if let Some(state) = state_from(data) {
                        history.on_state(state);
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
                entry_type::RUN => {
                    if let Ok(stored) = serde_json::from_str(data.get()) {
                        history.on_run(&stored);
                    }
                }
                _ => {}
            }
        }
        history
    }

    fn on_state(&mut self, state: Result<RunState, Damage>) {
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
            match self.check(before, &next, catalog) {
                Ok(()) => Ok(next),
                Err(refused) => Err(refused),
            }
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
            if let Some(guards) = &before.guards {
                lost.extend(guards.weakened(&stored.guards.clone().unwrap_or_default()));
            }
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
        let exit = Exit {
            phase: stored.phase.clone(),
            has_passed: !reports.is_empty() && reports.iter().all(Report::has_passed),
            is_approved: stored.approved,
        };
        self.exits.insert(stored.step, exit);
    }

    fn on_run(&mut self, stored: &StoredRun) {
        if self.of_run(&stored.task_id, stored.version).is_some() {
            self.moved_by_person = stored.moved_by.as_ref().map(|moved| moved.step);
        }
    }

    /// The state, if an entry of this task and version belongs to it.
    fn of_run(&self, task_id: &str, version: u32) -> Option<&RunState> {
        let state = self.state.as_ref()?;
        (state.task_id == task_id && version <= super::stored::VERSION).then_some(state)
    }

    /// Checks that a state follows from the one before.
    fn check(&self, before: &RunState, next: &RunState, catalog: &Catalog) -> Result<(), Refused> {
        let Ok(position) = Position::of(before, catalog) else {
            // What does not fit its definition follows no rules.
            return Ok(());
        };
        if next.task_id != before.task_id {
            let indexes = next.current_path.segments().iter();
            let is_start = next.global_step_count == 0
                && indexes.map(|segment| segment.phase_index).all(|at| at == 0);
            return if is_start {
                Ok(())
            } else {
                Err(Refused::NoTransition)
            };
        }
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
        let ways = Ways::of(before, catalog);
        if ways.loops.contains(&to) || ways.after_failure.contains(&to) {
            return Ok(());
        }
        if !ways.onward.contains(&to) {
            return Err(Refused::NoTransition);
        }
        let phase = position.phase;
        let exit = self.exits.get(&before.global_step_count);
        let exit = exit.filter(|exit| exit.phase == phase.id);
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
struct Ways {
    /// Those of `loop`.
    loops: Vec<Option<Path>>,
    /// Those after a gate that did not pass.
    after_failure: Vec<Option<Path>>,
    /// Those after the gate and the approval.
    onward: Vec<Option<Path>>,
}

impl Ways {
    fn of(before: &RunState, catalog: &Catalog) -> Self {
        let mut ways = Self::default();
        let Ok(position) = Position::of(before, catalog) else {
            return ways;
        };
        let path = &before.current_path;
        if position.scope().loopable {
            arrivals(Some(path.moved_to(0)), catalog, &mut ways.loops);
        }
        let entry = |id: &str| {
            let index = index_of(position.scope(), id).ok()?;
            Some(path.moved_to(index))
        };
        for id in position
            .phase
            .gate
            .iter()
            .filter_map(|gate| gate.on_fail.as_deref())
        {
            if let Some(path) = entry(id) {
                arrivals(Some(path), catalog, &mut ways.after_failure);
            }
        }
        arrivals(in_order(before, catalog), catalog, &mut ways.onward);
        let outcomes = position.phase.outcomes.iter().map(|outcome| &outcome.to);
        let answers = position
            .phase
            .approve
            .iter()
            .flat_map(|approve| &approve.targets);
        for target in outcomes.chain(answers) {
            match target {
                Target::Next | Target::Cancel => {}
                Target::End => {
                    let outer = path.left().and_then(|around| after(&around, catalog));
                    arrivals(outer, catalog, &mut ways.onward);
                }
                Target::Done => ways.onward.push(None),
                Target::Phase(id) => {
                    if let Some(path) = entry(id) {
                        arrivals(Some(path), catalog, &mut ways.onward);
                    }
                }
            }
        }
        ways
    }
}

/// Adds the paths at which a move to this one may end: phases with conditions may be skipped, and phases with a limit
/// may lead elsewhere.
fn arrivals(to: Option<Path>, catalog: &Catalog, found: &mut Vec<Option<Path>>) {
    let mut waiting = vec![to];
    while let Some(to) = waiting.pop() {
        let to = to.map(|path| down_to_phase(path, catalog));
        if found.contains(&to) {
            continue;
        }
        if let Some(path) = &to
            && let Some(phase) = phase_at(path, catalog)
        {
            if !phase.when.is_empty() {
                waiting.push(after(path, catalog));
            }
            if let OnMaxVisits::Phase(id) = &phase.on_max_visits
                && let Some(scope) = catalog.get(&path.innermost().workflow_key)
                && let Ok(index) = index_of(scope, id)
            {
                waiting.push(Some(path.moved_to(index)));
            }
        }
        found.push(to);
    }
}
