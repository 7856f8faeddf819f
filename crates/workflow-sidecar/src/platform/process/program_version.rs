//! Versions of programs, with a timeout.

use std::io;
use std::path::PathBuf;
use std::process::Command;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use super::{ProgramLine, RunningProgram, on_path};

/// Timeout of `--version`: enough for a cold start on a busy machine.
pub(crate) const VERSION_TIMEOUT: Duration = Duration::from_secs(5);

/// What a program says of its version.
pub(crate) struct ProgramVersion {
    /// The program.
    pub(crate) path: PathBuf,
    /// The line with its version, which is empty if no line has one; `None` if it did not answer in time and was killed.
    pub(crate) line: Option<String>,
}

impl ProgramVersion {
    /// Runs `<name> --version`, if the program is on the path and can be started.
    pub(crate) fn of(name: &str) -> Option<Self> {
        let path = on_path(name)?;
        let line = version_line(Command::new(&path).arg("--version"), VERSION_TIMEOUT).ok()?;
        Some(Self { path, line })
    }
}

/// The version in a line such as `codex-cli 0.169.0`.
pub(crate) fn version_in(line: &str) -> Option<&str> {
    let words = line.split(|c: char| !c.is_ascii_digit() && c != '.');
    let mut words = words.map(|word| word.trim_matches('.'));
    words.find(|word| word.contains('.'))
}

/// Runs a command and returns the first line of stdout or stderr that has a version.
fn version_line(command: &mut Command, timeout: Duration) -> io::Result<Option<String>> {
    let until = Instant::now() + timeout;
    let mut program = RunningProgram::start(command, Duration::ZERO)?;
    program.close_input();
    loop {
        match program.next_line(until) {
            Ok(ProgramLine::Out(line) | ProgramLine::Error(line)) => {
                if version_in(&line).is_some() {
                    return Ok(Some(line.trim().to_owned()));
                }
            }
            Err(RecvTimeoutError::Timeout) => return Ok(None),
            Err(RecvTimeoutError::Disconnected) => return Ok(Some(String::new())),
        }
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;

    fn run_script(script: &str, timeout: Duration) -> Option<String> {
        version_line(Command::new("sh").args(["-c", script]), timeout).unwrap()
    }

    const LONG: Duration = Duration::from_secs(20);

    #[test]
    fn a_version_is_found_on_either_stream() {
        assert_eq!(run_script("echo 1.2", LONG).as_deref(), Some("1.2"));
        assert_eq!(
            run_script("echo note; echo 1.2 >&2", LONG).as_deref(),
            Some("1.2")
        );
        assert_eq!(run_script("echo nothing", LONG).as_deref(), Some(""));
    }

    #[test]
    fn a_program_that_hangs_is_killed_after_the_timeout() {
        let start = Instant::now();
        let slow = run_script("sleep 60", Duration::from_millis(200));
        assert_eq!(slow, None);
        let answers_and_hangs = run_script("echo 1.2; sleep 60", LONG);
        assert_eq!(answers_and_hangs.as_deref(), Some("1.2"));
        assert!(start.elapsed() < LONG);
    }
}
