//! Changes that `git status` does not list.
//!
//! Much in a repository makes git overlook changes: marks in the index, recorded times, settings, and lists of ignored
//! files that are not committed. So the files are compared with the commit itself, by content, through an index
//! that is made for this purpose, and without such settings and lists that the user does not trust.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use super::config_commands::{Configuration, GitOperation, USER_IGNORES};
use super::execution::{GitLimits, GitOutput};
use super::head::head;
use super::private_directory::PrivateDirectory;
use super::repository_state::RepositoryState;
use crate::platform::process::{CheckError, Failure, GRACE, Monitor, one_line};

/// Time limit of comparing all files by content.
const TIME: Duration = Duration::from_secs(300);
/// Bytes of a list of files that are read.
const LIST_BOUND: usize = 128 * 1024 * 1024;

/// Lists the changes that `git status` does not show, as it would show them. Used where `git status` lists none.
pub(in crate::platform) fn hidden_changes(
    before: Option<&RepositoryState>,
    configuration: &Configuration,
    cwd: &Path,
    agent_dir: Option<&Path>,
    monitor: &mut Monitor<'_>,
) -> Result<Vec<String>, Failure> {
    let hiding = configuration.settings_that_hide(monitor);
    let untrusted = hiding
        .iter()
        .filter(|setting| !setting.is_trusted(cwd, agent_dir));
    let mut left_out: Vec<&str> = untrusted.map(|setting| &*setting.key).collect();
    // Without a state of before, all is as it was.
    let (mut was_sparse, mut list_changed) = (true, false);
    if let Some(RepositoryState::Present {
        is_sparse, ignored, ..
    }) = before
    {
        was_sparse = *is_sparse;
        list_changed = *ignored != configuration.user_ignores_hash();
    }
    if list_changed {
        left_out.push(USER_IGNORES);
    }
    let directory = PrivateDirectory::make(configuration, GitOperation::Compare, &left_out)?;
    let mut search = Search {
        directory,
        is_sparse: was_sparse && configuration.is_sparse(),
        monitor,
    };
    let mut found = search.changes()?;
    found.extend(search.untracked_ignore_files()?);
    Ok(found)
}

struct Search<'a, 'm> {
    directory: PrivateDirectory,
    /// Set if only a part of the files is checked out, since before the phase was entered.
    is_sparse: bool,
    monitor: &'a mut Monitor<'m>,
}

impl Search<'_, '_> {
    /// Compares the files with the commit, by content.
    fn changes(&mut self) -> Result<Vec<String>, Failure> {
        let root = &self.directory.location().root;
        let index = self.directory.own_index();
        let environment = [("GIT_INDEX_FILE", &*index)];
        let plain = ["-c", "core.splitIndex=false", "-c", "index.sparse=false"];
        // Without a commit every file is untracked.
        if let Some(commit) = head(TIME, root, self.monitor)? {
            let read = [&plain[..], &["read-tree", &commit]].concat();
            succeeded(self.run(&environment, &read)?)?;
        }
        let status = [
            "status",
            "--porcelain=v1",
            "-z",
            "--no-renames",
            "--untracked-files=normal",
            "--ignore-submodules=dirty",
        ];
        let output = succeeded(self.run(&environment, &[&plain[..], &status].concat())?)?;
        let mut changes: Vec<String> = output
            .text
            .split_terminator('\0')
            .map(str::to_owned)
            .collect();
        if self.is_sparse && !changes.is_empty() {
            let output = succeeded(self.run(&[], &["ls-files", "-t", "-z"])?)?;
            let files = output.text.split_terminator('\0');
            let not_checked_out: BTreeSet<&str> =
                files.filter_map(|file| file.strip_prefix("S ")).collect();
            changes.retain(|change| {
                let absent = change.strip_prefix(" D ");
                !absent.is_some_and(|path| not_checked_out.contains(path))
            });
        }
        Ok(changes)
    }

    /// Lists ignore files beside tracked files that are not tracked, because they ignore themselves.
    fn untracked_ignore_files(&mut self) -> Result<Vec<String>, Failure> {
        let output = succeeded(self.run(&[], &["ls-files", "-z"])?)?;
        let tracked: BTreeSet<&str> = output.text.split_terminator('\0').collect();
        let mut directories = BTreeSet::from([""]);
        for file in &tracked {
            let above = file.match_indices('/').map(|(at, _)| &file[..=at]);
            directories.extend(above);
        }
        let root = &self.directory.location().root;
        let present: Vec<String> = directories
            .into_iter()
            .map(|directory| format!("{directory}.gitignore"))
            .filter(|file| !tracked.contains(&**file) && root.join(file).exists())
            .collect();
        let mut found = Vec::new();
        for file in &present {
            // The list of ignored files, a line and a pattern, if it is ignored.
            let explain = ["check-ignore", "--verbose", "--", file];
            let explained = self.run(&[], &explain)?;
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

    fn run(
        &mut self,
        environment: &[(&str, &str)],
        arguments: &[&str],
    ) -> Result<GitOutput, Failure> {
        let limits = GitLimits {
            timeout: TIME,
            environment,
            bound: LIST_BOUND,
            grace: GRACE,
        };
        self.directory.run(&limits, arguments, self.monitor)
    }
}

fn succeeded(output: GitOutput) -> Result<GitOutput, Failure> {
    let output = output.succeeded()?;
    if output.is_cut {
        let reason = "the list of the repository's files is too long to be checked";
        return Err((CheckError::TooMuchOutput, reason.to_owned()));
    }
    Ok(output)
}

/// Returns a list of changes, shortened for people.
pub(in crate::platform) fn shown(changes: &[String]) -> String {
    const SHOWN: usize = 60;
    let mut lines: Vec<String> = changes
        .iter()
        .take(SHOWN)
        .map(|one| one_line(one))
        .collect();
    if let Some(more) = changes.len().checked_sub(SHOWN).filter(|&more| more > 0) {
        lines.push(format!("[and {more} more]"));
    }
    lines.join("\n")
}
