//! Versions of other programs, with a timeout.

use std::env;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

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
    let spawned = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut child) = spawned else {
        return VersionAnswer::Missing;
    };
    let (send, lines_received) = mpsc::channel();
    if let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) {
        forward_lines(stdout, send.clone());
        forward_lines(stderr, send);
    }
    let answer = loop {
        match lines_received.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(line) if is_wanted(&line) => break VersionAnswer::Answered { path, line },
            Ok(_) => {}
            Err(RecvTimeoutError::Timeout) => break VersionAnswer::Slow { path },
            Err(RecvTimeoutError::Disconnected) => {
                let line = String::new();
                break VersionAnswer::Answered { path, line };
            }
        }
    };
    // It may have ended already: then killing it fails, which is no problem.
    let _ = child.kill();
    let _ = child.wait();
    answer
}

/// Sends each line to the channel. The thread is not joined, because a grandchild may keep the pipe open.
fn forward_lines(pipe: impl Read + Send + 'static, send: Sender<String>) {
    /// Maximum number of bytes read: the version is at the beginning.
    const MAX_OUTPUT: u64 = 1 << 16;
    thread::spawn(move || {
        let lines = BufReader::new(pipe.take(MAX_OUTPUT)).lines();
        for line in lines.map_while(Result::ok) {
            if send.send(line.trim().to_owned()).is_err() {
                break;
            }
        }
    });
}

pub(super) fn on_path(name: &str) -> Option<PathBuf> {
    let names = if cfg!(windows) {
        vec![format!("{name}.exe"), format!("{name}.cmd")]
    } else {
        vec![name.to_owned()]
    };
    let search = env::var_os("PATH")?;
    env::split_paths(&search)
        .flat_map(|directory| {
            names
                .iter()
                .map(move |name| directory.join(name))
                .collect::<Vec<_>>()
        })
        .find(|path| path.is_file())
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
