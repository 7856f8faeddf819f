//! Versions of other programs, with a timeout.

use std::env;
use std::path::PathBuf;
use std::process::Command;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use crate::platform::{ProgramLine, RunningProgram};

/// Timeout of `--version`: enough for a cold start on a busy machine.
pub(super) const VERSION_TIMEOUT: Duration = Duration::from_secs(10);

/// The result of running `--version`.
#[derive(Debug, PartialEq)]
pub(super) enum VersionAnswer {
    /// There is no such program on the path, or it cannot be started.
    Missing,
    /// It did not answer in time and was killed.
    Slow {
        /// The program.
        path: PathBuf,
    },
    /// It wrote this line; empty if no line matched.
    Answered {
        /// The program.
        path: PathBuf,
        /// The line.
        line: String,
    },
}

/// Runs `<name> --version` and returns the first matching line of stdout or stderr.
pub(super) fn first_line_of_version(
    name: &str,
    timeout: Duration,
    is_wanted: fn(&str) -> bool,
) -> VersionAnswer {
    match on_path(name) {
        Some(path) => {
            let mut command = Command::new(&path);
            command.arg("--version");
            first_wanted_line(command, path, timeout, is_wanted)
        }
        None => VersionAnswer::Missing,
    }
}

/// Runs a command and returns the first matching line.
fn first_wanted_line(
    mut command: Command,
    path: PathBuf,
    timeout: Duration,
    is_wanted: fn(&str) -> bool,
) -> VersionAnswer {
    let until = Instant::now() + timeout;
    let Ok(mut program) = RunningProgram::start(&mut command, Duration::ZERO) else {
        return VersionAnswer::Missing;
    };
    program.close_input();
    loop {
        match program.next_line(until) {
            Ok(ProgramLine::Out(line) | ProgramLine::Error(line)) => {
                if is_wanted(line.trim()) {
                    let line = line.trim().to_owned();
                    return VersionAnswer::Answered { path, line };
                }
            }
            Err(RecvTimeoutError::Timeout) => return VersionAnswer::Slow { path },
            Err(RecvTimeoutError::Disconnected) => {
                let line = String::new();
                return VersionAnswer::Answered { path, line };
            }
        }
    }
}

/// Finds a program on the path.
pub(super) fn on_path(name: &str) -> Option<PathBuf> {
    let extensions: &[&str] = if cfg!(windows) {
        &[".exe", ".cmd"]
    } else {
        &[""]
    };
    let search = env::var_os("PATH")?;
    let directories = env::split_paths(&search).filter(|path| !path.as_os_str().is_empty());
    let mut files = directories.flat_map(|directory| {
        let file = |extension: &&str| directory.join(format!("{name}{extension}"));
        extensions.iter().map(file).collect::<Vec<_>>()
    });
    files.find(|path| path.is_file())
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;

    fn run_script(script: &str, timeout: Duration) -> VersionAnswer {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        first_wanted_line(command, PathBuf::new(), timeout, |line| {
            line.starts_with('1')
        })
    }

    fn answered(line: &str) -> VersionAnswer {
        let (path, line) = (PathBuf::new(), line.to_owned());
        VersionAnswer::Answered { path, line }
    }

    const LONG: Duration = Duration::from_secs(20);

    #[test]
    fn a_version_is_found_on_either_stream() {
        assert_eq!(run_script("echo 1.2", LONG), answered("1.2"));
        assert_eq!(run_script("echo note; echo 1.2 >&2", LONG), answered("1.2"));
        assert_eq!(run_script("echo nothing", LONG), answered(""));
    }

    #[test]
    fn a_program_that_hangs_is_killed_after_the_timeout() {
        let start = Instant::now();
        let slow = run_script("sleep 60", Duration::from_millis(200));
        assert!(matches!(slow, VersionAnswer::Slow { .. }), "{slow:?}");
        let answers_and_hangs = run_script("echo 1.2; sleep 60", LONG);
        assert_eq!(answers_and_hangs, answered("1.2"));
        assert!(start.elapsed() < LONG);
    }
}
