//! Checks of the repository: all changes are committed, there is a new commit.

use std::path::Path;

use super::report::{Checked, NotPassed};
use crate::platform::git::{
    Configuration, Git, GitOperation, PrivateDirectory, RepositoryState, hidden_changes,
    shown_changes,
};
use crate::platform::process::CheckError;

/// Checks that all changes are committed. An untracked file counts as a change, and so does a change that
/// `git status` overlooks.
pub(super) fn is_clean(
    before: Option<&RepositoryState>,
    git: Git<'_>,
    agent_dir: Option<&Path>,
) -> Checked {
    let configuration = Configuration::read_allowed(GitOperation::Compare, git, agent_dir)?;
    if let Some(before) = before {
        before.check_same(git)?;
    }
    let directory = PrivateDirectory::make(&configuration, GitOperation::Compare, &[])?;
    let status = [
        "status",
        "--porcelain=v1",
        "--untracked-files=normal",
        "--ignore-submodules=dirty",
    ];
    let output = directory.git(git).run(&status)?.succeeded()?;
    if !output.text.is_empty() {
        let at_least = if output.is_cut { "at least " } else { "" };
        let count = changes(output.text.lines().count(), "not committed");
        return Err(NotPassed {
            shown: output.tail,
            ..NotPassed::failed(format!("{at_least}{count}"))
        });
    }
    let hidden = hidden_changes(before, &configuration, git, agent_dir)?;
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
    match count {
        1 => format!("1 change is {how}"),
        _ => format!("{count} changes are {how}"),
    }
}

/// Checks that there is a commit that did not exist when the phase was entered. One that existed before, as after a reset or
/// on another branch, is not new.
pub(super) fn has_new_commit(before: Option<&RepositoryState>, git: Git<'_>) -> Checked {
    let Some(before) = before else {
        let reason = "the commit of the repository when the phase was entered is not known";
        return Err((CheckError::NoBaseline, reason.to_owned()).into());
    };
    let now = git.head()?;
    before.check_same(git)?;
    let now = now.ok_or_else(|| NotPassed::failed("there is no commit yet"))?;
    let known: Vec<String> = before.commits().map(|known| format!("^{known}")).collect();
    let mut list = vec!["rev-list", "--ignore-missing", "--max-count=1", &now];
    list.extend(known.iter().map(String::as_str));
    list.push("--");
    if git.text(&list)?.is_empty() {
        let reason = "nothing was committed since the phase was entered";
        return Err(NotPassed::failed(reason));
    }
    Ok(())
}
