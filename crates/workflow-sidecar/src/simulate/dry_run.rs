//! The platform of a dry run: the project as it is, in which everything is trusted and no command runs.
//!
//! Must not know lines.

use parking_lot::Mutex;
use workflow_core::definition::{Gate, Trigger};
use workflow_core::diagnostic::shown;
use workflow_core::effect::{Effect, GateRun};
use workflow_core::event::{PlatformEvent, RestoreOutcome, WatchReport};
use workflow_core::policy::gate_report::{CheckVerdict, Report};
use workflow_core::run::MeasuredChange;
use workflow_core::types::Snapshot;

use crate::platform::{Platform, SessionContext};

/// The reason in a report for which there is no other.
const REASON: &str = "result given in the dry run";

/// A platform on which nothing happens by itself.
#[derive(Debug, Default)]
pub(super) struct DryRunPlatform {
    /// The gate that would run.
    started: Mutex<Option<GateRun>>,
    /// The triggers that would be watched.
    triggers: Mutex<Vec<Trigger>>,
    /// The lines and the paths that are changed, if they were given.
    change: Mutex<Option<(u64, Vec<String>)>>,
}

impl DryRunPlatform {
    /// Takes the gate that was started since the last call.
    pub(super) fn started(&self) -> Option<GateRun> {
        self.started.lock().take()
    }

    /// The triggers that would be watched.
    pub(super) fn triggers(&self) -> Vec<Trigger> {
        self.triggers.lock().clone()
    }

    /// Sets the lines and the paths that are changed.
    pub(super) fn set_change(&self, lines: u64, paths: Vec<String>) {
        *self.change.lock() = Some((lines, paths));
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

/// The checks of a gate as people read them, each with its location.
pub(super) fn checks(run: &GateRun) -> Vec<(String, String)> {
    let gates = run.gates.iter();
    gates
        .map(|gate| (gate.check.called(shown), gate.source.clone()))
        .collect()
}

/// The end of a gate. The verdict is that of its first command, or of its first check.
pub(super) fn finished(run: &GateRun, verdict: CheckVerdict, said: &str) -> PlatformEvent {
    let passed = |gate| Report::new(gate, CheckVerdict::Passed, "");
    let is_command = |gate: &Gate| gate.check.command().is_some();
    let last = match verdict {
        CheckVerdict::Passed => run.gates.len(),
        CheckVerdict::Failed | CheckVerdict::CouldNotRun(_) => {
            run.gates.iter().position(is_command).unwrap_or(0)
        }
    };
    let (reason, tail) = match verdict {
        CheckVerdict::CouldNotRun(_) if !said.is_empty() => (said, ""),
        CheckVerdict::CouldNotRun(_) => (REASON, ""),
        CheckVerdict::Passed | CheckVerdict::Failed => (REASON, said),
    };
    let mut reports: Vec<Report> = run.gates.iter().take(last).map(passed).collect();
    reports.extend(run.gates.get(last).map(|gate| Report {
        tail: tail.to_owned(),
        ..Report::new(gate, verdict, reason)
    }));
    let gate = run.id;
    PlatformEvent::GateFinished { gate, reports }
}

impl Platform for DryRunPlatform {
    fn perform(&self, _: &SessionContext, effect: Effect) -> Option<PlatformEvent> {
        match effect {
            Effect::RunGate(run) => {
                *self.started.lock() = Some(run);
                None
            }
            Effect::MeasureChange {
                start: Some(_),
                globs,
            } => {
                let given = self.change.lock();
                let given = given.as_ref();
                Some(PlatformEvent::ChangeMeasured {
                    start: None,
                    change: given.map(|(lines, paths)| MeasuredChange::new(*lines, paths, &globs)),
                })
            }
            Effect::MeasureChange { start: None, .. } => Some(PlatformEvent::ChangeMeasured {
                start: Some("0".repeat(40)),
                change: None,
            }),
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
            effect => effect.on_empty_platform(),
        }
    }
}
