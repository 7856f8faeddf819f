//! Checks of the repository: all changes are committed, there is a new commit.

use std::path::Path;

use super::baseline::Baseline;
use super::not_passed::{Checked, NotPassed};
use crate::platform::git::{
    Configuration, GitLimits, GitOperation, PrivateDirectory, TIMEOUT, git, head, hidden_changes,
    shown_changes,
};
use crate::platform::process::{CheckError, Monitor};

/// Checks that all changes are committed. An untracked file counts as a change, and so does a change that
/// `git status` overlooks.
pub(super) fn is_clean(
    baseline: &Baseline,
    cwd: &Path,
    agent_dir: Option<&Path>,
    monitor: &mut Monitor<'_>,
) -> Checked {
    let before = baseline.repository.as_ref();
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
    let output = output.succeeded()?;
    if !output.text.is_empty() {
        let at_least = if output.is_cut { "at least " } else { "" };
        let count = changes(output.text.lines().count(), "not committed");
        return Err(NotPassed {
            shown: output.tail,
            ..NotPassed::failed(format!("{at_least}{count}"))
        });
    }
    let hidden = hidden_changes(before, &configuration, cwd, agent_dir, monitor)?;
    if hidden.is_empty() {
        return Ok(());
    }
    let count = changes(hidden.len(), "not committed, and hidden from `git status`");
    let reason = format!(
        "{count} by a mark in the index, a setting of git, or a list of ignored files that is not committed. Commit \
         them, or list them in a .gitignore that is committed; what is the user's own, `workflow-sidecar trust` shows and allows"
    );
    Err(NotPassed {
        shown: shown_changes(&hidden),
        ..NotPassed::failed(reason)
    })
}

fn changes(count: usize, how: &str) -> String {
    let are = if count == 1 {
        "change is"
    } else {
        "changes are"
    };
    format!("{count} {are} {how}")
}

/// Checks that there is a commit that did not exist when the phase was entered. One that existed before, as after a reset or
/// on another branch, is not new.
pub(super) fn has_new_commit(
    baseline: &Baseline,
    cwd: &Path,
    monitor: &mut Monitor<'_>,
) -> Checked {
    let Some(before) = &baseline.repository else {
        let reason = "the commit of the repository when the phase was entered is not known";
        return Err((CheckError::NoBaseline, reason.to_owned()).into());
    };
    let now = head(TIMEOUT, cwd, monitor)?;
    before.check_same(TIMEOUT, cwd, monitor)?;
    let now = now.ok_or_else(|| NotPassed::failed("there is no commit yet"))?;
    let known: Vec<String> = before.commits().map(|known| format!("^{known}")).collect();
    let mut list = vec!["rev-list", "--ignore-missing", "--max-count=1", &now];
    list.extend(known.iter().map(String::as_str));
    list.push("--");
    let new = git(TIMEOUT, &list, cwd, monitor)?.succeeded()?;
    if new.text.trim().is_empty() {
        let reason = "nothing was committed since the phase was entered";
        return Err(NotPassed::failed(reason));
    }
    Ok(())
}
