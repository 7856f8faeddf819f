//! Checkpoints of the code.
//!
//! Owns the git commands. Submodules are neither entered nor changed, and their commits are not recorded. Recording
//! changes nothing visible: not the work tree, not the index (a copy of it is used), no reference. It makes commits
//! without a reference, which git keeps for two weeks (`gc.pruneExpire`). Restoring first moves the later changes into
//! the stash, under a name, and only then changes a file: at every moment each change is in the files or in the stash.
//! Untracked files are neither recorded nor changed.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use std::{fs, io, thread};

use parking_lot::Mutex;
use workflow_core::event::{RestoreOutcome, RestoredFiles, SnapshotError};
use workflow_core::types::Snapshot;

use super::config_commands::GitOperation;
use super::execution::{Git, words};
use super::location::Location;
use super::private_directory::PrivateDirectory;
use crate::files::if_present;
use crate::platform::process::{Failure, Monitor, failed, one_line};

/// Time for recording: the agent waits for it, and the host for the answer.
pub(crate) const TIME_TO_RECORD: Duration = Duration::from_millis(2500);
/// Message of the stash entry with the later changes.
const STASH_MESSAGE: &str = "workflow-sidecar: before the code went back to a checkpoint";

/// Interval of progress.
const INTERVAL: Duration = Duration::from_secs(1);

/// Records the code as a checkpoint. The trust store is in `agent_dir`.
pub(crate) fn record_checkpoint(cwd: &Path, agent_dir: &Path) -> Result<Snapshot, SnapshotError> {
    let failed = |(_, reason): Failure| SnapshotError::Failed(reason);
    if cwd.is_dir() && Location::of(cwd).is_none() {
        return Err(SnapshotError::NoRepository);
    }
    // Recording locks nothing in the repository, so git may be killed.
    let git = Git::within(TIME_TO_RECORD, cwd);
    let head = git.head().map_err(failed)?;
    let head = head.ok_or(SnapshotError::NoRepository)?;
    let directory = PrivateDirectory::allowed(GitOperation::Compare, git, Some(agent_dir));
    let directory = directory.map_err(failed)?;
    let commit = directory.commit_changes(git, "workflow-sidecar: a turn begins");
    let reference = commit.map_err(failed)?;
    Ok(Snapshot { reference, head })
}

