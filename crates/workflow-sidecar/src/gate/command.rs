//! Runs one command to its end, whatever it does.
//!
//! Owns the time it has, and that nothing of it is left: a command that hangs, forks, floods, stops
//! itself or keeps its pipes open ends all the same. Must not know what was expected of it.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::Obstacle;
use super::output::{Output, Source};
use super::process_group::ProcessGroup;
use super::program::{obstacle, program};
use super::watch::Watch;

/// How long those who still hold a pipe may write into it when the command has ended.
const LINGER: Duration = Duration::from_millis(200);
/// How long it takes at most to see that a command has ended.
const LONGEST_PAUSE: Duration = Duration::from_millis(25);

/// What is to be run.
#[derive(Debug)]
pub(super) struct Order<'a> {
    pub(super) words: Words<'a>,
    pub(super) cwd: &'a Path,
    pub(super) timeout: Duration,
    /// How much of standard output is kept. 0: both outputs share a pipe, in their true order.
    pub(super) stdout_bound: usize,
    /// What is set beyond the environment that is there.
    pub(super) environment: &'a [(&'a str, &'a str)],
    /// Which variables of the environment that is there are not passed on.
    pub(super) is_hidden: fn(&OsStr) -> bool,
}

/// How a command is written.
#[derive(Debug)]
pub(super) enum Words<'a> {
    /// A program and its arguments.
    Program(&'a str, Vec<&'a str>),
    /// A line for the shell.
    Shell(String),
}

/// What came of it.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) end: End,
    pub(super) stdout: Vec<u8>,
    pub(super) tail: String,
}

/// How a command ended.
#[derive(Debug)]
pub(super) enum End {
    /// By itself, or by somebody's signal.
    Itself(ExitStatus),
    /// Its time was over.
    Timeout,
    /// It was called off.
    CalledOff,
    /// Its standard output was longer than it may be.
    TooMuchOutput,
    /// The system does not tell.
    Unknown(io::Error),
}

/// Runs a command. Nothing of it runs any more when this returns.
pub(super) fn run(order: &Order<'_>, watch: &mut Watch<'_>) -> Result<Ran, (Obstacle, String)> {
    let output = Output::new(order.stdout_bound);
    let mut child = spawn(order, &output)?;
    let group = ProcessGroup::of(&child);
    if let Some(group) = group {
        watch.runs(group);
    }
    let end = wait(&mut child, order.timeout, &output, watch);
    if let End::Itself(_) = end {
        output.wait_for_end(LINGER);
    }
    if let Some(group) = group {
        match end {
            End::Itself(_) | End::Unknown(_) => group.end_what_is_left(),
            End::Timeout | End::CalledOff | End::TooMuchOutput => group.end(Some(&mut child)),
        }
    }
    watch.runs_no_more();
    output.wait_for_end(LINGER);
    let (stdout, tail) = output.close();
    Ok(Ran { end, stdout, tail })
}

fn wait(child: &mut Child, timeout: Duration, output: &Output, watch: &mut Watch<'_>) -> End {
    let began = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return End::Itself(status),
            Ok(None) => {}
            Err(error) => return End::Unknown(error),
        }
        if watch.is_over() {
            return End::CalledOff;
        }
        if began.elapsed() >= timeout {
            return End::Timeout;
        }
        if output.is_too_much() {
            return End::TooMuchOutput;
        }
        thread::sleep(pause);
        pause = (2 * pause).min(LONGEST_PAUSE);
    }
}

fn spawn(order: &Order<'_>, output: &Output) -> Result<Child, (Obstacle, String)> {
    let failed = |error: io::Error| obstacle(order.words.first(), order.cwd, &error);
    let mut command = order.words.command(order.cwd);
    command.current_dir(order.cwd).stdin(Stdio::null());
    for (name, _) in std::env::vars_os().filter(|(name, _)| (order.is_hidden)(name)) {
        command.env_remove(name);
    }
    command.envs(order.environment.iter().copied());
    ProcessGroup::prepare(&mut command);
    let (pipe, stdout) = io::pipe().map_err(failed)?;
    if order.stdout_bound == 0 {
        command.stderr(stdout.try_clone().map_err(failed)?);
        output.listen(Source::Other, pipe).map_err(failed)?;
    } else {
        let (stderr_pipe, stderr) = io::pipe().map_err(failed)?;
        command.stderr(stderr);
        output.listen(Source::Stdout, pipe).map_err(failed)?;
        output.listen(Source::Other, stderr_pipe).map_err(failed)?;
    }
    command.stdout(stdout);
    // Our own ends of the pipes go with `command`, or the readers would wait for us.
    command.spawn().map_err(failed)
}

impl Words<'_> {
    fn first(&self) -> &str {
        match self {
            Self::Program(program, _) => program,
            Self::Shell(_) => SHELL,
        }
    }

    fn command(&self, cwd: &Path) -> Command {
        match self {
            Self::Program(word, arguments) => {
                let path = program(word, cwd);
                let mut command = named(path, word);
                command.args(arguments);
                command
            }
            Self::Shell(line) => shell(line),
        }
    }
}

/// A command that knows itself by the word that was written.
#[cfg(unix)]
fn named(path: PathBuf, word: &str) -> Command {
    use std::os::unix::process::CommandExt;
    let mut command = Command::new(path);
    command.arg0(word);
    command
}

#[cfg(windows)]
fn named(path: PathBuf, _word: &str) -> Command {
    Command::new(path)
}

#[cfg(unix)]
const SHELL: &str = "sh";

#[cfg(unix)]
fn shell(line: &str) -> Command {
    let mut command = Command::new(SHELL);
    command.arg("-c").arg(line);
    command
}

#[cfg(windows)]
const SHELL: &str = "cmd";

/// `cmd` reads its line by rules of its own, so the line is passed as it is.
#[cfg(windows)]
fn shell(line: &str) -> Command {
    use std::os::windows::process::CommandExt;
    let mut command = Command::new(SHELL);
    command.arg("/D").arg("/C").raw_arg(line);
    command
}
