//! A command of a gate, and the verdict on its end.

use std::path::{Path, PathBuf};
use std::time::Duration;

use regex::Regex;
use workflow_core::definition::{ExpectedExit, Gate, RunCheck};

use super::Report;
use super::no_test::no_test_ran;
use super::report::{Checked, NotPassed, report};
use crate::platform::process::{
    CheckError, CommandLine, End, Failure, Finished, GRACE, Invocation, Monitor, failed, one_line,
    run, signal, signal_name,
};

/// Bytes of standard output that are matched with a pattern. A command that writes more is ended.
pub(super) const STDOUT: usize = 8 * 1024 * 1024;

/// Exit codes that come from a shell, perhaps one that the host uses, and not from the program, and what it says by them.
#[rustfmt::skip] // A row a line.
pub(super) const EXECUTED_BY_SHELL: [(i32, CheckError, &str); 2] = [
    (127, CheckError::Missing, "did not find a program"),
    (126, CheckError::NotExecutable, "could not execute a program"),
];

pub(super) fn run_command(
    gate: &Gate,
    expected: &RunCheck,
    cwd: &Path,
    monitor: Monitor<'_>,
) -> Report {
    let finished = pattern(expected).and_then(|pattern| {
        let bound = pattern.map_or(0, |_| STDOUT);
        finish_command(expected, cwd, bound, monitor)
    });
    let finished = match finished {
        Ok(finished) => finished,
        Err(failure) => return report(gate, Err(failure.into())),
    };
    let exited = finished.status("it").ok();
    Report {
        exit: exited.and_then(|status| status.code()),
        signal: exited.and_then(signal),
        tail: finished.tail.clone(),
        ..report(gate, judge(expected, &finished, &finished.tail))
    }
}

/// Runs the command of a check to its end. At most `bound` bytes of its output are recorded.
pub(super) fn finish_command(
    expected: &RunCheck,
    cwd: &Path,
    bound: usize,
    monitor: Monitor<'_>,
) -> Result<Finished, Failure> {
    let missing = || (CheckError::Missing, "the command is empty".to_owned());
    let command = command_line(expected).ok_or_else(missing)?;
    let invocation = Invocation {
        command,
        cwd: &directory(expected, cwd)?,
        timeout: Duration::from_secs(expected.timeout.into()),
        stdout_bound: bound,
        recorded: expected.stream,
        environment: &expected.env,
        grace: GRACE,
        is_hidden: |_| false,
    };
    run(&invocation, monitor)
}

/// Returns the pattern that the output must match.
pub(super) fn pattern(expected: &RunCheck) -> Result<Option<Regex>, Failure> {
    let pattern = expected.stdout.as_deref().map(Regex::new).transpose();
    pattern.map_err(|error| {
        let stream = expected.stream.describe();
        let reason = format!("the pattern for {stream} is not a valid regular expression: {error}");
        failed(reason)
    })
}

/// Returns the directory of a command, which must be in the project, also where links lead.
fn directory(expected: &RunCheck, cwd: &Path) -> Result<PathBuf, Failure> {
    let Some(directory) = &expected.cwd else {
        return Ok(cwd.to_path_buf());
    };
    let full = cwd.join(directory);
    let shown = one_line(directory);
    let real = |path: &Path| {
        let reason = |error| format!("its working directory {shown} cannot be used: {error}");
        path.canonicalize().map_err(|error| failed(reason(error)))
    };
    let (inside, project) = (real(&full)?, real(cwd)?);
    if !inside.starts_with(&project) {
        let reason = format!("its working directory {shown} is outside of the project");
        return Err(failed(reason));
    }
    if !inside.is_dir() {
        return Err(failed(format!("{shown} is not a directory")));
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

/// Judges a command that has ended. `tail` is the output that may say that no test ran.
pub(super) fn judge(expected: &RunCheck, finished: &Finished, tail: &str) -> Checked {
    if let End::TooMuchOutput = finished.end {
        let reason = format!("it was stopped: {}", too_much_output(expected));
        return Err((CheckError::TooMuchOutput, reason).into());
    }
    let status = finished.status("it")?;
    if let Some(code) = status.code() {
        return judge_exit(expected, code, &finished.stdout, tail);
    }
    // A crash is not an exit code, so it does not satisfy `exit: nonzero`.
    let name = signal(status).map_or("a signal".to_owned(), signal_name);
    Err(NotPassed::failed(format!("it was ended by {name}")))
}

pub(super) fn too_much_output(expected: &RunCheck) -> String {
    let (stream, limit) = (expected.stream.describe(), STDOUT / 1024 / 1024);
    format!("it wrote more to {stream} than the {limit} MiB that are compared with the pattern")
}

pub(super) fn judge_exit(expected: &RunCheck, code: i32, stdout: &[u8], tail: &str) -> Checked {
    let must_fail = expected.exit == ExpectedExit::Nonzero;
    let (is_expected, wanted) = match expected.exit {
        ExpectedExit::Code(wanted) => (code == wanted, wanted.to_string()),
        ExpectedExit::Nonzero => (code != 0, "any but 0".to_owned()),
    };
    let mut of_shell = EXECUTED_BY_SHELL.into_iter();
    // A check that expects failure must not pass because a program is missing, which scripts report as a shell does.
    if (expected.shell || must_fail)
        && expected.exit != ExpectedExit::Code(code)
        && let Some((_, error, what)) = of_shell.find(|(known, ..)| *known == code)
    {
        return Err((error, format!("the shell {what} (exit code {code})")).into());
    }
    if must_fail
        && is_expected
        && let Some(sentence) = no_test_ran(tail)
    {
        let reason = format!("exit code {code}, but no test ran: its output says \"{sentence}\"");
        return Err((CheckError::Missing, reason).into());
    }
    if !is_expected {
        let reason = format!("exit code {code}, expected {wanted}");
        return Err(NotPassed::failed(reason));
    }
    let text = String::from_utf8_lossy(stdout);
    match pattern(expected)? {
        Some(pattern) if !pattern.is_match(&text) => {
            let (stream, shown) = (expected.stream.describe(), one_line(pattern.as_str()));
            let reason = format!("{stream} does not match `{shown}`");
            Err(NotPassed::failed(reason))
        }
        Some(_) | None => Ok(()),
    }
}
