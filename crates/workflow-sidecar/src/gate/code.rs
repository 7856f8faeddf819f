//! Keeps the code as it stands, and brings it back.
//!
//! Owns what is asked of git. Submodules are neither looked into nor touched, and what they are at is not kept. Keeping changes nothing that anybody sees: not the work tree, not the index (a copy of it is
//! used), no reference. What is made are commits that nothing refers to; git keeps such ones for two weeks
//! (`gc.pruneExpire`). Bringing back puts what was changed since into the stash first, under a name, and only then touches
//! a file: whenever it is cut short, everything is in the files or in the stash. Files that git does not know are in neither.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use std::{fs, io};

use tempfile::TempPath;
use workflow_core::event::{
    RestoreOutcome as Restored, RestoredFiles as Came, SnapshotError as NoSnapshot,
};
use workflow_core::types::Snapshot;

pub(super) mod restoring;

use super::Obstacle;
use super::drivers::{Errand, allowed};
use super::git::{Asking, BOUND, Said};
use super::output::one_line;
use super::watch::Watch;

/// How long keeping may take: the agent waits for it, and the host for the answer.
const TIME_TO_KEEP: Duration = Duration::from_millis(2500);
/// How long one step of bringing back may take, which nothing else waits for.
const TIME_TO_RESTORE: Duration = Duration::from_secs(300);
/// How long the list of an index may be.
const INDEX_BOUND: usize = 128 * 1024 * 1024;
/// How many paths go onto one command line.
const ON_ONE_LINE: usize = 200;
/// Under what the stash has what was changed since.
const ASIDE: &str = "workflow-sidecar: before the code went back to a checkpoint";

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
    end: Instant,
    /// The index that is used, if not the repository's own.
    index: Option<&'a str>,
}

impl<'a> Git<'a> {
    fn new(cwd: &'a Path, time: Duration) -> Self {
        Self {
            cwd,
            end: Instant::now() + time,
            index: None,
        }
    }

    fn ask(&self, arguments: &[&str]) -> Result<Said, (Obstacle, String)> {
        self.ask_for(BOUND, arguments)
    }

    fn ask_for(&self, bound: usize, arguments: &[&str]) -> Result<Said, (Obstacle, String)> {
        let over = AtomicBool::new(false);
        let mut told = |_| {};
        let watch = &mut Watch::new(&over, &mut told);
        let mut environment = IDENTITY.to_vec();
        environment.extend(self.index.map(|index| ("GIT_INDEX_FILE", index)));
        let asking = Asking {
            timeout: self.left(),
            environment: &environment,
            bound,
        };
        asking.ask(arguments, self.cwd, watch)
    }

    fn left(&self) -> Duration {
        self.end.saturating_duration_since(Instant::now())
    }

    /// Whether all that git would run for this is the user's, or trusted.
    fn may(&self, errand: Errand, agent_dir: &Path) -> Result<(), String> {
        let over = AtomicBool::new(false);
        let mut told = |_| {};
        let watch = &mut Watch::new(&over, &mut told);
        let allowed = allowed(errand, self.cwd, Some(agent_dir), self.left(), watch);
        allowed.map_err(|(_, reason)| reason)
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

/// Keeps the code as it stands. The user's trust is kept in `agent_dir`.
pub fn keep_code(cwd: &Path, agent_dir: &Path) -> Result<Snapshot, NoSnapshot> {
    let git = Git::new(cwd, TIME_TO_KEEP);
    let said = git.ask(&["rev-parse", "HEAD", "--git-path", "index"]);
    let said = said.map_err(|(_, reason)| NoSnapshot::Failed(reason))?;
    let mut lines = said.text.lines();
    let (head, index) = match (said.code, lines.next(), lines.next()) {
        (0, Some(head), Some(index)) => (head.to_owned(), cwd.join(index)),
        _ if has_no_commit(&said) => return Err(NoSnapshot::NoRepository),
        _ => return Err(NoSnapshot::Failed(said.refusal().1)),
    };
    git.may(Errand::Compare, agent_dir)
        .map_err(NoSnapshot::Failed)?;
    let made = git.commit_changes(&index, "workflow-sidecar: a turn begins");
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
        // By this time git knows which files may have been changed in the moment in which it looked at them.
        Ok(_) => {
            let looked = fs::metadata(index)?.modified()?;
            fs::File::options()
                .write(true)
                .open(&copy)?
                .set_modified(looked)?;
            Ok(copy)
        }
        // Without an index git makes one, but not of an empty file.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            fs::remove_file(&copy)?;
            Ok(copy)
        }
        Err(error) => Err(error),
    }
}

/// Brings the code back to how it stood; says meanwhile what is being done.
#[must_use]
pub(super) fn restore_code(
    snapshot: &Snapshot,
    cwd: &Path,
    agent_dir: &Path,
    told: &dyn Fn(&'static str),
) -> Restored {
    let mut restored = Restored::default();
    let way = Way {
        cwd,
        agent_dir,
        told,
    };
    match way.bring_back(snapshot, &mut restored) {
        Ok(came) => restored.files = came,
        Err(problem) => restored.problem = Some(problem),
    }
    restored
}

/// The way back.
struct Way<'a> {
    cwd: &'a Path,
    agent_dir: &'a Path,
    told: &'a dyn Fn(&'static str),
}

