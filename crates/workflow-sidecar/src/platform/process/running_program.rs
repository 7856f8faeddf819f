//! A running program, whose lines are read with a time limit.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// Maximum number of bytes that are read of each output.
const MAX_OUTPUT: u64 = 1 << 24;
/// Lines that wait to be read.
const MAX_WAITING: usize = 64;

/// A program that was started. It is ended with this value.
pub(crate) struct RunningProgram {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<ProgramLine>,
    /// The time to end by itself once its input is closed.
    grace: Duration,
}

/// A line of a program.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ProgramLine {
    /// On standard output.
    Out(String),
    /// On standard error.
    Error(String),
}

impl RunningProgram {
    pub(crate) fn start(command: &mut Command, grace: Duration) -> io::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::piped()).spawn()?;
        let (send, lines) = sync_channel(MAX_WAITING);
        if let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) {
            forward_lines(stdout, send.clone(), ProgramLine::Out);
            forward_lines(stderr, send, ProgramLine::Error);
        }
        Ok(Self {
            input: child.stdin.take(),
            child,
            lines,
            grace,
        })
    }

    /// Writes a text to the standard input.
    pub(crate) fn write(&mut self, text: &str) -> io::Result<()> {
        match &mut self.input {
            Some(input) => input.write_all(text.as_bytes()),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    /// Closes the standard input.
    pub(crate) fn close_input(&mut self) {
        self.input = None;
    }

    /// Waits for the next line; the error is a timeout, or that both outputs are closed.
    pub(crate) fn next_line(&self, until: Instant) -> Result<ProgramLine, RecvTimeoutError> {
        let left = until.saturating_duration_since(Instant::now());
        self.lines.recv_timeout(left)
    }

    /// Waits for the end of the program; `None` if it still runs.
    pub(crate) fn wait(&mut self, until: Instant) -> io::Result<Option<ExitStatus>> {
        wait_until(&mut self.child, until)
    }
}

/// Waits for the end of a program; `None` if it still runs.
pub(crate) fn wait_until(child: &mut Child, until: Instant) -> io::Result<Option<ExitStatus>> {
    loop {
        let status = child.try_wait()?;
        if status.is_some() || Instant::now() >= until {
            return Ok(status);
        }
        thread::sleep(Duration::from_millis(10));
    }
}

impl Drop for RunningProgram {
    fn drop(&mut self) {
        self.close_input();
        if !matches!(self.wait(Instant::now() + self.grace), Ok(Some(_))) {
            // It may have ended just now: then killing it fails, which is no problem.
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// Sends each line to the channel. The thread is not joined, because a grandchild may keep the pipe open.
fn forward_lines(
    pipe: impl Read + Send + 'static,
    send: SyncSender<ProgramLine>,
    line_of: fn(String) -> ProgramLine,
) {
    thread::spawn(move || {
        let lines = BufReader::new(pipe.take(MAX_OUTPUT)).lines();
        for line in lines.map_while(Result::ok) {
            if send.send(line_of(line)).is_err() {
                break;
            }
        }
    });
}
