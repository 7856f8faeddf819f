//! One check of a gate, run in this process. Must not know how it is reported.

use std::time::Instant;

use workflow_core::definition::{Check, Gate, GitCheck};

use super::Report;
use super::baseline::check_file;
use super::command_check::run_command;
use super::git_check::{has_new_commit, is_clean};
use super::job::Job;
use super::report::{could_not_run, report};
use super::test_check::check_tests;
use crate::platform::git::Git;
use crate::platform::process::{CANCELLED, CheckError, Monitor};

/// Runs one check.
pub(crate) fn check(gate: &Gate, job: &Job, monitor: Monitor<'_>) -> Report {
    let began = Instant::now();
    let agent_dir = job.agent_dir.as_deref();
    let before = job.baseline.repository.as_ref();
    let git = Git::new(&job.cwd, monitor);
    let mut report = match &gate.check {
        _ if monitor.is_cancelled() => could_not_run(gate, CheckError::Ended, CANCELLED),
        Check::Run(expected) => run_command(gate, expected, &job.cwd, monitor),
        Check::Tests(expected) => check_tests(gate, expected, job, monitor),
        Check::File(expected) => report(gate, check_file(expected, &job.baseline, &job.cwd)),
        Check::Git(GitCheck::Clean) => report(gate, is_clean(before, git, agent_dir)),
        Check::Git(GitCheck::NewCommit) => report(gate, has_new_commit(before, git)),
    };
    report.duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    report
}