impl Way<'_> {
    /// A step, which has its own time.
    fn step(&self, what: &'static str) -> Git<'_> {
        (self.told)(what);
        Git::new(self.cwd, TIME_TO_RESTORE)
    }

    fn bring_back(&self, snapshot: &Snapshot, restored: &mut Restored) -> Result<Came, String> {
        let Snapshot { reference, head } = snapshot;
        let names = [Some(head), reference.as_ref()];
        if !names.into_iter().flatten().all(|name| is_commit_name(name)) {
            return Err("the checkpoint is damaged".to_owned());
        }
        let git = self.step("looking at what changed");
        git.may(Errand::Restore, self.agent_dir)?;
        let target = reference.as_ref().unwrap_or(head);
        let exists = git.succeed(&["cat-file", "-e", &format!("{target}^{{commit}}")]);
        exists.map_err(|_| "git does not have the checkpoint any more".to_owned())?;
        restored.has_commits_since = git.succeed(&["rev-parse", "HEAD"])? != *head;
        if git.is_as_in(target)? {
            return Ok(Came::Unchanged);
        }
        let is_changed = self.put_aside(restored)?;
        let Some(reference) = reference else {
            return Ok(if is_changed {
                Came::Restored
            } else {
                Came::NothingToRestore
            });
        };
        let git = self.step("bringing back what was changed then");
        let Err(why) = git.succeed(&["stash", "apply", "--quiet", reference]) else {
            return Ok(Came::Restored);
        };
        let conflicts = Git::new(self.cwd, TIME_TO_RESTORE);
        let conflicts = conflicts.succeed(&[
            "diff",
            "--name-only",
            "--ignore-submodules=dirty",
            "--diff-filter=U",
        ]);
        let conflicts = conflicts.unwrap_or_default();
        Err(match &*conflicts.lines().collect::<Vec<_>>() {
            [] => why,
            files => format!("it conflicts in {}", one_line(&files.join(", "))),
        })
    }

    /// Puts what is changed into the stash and out of the files, in this order, and says whether anything was.
    fn put_aside(&self, restored: &mut Restored) -> Result<bool, String> {
        let git = self.step("putting aside what was changed since");
        let index = git.succeed(&["rev-parse", "--git-path", "index"])?;
        let index = self.cwd.join(index);
        let made = git.commit_changes(&index, ASIDE)?;
        if made.is_empty() {
            return Ok(false);
        }
        git.succeed(&["stash", "store", "--message", ASIDE, &made])?;
        restored.stashed = Some(made.clone());
        let git = self.step("putting aside what was changed since");
        // Nothing is taken out of the files that is not in the stash.
        let now = git.commit_changes(&index, ASIDE)?;
        let trees =
            [&*made, &now].map(|commit| git.succeed(&["rev-parse", &format!("{commit}^{{tree}}")]));
        let [Ok(kept), Ok(there)] = &trees else {
            return Err("files were changed while they were put aside".to_owned());
        };
        if kept != there {
            return Err("files were changed while they were put aside".to_owned());
        }
        git.succeed(&["reset", "--hard", "--quiet", "HEAD"])?;
        Ok(true)
    }
}

impl Git<'_> {
    /// Makes a commit as the stash has them, of what is changed; says which, or nothing if nothing is.
    ///
    /// A copy of the index is used: the index itself is changed in nothing, and need not be free.
    fn commit_changes(&self, index: &Path, message: &str) -> Result<String, String> {
        let copy = copied(index);
        let copy = copy.map_err(|error| format!("the index of git cannot be read: {error}"))?;
        let path = copy.to_string_lossy().into_owned();
        let git = Git {
            index: Some(&path),
            ..*self
        };
        git.look_into_no_submodule()?;
        git.succeed(&["stash", "create", message])
    }

    /// Marks all submodules in the index as unchanged. To make a stash git looks into every one, whatever it is told
    /// on the command line, and does there what the configuration of the submodule says.
    fn look_into_no_submodule(&self) -> Result<(), String> {
        let listed = self.ask_for(INDEX_BOUND, &["ls-files", "--stage", "-z", "--", ":/"]);
        let listed = listed.map_err(|(_, reason)| reason)?;
        if listed.code != 0 {
            return Err(listed.refusal().1);
        }
        if listed.is_cut {
            return Err("the index of git is too long to be looked at".to_owned());
        }
        // `160000 <name> <stage>`, a tab and the path.
        let entries = listed.text.split_terminator('\0');
        let links = entries.filter(|entry| entry.starts_with("160000 "));
        let paths: Vec<&str> = links
            .filter_map(|entry| Some(entry.split_once('\t')?.1))
            .collect();
        for paths in paths.chunks(ON_ONE_LINE) {
            let mark = ["update-index", "--assume-unchanged", "--"];
            self.succeed(&[&mark, paths].concat())?;
        }
        Ok(())
    }

    /// Whether the files that git knows are as in a commit.
    fn is_as_in(&self, commit: &str) -> Result<bool, String> {
        let diff = [
            "diff",
            "--no-ext-diff",
            "--no-textconv",
            "--ignore-submodules=all",
            "--quiet",
            commit,
            "--",
        ];
        let said = self.ask(&diff).map_err(|(_, reason)| reason)?;
        match said.code {
            0 => Ok(true),
            1 => Ok(false),
            _ => Err(said.refusal().1),
        }
    }
}

/// It comes from an entry of the session, and goes onto a command line.
fn is_commit_name(name: &str) -> bool {
    (40..=64).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}
