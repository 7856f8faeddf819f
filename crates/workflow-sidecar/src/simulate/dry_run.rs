//! The platform of a dry run: the project as it is, in which everything is trusted and no command runs.
//!
//! Must not know lines.

use parking_lot::Mutex;
use workflow_core::definition::{Check, Gate, Trigger};
use workflow_core::effect::{Effect, GateRun};
use workflow_core::event::{PlatformEvent, RestoreOutcome, WatchReport};
use workflow_core::policy::gate_report::{CheckError, CheckVerdict, Report};
use workflow_core::types::{GateRunId, Snapshot};

use super::command::DryGateOutcome;
use crate::platform::{Platform, PlatformReport, SessionContext};

/// The reason in a report for which there is no other.
const REASON: &str = "result given in the dry run";

/// A platform on which nothing happens by itself.
#[derive(Debug, Default)]
pub(super) struct DryRunPlatform {
    started: Mutex<Option<DryGate>>,
    /// The triggers that would be watched.
    triggers: Mutex<Vec<Trigger>>,
}

/// A gate that would run.
#[derive(Debug, Clone)]
pub(super) struct DryGate {
    session: String,
    id: GateRunId,
    gates: Vec<Gate>,
}

impl DryRunPlatform {
    /// Takes the gate that was started since the last call.
    pub(super) fn started(&self) -> Option<DryGate> {
        self.started.lock().take()
    }

    /// The triggers that would be watched.
    pub(super) fn triggers(&self) -> Vec<Trigger> {
        self.triggers.lock().clone()
    }

    fn watch(&self, triggers: Vec<Trigger>) -> WatchReport {
        let mut watched = self.triggers.lock();
        let new = triggers.iter().filter(|trigger| !watched.contains(trigger));
        let started = new.map(Trigger::describe).collect();
        *watched = triggers;
        WatchReport {
            started,
            ..WatchReport::default()
        }
    }
}

impl DryGate {
    /// Its checks as people read them, each with its location.
    pub(super) fn checks(&self) -> Vec<(String, String)> {
        let gates = self.gates.iter();
        gates
            .map(|gate| (gate.check.describe(), gate.source.clone()))
            .collect()
    }

    /// The report of its end with this outcome.
    pub(super) fn finished(&self, outcome: &DryGateOutcome) -> PlatformReport {
        let (verdict, reason, tail) = match outcome {
            DryGateOutcome::Passed => (CheckVerdict::Passed, "", ""),
            DryGateOutcome::Failed(text) => (CheckVerdict::Failed, REASON, text.as_str()),
            DryGateOutcome::CouldNotRun(text) => {
                let verdict = CheckVerdict::CouldNotRun(CheckError::Missing);
                let reason = if text.is_empty() {
                    REASON
                } else {
                    text.as_str()
                };
                (verdict, reason, "")
            }
        };
        let last = match outcome {
            DryGateOutcome::Passed => self.gates.len(),
            DryGateOutcome::Failed(_) | DryGateOutcome::CouldNotRun(_) => self.likely(),
        };
        let passed = |gate| report(gate, CheckVerdict::Passed, "", "");
        let mut reports: Vec<Report> = self.gates.iter().take(last).map(passed).collect();
        let stopped = self.gates.get(last);
        reports.extend(stopped.map(|gate| report(gate, verdict, reason, tail)));
        PlatformReport {
            session: self.session.clone(),
            event: PlatformEvent::GateFinished {
                gate: self.id,
                reports,
            },
            trigger: None,
        }
    }

    /// The check that an outcome is about: the first command, or the first check.
    fn likely(&self) -> usize {
        let is_command = |gate: &Gate| matches!(gate.check, Check::Run(_));
        self.gates.iter().position(is_command).unwrap_or(0)
    }
}

fn report(gate: &Gate, verdict: CheckVerdict, reason: &str, tail: &str) -> Report {
    Report {
        tail: tail.to_owned(),
        ..Report::new(gate, verdict, reason)
    }
}

impl Platform for DryRunPlatform {
    fn perform(&self, session: &SessionContext<'_>, effect: Effect) -> Option<PlatformEvent> {
        match effect {
            Effect::RunGate(GateRun { id, gates, .. }) => {
                let session = session.id.to_owned();
                *self.started.lock() = Some(DryGate { session, id, gates });
                None
            }
            // As in a repository without changes.
            Effect::RecordCheckpoint => Some(PlatformEvent::CheckpointRecorded {
                snapshot: Snapshot {
                    reference: None,
                    head: "0".repeat(40),
                },
            }),
            Effect::RestoreCode { restore, .. } => Some(PlatformEvent::CodeRestored {
                restore,
                outcome: RestoreOutcome {
                    problem: Some("a dry run touches no files".to_owned()),
                    ..RestoreOutcome::default()
                },
            }),
            Effect::WatchTriggers { triggers } => Some(PlatformEvent::TriggersWatched {
                report: self.watch(triggers),
            }),
            effect => effect.result().on_empty_platform(),
        }
    }
}
