//! One check of a gate, run in this process.
//!
//! Owns the verdict on each kind of check. Must not know how it is reported.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use regex::Regex;
use serde::{Deserialize, Serialize};
use workflow_core::definition::{Check, ExpectedExit, Gate, GitCheck, RunCheck};

use super::baseline::{Baseline, check_file};
use super::finding::GateFinding;
use super::git_check;
use super::no_test::no_test_ran;
use super::report::{could_not_run, report};
use super::{Report, Verdict};
use crate::platform::git::CANCELLED;
use crate::platform::process::{
    CheckError, CommandLine, End, Finished, GRACE, Invocation, Monitor, one_line, run, signal,
    signal_name,
};

/// Bytes of standard output that are matched with a pattern. A command that writes more is ended.
pub(super) const STDOUT: usize = 8 * 1024 * 1024;

/// Exit codes of a shell for a program that does not exist, and for one that is not executable.
const SHELL_NOT_FOUND: i32 = 127;
const SHELL_NOT_EXECUTABLE: i32 = 126;
/// Exit codes that come from a shell, perhaps one that the host uses, and not from the program.
pub(super) const EXECUTED_BY_SHELL: [i32; 2] = [SHELL_NOT_FOUND, SHELL_NOT_EXECUTABLE];

/// A gate and everything that its run needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Job {
    /// The checks, in their order.
    pub gates: Vec<Gate>,
    /// The working directory of commands, and the base of relative paths.
    pub cwd: PathBuf,
    /// The state when the phase was entered.
    pub baseline: Baseline,
    /// The directory of the trust store; `None` if nothing of the project is trusted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_dir: Option<PathBuf>,
}

/// Runs one check.
pub(crate) fn check(gate: &Gate, job: &Job, monitor: &mut Monitor<'_>) -> Report {
    let began = Instant::now();
    let mut report = if monitor.is_cancelled() {
        could_not_run(gate, CheckError::Ended, CANCELLED)
    } else {
        match &gate.check {
            Check::Run(expected) => run_command(gate, expected, &job.cwd, monitor),
            Check::File(expected) => {
                finding_report(gate, check_file(expected, &job.baseline, &job.cwd))
            }
            Check::Git(GitCheck::Clean) => finding_report(
                gate,
                git_check::is_clean(&job.baseline, &job.cwd, job.agent_dir.as_deref(), monitor),
            ),
            Check::Git(GitCheck::NewCommit) => {
                let finding = git_check::has_new_commit(&job.baseline, &job.cwd, monitor);
                finding_report(gate, finding)
            }
        }
    };
    report.duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    report
}

fn finding_report(gate: &Gate, finding: GateFinding) -> Report {
    Report {
        tail: finding.shown,
        ..report(gate, finding.verdict, finding.reason)
    }
}

fn run_command(gate: &Gate, expected: &RunCheck, cwd: &Path, monitor: &mut Monitor<'_>) -> Report {
    let pattern = match pattern(expected) {
        Ok(pattern) => pattern,
        Err(reason) => return could_not_run(gate, CheckError::Start, reason),
    };
    let Some(command) = command_line(expected) else {
        return could_not_run(gate, CheckError::Missing, "the command is empty");
    };
    let cwd = match directory(expected, cwd) {
        Ok(cwd) => cwd,
        Err(reason) => return could_not_run(gate, CheckError::Start, reason),
    };
    let environment: Vec<(&str, &str)> = expected
        .env
        .iter()
        .map(|(name, value)| (&**name, &**value))
        .collect();
    let invocation = Invocation {
        command,
        cwd: &cwd,
        timeout: Duration::from_secs(expected.timeout.into()),
        stdout_bound: if pattern.is_some() { STDOUT } else { 0 },
        recorded: expected.stream,
        environment: &environment,
        grace: GRACE,
        is_hidden: |_| false,
    };
    let finished = match run(&invocation, monitor) {
        Ok(finished) => finished,
        Err((error, reason)) => return could_not_run(gate, error, reason),
    };
    let (verdict, reason) = judge(expected, pattern.as_ref(), &finished);
    let status = match finished.end {
        End::Exited(status) => Some(status),
        End::Timeout | End::Cancelled | End::TooMuchOutput | End::Unknown(_) => None,
    };
    Report {
        exit: status.and_then(|status| status.code()),
        signal: status.and_then(signal),
        tail: finished.tail,
        ..report(gate, verdict, reason)
    }
}

/// Returns the pattern that the output must match.
pub(super) fn pattern(expected: &RunCheck) -> Result<Option<Regex>, String> {
    let pattern = expected.stdout.as_deref().map(Regex::new).transpose();
    pattern.map_err(|error| {
        let stream = expected.stream.describe();
        format!("the pattern for {stream} is not a valid regular expression: {error}")
    })
}

