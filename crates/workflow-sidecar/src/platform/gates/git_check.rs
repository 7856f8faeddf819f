//! Checks of the repository: all changes are committed, there is a new commit.

use std::path::Path;

use super::baseline::Baseline;
use super::finding::GateFinding;
use crate::platform::git::{
    Configuration, GitLimits, GitOperation, Head, HeadLookup, PrivateDirectory, RepositoryState,
    TIMEOUT, git, hidden_changes, look_up_head, shown_changes,
};
use crate::platform::process::{CheckError, Failure, Monitor};

/// Checks that all changes are committed. An untracked file counts as a change, and so does a change that
/// `git status` overlooks.
pub(super) fn is_clean(
    baseline: &Baseline,
    cwd: &Path,
    agent_dir: Option<&Path>,
    monitor: &mut Monitor<'_>,
) -> GateFinding {
    let before = baseline.repository.as_ref();
    try_is_clean(before, cwd, agent_dir, monitor).unwrap_or_else(GateFinding::could_not_run)
}

fn try_is_clean(
    before: Option<&RepositoryState>,
    cwd: &Path,
    agent_dir: Option<&Path>,
    monitor: &mut Monitor<'_>,
) -> Result<GateFinding, Failure> {
    let status = [
        "status",
        "--porcelain=v1",
        "--untracked-files=normal",
        "--ignore-submodules=dirty",
    ];
    let compare = GitOperation::Compare;
    let configuration = Configuration::read_allowed(compare, cwd, agent_dir, TIMEOUT, monitor)?;
    if let Some(before) = before {
        before.check_same(TIMEOUT, cwd, monitor)?;
    }
    let directory = PrivateDirectory::make(&configuration, compare, &[])?;
    let output = directory.run(&GitLimits::usual(TIMEOUT), &status, monitor)?;
    if output.code != 0 {
        return Err(output.failure());
    }
    if !output.text.is_empty() {
        let at_least = if output.is_cut { "at least " } else { "" };
        let count = changes(output.text.lines().count(), "not committed");
        return Ok(GateFinding::failed(
            format!("{at_least}{count}"),
            output.tail,
        ));
    }
    let hidden = hidden_changes(before, &configuration, cwd, agent_dir, monitor)?;
    if hidden.is_empty() {
        return Ok(GateFinding::passed());
    }
    let count = changes(hidden.len(), "not committed, and hidden from `git status`");
    let reason = format!(
        "{count} by a mark in the index, a setting of git, or a list of ignored files that is not committed. Commit \
         them, or list them in a .gitignore that is committed; what is the user's own, `workflow-sidecar trust` shows and allows"
    );
    Ok(GateFinding::failed(reason, shown_changes(&hidden)))
}

fn changes(count: usize, how: &str) -> String {
    let are = if count == 1 {
        "change is"
    } else {
        "changes are"
    };
    format!("{count} {are} {how}")
}

/// Checks that there is a commit that did not exist when the phase was entered.
pub(super) fn has_new_commit(
    baseline: &Baseline,
    cwd: &Path,
    monitor: &mut Monitor<'_>,
) -> GateFinding {
    let Some(before) = &baseline.head else {
        let reason = "the commit of the repository when the phase was entered is not known";
        return GateFinding::could_not_run((CheckError::NoBaseline, reason.to_owned()));
    };
    let now = match look_up_head(TIMEOUT, cwd, monitor) {
        Ok(HeadLookup::Head(head)) => head,
        Ok(HeadLookup::NoRepository(problem)) | Err(problem) => {
            return GateFinding::could_not_run(problem);
        }
    };
    let repository = baseline.repository.as_ref();
    let is_same = repository.map_or(Ok(()), |state| state.check_same(TIMEOUT, cwd, monitor));
    if let Err(problem) = is_same {
        return GateFinding::could_not_run(problem);
    }
    let tips = repository.map_or(&[][..], RepositoryState::tips);
    match (before, now) {
        (_, Head::NoCommit) => GateFinding::failed("there is no commit yet", String::new()),
        (Head::NoCommit, Head::Commit(now)) => {
            compare(None, &now, tips, cwd, monitor).unwrap_or_else(GateFinding::could_not_run)
        }
        (Head::Commit(before), Head::Commit(now)) => {
            compare(Some(before), &now, tips, cwd, monitor)
                .unwrap_or_else(GateFinding::could_not_run)
        }
    }
}

/// Compares two commits. One that existed before, as after a reset or on another branch, is not new.
fn compare(
    before: Option<&str>,
    now: &str,
    tips: &[String],
    cwd: &Path,
    monitor: &mut Monitor<'_>,
) -> Result<GateFinding, Failure> {
    let none = || {
        GateFinding::failed(
            "nothing was committed since the phase was entered",
            String::new(),
        )
    };
    if before == Some(now) {
        return Ok(none());
    }
    let known = before.into_iter().chain(tips.iter().map(String::as_str));
    let excluded: Vec<String> = known.map(|commit| format!("^{commit}")).collect();
    let mut list = vec!["rev-list", "--ignore-missing", "--max-count=1", now];
    list.extend(excluded.iter().map(String::as_str));
    list.push("--");
    let new = git(TIMEOUT, &list, cwd, monitor)?;
    if new.code != 0 {
        return Err(new.failure());
    }
    let is_old = new.text.trim().is_empty();
    Ok(if is_old {
        none()
    } else {
        GateFinding::passed()
    })
}
