//! Git commands, with the hooks of the configuration switched off.

use std::path::Path;
use std::time::Duration;

use super::configured_hooks;
use super::execution::{GitLimits, GitOutput};
use crate::platform::process::{Failure, Monitor};

/// Runs a git command with the usual environment and bound.
pub(in crate::platform) fn git(
    timeout: Duration,
    arguments: &[&str],
    cwd: &Path,
    monitor: &mut Monitor<'_>,
) -> Result<GitOutput, Failure> {
    run(&GitLimits::usual(timeout), arguments, cwd, monitor)
}

/// Runs a git command.
pub(super) fn run(
    limits: &GitLimits<'_>,
    arguments: &[&str],
    cwd: &Path,
    monitor: &mut Monitor<'_>,
) -> Result<GitOutput, Failure> {
    let hooks_off = if may_run_hooks(arguments) {
        configured_hooks::switched_off(limits.timeout, cwd, monitor)?
    } else {
        Vec::new()
    };
    limits.run(arguments, &hooks_off, cwd, monitor)
}

/// Returns `false` for commands that change neither an index nor a reference, and so run no hook.
fn may_run_hooks(arguments: &[&str]) -> bool {
    const READING: [&str; 7] = [
        "cat-file",
        "check-ignore",
        "config",
        "for-each-ref",
        "ls-files",
        "rev-list",
        "rev-parse",
    ];
    arguments
        .first()
        .is_none_or(|command| !READING.contains(command))
}
