//! A command of a gate that the host runs: the request for it, and the verdict on the answer.
//!
//! The host reaches a workspace that this process does not. The same limits apply as to a command that runs here:
//! its time, the length of its output, its exit code.

use std::path::Path;

use workflow_core::definition::{Gate, OutputStream, RunCheck};

use super::check::{EXECUTED_BY_SHELL, STDOUT, judge_exit, pattern};
use super::report::{could_not_run, report};
use super::{Report, Verdict};
use crate::platform::process::{CheckError, shown_end};

/// Bytes of each output that are asked for where no pattern is compared with them.
const SHOWN: usize = 64 * 1024;

/// A command for the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HostCommand {
    pub(crate) program: String,
    pub(crate) arguments: Vec<String>,
    pub(crate) cwd: String,
    pub(crate) env: Vec<(String, String)>,
    pub(crate) timeout_ms: u64,
    /// Bytes of each output that are needed.
    pub(crate) max_output: u64,
}

/// The host's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HostAnswer {
    /// The command has ended.
    Ended(HostOutput),
    /// The host could not run it, or its answer cannot be read.
    Failed,
    /// No answer came in time.
    Late,
}

/// The output of a command, and its end.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct HostOutput {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) code: i32,
    /// True if it was ended, by its time limit or by something else.
    pub(crate) is_killed: bool,
    /// True if output is left out.
    pub(crate) is_truncated: bool,
}

impl HostCommand {
    /// Creates the request for a check, for a session in this directory.
    pub(crate) fn new(expected: &RunCheck, cwd: &Path) -> Option<Self> {
        let (program, arguments) = if expected.shell {
            let line = expected.command.join(" ");
            ("sh".to_owned(), vec!["-c".to_owned(), line])
        } else {
            let (program, arguments) = expected.command.split_first()?;
            (program.clone(), arguments.to_vec())
        };
        let cwd = match &expected.cwd {
            Some(directory) => cwd.join(directory),
            None => cwd.to_path_buf(),
        };
        let max_output = if expected.stdout.is_some() {
            STDOUT
        } else {
            SHOWN
        };
        Some(Self {
            program,
            arguments,
            cwd: cwd.to_string_lossy().into_owned(),
            env: expected.env.clone(),
            timeout_ms: u64::from(expected.timeout) * 1000,
            max_output: max_output as u64,
        })
    }
}

/// Returns the report on a check from the host's answer.
pub(crate) fn judge_answer(
    gate: &Gate,
    expected: &RunCheck,
    answer: HostAnswer,
    duration_ms: u64,
) -> Report {
    let late = duration_ms >= u64::from(expected.timeout) * 1000;
    let timeout = format!(
        "it did not end within {} s, and the host was asked to end it",
        expected.timeout
    );
    let mut report = match answer {
        HostAnswer::Late => could_not_run(gate, CheckError::Timeout, timeout),
        HostAnswer::Failed => could_not_run(gate, CheckError::Start, "the host could not run it"),
        HostAnswer::Ended(output) if output.is_killed && late => Report {
            tail: tail(&output),
            ..could_not_run(gate, CheckError::Timeout, timeout)
        },
        HostAnswer::Ended(output) => judge(gate, expected, &output),
    };
    report.duration_ms = duration_ms;
    report
}

fn judge(gate: &Gate, expected: &RunCheck, output: &HostOutput) -> Report {
    let with_tail = |report: Report| Report {
        tail: tail(output),
        ..report
    };
    // A crash is not an exit code, so it does not satisfy `exit: nonzero`.
    if output.is_killed {
        return with_tail(report(gate, Verdict::Failed, "it was ended by a signal"));
    }
    let pattern = match pattern(expected) {
        Ok(pattern) => pattern,
        Err(reason) => return could_not_run(gate, CheckError::Start, reason),
    };
    let compared = match expected.stream {
        OutputStream::Stdout => output.stdout.clone(),
        OutputStream::Stderr => output.stderr.clone(),
        // The host does not say in which order they were written.
        OutputStream::Both => [&*output.stdout, &*output.stderr].join("\n"),
    };
    if pattern.is_some() && (output.is_truncated || compared.len() > STDOUT) {
        let reason = format!(
            "it wrote more to {} than the {} MiB that are compared with the pattern",
            expected.stream.describe(),
            STDOUT / 1024 / 1024
        );
        return with_tail(could_not_run(gate, CheckError::TooMuchOutput, reason));
    }
    // How the host starts a program is not known: perhaps by a shell, which reports a missing one by its exit code.
    let by_shell = RunCheck {
        shell: expected.shell || EXECUTED_BY_SHELL.contains(&output.code),
        ..expected.clone()
    };
    let (verdict, reason) = judge_exit(
        &by_shell,
        pattern.as_ref(),
        output.code,
        compared.as_bytes(),
        &tail(output),
    );
    with_tail(Report {
        exit: Some(output.code),
        ..report(gate, verdict, reason)
    })
}

