//! Checks of the repository: all changes are committed, there is a new commit.

use std::path::Path;

use super::report::{Checked, NotPassed};
use crate::platform::git::{
    Configuration, Git, GitOperation, PrivateDirectory, RepositoryState, changes, hidden_changes,
};
use crate::platform::process::{CheckError, one_line, shown_end};

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
    let listed = changes(directory.git(git), None, &["--untracked-files=normal"])?;
    if !listed.is_empty() {
        return Err(not_clean(&listed, "not committed"));
    }
    let hidden = hidden_changes(before, &configuration, git, agent_dir)?;
    if hidden.is_empty() {
        return Ok(());
    }
    let how = "not committed, and hidden from `git status` by a mark in the index, a setting of git, or a list of ignored files that is not \
               committed. Commit them, or list them in a .gitignore that is committed; what is the user's own, `workflow-sidecar trust` shows \
               and allows";
    Err(not_clean(&hidden, how))
}

fn not_clean(changes: &[String], how: &str) -> NotPassed {
    let lines: Vec<String> = changes.iter().map(|one| one_line(one)).collect();
    NotPassed {
        shown: shown_end(lines.join("\n").as_bytes()),
        ..NotPassed::failed(match lines.len() {
            1 => format!("1 change is {how}"),
            count => format!("{count} changes are {how}"),
        })
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
