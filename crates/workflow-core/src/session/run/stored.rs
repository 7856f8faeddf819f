//! The entries that the session stores of the run, unless it has them already.

use std::collections::BTreeSet;

use serde_json::value::to_raw_value;

use super::ActiveRun;
use crate::effect::{Action, Effects};
use crate::run::{RunEntry, Stored, StoredDefinition, StoredGuards, StoredRun, entry_type};

/// The longest definition that is stored in the session, in bytes: an entry is one line of the host's file.
const MAX_STORED_DEFINITION: usize = 4 << 20;

const NOT_STORED: &str = "[workflow] The workflow is larger than 4 MiB, so it is not stored in the session. Without its files the run cannot \
     continue. Make its texts shorter.";

impl ActiveRun {
    /// Appends everything that the session must store of the run and that has changed.
    ///
    /// The counters and the data come first: a state says that they belong to it.
    pub(super) fn persist(&mut self, out: &mut Effects) {
        self.persist_counters(out);
        out.append_entry(entry_type::STATE, &self.progress.state);
        self.persist_definition(out);
        self.persist_spending(out);
        self.persist_tally(out);
    }

    /// Appends an entry of the run.
    pub(crate) fn append<T: RunEntry>(&self, step: Option<u64>, content: &T, out: &mut Effects) {
        let task_id = &self.progress.state.task_id;
        out.append_entry(T::TYPE, &Stored::of(task_id, step, content));
    }

    /// Appends an entry of the run, unless the session has it.
    fn store<T: RunEntry>(&mut self, step: Option<u64>, content: &T, out: &mut Effects) {
        if self.note_stored(content) {
            self.append(step, content, out);
        }
    }

    /// Notes that the session has an entry with this content. Returns false if it had it before; a step alone causes no entry.
    pub(super) fn note_stored<T: RunEntry>(&mut self, content: &T) -> bool {
        let text = serde_json::to_string(content).expect("entries have string keys only");
        self.stored.insert(T::TYPE, text.clone()) != Some(text)
    }

    pub(crate) fn step(&self) -> u64 {
        self.progress.state.global_step_count
    }

    /// Appends what is used of the budgets, unless the session has it.
    pub(crate) fn persist_spending(&mut self, out: &mut Effects) {
        if let Some(spending) = self.budgets.unsaved().cloned() {
            self.append(Some(self.step()), &spending, out);
        }
    }

    /// Appends what happened, unless the session has it.
    pub(crate) fn persist_tally(&mut self, out: &mut Effects) {
        let tally = self.memory.tally;
        self.store(None, &tally, out);
    }

    /// Appends what the user agreed to, unless the session has it (behaviour: "Definition gone").
    pub(crate) fn persist_definition(&mut self, out: &mut Effects) {
        if self.definition_persisted || self.phase().is_none() {
            return;
        }
        self.definition_persisted = true;
        let (state, agreed) = (&self.progress.state, &self.in_force.agreed);
        let definition = StoredDefinition {
            guards: Some(agreed.guards.clone()).filter(|guards| *guards != StoredGuards::default()),
            declined: self.declined.clone(),
            ..StoredDefinition::of(&state.workflow_key, &agreed.catalog)
        };
        let stored = Stored::of(&state.task_id, None, &definition);
        let data = to_raw_value(&stored).expect("a definition has string keys only");
        if data.get().len() > MAX_STORED_DEFINITION {
            out.warn(NOT_STORED);
        } else {
            out.act(Action::AppendEntry {
                custom_type: StoredDefinition::TYPE,
                data,
            });
        }
    }

    /// Appends the inputs and outputs, the counters and the reason for a pause, unless the session has them.
    pub(crate) fn persist_counters(&mut self, out: &mut Effects) {
        let step = Some(self.step());
        // A cancelled run makes no step: its values would count before its state does.
        if !self.progress.state.cancelled {
            let values = self.progress.data.values.clone();
            self.store(step, &values, out);
        }
        let had_data = self.has_stored_data;
        let run = self.to_be_stored();
        if self.note_stored(&run) {
            self.has_stored_data = !run.data.is_empty();
            let step = step.filter(|_| had_data || self.has_stored_data);
            self.append(step, &run, out);
        }
    }

    /// What the unknown calls have in common that the user allows.
    pub(crate) fn allowed(&self) -> &BTreeSet<String> {
        &self.record.allowed
    }

    /// Remembers that the user allows unknown calls with this in common.
    pub(crate) fn allow_unknown(&mut self, likeness: String, out: &mut Effects) {
        self.record.allowed.insert(likeness);
        self.persist_counters(out);
    }

    /// The entry of the run as it is now.
    pub(super) fn to_be_stored(&self) -> StoredRun {
        // A request that the run is not paused for ends with the session.
        let mut stored = StoredRun {
            data: self.progress.data.clone(),
            ..self.record.clone()
        };
        if stored.counters.paused.is_none() {
            stored.approval_request = None;
        }
        if stored.approval_request.is_none() {
            stored.data.handed_over.summary = None;
        }
        stored
    }
}
