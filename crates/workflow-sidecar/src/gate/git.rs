//! What the repository says.
//!
//! Owns how git is asked, so that it neither waits for a person nor runs what a repository's configuration names: no
//! monitor, no hook, no pager, no prompt, no external diff, no fetching, and no look into submodules, whose
//! configuration nobody knows. What remains are filters, which git needs to compare files, and merge drivers:
//! `drivers.rs` asks whether they may run. Where another repository is than the directory says, as the environment of
//! a hook would have it, is not listened to.

use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::command::{End, Order, Ran, Words, run};
use super::drivers::{Errand, allowed};
use super::output::one_line;
use super::watch::Watch;
use super::{Obstacle, Verdict};

const TIMEOUT: Duration = Duration::from_secs(60);
/// How much git may say. A list of changed files that is longer is a list of changed files.
pub(super) const BOUND: usize = 256 * 1024;
/// How git says that it cannot even begin.
const FATAL: i32 = 128;

const ENVIRONMENT: [(&str, &str); 7] = [
    // Another git may be at work, and must find no lock of ours.
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    // The name of no way to fetch: older versions of git do not know the line above.
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_PAGER", "cat"),
    ("GIT_EDITOR", "true"),
    ("LC_ALL", "C"),
];

/// What the user may say to every git, and is meant when we ask.
const INHERITED: [&str; 6] = [
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CEILING_DIRECTORIES",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM",
    "GIT_EXEC_PATH",
];

/// That no submodule is looked into cannot be said here once for all: the repository may say otherwise of each, and to make
/// a stash git asks nobody. Every command that compares files is told on its own line; for the stash see `code.rs`.
const BEFORE: [&str; 13] = [
    "--no-pager",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "diff.external=",
    "-c",
    "diff.ignoreSubmodules=dirty",
    "-c",
    "submodule.recurse=false",
    "-c",
    "commit.gpgSign=false",
];

/// Where a repository stood.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Head {
    /// There was no commit yet, or no repository.
    NoCommit,
    /// At this commit.
    Commit(String),
}

/// What was found: the verdict, the reason and the lines that show it.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) verdict: Verdict,
    pub(super) reason: String,
    pub(super) shown: String,
}

impl Found {
    pub(super) fn passed() -> Self {
        Self {
            verdict: Verdict::Passed,
            reason: String::new(),
            shown: String::new(),
        }
    }

    pub(super) fn failed(reason: impl Into<String>, shown: String) -> Self {
        Self {
            verdict: Verdict::Failed,
            reason: reason.into(),
            shown,
        }
    }

    pub(super) fn could_not_run((obstacle, reason): (Obstacle, String)) -> Self {
        Self {
            verdict: Verdict::CouldNotRun(obstacle),
            reason,
            shown: String::new(),
        }
    }
}

/// Whether all changes are committed. A file that git does not know counts as a change.
pub(super) fn is_clean(cwd: &Path, agent_dir: Option<&Path>, watch: &mut Watch<'_>) -> Found {
    let status = [
        "status",
        "--porcelain=v1",
        "--untracked-files=normal",
        "--ignore-submodules=dirty",
    ];
    let allowed = allowed(Errand::Compare, cwd, agent_dir, TIMEOUT, watch);
    let said = match allowed.and_then(|()| ask(TIMEOUT, &status, cwd, watch)) {
        Ok(said) => said,
        Err(problem) => return Found::could_not_run(problem),
    };
    match said.code {
        0 if said.text.is_empty() => Found::passed(),
        0 => {
            let count = said.text.lines().count();
            let at_least = if said.is_cut { "at least " } else { "" };
            let are = if count == 1 {
                "change is"
            } else {
                "changes are"
            };
            let reason = format!("{at_least}{count} {are} not committed");
            Found::failed(reason, said.tail)
        }
        _ => Found::could_not_run(said.refusal()),
    }
}

/// Whether there is a commit that was not there before.
pub(super) fn has_new_commit(before: Option<&Head>, cwd: &Path, watch: &mut Watch<'_>) -> Found {
    let Some(before) = before else {
        let reason = "where the repository stood when the phase was entered is not known";
        return Found::could_not_run((Obstacle::NoBaseline, reason.to_owned()));
    };
    let now = match ask_head(TIMEOUT, cwd, watch) {
        Ok(Asked::Head(head)) => head,
        Ok(Asked::NoRepository(problem)) | Err(problem) => return Found::could_not_run(problem),
    };
    match (before, now) {
        (_, Head::NoCommit) => Found::failed("there is no commit yet", String::new()),
        (Head::NoCommit, Head::Commit(_)) => Found::passed(),
        (Head::Commit(before), Head::Commit(now)) => {
            compare(before, &now, cwd, watch).unwrap_or_else(Found::could_not_run)
        }
    }
}

