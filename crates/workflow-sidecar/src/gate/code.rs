//! Keeps the code as it stands, and brings it back.
//!
//! Owns what is asked of git. Keeping changes nothing that anybody sees: not the work tree, not the index (a copy of it is
//! used), no reference. What is made are commits that nothing refers to; git keeps such ones for two weeks
//! (`gc.pruneExpire`). Bringing back puts what was changed since into the stash, so that nothing is lost. Files that git
//! does not know are in neither.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use std::{fs, io};

use tempfile::TempPath;
use workflow_core::checkpoint::{NoSnapshot, Restored, Snapshot};

use super::Obstacle;
use super::git::{ENVIRONMENT, Said, ask_within};
use super::output::one_line;
use super::watch::Watch;

/// How long keeping may take: the agent waits for it, and the host for the answer.
const TIME_TO_KEEP: Duration = Duration::from_secs(4);
/// How long one step of bringing back may take.
const TIME_TO_RESTORE: Duration = Duration::from_secs(30);

/// A commit of git's own needs a name, which a user need not have set.
const IDENTITY: [(&str, &str); 4] = [
    ("GIT_AUTHOR_NAME", "workflow-sidecar"),
    ("GIT_AUTHOR_EMAIL", "workflow-sidecar@localhost"),
    ("GIT_COMMITTER_NAME", "workflow-sidecar"),
    ("GIT_COMMITTER_EMAIL", "workflow-sidecar@localhost"),
];

/// Git, in a directory and with the time it has.
struct Git<'a> {
    cwd: &'a Path,
    time: Duration,
    environment: Vec<(&'a str, &'a str)>,
}

impl<'a> Git<'a> {
    fn new(cwd: &'a Path, time: Duration) -> Self {
        Self {
            cwd,
            time,
            environment: [&ENVIRONMENT[..], &IDENTITY].concat(),
        }
    }

    fn ask(&self, arguments: &[&str]) -> Result<Said, (Obstacle, String)> {
        let over = AtomicBool::new(false);
        let mut told = |_| {};
        let watch = &mut Watch::new(&over, &mut told);
        ask_within(self.time, &self.environment, arguments, self.cwd, watch)
    }

    /// What git says, trimmed; whatever it ends with but success is why it would not.
    fn succeed(&self, arguments: &[&str]) -> Result<String, String> {
        let said = self.ask(arguments).map_err(|(_, reason)| reason)?;
        match said.code {
            0 => Ok(said.text.trim().to_owned()),
            _ => Err(said.refusal().1),
        }
    }
}

/// Keeps the code as it stands.
pub fn keep_code(cwd: &Path) -> Result<Snapshot, NoSnapshot> {
    let began = Instant::now();
    let mut git = Git::new(cwd, TIME_TO_KEEP);
    let said = git.ask(&["rev-parse", "HEAD", "--git-path", "index"]);
    let said = said.map_err(|(_, reason)| NoSnapshot::Failed(reason))?;
    let mut lines = said.text.lines();
    let (head, index) = match (said.code, lines.next(), lines.next()) {
        (0, Some(head), Some(index)) => (head.to_owned(), cwd.join(index)),
        _ if has_no_commit(&said) => return Err(NoSnapshot::NoRepository),
        _ => return Err(NoSnapshot::Failed(said.refusal().1)),
    };
    let copy = copied(&index)
        .map_err(|error| NoSnapshot::Failed(format!("the index of git cannot be read: {error}")))?;
    let path = copy.to_string_lossy().into_owned();
    git.environment.push(("GIT_INDEX_FILE", &path));
    git.time = TIME_TO_KEEP.saturating_sub(began.elapsed());
    let made = git.succeed(&["stash", "create", "workflow-sidecar: a turn begins"]);
    let made = made.map_err(NoSnapshot::Failed)?;
    Ok(Snapshot {
        reference: Some(made).filter(|made| !made.is_empty()),
        head,
    })
}

fn has_no_commit(said: &Said) -> bool {
    let signs = [
        "not a git repository",
        "ambiguous argument 'HEAD'",
        "unknown revision",
    ];
    signs.iter().any(|sign| said.tail.contains(sign))
}

/// Git writes what it learns of files into its index, and locks it. A copy is nobody's business.
fn copied(index: &Path) -> io::Result<TempPath> {
    let copy = tempfile::NamedTempFile::new()?.into_temp_path();
    match fs::copy(index, &copy) {
        Ok(_) => Ok(copy),
        // Without an index git makes one, but not of an empty file.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            fs::remove_file(&copy)?;
            Ok(copy)
        }
        Err(error) => Err(error),
    }
}

/// Brings the code back to how it stood.
#[must_use]
pub fn restore_code(snapshot: &Snapshot, cwd: &Path) -> Restored {
    let mut restored = Restored {
        put_aside: false,
        has_commits_since: false,
        problem: None,
    };
    restored.problem = bring_back(snapshot, cwd, &mut restored).err();
    restored
}

fn bring_back(snapshot: &Snapshot, cwd: &Path, restored: &mut Restored) -> Result<(), String> {
    let Snapshot { reference, head } = snapshot;
    let names = [Some(head), reference.as_ref()];
    if !names.into_iter().flatten().all(|name| is_commit_name(name)) {
        return Err("the checkpoint is damaged".to_owned());
    }
    let git = Git::new(cwd, TIME_TO_RESTORE);
    let target = reference.as_ref().unwrap_or(head);
    let exists = git.succeed(&["cat-file", "-e", &format!("{target}^{{commit}}")]);
    exists.map_err(|_| "git does not have the checkpoint any more".to_owned())?;
    restored.has_commits_since = git.succeed(&["rev-parse", "HEAD"])? != *head;
    let is_as_it_was = git.ask(&["diff", "--quiet", target, "--"]);
    if is_as_it_was.is_ok_and(|said| said.code == 0) {
        return Ok(());
    }
    let changed = git.succeed(&["status", "--porcelain=v1", "--untracked-files=no"])?;
    if !changed.is_empty() {
        git.succeed(&[
            "stash",
            "push",
            "--message",
            "before the code went back to a checkpoint",
        ])?;
        restored.put_aside = true;
    }
    let Some(reference) = reference else {
        return Ok(());
    };
    let Err(why) = git.succeed(&["stash", "apply", reference]) else {
        return Ok(());
    };
    let conflicts = git.succeed(&["diff", "--name-only", "--diff-filter=U"]);
    let conflicts = conflicts.unwrap_or_default();
    Err(match &*conflicts.lines().collect::<Vec<_>>() {
        [] => why,
        files => format!("it conflicts in {}", one_line(&files.join(", "))),
    })
}

/// It comes from an entry of the session, and goes onto a command line.
fn is_commit_name(name: &str) -> bool {
    (40..=64).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}
