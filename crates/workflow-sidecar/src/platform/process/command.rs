//! One command, run to its end.
//!
//! Owns the time limit and the cleanup: a command that hangs, forks, floods, stops itself or keeps its pipes open
//! is ended with all its processes. Must not know which result the caller expects.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use workflow_core::definition::OutputStream;

use super::output::Output;
use super::program::{program, start_failure};
use super::{CheckError, Failure, ProcessGroup, failed, kill_tree};

/// Time for child processes to write into an open pipe after the command has ended.
const LINGER: Duration = Duration::from_millis(200);
/// Longest interval between two looks at a running command.
const MAX_PAUSE: Duration = Duration::from_millis(25);

/// Reason of a command or check that was cancelled.
pub(crate) const CANCELLED: &str = "it was stopped: the session ended, or the gate was cancelled";

/// Lets the caller cancel commands, and reports which process group runs.
#[derive(Clone, Copy)]
pub(crate) struct Monitor<'a> {
    /// Returns true when it is to end.
    stops: &'a dyn Fn() -> bool,
    /// Gets the number of the group that starts, and `None` when it has ended.
    report: &'a dyn Fn(Option<u32>),
}

impl<'a> Monitor<'a> {
    pub(crate) fn new(stops: &'a dyn Fn() -> bool, report: &'a dyn Fn(Option<u32>)) -> Self {
        Self { stops, report }
    }

    /// A monitor of commands that are not cancelled, and whose groups nobody asks for.
    pub(crate) fn idle() -> Self {
        Self::new(&|| false, &|_| ())
    }

    pub(crate) fn is_cancelled(self) -> bool {
        (self.stops)()
    }
}

/// A command and the conditions under which it runs.
pub(crate) struct Invocation<'a> {
    pub(crate) command: CommandLine<'a>,
    pub(crate) cwd: &'a Path,
    pub(crate) timeout: Duration,
    /// Bytes of the recorded output. 0: both outputs share a pipe, in their true order.
    pub(crate) stdout_bound: usize,
    /// The output to record; the other one is only shown.
    pub(crate) recorded: OutputStream,
    /// Variables that are set in addition to the inherited environment.
    pub(crate) environment: &'a [(String, String)],
    /// Time between asking the command to end and killing it. Without it, everything that it started is killed at once.
    pub(crate) grace: Duration,
    /// Selects the inherited variables that are not passed on.
    pub(crate) is_hidden: fn(&OsStr) -> bool,
}

/// A command as it is written.
pub(crate) enum CommandLine<'a> {
    /// A program and its arguments.
    Program(&'a str, Vec<&'a str>),
    /// A line for the shell.
    Shell(String),
}

/// A command that has ended.
pub(crate) struct Finished {
    pub(crate) end: End,
    pub(crate) stdout: Vec<u8>,
    pub(crate) tail: String,
}

impl Finished {
    /// Returns the status of a command that exited by itself, else the reason why it did not. `who` is its name in a sentence.
    pub(crate) fn status(&self, who: &str) -> Result<ExitStatus, Failure> {
        Err(match &self.end {
            End::Exited(status) => return Ok(*status),
            End::Timeout(time) => {
                let seconds = time.as_secs_f32();
                let reason = format!("{who} did not end within {seconds:.0} s and was stopped");
                (CheckError::Timeout, reason)
            }
            End::Cancelled => (CheckError::Ended, CANCELLED.to_owned()),
            End::TooMuchOutput => {
                let reason = format!("{who} wrote too much and was stopped");
                (CheckError::TooMuchOutput, reason)
            }
            End::Unknown(error) => failed(format!("how {who} ended cannot be read: {error}")),
        })
    }
}

/// The reason why a command ended.
pub(crate) enum End {
    /// It exited, or was killed by a signal that is not ours.
    Exited(ExitStatus),
    /// It ran into this time limit.
    Timeout(Duration),
    /// The caller cancelled it.
    Cancelled,
    /// Its standard output exceeded the bound.
    TooMuchOutput,
    /// The system does not report its end.
    Unknown(io::Error),
}

