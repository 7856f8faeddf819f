//! Checkpoints of the code.
//!
//! Owns the git commands. Submodules are neither entered nor changed, and their commits are not recorded. Recording
//! changes nothing visible: not the work tree, not the index (a copy of it is used), no reference. It makes commits
//! without a reference, which git keeps for two weeks (`gc.pruneExpire`). Restoring first moves the later changes into
//! the stash, under a name, and only then changes a file: at every moment each change is in the files or in the stash.
//! Untracked files are neither recorded nor changed.

use std::path::Path;
use std::time::{Duration, Instant};
use std::{fs, io};

use workflow_core::event::{RestoreOutcome, RestoredFiles, SnapshotError};
use workflow_core::types::Snapshot;

use super::config_commands::{Configuration, GitOperation};
use super::execution::{BOUND, GitLimits, GitOutput};
use super::head::head;
use super::location::Location;
use super::private_directory::PrivateDirectory;
use crate::platform::process::{Failure, GRACE, Monitor, one_line};

/// Time for recording: the agent waits for it, and the host for the answer.
pub(crate) const TIME_TO_RECORD: Duration = Duration::from_millis(2500);
/// Time for one step of restoring, which blocks nothing else.
const TIME_TO_RESTORE: Duration = Duration::from_secs(300);
/// Bytes of the listing of an index that are read.
const INDEX_BOUND: usize = 128 * 1024 * 1024;
/// Paths on one command line.
const PATHS_PER_COMMAND: usize = 200;
/// Message of the stash entry with the later changes.
const STASH_MESSAGE: &str = "workflow-sidecar: before the code went back to a checkpoint";

/// Author of the commits, because the user may not have configured one.
const IDENTITY: [(&str, &str); 4] = [
    ("GIT_AUTHOR_NAME", "workflow-sidecar"),
    ("GIT_AUTHOR_EMAIL", "workflow-sidecar@localhost"),
    ("GIT_COMMITTER_NAME", "workflow-sidecar"),
    ("GIT_COMMITTER_EMAIL", "workflow-sidecar@localhost"),
];

/// Git in a repository, with a deadline.
struct Git<'a> {
    directory: &'a PrivateDirectory,
    end: Instant,
    /// The index file to use instead of the repository's.
    index: Option<&'a str>,
    /// Time for git to remove its locks when it is ended.
    grace: Duration,
}

impl<'a> Git<'a> {
    fn new(directory: &'a PrivateDirectory, time: Duration) -> Self {
        Self {
            directory,
            end: Instant::now() + time,
            index: None,
            grace: GRACE,
        }
    }

    fn run(&self, arguments: &[&str]) -> Result<GitOutput, Failure> {
        self.run_with_bound(BOUND, arguments)
    }

    fn run_with_bound(&self, bound: usize, arguments: &[&str]) -> Result<GitOutput, Failure> {
        let monitor = &mut Monitor::idle();
        let mut environment = IDENTITY.to_vec();
        environment.extend(self.index.map(|index| ("GIT_INDEX_FILE", index)));
        let limits = GitLimits {
            timeout: self.end.saturating_duration_since(Instant::now()),
            environment: &environment,
            bound,
            grace: self.grace,
        };
        self.directory.run(&limits, arguments, monitor)
    }

    /// Returns the trimmed output of a command that must succeed.
    fn succeed(&self, arguments: &[&str]) -> Result<String, String> {
        let output = self.run(arguments).and_then(GitOutput::succeeded);
        let output = output.map_err(|(_, reason)| reason)?;
        Ok(output.text.trim().to_owned())
    }
}

/// Makes the private directory for an operation, if the user trusts its programs. The trust store is in `agent_dir`.
fn private_directory(
    operation: GitOperation,
    cwd: &Path,
    agent_dir: &Path,
    time: Duration,
) -> Result<PrivateDirectory, Failure> {
    let monitor = &mut Monitor::idle();
    let agent_dir = Some(agent_dir);
    let configuration = Configuration::read_allowed(operation, cwd, agent_dir, time, monitor)?;
    PrivateDirectory::make(&configuration, operation, &[])
}

