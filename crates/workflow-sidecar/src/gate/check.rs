//! Runs the checks of a gate in this process, one after another.
//!
//! Owns what a check's verdict is. Must not know who asked, and how it is told.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use regex::Regex;
use serde::{Deserialize, Serialize};
use workflow_core::definition::{Check, ExpectedExit, Gate, GitCheck, RunCheck};

use super::baseline::{Baseline, check_file};
use super::command::{End, Order, Words, run};
use super::git::{self, Found};
use super::name::{could_not_run, report};
use super::process_group::{signal, signal_name};
use super::watch::Watch;
use super::{Obstacle, Report, Verdict};

/// How much of standard output an expectation is held against. A command that says more is ended.
const STDOUT: usize = 8 * 1024 * 1024;

/// How a shell says that there is no such program, and that it is none.
const SHELL_NOT_FOUND: i32 = 127;
const SHELL_NOT_EXECUTABLE: i32 = 126;

pub(super) const CALLED_OFF: &str = "it was ended: the session ended, or the gate was called off";

/// A gate that is to be run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Job {
    /// The checks, in their order.
    pub gates: Vec<Gate>,
    /// Where commands run, and where paths begin.
    pub cwd: PathBuf,
    /// How things stood when the phase was entered.
    pub baseline: Baseline,
    /// Where the user's trust is kept; `None` where nothing of the project is trusted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_dir: Option<PathBuf>,
}

/// Runs one check.
pub(super) fn check(gate: &Gate, job: &Job, watch: &mut Watch<'_>) -> Report {
    let began = Instant::now();
    let mut report = if watch.is_over() {
        could_not_run(gate, Obstacle::Ended, CALLED_OFF)
    } else {
        match &gate.check {
            Check::Run(expected) => run_command(gate, expected, &job.cwd, watch),
            Check::File(expected) => found(gate, check_file(expected, &job.baseline, &job.cwd)),
            Check::Git(GitCheck::Clean) => found(
                gate,
                git::is_clean(&job.cwd, job.agent_dir.as_deref(), watch),
            ),
            Check::Git(GitCheck::NewCommit) => {
                let before = job.baseline.head.as_ref();
                found(gate, git::has_new_commit(before, &job.cwd, watch))
            }
        }
    };
    report.duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    report
}

fn found(gate: &Gate, found: Found) -> Report {
    Report {
        tail: found.shown,
        ..report(gate, found.verdict, found.reason)
    }
}

fn run_command(gate: &Gate, expected: &RunCheck, cwd: &Path, watch: &mut Watch<'_>) -> Report {
    let pattern = match expected.stdout.as_deref().map(Regex::new).transpose() {
        Ok(pattern) => pattern,
        Err(error) => {
            let reason = format!("`stdout` is no regular expression: {error}");
            return could_not_run(gate, Obstacle::Start, reason);
        }
    };
    let Some(words) = words(expected) else {
        return could_not_run(gate, Obstacle::Missing, "the command has no words");
    };
    let order = Order {
        words,
        cwd,
        timeout: Duration::from_secs(expected.timeout.into()),
        stdout_bound: if pattern.is_some() { STDOUT } else { 0 },
        environment: &[],
        is_hidden: |_| false,
    };
    let ran = match run(&order, watch) {
        Ok(ran) => ran,
        Err((obstacle, reason)) => return could_not_run(gate, obstacle, reason),
    };
    let (verdict, reason) = judge(expected, pattern.as_ref(), &ran.end, &ran.stdout);
    let status = match ran.end {
        End::Itself(status) => Some(status),
        End::Timeout | End::CalledOff | End::TooMuchOutput | End::Unknown(_) => None,
    };
    Report {
        exit: status.and_then(|status| status.code()),
        signal: status.and_then(signal),
        tail: ran.tail,
        ..report(gate, verdict, reason)
    }
}

fn words(expected: &RunCheck) -> Option<Words<'_>> {
    if expected.shell {
        return Some(Words::Shell(expected.command.join(" ")));
    }
    let (program, arguments) = expected.command.split_first()?;
    let arguments = arguments.iter().map(String::as_str).collect();
    Some(Words::Program(program, arguments))
}

fn judge(
    expected: &RunCheck,
    pattern: Option<&Regex>,
    end: &End,
    stdout: &[u8],
) -> (Verdict, String) {
    let could_not = |obstacle, reason| (Verdict::CouldNotRun(obstacle), reason);
    match end {
        End::Itself(status) => {
            if let Some(code) = status.code() {
                return judge_exit(expected, pattern, code, stdout);
            }
            // A crash is no exit code: it is not what `exit: nonzero` asks for.
            let name = signal(*status).map_or("a signal".to_owned(), signal_name);
            (Verdict::Failed, format!("it was ended by {name}"))
        }
        End::Timeout => could_not(
            Obstacle::Timeout,
            format!(
                "it did not end within {} s, and was ended",
                expected.timeout
            ),
        ),
        End::CalledOff => could_not(Obstacle::Ended, CALLED_OFF.to_owned()),
        End::TooMuchOutput => could_not(
            Obstacle::TooMuchOutput,
            format!(
                "it was ended: it wrote more to stdout than the {} MiB that `stdout` is held against",
                STDOUT / 1024 / 1024
            ),
        ),
        End::Unknown(error) => could_not(
            Obstacle::Start,
            format!("how it ended cannot be told: {error}"),
        ),
    }
}

fn judge_exit(
    expected: &RunCheck,
    pattern: Option<&Regex>,
    code: i32,
    stdout: &[u8],
) -> (Verdict, String) {
    let is_expected = match expected.exit {
        ExpectedExit::Code(wanted) => code == wanted,
        ExpectedExit::Nonzero => code != 0,
    };
    // A test that must fail does not pass because its program is not there.
    if expected.shell && expected.exit != ExpectedExit::Code(code) {
        let obstacle = match code {
            SHELL_NOT_FOUND => Some((Obstacle::Missing, "did not find a program")),
            SHELL_NOT_EXECUTABLE => Some((Obstacle::NotExecutable, "could not execute a program")),
            _ => None,
        };
        if let Some((obstacle, what)) = obstacle {
            let reason = format!("the shell {what} (exit code {code})");
            return (Verdict::CouldNotRun(obstacle), reason);
        }
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
            let shown = super::output::one_line(pattern.as_str());
            let reason = format!("stdout does not match `{shown}`");
            (Verdict::Failed, reason)
        }
        Some(_) | None => (Verdict::Passed, String::new()),
    }
}
