//! Checks of the repository: all changes are committed, there is a new commit.

use std::path::Path;
use std::time::Duration;

use super::Verdict;
use crate::platform::git::{
    GitOperation, Head, HeadLookup, TIMEOUT, check_allowed, git, look_up_head,
};
use crate::platform::process::{CheckError, Failure, Monitor};

/// The verdict on a file or a repository, the reason, and the lines that show it.
#[derive(Debug)]
pub(super) struct Finding {
    pub(super) verdict: Verdict,
    pub(super) reason: String,
    pub(super) shown: String,
}

impl Finding {
    pub(super) fn passed() -> Self {
        Self {
            verdict: Verdict::Passed,
            reason: String::new(),
            shown: String::new(),
        }
    }

    pub(super) fn failed(reason: impl Into<String>, shown: String) -> Self {
        Self {
            verdict: Verdict::Failed,
            reason: reason.into(),
            shown,
        }
    }

    pub(super) fn could_not_run((error, reason): Failure) -> Self {
        Self {
            verdict: Verdict::CouldNotRun(error),
            reason,
            shown: String::new(),
        }
    }
}

/// Checks that all changes are committed. An untracked file counts as a change.
pub(super) fn is_clean(cwd: &Path, agent_dir: Option<&Path>, monitor: &mut Monitor<'_>) -> Finding {
    let status = [
        "status",
        "--porcelain=v1",
        "--untracked-files=normal",
        "--ignore-submodules=dirty",
    ];
    let allowed = check_allowed(GitOperation::Compare, cwd, agent_dir, TIMEOUT, monitor);
    let output = match allowed.and_then(|()| git(TIMEOUT, &status, cwd, monitor)) {
        Ok(output) => output,
        Err(problem) => return Finding::could_not_run(problem),
    };
    match output.code {
        0 if output.text.is_empty() => Finding::passed(),
        0 => {
            let count = output.text.lines().count();
            let at_least = if output.is_cut { "at least " } else { "" };
            let are = if count == 1 {
                "change is"
            } else {
                "changes are"
            };
            let reason = format!("{at_least}{count} {are} not committed");
            Finding::failed(reason, output.tail)
        }
        _ => Finding::could_not_run(output.failure()),
    }
}

/// Checks that there is a commit that did not exist when the phase was entered.
pub(super) fn has_new_commit(
    before: Option<&Head>,
    cwd: &Path,
    monitor: &mut Monitor<'_>,
) -> Finding {
    let Some(before) = before else {
        let reason = "where the repository stood when the phase was entered is not known";
        return Finding::could_not_run((CheckError::NoBaseline, reason.to_owned()));
    };
    let now = match look_up_head(TIMEOUT, cwd, monitor) {
        Ok(HeadLookup::Head(head)) => head,
        Ok(HeadLookup::NoRepository(problem)) | Err(problem) => {
            return Finding::could_not_run(problem);
        }
    };
    match (before, now) {
        (_, Head::NoCommit) => Finding::failed("there is no commit yet", String::new()),
        (Head::NoCommit, Head::Commit(_)) => Finding::passed(),
        (Head::Commit(before), Head::Commit(now)) => {
            compare(before, &now, cwd, monitor).unwrap_or_else(Finding::could_not_run)
        }
    }
}

/// Compares two commits. One that existed before, as after a reset, is not new.
fn compare(
    before: &str,
    now: &str,
    cwd: &Path,
    monitor: &mut Monitor<'_>,
) -> Result<Finding, Failure> {
    let none = || {
        Finding::failed(
            "nothing was committed since the phase was entered",
            String::new(),
        )
    };
    if before == now {
        return Ok(none());
    }
    let excluded = format!("^{before}");
    let list = ["rev-list", "--max-count=1", now, &excluded, "--"];
    let new = git(TIMEOUT, &list, cwd, monitor)?;
    // If the old commit no longer exists, git fails, and the current one counts as new.
    let is_old = new.code == 0 && new.text.trim().is_empty();
    Ok(if is_old { none() } else { Finding::passed() })
}

/// Returns the current commit, if git answers within the time.
pub(super) fn head(time: Duration, cwd: &Path, monitor: &mut Monitor<'_>) -> Option<Head> {
    match look_up_head(time, cwd, monitor) {
        Ok(HeadLookup::Head(head)) => Some(head),
        Ok(HeadLookup::NoRepository(_)) => Some(Head::NoCommit),
        Err((_, reason)) => {
            tracing::debug!(reason, "the current commit cannot be read");
            None
        }
    }
}
