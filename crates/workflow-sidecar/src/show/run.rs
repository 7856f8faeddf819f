//! The current run of a timeline: its state and, if known, its definition.

use std::cell::OnceCell;
use std::sync::Arc;

use serde::Serialize;
use serde_json::value::to_raw_value;
use workflow_core::definition::{Catalog, Loaded};
use workflow_core::event::Entry;
use workflow_core::explain::Explained;
use workflow_core::reminders::ContinueCounters;
use workflow_core::run::{
    PersonMove, Position, RunData, RunState, StoredRun, entry_type, last_of_run, restore,
};

use crate::present::stored_path;

/// A run, described by its stored entries.
#[derive(Debug)]
pub(super) struct TimelineRun {
    pub(super) state: RunState,
    pub(super) counters: ContinueCounters,
    catalog: Option<Arc<Catalog>>,
    /// The newest data of the run, and the step that it belongs to. Its entry precedes that of the state.
    data: Option<(u64, RunData)>,
    /// The newest move that the user made.
    moved_by: Option<PersonMove>,
    /// The comment of the data before, which the data repeats until there is a new one.
    old_comment: Option<String>,
    /// The explanation of the current phase, computed on demand.
    explained: OnceCell<Option<Explained>>,
}

/// The reason why a phase was entered, and the events on the way, where the flow of the definition decides it.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FlowNotes {
    /// The outcome of the phase before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) outcome: Option<String>,
    /// The ids of the phases that were skipped.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) skipped: Vec<String>,
    /// The number of the visit, from the second one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) visit: Option<u32>,
    /// The comment of the user who answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) comment: Option<String>,
    /// The command by which the user made the move.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) user_command: Option<String>,
    /// The gates and approvals that the user passed over.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) overrode: Vec<String>,
}

impl TimelineRun {
    /// Creates a run, with definitions to use if none is stored.
    pub(super) fn new(state: RunState, catalog: Option<Arc<Catalog>>) -> Self {
        Self {
            state,
            counters: ContinueCounters::default(),
            catalog,
            data: None,
            moved_by: None,
            old_comment: None,
            explained: OnceCell::new(),
        }
    }

    /// Sets the state after a transition.
    pub(super) fn moved(&mut self, state: RunState) {
        self.state = state;
        self.explained = OnceCell::new();
    }

    /// Adopts the stored definition; returns false if the entry has none for this run.
    pub(super) fn define(&mut self, entry: Entry<'_>) -> bool {
        let state = to_raw_value(&self.state).expect("a state is JSON");
        let state = Entry {
            custom_type: entry_type::STATE,
            data: Some(&state),
        };
        let Some(definition) = restore(&[state, entry]).definition else {
            return false;
        };
        self.catalog = Some(Arc::new(definition.catalog));
        self.explained = OnceCell::new();
        true
    }

    /// Notes the data of the run: its counts of reminders, its visits, its last outcome, the phases that were skipped. Returns
    /// the counts before.
    pub(super) fn note(&mut self, entry: Entry<'_>) -> ContinueCounters {
        // An entry that cannot be read has no data; the engine reports it.
        let Some(run) = last_of_run::<StoredRun>(&[entry], &self.state.task_id) else {
            return self.counters;
        };
        self.moved_by = run.moved_by;
        if let Some(step) = run.step {
            let before = self.data.replace((step, run.data));
            self.old_comment = before.and_then(|(_, before)| before.comment);
        }
        std::mem::replace(&mut self.counters, run.counters)
    }

    /// Returns what the data says of the way into the current phase.
    pub(super) fn flow_notes(&self) -> FlowNotes {
        let step = self.state.global_step_count;
        let moved_by = self.moved_by.as_ref().filter(|moved| moved.step == step);
        let by_user = FlowNotes {
            user_command: moved_by.map(|moved| moved.command.clone()),
            overrode: moved_by.map_or_else(Vec::new, |moved| moved.overrode.clone()),
            ..FlowNotes::default()
        };
        let data = self.data.as_ref();
        let Some((_, data)) = data.filter(|(of, _)| *of == step) else {
            return by_user;
        };
        let catalog = self.catalog.as_ref();
        let position = catalog.and_then(|catalog| Position::of(&self.state, catalog).ok());
        let visit = position.map(|position| {
            let path = &self.state.current_path;
            data.visits(path, &position.phase.id)
        });
        FlowNotes {
            outcome: data.outcome.clone(),
            skipped: data.skipped.clone(),
            visit: visit.filter(|visit| *visit > 1),
            comment: data
                .comment
                .clone()
                .filter(|new| Some(new) != self.old_comment.as_ref()),
            ..by_user
        }
    }

    /// Returns the workflow's name, or its key.
    pub(super) fn workflow(&self) -> &str {
        let key = &self.state.workflow_key;
        let workflow = self.catalog.as_ref().and_then(|catalog| catalog.get(key));
        workflow.map_or(key, |workflow| &workflow.name)
    }

    /// Returns the phase with its scopes.
    pub(super) fn phase(&self) -> String {
        let position = self
            .catalog
            .as_ref()
            // An outdated path is shown as it is stored.
            .and_then(|catalog| Position::of(&self.state, catalog).ok());
        let Some(position) = position else {
            return stored_path(&self.state.current_path);
        };
        let inside = position.levels.iter().skip(1);
        let scopes = inside.map(|level| level.workflow.name.as_str());
        let phase = format!("{} {}", position.phase.emoji, position.phase.name);
        let mut parts: Vec<&str> = scopes.collect();
        parts.push(&phase);
        parts.join(" > ")
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

/// Returns the state of an entry, if it can be restored.
pub(super) fn state_of(entry: Entry<'_>) -> Option<RunState> {
    restore(&[entry]).state
}
