//! The execution of git: its environment, its options, its limits and its output.

use std::iter;
use std::path::Path;
use std::time::{Duration, Instant};

use workflow_core::definition::OutputStream;

use super::location::Location;
use crate::platform::process::{
    CheckError, CommandLine, Failure, GRACE, Invocation, Monitor, failed, one_line, run,
};

/// Time limit of a command, which may read or write all files.
pub(super) const TIMEOUT: Duration = Duration::from_secs(300);
/// Bytes of output that are read: a list of all files may be long.
const BOUND: usize = 128 * 1024 * 1024;
/// Paths on one command line.
const PATHS_PER_COMMAND: usize = 200;
/// Exit code of git when it cannot even begin.
const FATAL: i32 = 128;

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
pub(super) const NO_FILE: &str = "/dev/null/none";

/// Variables that the user may set for every git, so also for this one.
const INHERITED: [&str; 6] = [
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CEILING_DIRECTORIES",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM",
    "GIT_EXEC_PATH",
];

/// Settings of every command, which override the user's configuration. They cannot exclude submodules in general:
/// `.gitmodules` may override that for each one, and `git stash` ignores the setting. So every command that compares
/// files has its own option; for the stash see `checkpoint.rs`.
const SETTINGS: [&str; 6] = [
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "diff.external=",
    "diff.ignoreSubmodules=dirty",
    "submodule.recurse=false",
    "commit.gpgSign=false",
];

/// Output of a git command.
pub(in crate::platform) struct GitOutput {
    pub(in crate::platform) code: i32,
    pub(in crate::platform) text: String,
    pub(in crate::platform) tail: String,
}

impl GitOutput {
    /// Returns the output if git succeeded.
    pub(in crate::platform) fn succeeded(self) -> Result<Self, Failure> {
        match self.code {
            0 => Ok(self),
            _ => Err(self.failure()),
        }
    }

    /// Returns the reason why git refused.
    pub(super) fn failure(&self) -> Failure {
        if self.tail.contains("not a git repository") {
            return no_repository();
        }
        let first = self.tail.lines().next().unwrap_or_default();
        failed(match first.strip_prefix("fatal: ").unwrap_or(first) {
            "" => format!("git ended with exit code {}", self.code),
            first => format!("git says: {}", one_line(first)),
        })
    }
}

/// The words of a command that has no word with a blank.
pub(super) fn words(command: &str) -> Vec<&str> {
    command.split(' ').collect()
}

/// The failure where there is no repository.
pub(super) fn no_repository() -> Failure {
    let reason = "this is not a git repository";
    (CheckError::Missing, reason.to_owned())
}

/// Git in a directory, and the conditions under which it runs.
#[derive(Clone, Copy)]
pub(crate) struct Git<'a> {
    pub(crate) cwd: &'a Path,
    pub(crate) monitor: Monitor<'a>,
    /// Time limit of all commands, which are then killed at once.
    pub(crate) end: Option<Instant>,
    /// Variables in addition to the usual ones.
    pub(crate) environment: &'a [(String, String)],
}

impl<'a> Git<'a> {
    /// Git that reads the repository of a directory and runs no program, whatever is configured.
    pub(in crate::platform) fn new(cwd: &'a Path, monitor: Monitor<'a>) -> Self {
        Self {
            cwd,
            monitor,
            end: None,
            environment: &[],
        }
    }

    /// The same for those who wait: with a time limit of all commands together.
    pub(in crate::platform) fn within(time: Duration, cwd: &'a Path) -> Self {
        Self {
            end: Some(Instant::now() + time),
            ..Self::new(cwd, Monitor::idle())
        }
    }

    /// Runs a command.
    pub(in crate::platform) fn run(self, arguments: &[&str]) -> Result<GitOutput, Failure> {
        let left = |end: Instant| end.saturating_duration_since(Instant::now());
        let timeout = self.end.map_or(TIMEOUT, left).min(TIMEOUT);
        let usual = ENVIRONMENT
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value.to_owned()));
        let environment: Vec<_> = usual.chain(self.environment.iter().cloned()).collect();
        let settings = SETTINGS.iter().flat_map(|setting| ["-c", setting]);
        let options = iter::once("--no-pager").chain(settings);
        let arguments = options.chain(arguments.iter().copied()).collect();
        let invocation = Invocation {
            command: CommandLine::Program("git", arguments),
            cwd: self.cwd,
            timeout,
            stdout_bound: BOUND,
            recorded: OutputStream::Stdout,
            environment: &environment,
            grace: self.end.map_or(GRACE, |_| Duration::ZERO),
            is_hidden: |name| {
                let name = name.to_string_lossy();
                name.starts_with("GIT_") && !INHERITED.contains(&&*name)
            },
        };
        let finished = run(&invocation, self.monitor)?;
        let code = finished.status("git")?.code();
        Ok(GitOutput {
            code: code.ok_or_else(|| failed("git was ended by a signal"))?,
            text: String::from_utf8_lossy(&finished.stdout).into_owned(),
            tail: finished.tail,
        })
    }

    /// Returns the trimmed output of a command that must succeed.
    pub(in crate::platform) fn text(self, arguments: &[&str]) -> Result<String, Failure> {
        let output = self.run(arguments)?.succeeded()?;
        Ok(output.text.trim().to_owned())
    }

    /// Returns the items of a list, whose command has the option `-z`.
    pub(super) fn list(self, arguments: &[&str]) -> Result<Vec<String>, Failure> {
        let listed = self.run(arguments)?.succeeded()?.text;
        Ok(listed.split_terminator('\0').map(str::to_owned).collect())
    }

    /// Updates the index at these paths.
    pub(super) fn update_index(self, options: &[&str], paths: &[&str]) -> Result<(), Failure> {
        for paths in paths.chunks(PATHS_PER_COMMAND) {
            self.text(&[&["update-index"], options, &["--"], paths].concat())?;
        }
        Ok(())
    }

    /// Returns true if git has a commit of this name.
    pub(super) fn has_commit(self, name: &str) -> Result<bool, Failure> {
        self.has(&format!("{name}^{{commit}}"))
    }

    /// Returns true if git has an object.
    pub(super) fn has(self, object: &str) -> Result<bool, Failure> {
        Ok(self.run(&["cat-file", "-e", object])?.code == 0)
    }

    /// Reads the current commit; `None` if there is none yet.
    pub(in crate::platform) fn head(self) -> Result<Option<String>, Failure> {
        let output = self.run(&["rev-parse", "--verify", "--quiet", "HEAD"])?;
        if output.code != FATAL {
            Location::of(self.cwd).ok_or_else(no_repository)?;
        }
        match output.code {
            0 => Ok(Some(output.text.trim().to_owned())),
            FATAL => Err(output.failure()),
            _ => Ok(None),
        }
    }
}
