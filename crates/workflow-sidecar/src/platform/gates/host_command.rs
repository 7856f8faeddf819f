//! A command of a gate that the host runs: the request for it, and the verdict on the answer.
//!
//! The host reaches a workspace that this process does not. The same limits apply as to a command that runs here:
//! its time, the length of its output, its exit code.

use std::path::Path;

use workflow_core::definition::{Check, Gate, OutputStream, RunCheck};
use workflow_protocol::{ExecParams, ExecResult};

use super::Report;
use super::command_check::{EXECUTED_BY_SHELL, STDOUT, judge_exit, pattern, too_much_output};
use super::report::{Checked, NotPassed, could_not_run, report};
use super::test_check::{OUTPUT, judge_output, started};
use crate::platform::process::{CheckError, shown_end};

/// Bytes of each output that are asked for where no pattern is compared with them.
const SHOWN: usize = 64 * 1024;

/// The host's answer.
pub(crate) enum HostAnswer {
    /// The command has ended.
    Ended(ExecResult),
    /// The host could not run it, or its answer cannot be read.
    Failed,
    /// No answer came in time.
    Late,
}

/// Returns the request for the command of a check, for a session in this directory; `None` if it has none.
pub(crate) fn host_command(session: &str, check: &Check, cwd: &Path) -> Option<ExecParams> {
    let (expected, bound) = match check {
        Check::Tests(tests) => (&started(tests), OUTPUT),
        check => {
            let expected = check.command()?;
            let is_compared = expected.stdout.is_some();
            (expected, if is_compared { STDOUT } else { SHOWN })
        }
    };
    let mut words = if expected.shell {
        let line = expected.command.join(" ");
        vec!["sh".to_owned(), "-c".to_owned(), line]
    } else {
        expected.command.clone()
    };
    let cwd = match &expected.cwd {
        Some(directory) => &cwd.join(directory),
        None => cwd,
    };
    Some(ExecParams {
        session_id: session.to_owned(),
        command: words.remove(0),
        args: words,
        cwd: Some(cwd.to_string_lossy().into_owned()),
        timeout_ms: Some(u64::from(expected.timeout) * 1000),
        env: expected.env.iter().cloned().collect(),
        max_output: Some(bound as u64),
    })
}

/// Returns the report on a check from the host's answer.
pub(crate) fn judge_answer(
    gate: &Gate,
    expected: &RunCheck,
    answer: HostAnswer,
    duration_ms: u64,
) -> Report {
    let seconds = expected.timeout;
    let is_late = duration_ms >= u64::from(seconds) * 1000;
    let timeout = format!("it did not end within {seconds} s, and the host was asked to end it");
    let mut report = match answer {
        HostAnswer::Late => could_not_run(gate, CheckError::Timeout, timeout),
        HostAnswer::Failed => could_not_run(gate, CheckError::Start, "the host could not run it"),
        HostAnswer::Ended(output) => {
            let checked = match &gate.check {
                _ if output.killed && is_late => Err((CheckError::Timeout, timeout).into()),
                Check::Tests(tests) => judge(expected, &output).and_then(|()| {
                    if output.truncated {
                        let reason = "the host has passed on a part of its output only";
                        return Err((CheckError::TooMuchOutput, reason.to_owned()).into());
                    }
                    judge_output(tests, &whole(&output))
                }),
                _ => judge(expected, &output),
            };
            Report {
                exit: (!output.killed).then_some(output.code),
                tail: tail(&output),
                ..report(gate, checked)
            }
        }
    };
    report.duration_ms = duration_ms;
    report
}

