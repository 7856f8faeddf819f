//! Git commands.
//!
//! Owns how git runs: it neither waits for a person nor executes what a repository's configuration names. There is no
//! monitor, hook, pager, prompt, external diff or fetch, and submodules are not entered, because their configuration
//! is unknown. Objects are read as they were committed, without replacements and grafts. Filters, which git needs to
//! compare files, and merge drivers remain: [`config_commands`] checks that they may run. Variables that name another
//! repository, as the environment of a hook has them, are ignored.

mod checkpoint;
mod config_commands;
mod configured_hooks;
mod hidden_changes;
mod repository_state;
mod restore_job;

use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use workflow_core::definition::OutputStream;

#[cfg(all(test, unix))]
pub(super) use checkpoint::restore_checkpoint;
pub(crate) use checkpoint::{TIME_TO_RECORD, record_checkpoint};
pub(crate) use config_commands::config_commands;
pub(super) use config_commands::{GitOperation, check_allowed};
pub(super) use hidden_changes::{hidden_changes, shown as shown_changes};
pub use repository_state::RepositoryState;
pub(crate) use restore_job::{RestoreEvent, start_restore};

use super::process::{
    CheckError, CommandLine, End, Failure, Finished, GRACE, Invocation, Monitor, one_line, run,
};

/// Time limit of a git command in a check.
pub(super) const TIMEOUT: Duration = Duration::from_secs(60);
/// Bytes of output that are read. A list of changed files that is longer still shows that files have changed.
const BOUND: usize = 256 * 1024;
/// Exit code of git when it cannot even begin.
const FATAL: i32 = 128;

/// Reason of a command or check that was cancelled.
pub(super) const CANCELLED: &str = "it was stopped: the session ended, or the gate was cancelled";

const ENVIRONMENT: [(&str, &str); 9] = [
    // Another git may be running, and must not find a lock of this one.
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    // A protocol that does not exist: older versions of git do not know the line above.
    ("GIT_ALLOW_PROTOCOL", "none"),
    // Otherwise a reference or a file in the repository replaces what was committed.
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_GRAFT_FILE", NO_FILE),
    ("GIT_PAGER", "cat"),
    ("GIT_EDITOR", "true"),
    ("LC_ALL", "C"),
];

/// A path at which there cannot be a file.
const NO_FILE: &str = "/dev/null/none";

/// Variables that the user may set for every git, so also for this one.
const INHERITED: [&str; 6] = [
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CEILING_DIRECTORIES",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM",
    "GIT_EXEC_PATH",
];

/// Options of every command. They cannot exclude submodules in general: the repository may override that for each one,
/// and `git stash` ignores the setting. So every command that compares files has its own option; for the stash see
/// `checkpoint.rs`.
const OPTIONS: [&str; 13] = [
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

/// The commit that a repository is at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Head {
    /// There was no commit yet, or no repository.
    NoCommit,
    /// At this commit.
    Commit(String),
}

/// Answer to the question for the current commit.
pub(super) enum HeadLookup {
    Head(Head),
    NoRepository(Failure),
}

/// Reads the current commit.
pub(super) fn look_up_head(
    time: Duration,
    cwd: &Path,
    monitor: &mut Monitor<'_>,
) -> Result<HeadLookup, Failure> {
    let parse = ["rev-parse", "--verify", "--quiet", "HEAD"];
    let output = git(time, &parse, cwd, monitor)?;
    match output.code {
        0 => Ok(HeadLookup::Head(Head::Commit(
            output.text.trim().to_owned(),
        ))),
        FATAL if output.tail.contains("not a git repository") => {
            Ok(HeadLookup::NoRepository(output.failure()))
        }
        FATAL => Err(output.failure()),
        _ => Ok(HeadLookup::Head(Head::NoCommit)),
    }
}

/// Output of a git command.
pub(super) struct GitOutput {
    pub(super) code: i32,
    pub(super) text: String,
    /// Set when `text` is only the beginning.
    pub(super) is_cut: bool,
    pub(super) tail: String,
}

impl GitOutput {
    /// Returns the reason why git refused.
    pub(super) fn failure(&self) -> Failure {
        if self.tail.contains("not a git repository") {
            return (
                CheckError::Missing,
                "this is not a git repository".to_owned(),
            );
        }
        let first = self.tail.lines().next().unwrap_or_default();
        let reason = match first.strip_prefix("fatal: ").unwrap_or(first) {
            "" => format!("git ended with exit code {}", self.code),
            first => format!("git says: {}", one_line(first)),
        };
        (CheckError::Start, reason)
    }
}

/// Returns `false` for commands that change neither an index nor a reference, and so run no hook.
fn may_run_hooks(arguments: &[&str]) -> bool {
    const READING: [&str; 7] = [
        "cat-file",
        "check-ignore",
        "config",
        "for-each-ref",
        "ls-files",
        "rev-list",
        "rev-parse",
    ];
    arguments
        .first()
        .is_none_or(|command| !READING.contains(command))
}

/// Runs a git command with the usual environment and bound.
pub(super) fn git(
    timeout: Duration,
    arguments: &[&str],
    cwd: &Path,
    monitor: &mut Monitor<'_>,
) -> Result<GitOutput, Failure> {
    let limits = GitLimits {
        timeout,
        environment: &[],
        bound: BOUND,
        grace: GRACE,
    };
    limits.run(arguments, cwd, monitor)
}

/// Conditions under which git runs.
struct GitLimits<'a> {
    timeout: Duration,
    /// Variables in addition to the usual ones.
    environment: &'a [(&'a str, &'a str)],
    /// Bytes of output that are read.
    bound: usize,
    /// Time between asking git to end and killing it.
    grace: Duration,
}

impl GitLimits<'_> {
    fn run(
        &self,
        arguments: &[&str],
        cwd: &Path,
        monitor: &mut Monitor<'_>,
    ) -> Result<GitOutput, Failure> {
        let timeout = self.timeout;
        let hooks_off = if may_run_hooks(arguments) {
            configured_hooks::switched_off(timeout, cwd, monitor)?
        } else {
            Vec::new()
        };
        let hooks_off = hooks_off.iter().map(|(name, value)| (&**name, &**value));
        let environment: Vec<(&str, &str)> = ENVIRONMENT
            .iter()
            .chain(self.environment)
            .copied()
            .chain(hooks_off)
            .collect();
        let invocation = Invocation {
            command: CommandLine::Program("git", [&OPTIONS, arguments].concat()),
            cwd,
            timeout,
            stdout_bound: self.bound,
            recorded: OutputStream::Stdout,
            environment: &environment,
            grace: self.grace,
            is_hidden: |name| {
                let name = name.to_string_lossy();
                name.starts_with("GIT_") && !INHERITED.contains(&&*name)
            },
        };
        let Finished { end, stdout, tail } = run(&invocation, monitor)?;
        let (code, is_cut) = match end {
            End::Exited(status) => match status.code() {
                Some(code) => (code, false),
                None => return Err((CheckError::Start, "git was ended by a signal".to_owned())),
            },
            End::TooMuchOutput => (0, true),
            End::Timeout => {
                let seconds = timeout.as_secs_f32();
                return Err((
                    CheckError::Timeout,
                    format!("git did not end within {seconds:.0} s"),
                ));
            }
            End::Cancelled => return Err((CheckError::Ended, CANCELLED.to_owned())),
            End::Unknown(error) => {
                return Err((CheckError::Start, format!("git was lost: {error}")));
            }
        };
        let text = String::from_utf8_lossy(&stdout).into_owned();
        Ok(GitOutput {
            code,
            text,
            is_cut,
            tail,
        })
    }
}