/// Returns the directory of a command, which must be in the project, also where links lead.
fn directory(expected: &RunCheck, cwd: &Path) -> Result<PathBuf, String> {
    let Some(directory) = &expected.cwd else {
        return Ok(cwd.to_path_buf());
    };
    let full = cwd.join(directory);
    let shown = one_line(directory);
    let real = |path: &Path| {
        let real = path.canonicalize();
        real.map_err(|error| format!("its working directory {shown} cannot be used: {error}"))
    };
    let (inside, project) = (real(&full)?, real(cwd)?);
    if !inside.starts_with(&project) {
        return Err(format!(
            "its working directory {shown} is outside of the project"
        ));
    }
    if !inside.is_dir() {
        return Err(format!("{shown} is not a directory"));
    }
    Ok(full)
}

fn command_line(expected: &RunCheck) -> Option<CommandLine<'_>> {
    if expected.shell {
        return Some(CommandLine::Shell(expected.command.join(" ")));
    }
    let (program, arguments) = expected.command.split_first()?;
    let arguments = arguments.iter().map(String::as_str).collect();
    Some(CommandLine::Program(program, arguments))
}

fn judge(expected: &RunCheck, pattern: Option<&Regex>, finished: &Finished) -> (Verdict, String) {
    let could_not = |error, reason| (Verdict::CouldNotRun(error), reason);
    match &finished.end {
        End::Exited(status) => {
            if let Some(code) = status.code() {
                let (stdout, tail) = (&finished.stdout, &finished.tail);
                return judge_exit(expected, pattern, code, stdout, tail);
            }
            // A crash is not an exit code, so it does not satisfy `exit: nonzero`.
            let name = signal(*status).map_or("a signal".to_owned(), signal_name);
            (Verdict::Failed, format!("it was ended by {name}"))
        }
        End::Timeout => could_not(
            CheckError::Timeout,
            format!(
                "it did not end within {} s and was stopped",
                expected.timeout
            ),
        ),
        End::Cancelled => could_not(CheckError::Ended, CANCELLED.to_owned()),
        End::TooMuchOutput => could_not(
            CheckError::TooMuchOutput,
            format!(
                "it was stopped: it wrote more to {} than the {} MiB that are compared with the pattern",
                expected.stream.describe(),
                STDOUT / 1024 / 1024
            ),
        ),
        End::Unknown(error) => could_not(
            CheckError::Start,
            format!("its exit status cannot be read: {error}"),
        ),
    }
}

pub(super) fn judge_exit(
    expected: &RunCheck,
    pattern: Option<&Regex>,
    code: i32,
    stdout: &[u8],
    tail: &str,
) -> (Verdict, String) {
    let must_fail = expected.exit == ExpectedExit::Nonzero;
    let is_expected = match expected.exit {
        ExpectedExit::Code(wanted) => code == wanted,
        ExpectedExit::Nonzero => code != 0,
    };
    // A check that expects failure must not pass because a program is missing, which scripts report as a shell does.
    if (expected.shell || must_fail) && expected.exit != ExpectedExit::Code(code) {
        let error = match code {
            SHELL_NOT_FOUND => Some((CheckError::Missing, "did not find a program")),
            SHELL_NOT_EXECUTABLE => {
                Some((CheckError::NotExecutable, "could not execute a program"))
            }
            _ => None,
        };
        if let Some((error, what)) = error {
            let reason = format!("the shell {what} (exit code {code})");
            return (Verdict::CouldNotRun(error), reason);
        }
    }
    if must_fail
        && is_expected
        && let Some(sentence) = no_test_ran(tail)
    {
        let reason = format!("exit code {code}, but no test ran: its output says \"{sentence}\"");
        return (Verdict::CouldNotRun(CheckError::Missing), reason);
    }
    if !is_expected {
        let wanted = match expected.exit {
            ExpectedExit::Code(wanted) => wanted.to_string(),
            ExpectedExit::Nonzero => "any but 0".to_owned(),
        };
        let reason = format!("exit code {code}, expected {wanted}");
        return (Verdict::Failed, reason);
    }
    let text = String::from_utf8_lossy(stdout);
    match pattern {
        Some(pattern) if !pattern.is_match(&text) => {
            let shown = one_line(pattern.as_str());
            let reason = format!("{} does not match `{shown}`", expected.stream.describe());
            (Verdict::Failed, reason)
        }
        Some(_) | None => (Verdict::Passed, String::new()),
    }
}
