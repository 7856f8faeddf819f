//! Changes that `git status` does not list.
//!
//! Much in a repository makes git overlook changes: marks in the index, recorded times, settings, and lists of ignored
//! files that are not committed. So the files are compared with the commit itself, by content, through an index
//! that is made for this purpose, and without such settings and lists that the user does not trust.

use std::collections::BTreeSet;
use std::path::Path;

use super::config_commands::{Configuration, GitOperation, USER_IGNORES, key_of};
use super::execution::{Git, words};
use super::private_directory::PrivateDirectory;
use super::repository_state::RepositoryState;
use crate::platform::process::Failure;

/// Lists the changes that `git status` does not show, as it would show them. Used where `git status` lists none.
pub(in crate::platform) fn hidden_changes(
    before: Option<&RepositoryState>,
    configuration: &Configuration,
    git: Git<'_>,
    agent_dir: Option<&Path>,
) -> Result<Vec<String>, Failure> {
    let hiding = configuration.untrusted_that_hide(git, agent_dir);
    let mut left_out: Vec<&str> = hiding.iter().map(key_of).collect();
    // Without a state of before, all is as it was.
    let mut was_sparse = true;
    if let Some(RepositoryState::Present {
        is_sparse, ignored, ..
    }) = before
    {
        was_sparse = *is_sparse;
        if *ignored != configuration.user_ignores_hash() {
            left_out.push(USER_IGNORES);
        }
    }
    let directory = PrivateDirectory::make(configuration, GitOperation::Compare, &left_out)?;
    let git = directory.git(git);
    let head = git.head()?;
    let own_index = directory.with_own_index(git);
    let mut found = changes(own_index, head.as_deref(), &["--untracked-files=normal"])?;
    // Only a part of the files is checked out, since before the phase was entered.
    if was_sparse && configuration.is_sparse() && !found.is_empty() {
        let files = git.list(&["ls-files", "-t", "-z"])?;
        let not_checked_out = files.iter().filter_map(|file| file.strip_prefix("S "));
        let not_checked_out: BTreeSet<&str> = not_checked_out.collect();
        found.retain(|change| {
            let absent = change.strip_prefix(" D ");
            !absent.is_some_and(|path| not_checked_out.contains(path))
        });
    }
    found.extend(untracked_ignore_files(git)?);
    Ok(found)
}

/// Compares the files with a commit or tree, by content, through the index of a private directory, which does not exist yet;
/// without one, with the index that is there. `shown` says which files beside it are listed.
pub(in crate::platform) fn changes(
    git: Git<'_>,
    commit: Option<&str>,
    shown: &[&str],
) -> Result<Vec<String>, Failure> {
    let plain = words("-c core.splitIndex=false -c index.sparse=false");
    // Without a commit every file is untracked in a new index.
    if let Some(commit) = commit {
        git.text(&[&plain[..], &["read-tree", commit]].concat())?;
    }
    let status = words("status --porcelain=v1 -z --no-renames --ignore-submodules=dirty");
    git.list(&[&plain[..], &status[..], shown].concat())
}

/// Lists ignore files beside tracked files that are not tracked, because they ignore themselves.
fn untracked_ignore_files(git: Git<'_>) -> Result<Vec<String>, Failure> {
    let listed = git.list(&["ls-files", "-z"])?;
    let tracked: BTreeSet<&str> = listed.iter().map(String::as_str).collect();
    let mut directories = BTreeSet::from([""]);
    for file in &tracked {
        let above = file.match_indices('/').map(|(at, _)| &file[..=at]);
        directories.extend(above);
    }
    let present: Vec<String> = directories
        .into_iter()
        .map(|directory| format!("{directory}.gitignore"))
        .filter(|file| !tracked.contains(&**file) && git.cwd.join(file).exists())
        .collect();
    let mut found = Vec::new();
    for file in &present {
        // The list of ignored files, a line and a pattern, if it is ignored.
        let explained = git.run(&["check-ignore", "--verbose", "--", file])?;
        if !matches!(explained.code, 0 | 1) {
            return Err(explained.failure());
        }
        let by_untracked = |list: &String| explained.text.starts_with(&format!("{list}:"));
        // Git quotes a name with special characters.
        if explained.text.starts_with('"') || present.iter().any(by_untracked) {
            found.push(format!("?? {file}"));
        }
    }
    Ok(found)
}
