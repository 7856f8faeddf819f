//! Changes that `git status` does not list.
//!
//! Much in a repository makes git overlook changes: marks in the index, recorded times, settings, and lists of ignored
//! files that are not committed. So the files are compared with the commit itself, by content, through an index
//! that is made for this purpose. Settings that hide changes count only if the user trusts them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::command::{self, git};
use super::config_commands::{Configuration, EXCLUDE, EXCLUDES_FILE};
use super::execution::{GitLimits, GitOutput};
use super::head::{Head, HeadLookup, look_up_head};
use super::repository_state::RepositoryState;
use crate::platform::process::{CheckError, Failure, GRACE, Monitor, one_line};

/// Time limit of comparing all files by content.
const TIME: Duration = Duration::from_secs(300);
/// Bytes of a list of files that are read.
const LIST_BOUND: usize = 128 * 1024 * 1024;

/// Lists the changes that `git status` does not show, as it would show them. Used where `git status` lists none.
pub(in crate::platform) fn hidden_changes(
    before: Option<&RepositoryState>,
    cwd: &Path,
    agent_dir: Option<&Path>,
    monitor: &mut Monitor<'_>,
) -> Result<Vec<String>, Failure> {
    let configuration = Configuration::read(TIME, cwd, monitor)?;
    let Some(root) = configuration.root().map(Path::to_path_buf) else {
        return Ok(Vec::new());
    };
    let untrusted: Vec<String> = configuration
        .settings_that_hide()
        .into_iter()
        .filter(|setting| !setting.is_trusted(cwd, agent_dir))
        .map(|setting| setting.key)
        .collect();
    let mut search = Search {
        before,
        configuration,
        untrusted,
        root,
        monitor,
    };
    let mut found = search.changed_files()?;
    found.extend(search.ignored_files()?);
    found.extend(search.untracked_ignore_files()?);
    Ok(found)
}

struct Search<'a, 'm> {
    before: Option<&'a RepositoryState>,
    configuration: Configuration,
    /// The keys of settings that hide changes, and are not trusted.
    untrusted: Vec<String>,
    root: PathBuf,
    monitor: &'a mut Monitor<'m>,
}

impl Search<'_, '_> {
    /// Compares the files with the commit, by content.
    fn changed_files(&mut self) -> Result<Vec<String>, Failure> {
        let commit = match look_up_head(TIME, &self.root, self.monitor)? {
            HeadLookup::Head(Head::Commit(commit)) => commit,
            // Then every file is untracked or staged, and listed.
            HeadLookup::Head(Head::NoCommit) | HeadLookup::NoRepository(_) => return Ok(Vec::new()),
        };
        let directory = tempfile::tempdir();
        let directory = directory.map_err(|error| {
            let reason = format!("an index cannot be made: {error}");
            (CheckError::Start, reason)
        })?;
        let index = directory.path().join("index").display().to_string();
        let environment = [("GIT_INDEX_FILE", &*index)];
        let plain = ["-c", "core.splitIndex=false", "-c", "index.sparse=false"];
        let read = [&plain[..], &["read-tree", &commit]].concat();
        succeeded(self.run(&environment, &read)?)?;
        let overridden = self.overridden_settings();
        let mut status: Vec<&str> = plain.to_vec();
        for setting in &overridden {
            status.extend(["-c", setting]);
        }
        status.extend([
            "status",
            "--porcelain=v1",
            "-z",
            "--no-renames",
            "--untracked-files=no",
            "--ignore-submodules=dirty",
        ]);
        let output = succeeded(self.run(&environment, &status)?)?;
        let mut changes: Vec<String> = output
            .text
            .split_terminator('\0')
            .map(str::to_owned)
            .collect();
        if !changes.is_empty() {
            let left_out = self.files_not_checked_out()?;
            changes.retain(|change| {
                let absent = change.strip_prefix(" D ");
                !absent.is_some_and(|path| left_out.contains(path))
            });
        }
        Ok(changes)
    }

    /// Returns the settings by which git sees every kind of change.
    fn overridden_settings(&self) -> Vec<String> {
        let values = [
            ("core.filemode", "true"),
            ("core.symlinks", "true"),
            ("core.ignorecase", "false"),
        ];
        values
            .iter()
            .filter(|(key, _)| self.is_untrusted(key))
            .map(|(key, value)| format!("{key}={value}"))
            .collect()
    }

    fn is_untrusted(&self, key: &str) -> bool {
        self.untrusted.iter().any(|untrusted| untrusted == key)
    }

    /// Returns the files that are marked as not checked out, where only a part of the files is checked out since the
    /// phase was entered.
    fn files_not_checked_out(&mut self) -> Result<BTreeSet<String>, Failure> {
        let was_sparse = match self.before {
            Some(RepositoryState::Present { is_sparse, .. }) => *is_sparse,
            Some(RepositoryState::Absent | RepositoryState::Unreadable) | None => true,
        };
        if !(was_sparse && self.configuration.is_sparse()) {
            return Ok(BTreeSet::new());
        }
        let output = succeeded(self.run(&[], &["ls-files", "-t", "-z", "--full-name"])?)?;
        let files = output.text.split_terminator('\0');
        let marked = files.filter_map(|file| file.strip_prefix("S "));
        Ok(marked.map(str::to_owned).collect())
    }

    /// Lists the files that are ignored by a list that is neither committed nor the user's, or because of a setting.
    fn ignored_files(&mut self) -> Result<Vec<String>, Failure> {
        let user_list_changed = match self.before {
            Some(RepositoryState::Present { ignored, .. }) => {
                *ignored != self.configuration.user_ignores_hash()
            }
            Some(RepositoryState::Absent | RepositoryState::Unreadable) | None => false,
        };
        let lists = [
            (
                self.configuration.exclude_file(),
                self.is_untrusted(EXCLUDE),
            ),
            (
                self.configuration.repository_ignores(),
                self.is_untrusted(EXCLUDES_FILE),
            ),
            (self.configuration.user_ignores(), user_list_changed),
        ];
        let overridden = self.overridden_settings();
        if overridden.is_empty() && !lists.iter().any(|(_, is_left_out)| *is_left_out) {
            return Ok(Vec::new());
        }
        let accepted: Vec<String> = lists
            .into_iter()
            .filter_map(|(path, is_left_out)| path.filter(|path| !is_left_out && path.exists()))
            .map(|path| format!("--exclude-from={}", path.display()))
            .collect();
        let mut list = Vec::new();
        for setting in &overridden {
            list.extend(["-c", setting]);
        }
        list.extend([
            "ls-files",
            "-z",
            "--others",
            "--directory",
            "--no-empty-directory",
            "--exclude-per-directory=.gitignore",
        ]);
        list.extend(accepted.iter().map(String::as_str));
        let output = succeeded(self.run(&[], &list)?)?;
        let files = output.text.split_terminator('\0');
        Ok(files.map(|file| format!("?? {file}")).collect())
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
        let present: Vec<String> = directories
            .into_iter()
            .map(|directory| format!("{directory}.gitignore"))
            .filter(|file| !tracked.contains(&**file) && self.root.join(file).exists())
            .collect();
        let mut found = Vec::new();
        for file in &present {
            // The list of ignored files, a line and a pattern, if it is ignored.
            let explain = ["check-ignore", "--verbose", "--", file];
            let explained = git(TIME, &explain, &self.root, self.monitor)?;
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
        command::run(&limits, arguments, &self.root, self.monitor)
    }
}

fn succeeded(output: GitOutput) -> Result<GitOutput, Failure> {
    if output.code != 0 {
        return Err(output.failure());
    }
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
