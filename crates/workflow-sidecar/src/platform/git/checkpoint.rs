//! Checkpoints of the code.
//!
//! Owns the git commands. Submodules are neither entered nor changed, and their commits are not recorded. Recording
//! changes nothing visible: not the work tree, not the index (a copy of it is used), no reference. It makes commits
//! without a reference, which git keeps for two weeks (`gc.pruneExpire`). Restoring first moves the later changes into
//! the stash, under a name, and only then changes a file: at every moment each change is in the files or in the stash.
//! Untracked files are neither recorded nor changed.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use std::{fs, io};

use tempfile::TempPath;
use workflow_core::event::{RestoreOutcome, RestoredFiles, SnapshotError};
use workflow_core::types::Snapshot;

use super::command;
use super::config_commands::{GitOperation, check_allowed};
use super::execution::{BOUND, GitLimits, GitOutput};
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

/// Git in a directory, with a deadline.
struct Git<'a> {
    cwd: &'a Path,
    end: Instant,
    /// The index file to use instead of the repository's.
    index: Option<&'a str>,
    /// Time for git to remove its locks when it is ended.
    grace: Duration,
}

impl<'a> Git<'a> {
    fn new(cwd: &'a Path, time: Duration) -> Self {
        Self {
            cwd,
            end: Instant::now() + time,
            index: None,
            grace: GRACE,
        }
    }

    fn run(&self, arguments: &[&str]) -> Result<GitOutput, Failure> {
        self.run_with_bound(BOUND, arguments)
    }

    fn run_with_bound(&self, bound: usize, arguments: &[&str]) -> Result<GitOutput, Failure> {
        let cancelled = AtomicBool::new(false);
        let mut ignore_groups = |_| {};
        let monitor = &mut Monitor::new(&cancelled, &mut ignore_groups);
        let mut environment = IDENTITY.to_vec();
        environment.extend(self.index.map(|index| ("GIT_INDEX_FILE", index)));
        let limits = GitLimits {
            timeout: self.remaining_time(),
            environment: &environment,
            bound,
            grace: self.grace,
        };
        command::run(&limits, arguments, self.cwd, monitor)
    }

    fn remaining_time(&self) -> Duration {
        self.end.saturating_duration_since(Instant::now())
    }

    /// Checks that every program of an operation belongs to the user or is trusted.
    fn check_allowed(&self, operation: GitOperation, agent_dir: &Path) -> Result<(), String> {
        let cancelled = AtomicBool::new(false);
        let mut ignore_groups = |_| {};
        let monitor = &mut Monitor::new(&cancelled, &mut ignore_groups);
        let time = self.remaining_time();
        let allowed = check_allowed(operation, self.cwd, Some(agent_dir), time, monitor);
        allowed.map_err(|(_, reason)| reason)
    }

    /// Returns the trimmed output of a command that must succeed.
    fn succeed(&self, arguments: &[&str]) -> Result<String, String> {
        let output = self.run(arguments).map_err(|(_, reason)| reason)?;
        match output.code {
            0 => Ok(output.text.trim().to_owned()),
            _ => Err(output.failure().1),
        }
    }
}

/// Records the code as a checkpoint. The trust store is in `agent_dir`.
pub(crate) fn record_checkpoint(cwd: &Path, agent_dir: &Path) -> Result<Snapshot, SnapshotError> {
    // Recording locks nothing in the repository, and everybody waits for it.
    let git = Git {
        grace: Duration::ZERO,
        ..Git::new(cwd, TIME_TO_RECORD)
    };
    let output = git.run(&["rev-parse", "HEAD", "--git-path", "index"]);
    let output = output.map_err(|(_, reason)| SnapshotError::Failed(reason))?;
    let mut lines = output.text.lines();
    let (head, index) = match (output.code, lines.next(), lines.next()) {
        (0, Some(head), Some(index)) => (head.to_owned(), cwd.join(index)),
        _ if has_no_commit(&output) => return Err(SnapshotError::NoRepository),
        _ => return Err(SnapshotError::Failed(output.failure().1)),
    };
    git.check_allowed(GitOperation::Compare, agent_dir)
        .map_err(SnapshotError::Failed)?;
    let commit = git.commit_changes(&index, "workflow-sidecar: a turn begins");
    let reference = commit.map_err(SnapshotError::Failed)?;
    Ok(Snapshot { reference, head })
}

fn has_no_commit(output: &GitOutput) -> bool {
    let signs = [
        "not a git repository",
        "ambiguous argument 'HEAD'",
        "unknown revision",
    ];
    signs.iter().any(|sign| output.tail.contains(sign))
}

/// Copies an index: git locks the index that it uses, and writes to it.
fn copy_of(index: &Path) -> io::Result<TempPath> {
    let copy = tempfile::NamedTempFile::new()?.into_temp_path();
    match fs::copy(index, &copy) {
        // Git compares this time with those of the files, to find files that changed while it looked at them.
        Ok(_) => {
            let modified = fs::metadata(index)?.modified()?;
            fs::File::options()
                .write(true)
                .open(&copy)?
                .set_modified(modified)?;
            Ok(copy)
        }
        // Git creates a missing index, but does not accept an empty file.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            fs::remove_file(&copy)?;
            Ok(copy)
        }
        Err(error) => Err(error),
    }
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
    let restoration = Restoration {
        cwd,
        agent_dir,
        on_step,
    };
    match restoration.restore(snapshot, &mut restored) {
        Ok(came) => restored.files = came,
        Err(problem) => restored.problem = Some(problem),
    }
    restored
}

/// A checkpoint that is being restored.
struct Restoration<'a> {
    cwd: &'a Path,
    agent_dir: &'a Path,
    on_step: &'a dyn Fn(&'static str),
}

impl Restoration<'_> {
    /// Begins a step with a separate deadline.
    fn step(&self, name: &'static str) -> Git<'_> {
        (self.on_step)(name);
        Git::new(self.cwd, TIME_TO_RESTORE)
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
        let git = self.step("looking at what changed");
        git.check_allowed(GitOperation::Restore, self.agent_dir)?;
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
        let conflicts = Git::new(self.cwd, TIME_TO_RESTORE);
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
        let index = git.succeed(&["rev-parse", "--git-path", "index"])?;
        let index = self.cwd.join(index);
        let Some(stashed) = git.commit_changes(&index, STASH_MESSAGE)? else {
            return Ok(false);
        };
        git.succeed(&["stash", "store", "--message", STASH_MESSAGE, &stashed])?;
        restored.stashed = Some(stashed.clone());
        let git = self.step("putting aside what was changed since");
        // Only changes that are in the stash may be removed from the files.
        let now = git.commit_changes(&index, STASH_MESSAGE)?;
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

impl Git<'_> {
    /// Makes a commit of the changes, as the stash has them; `None` if nothing is changed.
    ///
    /// Works on a copy of the index: the index itself is not changed, and may be locked.
    fn commit_changes(&self, index: &Path, message: &str) -> Result<Option<String>, String> {
        let copy = copy_of(index);
        let copy = copy.map_err(|error| format!("the index of git cannot be read: {error}"))?;
        let path = copy.to_string_lossy().into_owned();
        let git = Git {
            index: Some(&path),
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
        let listed = listed.map_err(|(_, reason)| reason)?;
        if listed.code != 0 {
            return Err(listed.failure().1);
        }
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
