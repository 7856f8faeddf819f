//! Reports on the checks of a gate, for people and for programs.

use serde::{Deserialize, Serialize};

use crate::definition::Gate;
use crate::diagnostic::shown;
use crate::text;

/// The result of one check of a gate.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// The check, as people read it: `cargo test --quiet`, `file docs/plan.md changed`.
    pub what: String,
    /// The location of the check, as `file:line`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// Its verdict.
    pub verdict: CheckVerdict,
    /// The reason why it did not pass, with a hint if there is one. Of tests that passed, which; else empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// The exit code of a command that ended by itself.
    pub exit: Option<i32>,
    /// The signal that ended a command.
    pub signal: Option<i32>,
    /// Its duration.
    pub duration_ms: u64,
    /// The end of its output, fit to be shown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tail: String,
}

/// The verdict of a check.
#[must_use]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CheckVerdict {
    /// The expectation is met.
    Passed,
    /// The expectation is not met.
    Failed,
    /// Unknown: the check could not be run to its end.
    CouldNotRun(CheckError),
}

/// The reason why a check could not be run to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CheckError {
    /// There is no such program, file, directory or repository.
    Missing,
    /// There is one, and it cannot be executed.
    NotExecutable,
    /// It did not end in time.
    Timeout,
    /// The session ended, or the gate was cancelled.
    Ended,
    /// Its output is longer than an expectation is compared with.
    TooMuchOutput,
    /// The project is not trusted.
    NotTrusted,
    /// There is no baseline to compare with.
    NoBaseline,
    /// Any other error of the system.
    Start,
}

impl Report {
    /// Creates a report without results of a command.
    pub fn new(gate: &Gate, verdict: CheckVerdict, reason: impl Into<String>) -> Self {
        Self {
            what: gate.check.called(shown),
            source: gate.source.clone(),
            verdict,
            reason: reason.into(),
            exit: None,
            signal: None,
            duration_ms: 0,
            tail: String::new(),
        }
    }

    /// Returns true if the expectation is met.
    pub fn has_passed(&self) -> bool {
        self.verdict == CheckVerdict::Passed
    }

    /// Describes the report as a line of a list, with the output below.
    pub(crate) fn describe(&self) -> String {
        let (what, reason, tail, ms) = (&self.what, &self.reason, &self.tail, self.duration_ms);
        let seconds = format!("{}.{} s", ms / 1000, ms % 1000 / 100);
        let mut text = match self.verdict {
            CheckVerdict::Passed => {
                let said = if reason.is_empty() { "" } else { ": " };
                match self.exit {
                    None | Some(0) => format!("✓ {what} ({seconds}){said}{reason}"),
                    Some(code) => format!("✓ {what} (exit code {code}, {seconds}){said}{reason}"),
                }
            }
            CheckVerdict::Failed => format!("✗ {what} ({seconds}): {reason}"),
            CheckVerdict::CouldNotRun(_) => format!("⚠ {what} could not be checked: {reason}"),
        };
        if !self.source.is_empty() && !self.has_passed() {
            text = format!("{text} [{}]", self.source);
        }
        if !tail.is_empty() && !self.has_passed() {
            let fence = if tail.contains("```") { "~~~~" } else { "```" };
            text = format!("{text}\n{fence}\n{}\n{fence}", tail.trim_end());
        }
        text
    }
}

/// The reports as lines of a list: of a gate that passed, all that is said of it.
pub(crate) fn listed(reports: &[Report]) -> String {
    text::join(reports.iter().map(Report::describe), "\n")
}

/// The index of the check that failed; `None` if the gate passed, or could not be checked.
pub(crate) fn failed_check(reports: &[Report]) -> Option<usize> {
    // The checks run in order, up to the first that does not pass.
    let first = reports.iter().position(|report| !report.has_passed())?;
    (reports[first].verdict == CheckVerdict::Failed).then_some(first)
}

/// The check that could not run, unless it lacks the user's trust, which is asked for.
pub(crate) fn unchecked(reports: &[Report]) -> Option<&Report> {
    let is_it = |report: &&Report| match report.verdict {
        CheckVerdict::CouldNotRun(error) => error != CheckError::NotTrusted,
        CheckVerdict::Passed | CheckVerdict::Failed => false,
    };
    reports.iter().find(is_it)
}

/// The message to the agent about a gate that did not pass: what happened, the reports, and what to do.
pub(crate) fn not_passed(place: &str, reports: &[Report], what_to_do: &str) -> String {
    let report = reports.iter().find(|report| !report.has_passed());
    let named = report.map_or("no check gave a result", |report| &report.what);
    let head = match failed_check(reports) {
        Some(_) => "✗ Gate failed",
        None => "⚠️ Gate not checked",
    };
    let text = format!("{place}\n\n{}", listed(reports));
    // At the end: a host may show a person the last lines only.
    let exit = report.and_then(|report| report.exit.filter(|code| *code != 0));
    let exit = exit.map_or_else(String::new, |code| format!(" (exit code {code})"));
    let end = format!("{head}: {named}{exit}.");
    if what_to_do.is_empty() {
        format!("{text}\n\n{end}")
    } else if what_to_do.contains('\n') {
        format!("{text}\n\n{what_to_do}\n\n{end}")
    } else {
        format!("{text}\n\n{end} {what_to_do}")
    }
}

/// What the agent does in the phase whose gate did not pass.
pub(crate) fn advice(reports: &[Report]) -> &'static str {
    let lacks = |error| {
        let verdict = CheckVerdict::CouldNotRun(error);
        reports.iter().any(|report| report.verdict == verdict)
    };
    if lacks(CheckError::NoBaseline) {
        "The check compares with the state at the start of the phase, which was not recorded. Tell the user. It is recorded when the \
         phase is entered again: by workflow_step with action='loop', or by a new start. Or the check is removed from the gate."
    } else if lacks(CheckError::NotTrusted) {
        "Stop here, and say what waits. Once the user trusts the commands, call workflow_step with action='next' again."
    } else if failed_check(reports).is_none() {
        "The check did not run, so the result of your work is unknown. Make the check run if you can. Otherwise tell the user."
    } else {
        "Fix what it found, then call workflow_step with action='next' again."
    }
}
