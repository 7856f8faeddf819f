//! A check of tests: they ran, passed, were not skipped, and would fail without the change.
//!
//! ```text
//! mod → without_change → base_tree, test_module
//!  └──────────┴→ runner, report_file, formats
//! ```

mod base_tree;
mod formats;
mod report_file;
mod runner;
mod test_module;
mod without_change;

use std::path::Path;
use std::time::{Duration, Instant};

use workflow_core::definition::{ExpectedExit, Gate, TestsCheck};
use workflow_core::diagnostic::few;

use self::formats::TestRun;
use self::report_file::ReportFile;
pub(super) use self::runner::started;
use super::Report;
use super::command_check::{finish_command, judge};
use super::job::Job;
use super::no_test::no_test_ran;
use super::report::{Checked, NotPassed, report};
use crate::platform::process::{CheckError, Failure, Finished, Monitor, one_line};

/// Bytes of output that are read.
pub(super) const OUTPUT: usize = 64 * 1024 * 1024;
/// The sign between paths of a variable.
const BETWEEN_PATHS: char = if cfg!(windows) { ';' } else { ':' };
/// Names of tests that are shown.
const SHOWN: usize = 5;

/// A check of tests that runs.
struct TestCheck<'a> {
    expected: &'a TestsCheck,
    job: &'a Job,
    monitor: Monitor<'a>,
    /// When it must have ended.
    end: Instant,
}

/// A command that ran tests, and the tests; without them the reason why they are not known.
struct Ran {
    finished: Finished,
    tests: Result<TestRun, String>,
}

/// Runs the tests of a check.
pub(super) fn check_tests(
    gate: &Gate,
    expected: &TestsCheck,
    job: &Job,
    monitor: Monitor<'_>,
) -> Report {
    let check = TestCheck {
        expected,
        job,
        monitor,
        end: Instant::now() + Duration::from_secs(expected.command.timeout.into()),
    };
    let (mut exit, mut said) = (None, String::new());
    let ran = check.run(&job.cwd, &[]).map_err(NotPassed::from);
    let checked = ran.and_then(|ran| {
        exit = ran.finished.status("it")?.code();
        let tests = ran.judge(expected)?;
        said = format!("{}{}", what_ran(tests), check.compare(tests)?);
        Ok(())
    });
    let judged = report(gate, checked);
    Report {
        exit,
        reason: judged.reason + &said,
        ..judged
    }
}

/// Judges the tests that a host has run, by the output of their command. What compares them with the start of the run, and
/// what reads a file, is not possible there.
pub(super) fn judge_output(expected: &TestsCheck, output: &str) -> Checked {
    let tests = formats::read(output).ok_or_else(|| not_read(expected))?;
    judge_counts(expected, &tests)?;
    if expected.compares() || expected.report.is_some() {
        let reason = "the tests ran at the host, where neither the files at the start of the run nor a report are read";
        return Err((CheckError::Start, reason.to_owned()).into());
    }
    Ok(())
}

impl TestCheck<'_> {
    /// Runs the command in a tree, with these variables beside its own, which come first.
    fn run(&self, tree: &Path, environment: &[(String, String)]) -> Result<Ran, Failure> {
        let left = self.end.saturating_duration_since(Instant::now()).as_secs();
        if left == 0 {
            let seconds = self.expected.command.timeout;
            let reason = format!("it did not end within {seconds} s, all its runs together");
            return Err((CheckError::Timeout, reason));
        }
        let mut command = started(self.expected);
        command.timeout = u32::try_from(left).unwrap_or(command.timeout);
        for (name, value) in environment {
            match command.env.iter_mut().find(|(own, _)| own == name) {
                Some((own, paths)) if own == "PYTHONPATH" => {
                    *paths = format!("{value}{BETWEEN_PATHS}{paths}");
                }
                Some(_) => (),
                None => command.env.push((name.clone(), value.clone())),
            }
        }
        if let Some(file) = runner::replaced(&command, tree) {
            let reason = format!("{file} stands before the module of Python that runs the tests");
            return Err((CheckError::Start, reason));
        }
        let report = self.expected.report.as_deref();
        let report = report.map(|path| ReportFile::before(tree, path));
        let finished = finish_command(&command, tree, OUTPUT, self.monitor)?;
        // What was stopped is no result.
        finished.status("it")?;
        let tests = match report {
            Some(report) => report.read(),
            None => formats::read(&String::from_utf8_lossy(&finished.stdout))
                .ok_or_else(|| not_read(self.expected).reason),
        };
        Ok(Ran { finished, tests })
    }
}