/// A commit that was there before, as after a reset, is not new.
fn compare(
    before: &str,
    now: &str,
    cwd: &Path,
    watch: &mut Watch<'_>,
) -> Result<Found, (Obstacle, String)> {
    let none = || {
        Found::failed(
            "nothing was committed since the phase was entered",
            String::new(),
        )
    };
    if before == now {
        return Ok(none());
    }
    let excluded = format!("^{before}");
    let list = ["rev-list", "--max-count=1", now, &excluded, "--"];
    let new = ask(TIMEOUT, &list, cwd, watch)?;
    // Where the old commit is not to be found any more, the new one is all that is known.
    let is_old = new.code == 0 && new.text.trim().is_empty();
    Ok(if is_old { none() } else { Found::passed() })
}

/// Where the repository stands, if that can be told in this time.
pub(super) fn head(time: Duration, cwd: &Path, watch: &mut Watch<'_>) -> Option<Head> {
    match ask_head(time, cwd, watch) {
        Ok(Asked::Head(head)) => Some(head),
        Ok(Asked::NoRepository(_)) => Some(Head::NoCommit),
        Err((_, reason)) => {
            tracing::debug!(reason, "where the repository stands cannot be told");
            None
        }
    }
}

enum Asked {
    Head(Head),
    NoRepository((Obstacle, String)),
}

fn ask_head(
    time: Duration,
    cwd: &Path,
    watch: &mut Watch<'_>,
) -> Result<Asked, (Obstacle, String)> {
    let parse = ["rev-parse", "--verify", "--quiet", "HEAD"];
    let said = ask(time, &parse, cwd, watch)?;
    match said.code {
        0 => Ok(Asked::Head(Head::Commit(said.text.trim().to_owned()))),
        FATAL if said.tail.contains("not a git repository") => {
            Ok(Asked::NoRepository(said.refusal()))
        }
        FATAL => Err(said.refusal()),
        _ => Ok(Asked::Head(Head::NoCommit)),
    }
}

/// What git said.
pub(super) struct Said {
    pub(super) code: i32,
    pub(super) text: String,
    pub(super) is_cut: bool,
    pub(super) tail: String,
}

impl Said {
    /// Why git would not.
    pub(super) fn refusal(&self) -> (Obstacle, String) {
        if self.tail.contains("not a git repository") {
            return (Obstacle::Missing, "this is not a git repository".to_owned());
        }
        let first = self.tail.lines().next().unwrap_or_default();
        let reason = match first.strip_prefix("fatal: ").unwrap_or(first) {
            "" => format!("git ended with exit code {}", self.code),
            first => format!("git says: {}", one_line(first)),
        };
        (Obstacle::Start, reason)
    }
}

/// Asks git.
pub(super) fn ask(
    timeout: Duration,
    arguments: &[&str],
    cwd: &Path,
    watch: &mut Watch<'_>,
) -> Result<Said, (Obstacle, String)> {
    let asking = Asking {
        timeout,
        environment: &[],
        bound: BOUND,
    };
    asking.ask(arguments, cwd, watch)
}

/// How git is asked.
pub(super) struct Asking<'a> {
    pub(super) timeout: Duration,
    /// What its environment has beside the usual.
    pub(super) environment: &'a [(&'a str, &'a str)],
    /// How much it may say.
    pub(super) bound: usize,
}

impl Asking<'_> {
    pub(super) fn ask(
        &self,
        arguments: &[&str],
        cwd: &Path,
        watch: &mut Watch<'_>,
    ) -> Result<Said, (Obstacle, String)> {
        let timeout = self.timeout;
        let environment = [&ENVIRONMENT, self.environment].concat();
        let order = Order {
            words: Words::Program("git", [&BEFORE, arguments].concat()),
            cwd,
            timeout,
            stdout_bound: self.bound,
            environment: &environment,
            is_hidden: |name| {
                let name = name.to_string_lossy();
                name.starts_with("GIT_") && !INHERITED.contains(&&*name)
            },
        };
        let Ran { end, stdout, tail } = run(&order, watch)?;
        let (code, is_cut) = match end {
            End::Itself(status) => match status.code() {
                Some(code) => (code, false),
                None => return Err((Obstacle::Start, "git was ended by a signal".to_owned())),
            },
            End::TooMuchOutput => (0, true),
            End::Timeout => {
                let seconds = timeout.as_secs_f32();
                return Err((
                    Obstacle::Timeout,
                    format!("git did not end within {seconds:.0} s"),
                ));
            }
            End::CalledOff => return Err((Obstacle::Ended, super::check::CALLED_OFF.to_owned())),
            End::Unknown(error) => return Err((Obstacle::Start, format!("git was lost: {error}"))),
        };
        let text = String::from_utf8_lossy(&stdout).into_owned();
        Ok(Said {
            code,
            text,
            is_cut,
            tail,
        })
    }
}
