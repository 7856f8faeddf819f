//! What came of a gate: a report on each check that was run, in words and for programs.
//!
//! Owns the shape of a report. Must not know how anything is run.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

/// How one check of a gate ended, for the session's entry and for whoever asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// What ran, as people read it: `cargo test --quiet`, `file docs/plan.md changed`.
    pub what: String,
    /// Where the check stands, as `file:line`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// How it ended.
    pub verdict: CheckVerdict,
    /// Why it did not pass, as a sentence, with the cure where there is one; empty when it passed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// The exit code of a command that ended by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<i32>,
    /// The signal that ended a command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// How long it took.
    pub duration_ms: u64,
    /// The end of what it said, fit to be shown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tail: String,
}

/// What a check says of the phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CheckVerdict {
    /// What was expected is so.
    Passed,
    /// What was expected is not so.
    Failed,
    /// Nobody knows: the check could not be run to its end.
    CouldNotRun(CheckError),
}

/// What kept a check from being run to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CheckError {
    /// There is no such program, file, directory or repository.
    Missing,
    /// There is one, and it cannot be executed.
    NotExecutable,
    /// It did not end in time.
    Timeout,
    /// The session ended, or the gate was called off.
    Ended,
    /// It said more than an expectation is held against.
    TooMuchOutput,
    /// The project is not trusted.
    NotTrusted,
    /// What it is to be compared with is not known.
    NoBaseline,
    /// Anything else that the system has against it.
    Start,
}

impl Report {
    /// Whether what was expected is so.
    #[must_use]
    pub fn has_passed(&self) -> bool {
        self.verdict == CheckVerdict::Passed
    }

    /// The report as a line of a list, with what it said below.
    fn describe(&self) -> String {
        let Self {
            what,
            reason,
            duration_ms,
            tail,
            ..
        } = self;
        let seconds = format!("{}.{} s", duration_ms / 1000, duration_ms % 1000 / 100);
        let mut text = match self.verdict {
            CheckVerdict::Passed => format!("✓ {what} ({seconds})"),
            CheckVerdict::Failed => format!("✗ {what} ({seconds}): {reason}"),
            CheckVerdict::CouldNotRun(_) => format!("⚠ {what} could not be checked: {reason}"),
        };
        if !self.source.is_empty() && !self.has_passed() {
            let _ = write!(text, " [{}]", self.source);
        }
        if !tail.is_empty() && !self.has_passed() {
            let fence = if tail.contains("```") { "~~~~" } else { "```" };
            let _ = write!(text, "\n{fence}\n{}\n{fence}", tail.trim_end());
        }
        text
    }
}

/// What an agent is told of a gate that opened.
pub(crate) fn passed(reports: &[Report]) -> String {
    let words: Vec<String> = reports.iter().map(Report::describe).collect();
    words.join("\n")
}

/// What an agent is told of a gate that did not open.
pub(crate) fn not_passed(phase: &str, reports: &[Report]) -> String {
    let words: Vec<String> = reports.iter().map(Report::describe).collect();
    let could_not_run = reports
        .iter()
        .any(|report| matches!(report.verdict, CheckVerdict::CouldNotRun(_)));
    let has_no_baseline = reports
        .iter()
        .any(|report| report.verdict == CheckVerdict::CouldNotRun(CheckError::NoBaseline));
    let (head, cure) = if has_no_baseline {
        (
            format!("⚠️ The gate of {phase} could not be checked: the phase goes on."),
            "How things stand is noted when a phase is entered. Tell the user: entering it again (workflow_step with action='loop', or a \
             new start) has it noted, or the check is taken out of the gate.",
        )
    } else if could_not_run {
        (
            format!("⚠️ The gate of {phase} could not be checked: the phase goes on."),
            "This says nothing about your work. See whether you can make the check run; if not, tell the user.",
        )
    } else {
        (
            format!("✗ The gate of {phase} did not pass: the phase goes on."),
            "Fix what it found, then call workflow_step with action='next' again.",
        )
    };
    format!("{head}\n\n{}\n\n{cure}", words.join("\n"))
}