/// Records the code as a checkpoint. The trust store is in `agent_dir`.
pub(crate) fn record_checkpoint(cwd: &Path, agent_dir: &Path) -> Result<Snapshot, SnapshotError> {
    let failed = |(_, reason): Failure| SnapshotError::Failed(reason);
    let end = Instant::now() + TIME_TO_RECORD;
    let monitor = &mut Monitor::idle();
    if cwd.is_dir() && Location::of(cwd).is_none() {
        return Err(SnapshotError::NoRepository);
    }
    let head = head(TIME_TO_RECORD, cwd, monitor).map_err(failed)?;
    let head = head.ok_or(SnapshotError::NoRepository)?;
    let left = end.saturating_duration_since(Instant::now());
    let directory = private_directory(GitOperation::Compare, cwd, agent_dir, left);
    let git = Git {
        directory: &directory.map_err(failed)?,
        end,
        index: None,
        // Recording locks nothing in the repository, and everybody waits for it.
        grace: Duration::ZERO,
    };
    let commit = git.commit_changes("workflow-sidecar: a turn begins");
    let reference = commit.map_err(SnapshotError::Failed)?;
    Ok(Snapshot { reference, head })
}

/// Restores the code of a checkpoint. `on_step` gets the name of each step.
#[must_use]
pub(crate) fn restore_checkpoint(
    snapshot: &Snapshot,
    cwd: &Path,
    agent_dir: &Path,
    on_step: &dyn Fn(&'static str),
) -> RestoreOutcome {
    let mut restored = RestoreOutcome::default();
    on_step("looking at what changed");
    let directory = private_directory(GitOperation::Restore, cwd, agent_dir, TIME_TO_RESTORE);
    let result = match directory {
        Ok(directory) => Restoration { directory, on_step }.restore(snapshot, &mut restored),
        Err((_, reason)) => Err(reason),
    };
    match result {
        Ok(came) => restored.files = came,
        Err(problem) => restored.problem = Some(problem),
    }
    restored
}

/// A checkpoint that is being restored.
struct Restoration<'a> {
    directory: PrivateDirectory,
    on_step: &'a dyn Fn(&'static str),
}

impl Restoration<'_> {
    /// Begins a step with a separate deadline.
    fn step(&self, name: &'static str) -> Git<'_> {
        (self.on_step)(name);
        Git::new(&self.directory, TIME_TO_RESTORE)
    }

    fn restore(
        &self,
        snapshot: &Snapshot,
        restored: &mut RestoreOutcome,
    ) -> Result<RestoredFiles, String> {
        let Snapshot { reference, head } = snapshot;
        let names = [Some(head), reference.as_ref()];
        if !names.into_iter().flatten().all(|name| is_commit_name(name)) {
            return Err("the checkpoint is damaged".to_owned());
        }
        let git = Git::new(&self.directory, TIME_TO_RESTORE);
        let target = reference.as_ref().unwrap_or(head);
        let exists = git.succeed(&["cat-file", "-e", &format!("{target}^{{commit}}")]);
        exists.map_err(|_| "git does not have the checkpoint any more".to_owned())?;
        restored.has_commits_since = git.succeed(&["rev-parse", "HEAD"])? != *head;
        if git.is_same_as(target)? {
            return Ok(RestoredFiles::Unchanged);
        }
        let is_changed = self.stash_changes(restored)?;
        let Some(reference) = reference else {
            return Ok(if is_changed {
                RestoredFiles::Restored
            } else {
                RestoredFiles::NothingToRestore
            });
        };
        let git = self.step("bringing back what was changed then");
        let Err(reason) = git.succeed(&["stash", "apply", "--quiet", reference]) else {
            return Ok(RestoredFiles::Restored);
        };
        let conflicts = Git::new(&self.directory, TIME_TO_RESTORE);
        let conflicts = conflicts.succeed(&[
            "diff",
            "--name-only",
            "--ignore-submodules=dirty",
            "--diff-filter=U",
        ]);
        // Without the names of files the reason of `git stash` is the answer.
        let conflicts = conflicts.unwrap_or_default();
        Err(match &*conflicts.lines().collect::<Vec<_>>() {
            [] => reason,
            files => format!("it conflicts in {}", one_line(&files.join(", "))),
        })
    }

    /// Moves changes from the files into the stash; `false` if there were none.
    fn stash_changes(&self, restored: &mut RestoreOutcome) -> Result<bool, String> {
        let git = self.step("putting aside what was changed since");
        let Some(stashed) = git.commit_changes(STASH_MESSAGE)? else {
            return Ok(false);
        };
        git.succeed(&["stash", "store", "--message", STASH_MESSAGE, &stashed])?;
        restored.stashed = Some(stashed.clone());
        let git = self.step("putting aside what was changed since");
        // Only changes that are in the stash may be removed from the files.
        let now = git.commit_changes(STASH_MESSAGE)?;
        let tree = |commit: &str| git.succeed(&["rev-parse", &format!("{commit}^{{tree}}")]);
        let is_same = match now {
            Some(now) => matches!((tree(&stashed), tree(&now)), (Ok(a), Ok(b)) if a == b),
            None => false,
        };
        if !is_same {
            return Err("files were changed while they were stashed".to_owned());
        }
        git.succeed(&["reset", "--hard", "--quiet", "HEAD"])?;
        Ok(true)
    }
}

