//! The state of files and the repository at the entry of the phase, and at the start of the run and of each item of its loops, for
//! gates that compare with them.

use serde_json::value::RawValue;

use super::ActiveRun;
use crate::definition::{Check, Comparison, Condition, Fact, Gate, PhaseEntry, Subject, Workflow};
use crate::effect::{Effect, Effects};
use crate::policy::gate_report::Report;
use crate::run::{MeasuredChange, StoredGate};

impl ActiveRun {
    /// The gate of the phase, if its checks compare with the state at the entry of the phase.
    fn gates_with_baseline(&self) -> Option<Vec<Gate>> {
        let gates = &self.phase()?.phase.gate;
        let compares = |gate: &Gate| match &gate.check {
            Check::File(file) => file.changed.is_some(),
            // Also a check that nothing is changed is about the repository that was there.
            Check::Git(_) => true,
            Check::Run(_) | Check::Tests(_) => false,
        };
        gates.iter().any(compares).then(|| gates.clone())
    }

    /// Notes which items of loops begin with this move, and forgets those that are over. Returns true if their start is needed.
    pub(super) fn begin_items(&mut self, before: &[String]) -> bool {
        let (path, is_first) = (&self.progress.state.current_path, self.step() == 0);
        let items = self.progress.data.items_around(path);
        // A body may begin with a workflow that compares nothing.
        let is_compared = self.compares_with_start(&self.progress.state.workflow_key);
        let starts = &mut self.progress.data.item_starts;
        starts.retain(|item, _| items.contains(item));
        let is_begun = |item: &String| is_compared && (is_first || !before.contains(item));
        let begun: Vec<String> = items.into_iter().filter(is_begun).collect();
        let is_needed = !begun.is_empty();
        starts.extend(begun.into_iter().map(|item| (item, String::new())));
        is_needed
    }

    /// Takes the baseline at the entry of the phase, and at the start of the run or an item the files, where a gate needs them.
    pub(super) fn take_baseline(&self, begins_item: bool, out: &mut Effects) {
        let gates = self.gates_with_baseline();
        let root = &self.progress.state.workflow_key;
        let start = begins_item || (self.step() == 0 && self.compares_with_start(root));
        if gates.is_some() || start {
            let gates = gates.unwrap_or_default();
            out.perform(Effect::TakeBaseline { gates, start });
        }
        if self.step() == 0 && self.facts().next().is_some() {
            let (start, globs) = (None, Vec::new());
            out.perform(Effect::MeasureChange { start, globs });
        }
    }

    /// A workflow and those inside.
    fn workflows(&self, root: &str) -> impl Iterator<Item = &Workflow> + use<'_> {
        self.in_force.catalog.reachable_from(root).into_iter()
    }

    /// The conditions of the run that are about what was changed since its start.
    fn facts(&self) -> impl Iterator<Item = &Comparison> {
        let root = &self.progress.state.workflow_key;
        let entries = self.workflows(root).flat_map(|workflow| &workflow.phases);
        let conditions = entries.flat_map(PhaseEntry::when);
        let comparisons = conditions.flat_map(Condition::comparisons);
        comparisons.filter(|comparison| matches!(comparison.subject, Subject::Change(_)))
    }

    /// What measures the change since the start of the run, if a condition is about it and the start is known.
    pub(crate) fn measure_change(&self) -> Option<Effect> {
        let start = self.progress.data.start_files.clone()?;
        let is_of_paths = |fact: &&Comparison| fact.subject == Subject::Change(Fact::Paths);
        let globs = self.facts().filter(is_of_paths);
        let globs = globs.filter_map(|fact| fact.test.globs()).collect();
        self.facts().next()?;
        let start = Some(start);
        Some(Effect::MeasureChange { start, globs })
    }

    /// Stores the files at the start of the run.
    pub(crate) fn note_start(&mut self, start: Option<String>, out: &mut Effects) {
        if self.step() == 0 && self.progress.data.start_files.is_none() {
            self.progress.data.start_files = start;
            self.persist_counters(out);
        }
    }

    /// Notes what was changed since the start of the run, which is stored with the move.
    pub(crate) fn note_change(&mut self, change: Option<MeasuredChange>) {
        self.progress.data.change = change;
    }

    /// Returns true if a check of a workflow or one inside needs what was there at the start.
    fn compares_with_start(&self, workflow: &str) -> bool {
        let phases = self.workflows(workflow).flat_map(Workflow::own_phases);
        let mut gates = phases.flat_map(|phase| &phase.gate);
        gates.any(|gate| gate.check.compares_with_start())
    }

    /// What was recorded at the start of the item that the innermost loop is at, and without a loop at that of the run.
    pub(crate) fn start_files(&self) -> Option<String> {
        let (state, data) = (&self.progress.state, &self.progress.data);
        let items = data.items_around(&state.current_path);
        let item = items.first().and_then(|item| data.item_starts.get(item));
        item.or(data.start.as_ref()).cloned()
    }

    /// Takes the baseline now, where the gate compares with one that is not known.
    pub(crate) fn make_up_for_baseline(&self, out: &mut Effects) {
        let (Some(phase), None) = (self.phase(), &self.baseline) else {
            return;
        };
        let Some(gates) = self.gates_with_baseline() else {
            return;
        };
        let message = format!(
            "[workflow] The state at the start of {} was not recorded, so its gate compares with the state as it is now.",
            phase.phase.name
        );
        out.warn(message);
        let start = false;
        out.perform(Effect::TakeBaseline { gates, start });
    }

    /// Stores the state at the entry of the phase, and at the start of the run or an item.
    pub(crate) fn on_baseline_taken(
        &mut self,
        baseline: Box<RawValue>,
        start: Option<String>,
        out: &mut Effects,
    ) {
        if self.phase().is_some() {
            self.baseline = Some(baseline);
            self.store_gate(&[], out);
            let is_first = self.step() == 0;
            let data = &mut self.progress.data;
            for item in data.item_starts.values_mut().filter(|item| item.is_empty()) {
                *item = start.clone().unwrap_or_else(|| "unknown".to_owned());
            }
            if start.is_some() {
                if is_first {
                    data.start = start;
                }
                self.persist_counters(out);
            }
        }
    }

    /// Stores what is known of the gate: a host may keep the newest entry only, so it contains everything.
    pub(crate) fn store_gate(&self, reports: &[Report], out: &mut Effects) {
        let Some(phase) = self.phase() else { return };
        let stored = StoredGate {
            phase: phase.phase.id.clone(),
            baseline: self.baseline.clone(),
            reports: reports.to_vec(),
        };
        self.append(Some(self.step()), &stored, out);
    }
}
