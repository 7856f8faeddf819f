//! What happened in a run, for the summary at its end.

use serde::{Deserialize, Serialize};

use crate::definition::is_absent;
use crate::policy::gate_report::{CheckError, CheckVerdict, Report};
use crate::text;

/// Counts of what happened in a run.
#[serde_with::apply(_ => #[serde(skip_serializing_if = "is_absent")])]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Tally {
    /// Checks of gates that passed.
    pub passed: u64,
    /// Checks of gates that did not pass.
    pub failed: u64,
    /// Tool calls that were blocked.
    pub blocked: u64,
    /// Gates and approvals that the user passed over.
    pub overridden: u64,
}

impl Tally {
    /// Counts the checks of a gate that ran.
    pub(crate) fn count_checks(&mut self, reports: &[Report]) {
        for report in reports {
            let count = match report.verdict {
                CheckVerdict::Passed => &mut self.passed,
                CheckVerdict::Failed
                | CheckVerdict::CouldNotRun(CheckError::Timeout | CheckError::TooMuchOutput) => {
                    &mut self.failed
                }
                CheckVerdict::CouldNotRun(_) => continue,
            };
            *count = count.saturating_add(1);
        }
    }

    /// Counts a call that was blocked or refused.
    pub(crate) fn count_blocked(&mut self) {
        self.blocked = self.blocked.saturating_add(1);
    }

    /// The counts as people read them, without those that are nothing.
    pub(crate) fn describe(&self) -> Vec<String> {
        let counts = [(self.passed, "passed"), (self.failed, "failed")];
        let counts = counts.iter().filter(|(count, _)| *count > 0);
        let checks = text::join(counts.map(|(count, what)| format!("{count} {what}")), ", ");
        let parts = [
            (!checks.is_empty()).then(|| format!("checks: {checks}")),
            (self.blocked > 0).then(|| format!("blocked calls: {}", self.blocked)),
            (self.overridden > 0).then(|| format!("skipped by you: {}", self.overridden)),
        ];
        parts.into_iter().flatten().collect()
    }
}
