//! A gate whose commands the host runs (`host/exec`): it reaches a workspace that this process does not.
//!
//! Owns the order of the checks and the open command. Checks of files and of the repository, and the question whether the
//! user trusts the commands, stay with the platform, which is given the checks between two commands.

use workflow_core::definition::{Check, Gate, RunCheck};
use workflow_core::effect::GateRun;
use workflow_core::policy::gate_report::Report;
use workflow_core::types::{GateRunId, Millis};

use crate::platform::gates::{HostAnswer, check_name, judge_answer};

/// Time beyond a command's own for a host that ends it and answers.
const MARGIN: Millis = 5_000;

/// A gate that runs.
pub(super) struct HostGate {
    run: GateRun,
    /// The reports on the checks so far.
    reports: Vec<Report>,
    /// True if the platform has been asked whether the commands are trusted.
    has_begun: bool,
    command: Option<OpenCommand>,
}

/// A command that the host runs.
struct OpenCommand {
    since: Millis,
    due: Millis,
}

/// The next step of a gate.
pub(super) enum NextCheck {
    /// These checks, by the platform; the text says so to people.
    Platform(GateRun, String),
    /// This command, by the host; the text says so to people.
    Host(Check, String),
    /// Nothing: it has ended with these reports.
    Finished(Vec<Report>),
}

impl HostGate {
    pub(super) fn new(run: GateRun) -> Self {
        Self {
            run,
            reports: Vec::new(),
            has_begun: false,
            command: None,
        }
    }

    /// Returns true if a gate has a command.
    pub(super) fn has_command(run: &GateRun) -> bool {
        run.gates.iter().any(|gate| as_command(gate).is_some())
    }

    pub(super) fn id(&self) -> GateRunId {
        self.run.id
    }

    /// Gives what the gate needs next.
    pub(super) fn next(&mut self, now: Millis) -> NextCheck {
        let at = self.reports.len();
        let has_stopped = self.reports.last().is_some_and(|last| !last.has_passed());
        let rest = self.run.gates.get(at..).unwrap_or_default();
        let by_platform = rest.iter().take_while(|gate| as_command(gate).is_none());
        let by_platform: Vec<Gate> = by_platform.cloned().collect();
        let (number, of) = (at + 1, self.run.gates.len());
        if !self.has_begun || !(has_stopped || by_platform.is_empty()) {
            let is_first = !std::mem::replace(&mut self.has_begun, true);
            let what = by_platform.first().map(|gate| check_name(&gate.check));
            let text = format!("Checking {number} of {of}: {}", what.unwrap_or_default());
            let mut part = GateRun {
                gates: by_platform,
                ..self.run.clone()
            };
            if !is_first {
                part.commands.clear();
            }
            return NextCheck::Platform(part, text);
        }
        let command = rest.first().filter(|_| !has_stopped);
        let Some((check, expected)) = command.and_then(|gate| Some((gate, as_command(gate)?)))
        else {
            return NextCheck::Finished(std::mem::take(&mut self.reports));
        };
        let time = Millis::from(expected.timeout) * 1000 + MARGIN;
        self.command = Some(OpenCommand {
            since: now,
            due: now.saturating_add(time),
        });
        let what = check_name(&check.check);
        let text = format!("Checking {number} of {of} at the host: {what}");
        NextCheck::Host(check.check.clone(), text)
    }

    /// Takes the reports of the platform.
    pub(super) fn add_reports(&mut self, reports: Vec<Report>) {
        self.reports.extend(reports);
    }

    /// Takes the answer of the host to its open command.
    pub(super) fn on_answer(&mut self, answer: HostAnswer, now: Millis) {
        let Some(command) = self.command.take() else {
            return;
        };
        let check = self.run.gates.get(self.reports.len());
        if let Some((check, expected)) = check.and_then(|gate| Some((gate, as_command(gate)?))) {
            let duration = now.saturating_sub(command.since);
            self.reports
                .push(judge_answer(check, expected, answer, duration));
        }
    }

    /// When the open command is given up.
    pub(super) fn deadline(&self) -> Option<Millis> {
        self.command.as_ref().map(|command| command.due)
    }
}

fn as_command(gate: &Gate) -> Option<&RunCheck> {
    // The platform reports an empty one.
    let command = gate.check.command();
    command.filter(|expected| !expected.command.is_empty())
}
