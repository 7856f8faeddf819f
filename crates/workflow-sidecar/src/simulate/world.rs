//! The world of a dry run: the project as it stands, in which everything is trusted and no command runs.
//!
//! Owns what a gate would run and what it is said to have come to, and what triggers would be watched. Must not know
//! lines.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use serde_json::value::RawValue;
use workflow_core::definition::{Check, Gate, RunCheck, Trigger};
use workflow_core::event::{
    ApprovalDecision as Word, RestoreOutcome as Restored, SnapshotError as NoSnapshot,
    WatchReport as Watched,
};
use workflow_core::policy::gate::{CheckError, CheckVerdict, Report};
use workflow_core::policy::rules::Paths;
use workflow_core::types::Snapshot;

use super::command::Outcome;
use crate::serve::{
    Awaited, GateHandle, GateJob, GateName, GateNews, Machine, TriggerWatch, World, WorldProject,
};

/// What is said of a check where nothing else is.
const SAID: &str = "so says the dry run";

/// A world in which nothing happens by itself.
#[derive(Debug, Default)]
pub(super) struct DryWorld {
    machine: Machine,
    started: Mutex<Option<DryGate>>,
    /// What would be watched.
    triggers: Mutex<Vec<Trigger>>,
}

/// A gate that would run.
#[derive(Debug, Clone)]
pub(super) struct DryGate {
    pub(super) name: GateName,
    gates: Vec<Gate>,
}

impl DryWorld {
    /// The gate that was started since this was asked last.
    pub(super) fn started(&self) -> Option<DryGate> {
        let mut started = self.started.lock().unwrap_or_else(PoisonError::into_inner);
        started.take()
    }

    /// What would be watched.
    pub(super) fn triggers(&self) -> Vec<Trigger> {
        let triggers = self.triggers.lock().unwrap_or_else(PoisonError::into_inner);
        triggers.clone()
    }
}

impl DryGate {
    /// Its checks as people read them, each with where it stands.
    pub(super) fn checks(&self) -> Vec<(String, String)> {
        let gates = self.gates.iter();
        gates
            .map(|gate| (gate.check.describe(), gate.source.clone()))
            .collect()
    }

    /// What is told of it if it comes to this.
    pub(super) fn over(&self, outcome: &Outcome) -> GateNews {
        let (verdict, reason, tail) = match outcome {
            Outcome::Passed => (CheckVerdict::Passed, "", ""),
            Outcome::Failed(text) => (CheckVerdict::Failed, SAID, text.as_str()),
            Outcome::CouldNotRun(text) => {
                let verdict = CheckVerdict::CouldNotRun(CheckError::Missing);
                let reason = if text.is_empty() { SAID } else { text.as_str() };
                (verdict, reason, "")
            }
        };
        let last = match outcome {
            Outcome::Passed => self.gates.len(),
            Outcome::Failed(_) | Outcome::CouldNotRun(_) => self.likely(),
        };
        let passed = |gate| report(gate, CheckVerdict::Passed, "", "");
        let mut reports: Vec<Report> = self.gates.iter().take(last).map(passed).collect();
        let stopped = self.gates.get(last);
        reports.extend(stopped.map(|gate| report(gate, verdict, reason, tail)));
        GateNews::Over(reports)
    }

    /// Which check says something where only one is meant: the first command, or the first of all.
    fn likely(&self) -> usize {
        let is_command = |gate: &Gate| matches!(gate.check, Check::Run(_));
        self.gates.iter().position(is_command).unwrap_or(0)
    }
}

fn report(gate: &Gate, verdict: CheckVerdict, reason: &str, tail: &str) -> Report {
    Report {
        what: gate.check.describe(),
        source: gate.source.clone(),
        verdict,
        reason: reason.to_owned(),
        exit: None,
        signal: None,
        duration_ms: 0,
        tail: tail.to_owned(),
    }
}

impl World for DryWorld {
    fn paths<'p>(&self, project: &WorldProject<'p>) -> Box<dyn Paths + 'p> {
        self.machine.paths(project)
    }

    fn baseline(&self, _: &[Gate], _: &Path) -> Box<RawValue> {
        // Nothing is compared with it.
        RawValue::NULL.to_owned()
    }

    fn is_trusted(&self, _: &WorldProject<'_>, _: &[RunCheck]) -> bool {
        true
    }

    fn trust(&self, _: &WorldProject<'_>, _: &[RunCheck]) {}

    fn word(&self, _: &Path, _: &Awaited) -> Option<Word> {
        None
    }

    fn forget_word(&self, _: &Path, _: &str) {}

    fn excerpt(&self, path: &str, cwd: &Path) -> String {
        self.machine.excerpt(path, cwd)
    }

    fn shown(&self, path: &str, cwd: &Path) -> String {
        self.machine.shown(path, cwd)
    }

    fn keep_code(&self, _: &WorldProject<'_>) -> Result<Snapshot, NoSnapshot> {
        // As if there were a repository in which nothing has changed.
        Ok(Snapshot {
            reference: None,
            head: "0".repeat(40),
        })
    }

    fn restore_code(&self, _: GateName, _: &Snapshot, _: &WorldProject<'_>) -> Option<Restored> {
        Some(Restored {
            problem: Some("a dry run touches no files".to_owned()),
            ..Restored::default()
        })
    }

    fn watch(
        &self,
        _: &str,
        _: &WorldProject<'_>,
        triggers: &[Trigger],
        watch: &mut TriggerWatch,
    ) -> Watched {
        watch.tell();
        let mut watched = self.triggers.lock().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut *watched, triggers.to_vec());
        let begun = triggers.iter().filter(|trigger| !before.contains(trigger));
        Watched {
            started: begun.map(Trigger::describe).collect(),
            ..Watched::default()
        }
    }

    fn trust_triggers(&self, _: &WorldProject<'_>, _: &[Trigger]) {}

    fn start_gate(&self, name: GateName, job: GateJob<'_>) -> Result<GateHandle, Vec<Report>> {
        let gates = job.gates.to_vec();
        let mut started = self.started.lock().unwrap_or_else(PoisonError::into_inner);
        *started = Some(DryGate { name, gates });
        Ok(GateHandle::none())
    }
}
