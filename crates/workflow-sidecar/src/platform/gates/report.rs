//! Reports on checks: why one did not pass, the name of a check, and the report for a verdict.

use workflow_core::definition::{Check, Gate};

use super::{CheckVerdict, Report};
use crate::platform::process::{CheckError, Failure, one_line};

/// The result of a check.
pub(super) type Checked = Result<(), NotPassed>;

/// The verdict on a check that did not pass, the reason, and the lines that show it.
pub(super) struct NotPassed {
    pub(super) verdict: CheckVerdict,
    pub(super) reason: String,
    pub(super) shown: String,
}

impl NotPassed {
    pub(super) fn failed(reason: impl Into<String>) -> Self {
        Self {
            verdict: CheckVerdict::Failed,
            reason: reason.into(),
            shown: String::new(),
        }
    }
}

impl From<Failure> for NotPassed {
    fn from((error, reason): Failure) -> Self {
        Self {
            verdict: CheckVerdict::CouldNotRun(error),
            ..Self::failed(reason)
        }
    }
}

/// Returns a report on a check, without results of a command.
pub(super) fn report(gate: &Gate, checked: Checked) -> Report {
    let (verdict, reason, tail) = match checked {
        Ok(()) => (CheckVerdict::Passed, String::new(), String::new()),
        Err(not_passed) => (not_passed.verdict, not_passed.reason, not_passed.shown),
    };
    Report {
        what: check_name(&gate.check),
        tail,
        ..Report::new(gate, verdict, reason)
    }
}

/// Returns a report on a check that could not be run, for example because it is not trusted.
pub(crate) fn could_not_run(gate: &Gate, error: CheckError, reason: impl Into<String>) -> Report {
    report(gate, Err((error, reason.into()).into()))
}

/// Returns the name of a check for people, on one line.
pub(crate) fn check_name(check: &Check) -> String {
    one_line(&check.called(str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;
    use workflow_core::definition::{ExpectedExit, OutputStream, RunCheck};

    fn run(command: &[&str], shell: bool) -> Check {
        Check::Run(RunCheck {
            command: command.iter().map(|&word| word.to_owned()).collect(),
            shell,
            timeout: 1,
            exit: ExpectedExit::Code(0),
            stdout: None,
            stream: OutputStream::default(),
            cwd: None,
            env: Vec::new(),
            values: Vec::new(),
        })
    }

    #[test]
    fn the_name_of_a_command_is_its_shell_form() {
        assert_eq!(
            check_name(&run(&["cargo", "test", "--quiet"], false)),
            "cargo test --quiet"
        );
        assert_eq!(
            check_name(&run(&["grep", "a b", "it's", ""], false)),
            r"grep 'a b' 'it'\''s' ''"
        );
        assert_eq!(check_name(&run(&["a && b | c"], true)), "a && b | c");
    }

    #[test]
    fn a_name_has_no_control_characters_and_a_bounded_length() {
        let name = check_name(&run(&["echo \u{1b}[2J\u{202e}\nrm -rf /"], true));
        assert_eq!(name, "echo rm -rf /");
        assert!(
            check_name(&run(&[&"x".repeat(10_000)], true))
                .chars()
                .count()
                <= 200
        );
    }

    #[test]
    fn a_report_survives_serialization() {
        let gate = Gate {
            default_of: None,
            on_fail: None,
            tries: None,
            bounds: Vec::new(),
            on_limit: None,
            check: run(&["x"], false),
            source: "a.md:3".to_owned(),
        };
        let report = could_not_run(&gate, CheckError::Timeout, "late");
        let text = serde_json::to_string(&report).unwrap();
        assert_eq!(
            text,
            r#"{"what":"x","source":"a.md:3","verdict":{"couldNotRun":"timeout"},"reason":"late","durationMs":0}"#
        );
        assert_eq!(serde_json::from_str::<Report>(&text).unwrap(), report);
    }
}