/// Restores the code of a checkpoint. `on_step` gets the name of each step.
pub(crate) fn restore_checkpoint(
    snapshot: &Snapshot,
    cwd: &Path,
    agent_dir: &Path,
    on_step: &dyn Fn(&'static str),
) -> RestoreOutcome {
    let mut restored = RestoreOutcome::default();
    on_step("looking at what changed");
    let git = Git::new(cwd, Monitor::idle());
    let directory = PrivateDirectory::allowed(GitOperation::Restore, git, Some(agent_dir));
    let result =
        directory.and_then(|directory| directory.restore(git, snapshot, on_step, &mut restored));
    match result {
        Ok(files) => restored.files = files,
        Err((_, problem)) => restored.problem = Some(problem),
    }
    restored
}

/// Restores a checkpoint. `on_progress` gets the step, and the time since the beginning, about once a second.
pub(crate) fn restore_with_progress(
    snapshot: &Snapshot,
    cwd: &Path,
    agent_dir: &Path,
    on_progress: impl Fn(&'static str, Duration) + Send,
) -> RestoreOutcome {
    let (began, step) = (Instant::now(), Mutex::new(""));
    let restore = || restore_checkpoint(snapshot, cwd, agent_dir, &|next| *step.lock() = next);
    thread::scope(|scope| {
        let (done, ended) = channel::<()>();
        let step = &step;
        let report = move || {
            while ended.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                on_progress(*step.lock(), began.elapsed());
            }
        };
        // Without this thread there is no progress.
        let _ = thread::Builder::new().spawn_scoped(scope, report);
        let outcome = catch_unwind(AssertUnwindSafe(restore));
        drop(done);
        outcome.unwrap_or_else(|_| {
            RestoreOutcome::failed(
                "the sidecar failed at it: see `git status` and `git stash list`",
            )
        })
    })
}

/// Copies an index: git locks the index that it uses, and writes to it.
fn copy_index(index: &Path, copy: &str) -> io::Result<()> {
    // Git creates a missing index.
    if if_present(fs::copy(index, copy))?.is_some() {
        // Git compares this time with those of the files, to find files that changed while it looked at them.
        let modified = fs::metadata(index)?.modified()?;
        let copy = fs::File::options().write(true).open(copy)?;
        copy.set_modified(modified)?;
    }
    Ok(())
}

impl PrivateDirectory {
    fn restore(
        &self,
        git: Git<'_>,
        Snapshot { reference, head }: &Snapshot,
        on_step: &dyn Fn(&'static str),
        restored: &mut RestoreOutcome,
    ) -> Result<RestoredFiles, Failure> {
        let git = self.git(git);
        let names = [Some(head), reference.as_ref()];
        if !names.into_iter().flatten().all(|name| is_commit_name(name)) {
            return Err(failed("the checkpoint is damaged"));
        }
        let target = reference.as_ref().unwrap_or(head);
        if !git.has_commit(target)? {
            return Err(failed("git does not have the checkpoint any more"));
        }
        restored.has_commits_since = git.text(&["rev-parse", "HEAD"])? != *head;
        if is_same_as(git, target)? {
            return Ok(RestoredFiles::Unchanged);
        }
        on_step("putting aside what was changed since");
        let is_changed = self.stash_changes(git, restored)?;
        let Some(reference) = reference else {
            return Ok(if is_changed {
                RestoredFiles::Restored
            } else {
                RestoredFiles::NothingToRestore
            });
        };
        on_step("bringing back what was changed then");
        let Err(refused) = git.text(&["stash", "apply", "--quiet", reference]) else {
            return Ok(RestoredFiles::Restored);
        };
        let conflicts = "diff --name-only --ignore-submodules=dirty --diff-filter=U";
        // Without the names of files the reason of `git stash` is the answer.
        let conflicts = git.text(&words(conflicts)).unwrap_or_default();
        Err(match &*conflicts.lines().collect::<Vec<_>>() {
            [] => refused,
            files => failed(format!("it conflicts in {}", one_line(&files.join(", ")))),
        })
    }

    /// Moves changes from the files into the stash; `false` if there were none.
    fn stash_changes(&self, git: Git<'_>, restored: &mut RestoreOutcome) -> Result<bool, Failure> {
        let git = self.git(git);
        let Some(stashed) = self.commit_changes(git, STASH_MESSAGE)? else {
            return Ok(false);
        };
        git.text(&["stash", "store", "--message", STASH_MESSAGE, &stashed])?;
        restored.stashed = Some(stashed.clone());
        // Only changes that are in the stash may be removed from the files.
        let tree = |commit: String| git.text(&["rev-parse", &format!("{commit}^{{tree}}")]);
        let now = self.commit_changes(git, STASH_MESSAGE)?;
        if now.map(tree).transpose()? != Some(tree(stashed)?) {
            return Err(failed("files were changed while they were stashed"));
        }
        git.text(&["reset", "--hard", "--quiet", "HEAD"])?;
        Ok(true)
    }

    /// Makes a commit of the changes, as the stash has them; `None` if nothing is changed.
    ///
    /// Works on a copy of the index: the index itself is not changed, and may be locked.
    fn commit_changes(&self, git: Git<'_>, message: &str) -> Result<Option<String>, Failure> {
        copy_index(&self.location.git_dir.join("index"), &self.own_index)
            .map_err(|error| failed(format!("the index of git cannot be read: {error}")))?;
        let git = self.with_own_index(git);
        exclude_submodules(git)?;
        let commit = git.text(&["stash", "create", message])?;
        Ok(Some(commit).filter(|commit| !commit.is_empty()))
    }
}

/// Returns `true` if the tracked files are the same as in a commit.
fn is_same_as(git: Git<'_>, commit: &str) -> Result<bool, Failure> {
    let diff = words("diff --no-ext-diff --no-textconv --ignore-submodules=all --name-only");
    Ok(git.text(&[&diff[..], &[commit, "--"]].concat())?.is_empty())
}

/// Marks all submodules in the index as unchanged. `git stash` enters every submodule, despite all options, and follows the
/// configuration of the submodule there.
fn exclude_submodules(git: Git<'_>) -> Result<(), Failure> {
    let paths = submodules(git)?;
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    git.update_index(&["--assume-unchanged"], &paths)
}

/// Lists the paths of the submodules in the index.
pub(super) fn submodules(git: Git<'_>) -> Result<Vec<String>, Failure> {
    let entries = git.list(&["ls-files", "--stage", "-z", "--", ":/"])?;
    // `160000 <name> <stage>`, a tab and the path.
    let links = entries.iter().filter(|entry| entry.starts_with("160000 "));
    let paths = links.filter_map(|entry| Some(entry.split_once('\t')?.1.to_owned()));
    Ok(paths.collect())
}

/// Checks a name that comes from a session entry and goes onto a command line.
pub(super) fn is_commit_name(name: &str) -> bool {
    (40..=64).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}