fn judge(expected: &RunCheck, output: &ExecResult) -> Checked {
    // A crash is not an exit code, so it does not satisfy `exit: nonzero`.
    if output.killed {
        return Err(NotPassed::failed("it was ended by a signal"));
    }
    let compared = match expected.stream {
        OutputStream::Stdout => output.stdout.clone(),
        OutputStream::Stderr => output.stderr.clone(),
        // The host does not say in which order they were written.
        OutputStream::Both => whole(output),
    };
    if pattern(expected)?.is_some() && (output.truncated || compared.len() > STDOUT) {
        return Err((CheckError::TooMuchOutput, too_much_output(expected)).into());
    }
    // How the host starts a program is not known: perhaps by a shell, which reports a missing one by its exit code.
    let mut of_shell = EXECUTED_BY_SHELL.iter();
    let by_shell = RunCheck {
        shell: expected.shell || of_shell.any(|(known, ..)| *known == output.code),
        ..expected.clone()
    };
    judge_exit(&by_shell, output.code, compared.as_bytes(), &tail(output))
}

fn whole(output: &ExecResult) -> String {
    [&*output.stdout, &*output.stderr].join("\n")
}

fn tail(output: &ExecResult) -> String {
    shown_end(whole(output).trim_matches('\n').as_bytes())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use workflow_core::definition::{ExpectedExit, TestsCheck};

    use super::super::CheckVerdict;
    use super::*;

    fn check(expected: &RunCheck) -> Gate {
        Gate {
            default_of: None,
            on_fail: None,
            tries: None,
            bounds: Vec::new(),
            on_limit: None,
            check: Check::Run(expected.clone()),
            source: "a.md:4".to_owned(),
        }
    }

    fn test_command() -> RunCheck {
        RunCheck {
            command: ["cargo", "test"].map(str::to_owned).to_vec(),
            shell: false,
            timeout: 10,
            exit: ExpectedExit::Code(0),
            stdout: None,
            stream: OutputStream::default(),
            cwd: None,
            env: Vec::new(),
            values: Vec::new(),
        }
    }

    fn ended(code: i32, stdout: &str) -> ExecResult {
        ExecResult {
            code,
            stdout: stdout.to_owned(),
            stderr: String::new(),
            killed: false,
            truncated: false,
        }
    }

    fn verdict(expected: &RunCheck, output: ExecResult, duration_ms: u64) -> CheckVerdict {
        let answer = HostAnswer::Ended(output);
        judge_answer(&check(expected), expected, answer, duration_ms).verdict
    }

    #[test]
    fn a_request_has_the_directory_the_variables_and_the_limits() {
        let expected = RunCheck {
            cwd: Some("packages/api".to_owned()),
            env: vec![("CI".to_owned(), "1".to_owned())],
            ..test_command()
        };
        let command =
            host_command("s", &Check::Run(expected.clone()), Path::new("/far/away")).unwrap();
        assert_eq!(command.command, "cargo");
        assert_eq!(command.args, ["test"]);
        assert_eq!(command.cwd.as_deref(), Some("/far/away/packages/api"));
        assert_eq!(command.env, BTreeMap::from_iter(expected.env));
        assert_eq!(command.timeout_ms, Some(10_000));
        assert_eq!(command.max_output, Some(65_536));
        let line = RunCheck {
            command: vec!["a && b".to_owned()],
            shell: true,
            stdout: Some("x".to_owned()),
            ..test_command()
        };
        let command = host_command("s", &Check::Run(line), Path::new("/far")).unwrap();
        assert_eq!((&*command.command, &*command.args[1]), ("sh", "a && b"));
        assert_eq!(command.max_output, Some(STDOUT as u64));
    }

    #[test]
    fn the_exit_code_and_the_pattern_decide() {
        let expected = test_command();
        assert_eq!(verdict(&expected, ended(0, ""), 1), CheckVerdict::Passed);
        assert_eq!(verdict(&expected, ended(1, ""), 1), CheckVerdict::Failed);
        let failing = RunCheck {
            exit: ExpectedExit::Nonzero,
            stdout: Some("1 failed".to_owned()),
            ..test_command()
        };
        assert_eq!(
            verdict(&failing, ended(101, "1 failed"), 1),
            CheckVerdict::Passed
        );
        assert_eq!(
            verdict(&failing, ended(101, "2 failed"), 1),
            CheckVerdict::Failed
        );
        let both = RunCheck {
            stream: OutputStream::Both,
            ..failing
        };
        let on_stderr = ExecResult {
            stderr: "1 failed".to_owned(),
            ..ended(101, "")
        };
        assert_eq!(verdict(&both, on_stderr, 1), CheckVerdict::Passed);
    }

    #[test]
    fn what_did_not_run_to_its_end_satisfies_nothing() {
        let failing = RunCheck {
            exit: ExpectedExit::Nonzero,
            ..test_command()
        };
        for (missing, ..) in EXECUTED_BY_SHELL {
            let verdict = verdict(&failing, ended(missing, ""), 1);
            assert!(
                matches!(verdict, CheckVerdict::CouldNotRun(_)),
                "{verdict:?}"
            );
        }
        let killed = ExecResult {
            killed: true,
            ..ended(137, "")
        };
        assert_eq!(verdict(&failing, killed.clone(), 1), CheckVerdict::Failed);
        let late = CheckVerdict::CouldNotRun(CheckError::Timeout);
        assert_eq!(verdict(&failing, killed, 10_000), late);
        let answers = [HostAnswer::Late, HostAnswer::Failed];
        for answer in answers {
            let report = judge_answer(&check(&failing), &failing, answer, 1);
            assert!(matches!(report.verdict, CheckVerdict::CouldNotRun(_)));
        }
    }

    #[test]
    fn output_that_is_too_long_for_the_pattern_is_no_verdict() {
        let expected = RunCheck {
            stdout: Some("x".to_owned()),
            ..test_command()
        };
        let too_much = CheckVerdict::CouldNotRun(CheckError::TooMuchOutput);
        let truncated = ExecResult {
            truncated: true,
            ..ended(0, "x")
        };
        assert_eq!(verdict(&expected, truncated.clone(), 1), too_much);
        let long = ended(0, &"x".repeat(STDOUT + 1));
        assert_eq!(verdict(&expected, long, 1), too_much);
        // Without a pattern only the end is shown.
        assert_eq!(verdict(&test_command(), truncated, 1), CheckVerdict::Passed);
    }

    #[test]
    fn tests_at_the_host_are_counted_but_not_compared_with_the_start_of_the_run() {
        let mut tests = TestsCheck {
            command: RunCheck {
                command: ["go", "test"].map(str::to_owned).to_vec(),
                stream: OutputStream::Both,
                ..test_command()
            },
            min: 1,
            ..TestsCheck::default()
        };
        let judge = |tests: &TestsCheck, output: ExecResult| {
            let gate = Gate {
                check: Check::Tests(tests.clone()),
                ..check(&tests.command)
            };
            judge_answer(&gate, &tests.command, HostAnswer::Ended(output), 1).verdict
        };
        let judged = |tests: &TestsCheck, output: &str| judge(tests, ended(0, output));
        let request = host_command("s", &Check::Tests(tests.clone()), Path::new("/far"));
        assert_eq!(request.unwrap().args, ["test", "-json"]);
        let one = r#"{"Action":"pass","Package":"m","Test":"TestA"}"#;
        assert_eq!(judged(&tests, one), CheckVerdict::Passed);
        let none = r#"{"Action":"skip","Package":"m"}"#;
        assert_eq!(judged(&tests, none), CheckVerdict::Failed);
        let unknown = CheckVerdict::CouldNotRun(CheckError::Start);
        assert_eq!(judged(&tests, "fine"), unknown);
        let part = ExecResult {
            truncated: true,
            ..ended(0, one)
        };
        let too_much = CheckVerdict::CouldNotRun(CheckError::TooMuchOutput);
        assert_eq!(judge(&tests, part), too_much);
        tests.fails_without_change = true;
        assert_eq!(judged(&tests, one), unknown);
    }

    #[test]
    fn the_end_of_both_outputs_is_shown() {
        let output = ExecResult {
            stderr: "\u{1b}[31mred\n".to_owned(),
            ..ended(1, "one")
        };
        let expected = test_command();
        let report = judge_answer(&check(&expected), &expected, HostAnswer::Ended(output), 7);
        assert_eq!((&*report.tail, report.duration_ms), ("one\nred", 7));
        assert_eq!(report.exit, Some(1));
    }
}