impl Ran {
    /// Adds the end of its output to what is said of it.
    fn shown(&self, not_passed: NotPassed) -> NotPassed {
        NotPassed {
            shown: self.finished.tail.clone(),
            ..not_passed
        }
    }

    /// Returns true if cargo found no package.
    fn has_no_package(&self) -> bool {
        no_test_ran(&self.finished.tail) == Some("could not find `cargo.toml`")
    }

    /// Judges the run in the project.
    fn judge(&self, expected: &TestsCheck) -> Result<&TestRun, NotPassed> {
        // What the output says of tests is counted.
        let tail = self.tests.as_ref().map_or(&*self.finished.tail, |_| "");
        let judged = judge(&expected.command, &self.finished, tail).and_then(|()| {
            let unknown = |reason: &String| (CheckError::Start, reason.clone());
            let tests = self.tests.as_ref().map_err(unknown)?;
            judge_counts(expected, tests)?;
            Ok(tests)
        });
        judged.map_err(|not_passed| self.shown(not_passed))
    }
}

/// Judges tests by their numbers, whatever the exit code is.
fn judge_counts(expected: &TestsCheck, tests: &TestRun) -> Checked {
    let (failed, broken, min) = (tests.failed, tests.broken, expected.min as usize);
    let reason = match (expected.command.exit, tests.executed()) {
        (_, 0) if broken > 0 => "no test ran: they cannot be loaded or compiled".to_owned(),
        (_, 0) => "no test ran".to_owned(),
        (_, ran) if ran < min => format!("{} ran, and at least {min} must", number(ran, "test")),
        (ExpectedExit::Code(0), _) if failed > 0 => {
            format!("{} failed, but its exit code is 0", number(failed, "test"))
        }
        (ExpectedExit::Code(0), _) if broken > 0 => {
            let files = number(broken, "file or package");
            format!("the tests of {files} could not run, but its exit code is 0")
        }
        (ExpectedExit::Nonzero, _) if failed == 0 => "it failed, but no test did".to_owned(),
        (ExpectedExit::Code(_) | ExpectedExit::Nonzero, _) => return Ok(()),
    };
    Err(NotPassed::failed(reason))
}

fn not_read(expected: &TestsCheck) -> NotPassed {
    let command = one_line(&expected.command.command.join(" "));
    let reason = format!(
        "which tests ran cannot be read in the output of {command}: name the JUnit file that it writes with `report:`"
    );
    (CheckError::Start, reason).into()
}

/// Says what ran.
fn what_ran(tests: &TestRun) -> String {
    let ran = format!("{} ran", number(tests.executed(), "test"));
    let others = [(tests.failed, "failed"), (tests.skipped, "skipped")];
    let others = others.into_iter().filter(|(count, _)| *count > 0);
    let others = others.map(|(count, what)| format!(", {count} {what}"));
    std::iter::once(ran).chain(others).collect()
}

fn number(number: usize, of: &str) -> String {
    format!("{number} {of}{}", if number == 1 { "" } else { "s" })
}

/// Returns names of tests for people, the first of them; their number where they have no names.
fn list(names: &[&str], count: usize) -> String {
    if names.is_empty() {
        return number(count, "test");
    }
    let shown: Vec<String> = names.iter().map(|name| one_line(name)).collect();
    few(&shown, SHOWN)
}
