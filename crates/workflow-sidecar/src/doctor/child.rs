//! Asks another program for its version, and never waits for long.

use std::env;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

/// What became of the question.
#[derive(Debug, PartialEq)]
pub(super) enum Asked {
    /// There is no such program on the path, or it cannot be started.
    Missing,
    /// It did not answer in time, and was ended.
    Slow {
        /// The program.
        path: PathBuf,
    },
    /// The line that it was asked for; empty if it wrote none.
    Answered {
        /// The program.
        path: PathBuf,
        /// The line.
        line: String,
    },
}

/// Runs `<name> --version`, and takes the first line that is wanted: some write it to stderr.
pub(super) fn ask(name: &str, patience: Duration, is_wanted: fn(&str) -> bool) -> Asked {
    match on_path(name) {
        Some(path) => {
            let mut command = Command::new(&path);
            command.arg("--version");
            heard(command, path, patience, is_wanted)
        }
        None => Asked::Missing,
    }
}

/// Runs a command, and takes the first line that is wanted.
fn heard(
    mut command: Command,
    path: PathBuf,
    patience: Duration,
    is_wanted: fn(&str) -> bool,
) -> Asked {
    let until = Instant::now() + patience;
    let spawned = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut child) = spawned else {
        return Asked::Missing;
    };
    let (send, said) = mpsc::channel();
    if let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) {
        listen(stdout, send.clone());
        listen(stderr, send);
    }
    let answer = loop {
        match said.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(line) if is_wanted(&line) => break Asked::Answered { path, line },
            Ok(_) => {}
            Err(RecvTimeoutError::Timeout) => break Asked::Slow { path },
            Err(RecvTimeoutError::Disconnected) => {
                let line = String::new();
                break Asked::Answered { path, line };
            }
        }
    };
    // A version is told by now, or never: what still runs is of no use. It may have ended by itself.
    let _ = child.kill();
    let _ = child.wait();
    answer
}

/// Sends each line on. Nobody waits for the thread: what the program started may hold the pipe open after it.
fn listen(pipe: impl Read + Send + 'static, send: Sender<String>) {
    /// A version comes early.
    const LONGEST: u64 = 1 << 16;
    thread::spawn(move || {
        let lines = BufReader::new(pipe.take(LONGEST)).lines();
        for line in lines.map_while(Result::ok) {
            if send.send(line.trim().to_owned()).is_err() {
                break;
            }
        }
    });
}

fn on_path(name: &str) -> Option<PathBuf> {
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

    fn asked(script: &str, patience: Duration) -> Asked {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        heard(command, PathBuf::new(), patience, |line| {
            line.starts_with('1')
        })
    }

    fn answered(line: &str) -> Asked {
        let (path, line) = (PathBuf::new(), line.to_owned());
        Asked::Answered { path, line }
    }

    const LONG: Duration = Duration::from_secs(20);

    #[test]
    fn the_version_is_heard_wherever_it_is_written() {
        assert_eq!(asked("echo 1.2", LONG), answered("1.2"));
        assert_eq!(asked("echo note; echo 1.2 >&2", LONG), answered("1.2"));
        assert_eq!(asked("echo nothing", LONG), answered(""));
    }

    #[test]
    fn nobody_waits_for_a_program_that_hangs() {
        let start = Instant::now();
        let slow = asked("sleep 60", Duration::from_millis(200));
        assert!(matches!(slow, Asked::Slow { .. }), "{slow:?}");
        let answers_and_hangs = asked("echo 1.2; sleep 60", LONG);
        assert_eq!(answers_and_hangs, answered("1.2"));
        assert!(start.elapsed() < LONG);
    }
}
