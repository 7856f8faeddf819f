//! The entries that the session stores of the run, unless it has them already.

use serde_json::value::to_raw_value;

use super::ActiveRun;
use crate::diagnostic::Severity;
use crate::effect::{Action, Effects};
use crate::run::{
    RunEntry, RunValues, Stored, StoredDefinition, StoredGuards, StoredRun, StoredSpending,
    StoredValues, entry_type,
};

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
    pub(crate) fn append<T: RunEntry>(&self, content: &T, out: &mut Effects) {
        out.append_entry(T::TYPE, &Stored::of(&self.progress.state.task_id, content));
    }

    fn step(&self) -> u64 {
        self.progress.state.global_step_count
    }

    /// Appends what is used of the budgets, unless the session has it.
    pub(crate) fn persist_spending(&mut self, out: &mut Effects) {
        if let Some(spending) = self.budgets.unsaved().cloned() {
            let step = self.step();
            self.append(&StoredSpending { step, spending }, out);
        }
    }

    /// Appends what happened, unless the session has it.
    pub(crate) fn persist_tally(&mut self, out: &mut Effects) {
        if self.tally != self.persisted_tally {
            self.persisted_tally = self.tally;
            self.append(&self.tally, out);
        }
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
        let stored = Stored::of(&state.task_id, &definition);
        let data = to_raw_value(&stored).expect("a definition has string keys only");
        if data.get().len() > MAX_STORED_DEFINITION {
            out.notify(Severity::Warning, NOT_STORED);
        } else {
            out.act(Action::AppendEntry {
                custom_type: StoredDefinition::TYPE,
                data,
            });
        }
    }

    /// Appends the inputs and outputs, unless the session has them.
    fn persist_values(&mut self, out: &mut Effects) {
        let data = &self.progress.data;
        let is_stored = |values: &RunValues| data.has_values(values);
        // A cancelled run makes no step: its values would count before its state does.
        if !self.progress.state.cancelled && !self.persisted_values.as_ref().is_some_and(is_stored)
        {
            let (step, values) = (self.step(), data.values());
            self.persisted_values = Some(values.clone());
            self.append(&StoredValues { step, values }, out);
        }
    }

    /// Appends the counters and the reason for a pause, unless the session has them.
    pub(crate) fn persist_counters(&mut self, out: &mut Effects) {
        self.persist_values(out);
        let stored = self.to_be_stored();
        if stored == self.persisted && !self.has_unmade_move {
            return;
        }
        let has_data = !stored.data.is_empty() || !self.persisted.data.is_empty();
        let step = has_data.then_some(self.step());
        self.append(
            &StoredRun {
                step,
                ..stored.clone()
            },
            out,
        );
        self.persisted = stored;
        self.has_unmade_move = false;
    }

    /// The entry of the run as it is now, except for its step.
    fn to_be_stored(&self) -> StoredRun {
        // A request that the run is not paused for ends with the session.
        let mut stored = self.record.clone();
        if stored.counters.paused.is_none() {
            stored.approval_request = None;
        }
        let awaits_approval = stored.approval_request.is_some();
        stored.data = self.progress.data.without_values(awaits_approval);
        stored
    }
}
