//! The state of files and the repository at the entry of the phase, for gates that compare with it.

use serde_json::value::RawValue;

use super::ActiveRun;
use crate::definition::{Check, Gate};
use crate::diagnostic::Severity;
use crate::effect::{Effect, Effects};
use crate::policy::gate_report::Report;
use crate::run::StoredGate;

impl ActiveRun {
    /// The gate of the phase, if its checks compare with the state at the entry of the phase.
    pub(super) fn gates_with_baseline(&self) -> Option<Vec<Gate>> {
        let gates = &self.phase()?.phase.gate;
        let compares = |gate: &Gate| match &gate.check {
            Check::File(file) => file.changed.is_some(),
            // Also a check that nothing is changed is about the repository that was there.
            Check::Git(_) => true,
            Check::Run(_) => false,
        };
        gates.iter().any(compares).then(|| gates.clone())
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
        out.notify(Severity::Warning, message);
        out.perform(Effect::TakeBaseline { gates });
    }

    /// Stores the state at the entry of the phase.
    pub(crate) fn on_baseline_taken(&mut self, baseline: Box<RawValue>, out: &mut Effects) {
        if self.phase().is_some() {
            self.baseline = Some(baseline);
            self.store_gate(&[], out);
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
