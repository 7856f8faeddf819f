//! What is told of a check that was run.
//!
//! Owns the shape of a report and how a check is called. Must not know how anything is run.

use serde::{Deserialize, Serialize};
use workflow_core::definition::{Check, FileCheck, Gate, GitCheck, RunCheck};

use super::output::one_line;

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
    /// A report on a check that has not been run yet.
    pub(super) fn new(gate: &Gate, verdict: Verdict, reason: impl Into<String>) -> Self {
        Self {
            what: what(&gate.check),
            source: gate.source.clone(),
            verdict,
            reason: reason.into(),
            exit: None,
            signal: None,
            duration_ms: 0,
            tail: String::new(),
        }
    }

    /// A report on a check that nothing came of.
    #[must_use]
    pub fn could_not_run(gate: &Gate, obstacle: Obstacle, reason: impl Into<String>) -> Self {
        Self::new(gate, Verdict::CouldNotRun(obstacle), reason)
    }

    /// Whether what was expected is so.
    #[must_use]
    pub fn has_passed(&self) -> bool {
        self.verdict == Verdict::Passed
    }
}

/// How a check is called where people read it, on one line.
#[must_use]
pub fn what(check: &Check) -> String {
    let name = match check {
        Check::Run(run) => command_line(run),
        Check::File(FileCheck { path, changed }) => match changed {
            None => format!("file {path}"),
            Some(true) => format!("file {path} changed"),
            Some(false) => format!("file {path} unchanged"),
        },
        Check::Git(GitCheck::Clean) => "git clean".to_owned(),
        Check::Git(GitCheck::NewCommit) => "git new commit".to_owned(),
    };
    one_line(&name)
}

/// The command as one would type it.
fn command_line(run: &RunCheck) -> String {
    if run.shell {
        return run.command.join(" ");
    }
    let words: Vec<String> = run.command.iter().map(|word| quoted(word)).collect();
    words.join(" ")
}

fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:=@%+,^".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use workflow_core::definition::ExpectedExit;

    fn run(command: &[&str], shell: bool) -> Check {
        Check::Run(RunCheck {
            command: command.iter().map(|&word| word.to_owned()).collect(),
            shell,
            timeout: 1,
            exit: ExpectedExit::Code(0),
            stdout: None,
        })
    }

    #[test]
    fn a_command_is_called_as_one_would_type_it() {
        assert_eq!(
            what(&run(&["cargo", "test", "--quiet"], false)),
            "cargo test --quiet"
        );
        assert_eq!(
            what(&run(&["grep", "a b", "it's", ""], false)),
            r"grep 'a b' 'it'\''s' ''"
        );
        assert_eq!(what(&run(&["a && b | c"], true)), "a && b | c");
    }

    #[test]
    fn a_name_cannot_move_the_cursor_or_fill_the_screen() {
        let name = what(&run(&["echo \u{1b}[2J\u{202e}\nrm -rf /"], true));
        assert_eq!(name, "echo rm -rf /");
        assert!(what(&run(&[&"x".repeat(10_000)], true)).chars().count() <= 200);
    }

    #[test]
    fn what_the_verdict_is_can_be_read_back() {
        let gate = Gate {
            check: run(&["x"], false),
            source: "a.md:3".to_owned(),
        };
        let report = Report::could_not_run(&gate, Obstacle::Timeout, "late");
        let text = serde_json::to_string(&report).unwrap();
        assert_eq!(
            text,
            r#"{"what":"x","source":"a.md:3","verdict":{"couldNotRun":"timeout"},"reason":"late","durationMs":0}"#
        );
        assert_eq!(serde_json::from_str::<Report>(&text).unwrap(), report);
    }
}
