//! What came of a gate: a report on each check that was run.
//!
//! Owns the shape of a report. Must not know how anything is run.

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
    pub verdict: Verdict,
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
    /// The end of what it said on stdout and stderr, fit to be shown: at most 60 lines and 4 KiB.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tail: String,
}

/// What a check says of the phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Verdict {
    /// What was expected is so.
    Passed,
    /// What was expected is not so.
    Failed,
    /// Nobody knows: the check could not be run to its end.
    CouldNotRun(Obstacle),
}

/// What kept a check from being run to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Obstacle {
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
        self.verdict == Verdict::Passed
    }
}
