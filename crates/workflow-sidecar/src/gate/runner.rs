//! The sidecar's half of a gate that runs: starts the keeper, tells of what it says.
//!
//! Owns that there is exactly one end, whatever becomes of the keeper.

use std::io::{self, BufRead, BufReader, PipeReader, PipeWriter, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Instant;

use super::check::Job;
use super::keeper::Message;
use super::name::{could_not_run, what};
use super::process_group::ProcessGroup;
use super::{Obstacle, Report};

/// The hidden command under which this binary is a keeper.
const COMMAND: &str = "run-gate";

/// What a keeper is called among processes. Not as the sidecar: whoever kills all of that name
/// leaves the keepers, who then clean up.
#[cfg(unix)]
const NAME: &str = "workflow-gate";

/// What is told of a gate that runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A check begins, or runs still: told at its beginning and about once a second.
    Progress(Progress),
    /// The gate has ended. Told once, as the last: a report on each check up to the first that did
    /// not pass.
    Over(Vec<Report>),
}

/// Where a gate that runs has got to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// Which check runs, counted from 0.
    pub check: usize,
    /// How many there are.
    pub of: usize,
    /// What runs, as people read it.
    pub what: String,
    /// For how long it has been running.
    pub elapsed_ms: u64,
}

/// Which binary keeps gates.
#[derive(Debug, Clone)]
pub struct Keeper(PathBuf);

impl Keeper {
    /// The binary that runs now.
    #[must_use]
    pub fn this_binary() -> Self {
        // Where the file was replaced meanwhile, by an update say, its path leads elsewhere.
        if cfg!(target_os = "linux") {
            return Self(PathBuf::from("/proc/self/exe"));
        }
        Self(std::env::current_exe().unwrap_or_else(|_| PathBuf::from("workflow-sidecar")))
    }

    /// The binary at a path.
    #[must_use]
    pub fn at(path: PathBuf) -> Self {
        Self(path)
    }
}

/// A gate that runs. Dropping it calls the gate off: what runs is ended, and then [`Event::Over`]
/// says so.
#[derive(Debug)]
#[must_use = "a gate whose `Running` is dropped is called off"]
pub struct Running {
    _lifeline: PipeWriter,
}

impl Running {
    /// Calls the gate off. Does not wait until it has ended.
    pub fn cancel(self) {}
}

/// Starts a gate. What becomes of it is told on a thread that lives as long as the gate runs.
///
/// Where that thread cannot be had nothing is told, and the reports are the error.
pub fn start(
    keeper: &Keeper,
    job: Job,
    told: impl FnMut(Event) + Send + 'static,
) -> Result<Running, Vec<Report>> {
    let first = job.gates.first().cloned();
    let failed = |error: io::Error| {
        let report = |gate| could_not_run(&gate, Obstacle::Start, not_started(&error));
        first.clone().map(report).into_iter().collect::<Vec<_>>()
    };
    let (input, lifeline) = io::pipe().map_err(failed)?;
    let for_job = lifeline.try_clone().map_err(failed)?;
    let keeper = keeper.clone();
    let thread = thread::Builder::new().name("gate".to_owned());
    let spawned = thread.spawn(move || {
        let gates = job.gates.len();
        let mut course = Course {
            job,
            gates,
            told,
            reports: Vec::new(),
            current: None,
            group: None,
        };
        let ended = course.follow(&keeper, input, for_job);
        course.end(&ended);
    });
    spawned.map_err(failed)?;
    Ok(Running {
        _lifeline: lifeline,
    })
}

fn not_started(error: &io::Error) -> String {
    format!("the gate could not be started: {error}")
}

/// What is known of a gate that runs.
struct Course<T> {
    job: Job,
    gates: usize,
    told: T,
    reports: Vec<Report>,
    current: Option<(usize, Instant)>,
    /// What the keeper last said that it runs.
    group: Option<u32>,
}

impl<T: FnMut(Event)> Course<T> {
    /// Follows the keeper to its end, and says how that was.
    fn follow(&mut self, keeper: &Keeper, input: PipeReader, job: PipeWriter) -> String {
        let mut child = match spawn(keeper, input) {
            Ok(child) => child,
            Err(error) => return not_started(&error),
        };
        // A keeper that does not read its job says nothing either.
        let _ = self.send_job(job);
        if let Some(output) = child.stdout.take() {
            for line in BufReader::new(output).lines() {
                let Ok(line) = line else { break };
                match serde_json::from_str(&line) {
                    Ok(message) => self.take(message),
                    Err(error) => tracing::warn!(%error, "the keeper of a gate is not understood"),
                }
            }
        }
        match child.wait() {
            Ok(status) => format!("what runs the gate ended before the check did: {status}"),
            Err(error) => format!("what runs the gate was lost: {error}"),
        }
    }

    fn send_job(&self, mut pipe: PipeWriter) -> io::Result<()> {
        let mut line = serde_json::to_vec(&self.job)?;
        line.push(b'\n');
        pipe.write_all(&line)
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::Begins(check) => {
                self.current = Some((check, Instant::now()));
                self.tell_progress();
            }
            Message::Runs(group) => self.group = group,
            Message::Still => self.tell_progress(),
            Message::Report(report) => {
                self.current = None;
                self.reports.push(report);
            }
        }
    }

    fn tell_progress(&mut self) {
        let Some((check, since)) = self.current else {
            return;
        };
        let Some(gate) = self.job.gates.get(check) else {
            return;
        };
        let elapsed = since.elapsed().as_millis();
        let progress = Progress {
            check,
            of: self.gates,
            what: what(&gate.check),
            elapsed_ms: u64::try_from(elapsed).unwrap_or(u64::MAX),
        };
        (self.told)(Event::Progress(progress));
    }

    /// Tells the end; for a keeper that was lost, the check it was at could not be run.
    fn end(mut self, how: &str) {
        if let Some(group) = self.group.and_then(ProcessGroup::numbered) {
            group.end(None);
        }
        let has_stopped = self.reports.last().is_some_and(|last| !last.has_passed());
        if let Some(gate) = self.job.gates.get(self.reports.len())
            && !has_stopped
        {
            let lost = could_not_run(gate, Obstacle::Start, how);
            self.reports.push(lost);
        }
        (self.told)(Event::Over(self.reports));
    }
}

fn spawn(keeper: &Keeper, input: PipeReader) -> io::Result<Child> {
    let mut command = Command::new(&keeper.0);
    #[cfg(unix)]
    std::os::unix::process::CommandExt::arg0(&mut command, NAME);
    command.arg(COMMAND).stdin(input).stdout(Stdio::piped());
    // It must not hold the host's pipe open when the host waits for the sidecar's end.
    command.stderr(Stdio::null()).spawn()
}
