//! Gates whose commands the host runs (`host/exec`): it reaches a workspace that this process does not.
//!
//! Owns the order of a gate's checks and the open command. Checks of files and of the repository, and the question
//! whether the user trusts the commands, stay with the platform, which is given the checks between two commands.

use std::collections::BTreeMap;
use std::path::Path;

use jsonrpsee::types::Id;
use workflow_core::definition::{Check, Gate, RunCheck};
use workflow_core::effect::GateRun;
use workflow_core::policy::gate_report::Report;
use workflow_core::types::{GateRunId, Millis};

use crate::platform::gates::{
    CheckError, HostAnswer, HostCommand, check_name, could_not_run, judge_answer,
};

/// Time beyond a command's own for a host that ends it and answers.
const MARGIN: Millis = 5_000;

/// The gates that run, at most one in each session.
#[derive(Debug, Default)]
pub(super) struct HostGates(BTreeMap<String, HostGate>);

#[derive(Debug)]
struct HostGate {
    run: GateRun,
    /// The reports on the checks so far.
    reports: Vec<Report>,
    /// True if the platform has been asked whether the commands are trusted.
    has_begun: bool,
    command: Option<OpenCommand>,
}

/// A command that the host runs.
#[derive(Debug)]
struct OpenCommand {
    id: Id<'static>,
    since: Millis,
    due: Millis,
}

/// The next step of a gate.
#[derive(Debug)]
pub(super) enum NextCheck {
    /// These checks, by the platform; the text says so to people.
    Platform(GateRun, String),
    /// This command, by the host; the text says so to people.
    Host(HostCommand, String),
    /// Nothing: it has ended with these reports.
    Finished(GateRunId, Vec<Report>),
}

impl HostGates {
    /// Returns true if a gate has a command.
    pub(super) fn has_command(run: &GateRun) -> bool {
        run.gates.iter().any(|gate| as_command(gate).is_some())
    }

    /// Begins a gate.
    pub(super) fn begin(&mut self, session: &str, run: GateRun) {
        let gate = HostGate {
            run,
            reports: Vec::new(),
            has_begun: false,
            command: None,
        };
        self.0.insert(session.to_owned(), gate);
    }

    /// Gives what a gate needs next. A gate that has ended is removed.
    pub(super) fn next(&mut self, session: &str, cwd: &Path) -> Option<NextCheck> {
        let gate = self.0.get_mut(session)?;
        let at = gate.reports.len();
        let has_stopped = gate.reports.last().is_some_and(|last| !last.has_passed());
        let rest = gate.run.gates.get(at..).unwrap_or_default();
        let by_platform = rest.iter().take_while(|gate| as_command(gate).is_none());
        let by_platform: Vec<Gate> = by_platform.cloned().collect();
        let (number, of) = (at + 1, gate.run.gates.len());
        if !gate.has_begun || !(has_stopped || by_platform.is_empty()) {
            let is_first = !std::mem::replace(&mut gate.has_begun, true);
            let what = by_platform.first().map(|gate| check_name(&gate.check));
            let text = format!("Checking {number} of {of}: {}", what.unwrap_or_default());
            let part = GateRun {
                id: gate.run.id,
                gates: by_platform,
                baseline: gate.run.baseline.clone(),
                commands: if is_first {
                    gate.run.commands.clone()
                } else {
                    Vec::new()
                },
            };
            return Some(NextCheck::Platform(part, text));
        }
        let command = rest.first().filter(|_| !has_stopped);
        let Some((check, expected)) = command.and_then(|gate| Some((gate, as_command(gate)?)))
        else {
            let HostGate { run, reports, .. } = self.0.remove(session)?;
            return Some(NextCheck::Finished(run.id, reports));
        };
        let Some(command) = HostCommand::new(expected, cwd) else {
            let reason = "the command is empty";
            let report = could_not_run(check, CheckError::Missing, reason);
            gate.reports.push(report);
            return self.next(session, cwd);
        };
        let what = check_name(&check.check);
        let text = format!("Checking {number} of {of} at the host: {what}");
        Some(NextCheck::Host(command, text))
    }

    /// Notes that the host was asked to run the command.
    pub(super) fn on_asked(
        &mut self,
        session: &str,
        id: Id<'static>,
        command: &HostCommand,
        now: Millis,
    ) {
        if let Some(gate) = self.0.get_mut(session) {
            let time = command.timeout_ms.saturating_add(MARGIN);
            gate.command = Some(OpenCommand {
                id,
                since: now,
                due: now.saturating_add(time),
            });
        }
    }

    /// Takes the reports of the platform. Returns false if no such gate runs.
    pub(super) fn on_reports(&mut self, session: &str, id: GateRunId, reports: &[Report]) -> bool {
        let gate = self.0.get_mut(session);
        let Some(gate) = gate.filter(|gate| gate.run.id == id) else {
            return false;
        };
        gate.reports.extend_from_slice(reports);
        true
    }

    /// Takes the answer of the host to its open command.
    pub(super) fn on_answer(&mut self, session: &str, answer: HostAnswer, now: Millis) {
        let Some(gate) = self.0.get_mut(session) else {
            return;
        };
        let Some(command) = gate.command.take() else {
            return;
        };
        let check = gate.run.gates.get(gate.reports.len());
        if let Some((check, expected)) = check.and_then(|gate| Some((gate, as_command(gate)?))) {
            let duration = now.saturating_sub(command.since);
            gate.reports
                .push(judge_answer(check, expected, answer, duration));
        }
    }

    /// The gate that runs in a session.
    pub(super) fn running(&self, session: &str) -> Option<GateRunId> {
        Some(self.0.get(session)?.run.id)
    }

    /// When the open command of a session is given up.
    pub(super) fn deadline(&self, session: &str) -> Option<Millis> {
        Some(self.0.get(session)?.command.as_ref()?.due)
    }

    /// The request of the open command, if it should have been answered by now.
    pub(super) fn overdue(&self, session: &str, now: Millis) -> Option<Id<'static>> {
        let command = self.0.get(session)?.command.as_ref()?;
        (command.due <= now).then(|| command.id.clone())
    }

    /// Forgets the gate of a session, and gives the request of its open command.
    pub(super) fn cancel(&mut self, session: &str, id: Option<GateRunId>) -> Option<Id<'static>> {
        let gate = self.0.get(session)?;
        if id.is_some_and(|id| id != gate.run.id) {
            return None;
        }
        Some(self.0.remove(session)?.command?.id)
    }
}

fn as_command(gate: &Gate) -> Option<&RunCheck> {
    match &gate.check {
        Check::Run(expected) => Some(expected),
        Check::File(_) | Check::Git(_) => None,
    }
}
