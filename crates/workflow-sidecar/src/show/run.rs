//! The current run of a timeline: its state and, if known, its definition.

use std::cell::OnceCell;
use std::sync::Arc;

use serde::Serialize;
use workflow_core::definition::{Catalog, Loaded};
use workflow_core::event::Entry;
use workflow_core::explain::Explained;
use workflow_core::reminders::ContinueCounters;
use workflow_core::run::{
    PhaseAnswer, Position, RunState, RunValues, StoredDefinition, StoredRun, last_of_run,
};

use crate::present::stored_path;

/// A run, described by its stored entries.
#[derive(Debug)]
pub(super) struct TimelineRun {
    pub(super) state: RunState,
    pub(super) catalog: Option<Arc<Catalog>>,
    /// The index of its first event.
    pub(super) first_event: usize,
    /// Its newest counts and data, and the step that they belong to. Their entry precedes that of the state.
    pub(super) stored: StoredRun,
    step: Option<u64>,
    /// Its newest values; each entry has all of them.
    pub(super) values: RunValues,
    /// The comment on the newest one, and the step that it belongs to.
    comment: Option<(Option<u64>, String)>,
    /// The explanation of the current phase, computed on demand.
    explained: OnceCell<Option<Explained>>,
}

/// The reason why a phase was entered, and the events on the way, where the flow of the definition decides it.
#[serde_with::skip_serializing_none]
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FlowNotes {
    /// The outcome of the phase before.
    pub(crate) outcome: Option<String>,
    /// The ids of the phases that were skipped.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) skipped: Vec<String>,
    /// The number of the visit, from the second one.
    pub(crate) visit: Option<u32>,
    /// The comment of the user who answered.
    pub(crate) comment: Option<String>,
    /// The command by which the user made the move.
    pub(crate) user_command: Option<String>,
    /// The approver who ordered it elsewhere.
    pub(crate) approver: Option<String>,
    /// The gates and approvals that the user passed over.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) overrode: Vec<String>,
}

impl TimelineRun {
    /// Creates a run, with definitions to use if none is stored.
    pub(super) fn new(state: RunState, catalog: Option<Arc<Catalog>>) -> Self {
        Self {
            state,
            catalog,
            first_event: 0,
            stored: StoredRun::default(),
            step: None,
            values: RunValues::default(),
            comment: None,
            explained: OnceCell::new(),
        }
    }

    /// Sets the state after a transition, and gives the one before.
    pub(super) fn moved(&mut self, state: RunState) -> RunState {
        self.explained = OnceCell::new();
        std::mem::replace(&mut self.state, state)
    }

    /// Adopts the stored definition; returns false if the entry has none for this run.
    pub(super) fn define(&mut self, entry: Entry<'_>) -> bool {
        let stored = last_of_run::<StoredDefinition>(&[entry], &self.state.task_id);
        let catalog = stored.and_then(|(_, stored)| Catalog::checked(stored.workflows));
        let Some(catalog) = catalog else {
            return false;
        };
        self.catalog = Some(Arc::new(catalog));
        self.explained = OnceCell::new();
        true
    }

    /// Notes the data of the run: its counts of reminders, its visits, its last outcome, the phases that were skipped. Returns
    /// the counts before and now.
    pub(super) fn note(&mut self, entry: Entry<'_>) -> [ContinueCounters; 2] {
        let before = self.stored.counters;
        // An entry that cannot be read has no data; the engine reports it.
        if let Some((step, run)) = last_of_run(&[entry], &self.state.task_id) {
            self.step = step;
            self.stored = run;
        }
        [before, self.stored.counters]
    }

    /// Notes the values: inputs, outputs, and the answers of the user.
    pub(super) fn note_values(&mut self, entry: Entry<'_>) {
        let Some((step, values)) = last_of_run::<RunValues>(&[entry], &self.state.task_id) else {
            return;
        };
        let before = std::mem::replace(&mut self.values, values).answers;
        let answers = &self.values.answers;
        let is_new = |(key, _): &(&String, &PhaseAnswer)| before.get(*key) != answers.get(*key);
        if let Some((_, answer)) = answers.iter().find(is_new) {
            self.comment = Some((step, answer.comment.clone()));
        }
    }

    /// Returns what the data says of the way into the current phase.
    pub(super) fn flow_notes(&self) -> FlowNotes {
        let step = self.state.global_step_count;
        let StoredRun { moved_by, data, .. } = self.stored.clone();
        let moved_by = moved_by.filter(|moved| moved.step == step);
        let approver = moved_by.as_ref().and_then(|moved| moved.approver.clone());
        let (user_command, overrode) = moved_by
            .map(|moved| (moved.command, moved.overrode))
            .unzip();
        let is_of_step = self.step == Some(step);
        let data = Some(data).filter(|_| is_of_step).unwrap_or_default();
        let comment = self.comment.as_ref();
        let comment = comment.filter(|(of, _)| *of == Some(step));
        let comment = comment.map(|(_, comment)| comment.clone());
        let path = &self.state.current_path;
        let visit = self
            .position()
            .map(|position| data.visits(path, &position.phase.id));
        FlowNotes {
            visit: visit.filter(|visit| *visit > 1),
            outcome: data.outcome,
            skipped: data.skipped,
            comment: comment.filter(|comment| !comment.is_empty()),
            user_command,
            approver,
            overrode: overrode.unwrap_or_default(),
        }
    }

    /// The position; an outdated path has none.
    fn position(&self) -> Option<Position<'_>> {
        Position::of(&self.state, self.catalog.as_ref()?).ok()
    }

    /// Returns the workflow's name, or its key.
    pub(super) fn workflow(&self) -> &str {
        let key = &self.state.workflow_key;
        let workflow = self.catalog.as_ref().and_then(|catalog| catalog.get(key));
        workflow.map_or(key, |workflow| &workflow.name)
    }

    /// Returns the phase with its scopes.
    pub(super) fn phase(&self) -> String {
        let Some(position) = self.position() else {
            return stored_path(&self.state.current_path);
        };
        let inside = position.levels.iter().skip(1);
        let scopes = inside.map(|level| level.workflow.name.as_str());
        let phase = position.phase.label();
        let mut parts: Vec<&str> = scopes.collect();
        parts.push(&phase);
        parts.join(" > ")
    }

    /// Returns the ids of the phase and of the references around it, outer ones first; empty if they are not known.
    pub(super) fn path(&self) -> Vec<String> {
        let position = self.position();
        let levels = position
            .iter()
            .flat_map(|at| at.levels.iter().chain(&at.drilled));
        let entries = levels.filter_map(|level| level.workflow.phases.get(level.index));
        entries.map(|entry| entry.id().to_owned()).collect()
    }

    /// Returns the explanation of the current phase, if its definition is known.
    pub(super) fn explained(&self) -> Option<&Explained> {
        self.explained
            .get_or_init(|| {
                let loaded = Loaded {
                    catalog: Arc::clone(self.catalog.as_ref()?),
                    ..Loaded::default()
                };
                // A run at an outdated path has no explanation.
                Explained::of(&self.state, &loaded).ok()
            })
            .as_ref()
    }
}
