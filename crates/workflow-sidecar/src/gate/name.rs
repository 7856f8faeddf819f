//! How a report on a check begins: what the check is called, and where it stands.

use workflow_core::definition::{Check, Gate};

use super::output::one_line;
use super::{Obstacle, Report, Verdict};

/// A report on a check that has not been run yet.
pub(super) fn report(gate: &Gate, verdict: Verdict, reason: impl Into<String>) -> Report {
    Report {
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

/// A report on a check that nothing came of, as when it is not trusted.
#[must_use]
pub fn could_not_run(gate: &Gate, obstacle: Obstacle, reason: impl Into<String>) -> Report {
    report(gate, Verdict::CouldNotRun(obstacle), reason)
}

/// How a check is called where people read it, on one line.
#[must_use]
pub fn what(check: &Check) -> String {
    one_line(&check.called(str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;
    use workflow_core::definition::{ExpectedExit, RunCheck};

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
        let report = could_not_run(&gate, Obstacle::Timeout, "late");
        let text = serde_json::to_string(&report).unwrap();
        assert_eq!(
            text,
            r#"{"what":"x","source":"a.md:3","verdict":{"couldNotRun":"timeout"},"reason":"late","durationMs":0}"#
        );
        assert_eq!(serde_json::from_str::<Report>(&text).unwrap(), report);
    }
}