/// Runs a command. When this returns, all its processes have ended.
pub(crate) fn run(invocation: &Invocation<'_>, monitor: Monitor<'_>) -> Result<Finished, Failure> {
    let output = Output::new(invocation.stdout_bound);
    let mut child = spawn(invocation, &output)?;
    let group = ProcessGroup::numbered(child.id());
    (monitor.report)(Some(child.id()));
    let end = wait(&mut child, invocation.timeout, &output, monitor);
    if let End::Exited(_) = end {
        output.wait_for_end(LINGER);
    }
    if let Some(group) = group {
        match end {
            End::Exited(_) | End::Unknown(_) => group.end_remaining(),
            End::Timeout(_) | End::Cancelled | End::TooMuchOutput => {
                if invocation.grace.is_zero() {
                    kill_tree(child.id());
                }
                group.end(Some(&mut child));
            }
        }
    }
    (monitor.report)(None);
    output.wait_for_end(LINGER);
    let (stdout, tail) = output.close();
    Ok(Finished { end, stdout, tail })
}

fn wait(child: &mut Child, timeout: Duration, output: &Output, monitor: Monitor<'_>) -> End {
    let began = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return End::Exited(status),
            Ok(None) => {}
            Err(error) => return End::Unknown(error),
        }
        if monitor.is_cancelled() {
            return End::Cancelled;
        }
        if began.elapsed() >= timeout {
            return End::Timeout(timeout);
        }
        if output.is_too_much() {
            return End::TooMuchOutput;
        }
        thread::sleep(pause);
        pause = (2 * pause).min(MAX_PAUSE);
    }
}

fn spawn(invocation: &Invocation<'_>, output: &Output) -> Result<Child, Failure> {
    let cwd = invocation.cwd;
    let failed = |error: io::Error| start_failure(invocation.command.program(), cwd, &error);
    let mut command = invocation.command.to_command(cwd);
    command.current_dir(cwd).stdin(Stdio::null());
    for (name, _) in std::env::vars_os().filter(|(name, _)| (invocation.is_hidden)(name)) {
        command.env_remove(name);
    }
    command.envs(invocation.environment.iter().cloned());
    ProcessGroup::prepare(&mut command);
    connect(&mut command, invocation, output)
        // Dropping `command` closes our ends of the pipes; otherwise the readers would wait for us.
        .and_then(|()| command.spawn())
        .map_err(failed)
}

/// Connects both outputs of a command: with a pipe each, unless they are read in their true order.
fn connect(command: &mut Command, invocation: &Invocation<'_>, output: &Output) -> io::Result<()> {
    let (pipe, stdout) = io::pipe()?;
    let recorded = invocation.recorded;
    if invocation.stdout_bound == 0 || recorded == OutputStream::Both {
        command.stderr(stdout.try_clone()?);
    } else {
        let (pipe, stderr) = io::pipe()?;
        command.stderr(stderr);
        output.read(recorded == OutputStream::Stderr, pipe)?;
    }
    command.stdout(stdout);
    output.read(recorded != OutputStream::Stderr, pipe)
}

impl CommandLine<'_> {
    fn program(&self) -> &str {
        match self {
            Self::Program(program, _) => program,
            Self::Shell(_) => SHELL,
        }
    }

    fn to_command(&self, cwd: &Path) -> Command {
        match self {
            Self::Program(program_name, arguments) => {
                let mut command = Command::new(program(program_name, cwd));
                #[cfg(unix)]
                std::os::unix::process::CommandExt::arg0(&mut command, program_name);
                command.args(arguments);
                command
            }
            Self::Shell(line) => shell(line),
        }
    }
}

const SHELL: &str = if cfg!(windows) { "cmd" } else { "sh" };

fn shell(line: &str) -> Command {
    let mut command = Command::new(SHELL);
    #[cfg(not(windows))]
    command.arg("-c").arg(line);
    // `cmd` has special quoting rules, so the line is passed unchanged.
    #[cfg(windows)]
    std::os::windows::process::CommandExt::raw_arg(command.arg("/D").arg("/C"), line);
    command
}