/// Copies an index: git locks the index that it uses, and writes to it.
fn copy_index(index: &Path, copy: &str) -> io::Result<()> {
    match fs::copy(index, copy) {
        // Git compares this time with those of the files, to find files that changed while it looked at them.
        Ok(_) => {
            let modified = fs::metadata(index)?.modified()?;
            let copy = fs::File::options().write(true).open(copy)?;
            copy.set_modified(modified)
        }
        // Git creates a missing index.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

impl Git<'_> {
    /// Makes a commit of the changes, as the stash has them; `None` if nothing is changed.
    ///
    /// Works on a copy of the index: the index itself is not changed, and may be locked.
    fn commit_changes(&self, message: &str) -> Result<Option<String>, String> {
        let copy = self.directory.own_index();
        copy_index(&self.directory.location().git_dir.join("index"), &copy)
            .map_err(|error| format!("the index of git cannot be read: {error}"))?;
        let git = Git {
            index: Some(&copy),
            ..*self
        };
        git.exclude_submodules()?;
        let commit = git.succeed(&["stash", "create", message])?;
        Ok(Some(commit).filter(|commit| !commit.is_empty()))
    }

    /// Marks all submodules in the index as unchanged. `git stash` enters every submodule, despite all options, and
    /// follows the configuration of the submodule there.
    fn exclude_submodules(&self) -> Result<(), String> {
        let listed = self.run_with_bound(INDEX_BOUND, &["ls-files", "--stage", "-z", "--", ":/"]);
        let listed = listed.and_then(GitOutput::succeeded);
        let listed = listed.map_err(|(_, reason)| reason)?;
        if listed.is_cut {
            return Err("the index of git is too long to be checked".to_owned());
        }
        // `160000 <name> <stage>`, a tab and the path.
        let entries = listed.text.split_terminator('\0');
        let links = entries.filter(|entry| entry.starts_with("160000 "));
        let paths: Vec<&str> = links
            .filter_map(|entry| Some(entry.split_once('\t')?.1))
            .collect();
        for paths in paths.chunks(PATHS_PER_COMMAND) {
            let mark = ["update-index", "--assume-unchanged", "--"];
            self.succeed(&[&mark, paths].concat())?;
        }
        Ok(())
    }

    /// Returns `true` if the tracked files are the same as in a commit.
    fn is_same_as(&self, commit: &str) -> Result<bool, String> {
        let diff = [
            "diff",
            "--no-ext-diff",
            "--no-textconv",
            "--ignore-submodules=all",
            "--quiet",
            commit,
            "--",
        ];
        let output = self.run(&diff).map_err(|(_, reason)| reason)?;
        match output.code {
            0 => Ok(true),
            1 => Ok(false),
            _ => Err(output.failure().1),
        }
    }
}

/// Checks a name that comes from a session entry and goes onto a command line.
fn is_commit_name(name: &str) -> bool {
    (40..=64).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}