fn tail(output: &HostOutput) -> String {
    let parts = [&*output.stdout, &*output.stderr];
    let written: Vec<&str> = parts.into_iter().filter(|text| !text.is_empty()).collect();
    shown_end(written.join("\n").as_bytes())
}

#[cfg(test)]
mod tests {
    use workflow_core::definition::{Check, ExpectedExit};

    use super::*;

    fn check(expected: &RunCheck) -> Gate {
        Gate {
            on_fail: None,
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
        }
    }

    fn ended(code: i32, stdout: &str) -> HostOutput {
        HostOutput {
            code,
            stdout: stdout.to_owned(),
            ..HostOutput::default()
        }
    }

    fn verdict(expected: &RunCheck, output: HostOutput, duration_ms: u64) -> Verdict {
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
        let command = HostCommand::new(&expected, Path::new("/far/away")).unwrap();
        assert_eq!(command.program, "cargo");
        assert_eq!(command.arguments, ["test"]);
        assert_eq!(command.cwd, "/far/away/packages/api");
        assert_eq!(command.env, expected.env);
        assert_eq!((command.timeout_ms, command.max_output), (10_000, 65_536));
        let line = RunCheck {
            command: vec!["a && b".to_owned()],
            shell: true,
            stdout: Some("x".to_owned()),
            ..test_command()
        };
        let command = HostCommand::new(&line, Path::new("/far")).unwrap();
        assert_eq!(
            (&*command.program, &*command.arguments[1]),
            ("sh", "a && b")
        );
        assert_eq!(command.max_output, STDOUT as u64);
    }

    #[test]
    fn the_exit_code_and_the_pattern_decide() {
        let expected = test_command();
        assert_eq!(verdict(&expected, ended(0, ""), 1), Verdict::Passed);
        assert_eq!(verdict(&expected, ended(1, ""), 1), Verdict::Failed);
        let failing = RunCheck {
            exit: ExpectedExit::Nonzero,
            stdout: Some("1 failed".to_owned()),
            ..test_command()
        };
        assert_eq!(
            verdict(&failing, ended(101, "1 failed"), 1),
            Verdict::Passed
        );
        assert_eq!(
            verdict(&failing, ended(101, "2 failed"), 1),
            Verdict::Failed
        );
        let both = RunCheck {
            stream: OutputStream::Both,
            ..failing
        };
        let on_stderr = HostOutput {
            stderr: "1 failed".to_owned(),
            ..ended(101, "")
        };
        assert_eq!(verdict(&both, on_stderr, 1), Verdict::Passed);
    }

    #[test]
    fn what_did_not_run_to_its_end_satisfies_nothing() {
        let failing = RunCheck {
            exit: ExpectedExit::Nonzero,
            ..test_command()
        };
        for missing in EXECUTED_BY_SHELL {
            let verdict = verdict(&failing, ended(missing, ""), 1);
            assert!(matches!(verdict, Verdict::CouldNotRun(_)), "{verdict:?}");
        }
        let killed = HostOutput {
            is_killed: true,
            ..ended(137, "")
        };
        assert_eq!(verdict(&failing, killed.clone(), 1), Verdict::Failed);
        let late = Verdict::CouldNotRun(CheckError::Timeout);
        assert_eq!(verdict(&failing, killed, 10_000), late);
        let answers = [HostAnswer::Late, HostAnswer::Failed];
        for answer in answers {
            let report = judge_answer(&check(&failing), &failing, answer, 1);
            assert!(matches!(report.verdict, Verdict::CouldNotRun(_)));
        }
    }

    #[test]
    fn output_that_is_too_long_for_the_pattern_is_no_verdict() {
        let expected = RunCheck {
            stdout: Some("x".to_owned()),
            ..test_command()
        };
        let too_much = Verdict::CouldNotRun(CheckError::TooMuchOutput);
        let truncated = HostOutput {
            is_truncated: true,
            ..ended(0, "x")
        };
        assert_eq!(verdict(&expected, truncated.clone(), 1), too_much);
        let long = ended(0, &"x".repeat(STDOUT + 1));
        assert_eq!(verdict(&expected, long, 1), too_much);
        // Without a pattern only the end is shown.
        assert_eq!(verdict(&test_command(), truncated, 1), Verdict::Passed);
    }

    #[test]
    fn the_end_of_both_outputs_is_shown() {
        let output = HostOutput {
            stderr: "\u{1b}[31mred\n".to_owned(),
            ..ended(1, "one")
        };
        let expected = test_command();
        let report = judge_answer(&check(&expected), &expected, HostAnswer::Ended(output), 7);
        assert_eq!((&*report.tail, report.duration_ms), ("one\nred", 7));
        assert_eq!(report.exit, Some(1));
    }
}
