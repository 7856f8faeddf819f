//! The sidecar's side of a running gate: starts the supervisor process and forwards its events.
//!
//! Owns that there is exactly one final event, even if the supervisor is lost.

use std::io::{self, BufRead, BufReader, PipeReader, PipeWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use super::Report;
use super::check::Job;
use super::report::{check_name, could_not_run};
use super::supervisor::SupervisorMessage;
use super::watchdog::Watchdog;
use crate::platform::process::{CheckError, Failure, ProcessGroup};
use crate::threads;

/// The hidden command that makes this binary a supervisor.
const COMMAND: &str = "run-gate";

/// Name of the supervisor process. It differs from the sidecar's, so that killing all sidecars by name leaves the
/// supervisors, which then clean up.
#[cfg(unix)]
const NAME: &str = "workflow-gate";

/// An event of a running gate.
#[derive(Debug, PartialEq, Eq)]
pub enum GateEvent {
    /// Sent when a check begins, and then about once a second: what runs, for people.
    Progress(String),
    /// Sent once, as the last event: a report on each check up to the first that did not pass.
    Finished(Vec<Report>),
}

/// Returns the binary that runs now, which is the supervisor as well.
pub fn this_binary() -> PathBuf {
    // The file may have been replaced since, for example by an update.
    if cfg!(target_os = "linux") {
        return PathBuf::from("/proc/self/exe");
    }
    std::env::current_exe().unwrap_or_else(|error| {
        tracing::warn!("the path of this binary is unknown, so PATH is searched: {error}");
        PathBuf::from("workflow-sidecar")
    })
}

/// A running gate. Dropping it cancels the gate: the running check is ended, and then [`GateEvent::Finished`] is sent.
#[derive(Debug)]
#[must_use = "a gate whose `Running` is dropped is cancelled"]
pub struct Running {
    watchdog: Watchdog,
    _supervisor_input: PipeWriter,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.watchdog.cancel();
    }
}

/// Starts a gate with this binary as its supervisor. `on_event` is called on a thread that lives as long as the gate runs.
///
/// If that thread cannot be started there are no events, and the error has the reports.
pub fn start(
    supervisor: PathBuf,
    job: Job,
    on_event: impl FnMut(GateEvent) + Send + 'static,
) -> Result<Running, Vec<Report>> {
    let first = job.gates.first().cloned();
    let failed = |error: io::Error| {
        let report = |gate| could_not_run(&gate, CheckError::Start, not_started(&error));
        first.clone().map(report).into_iter().collect::<Vec<_>>()
    };
    let (input, write_end) = io::pipe().map_err(failed)?;
    let for_job = write_end.try_clone().map_err(failed)?;
    let watchdog = Watchdog::new();
    let for_follower = watchdog.clone();
    let spawned = threads::spawn("gate", move || {
        let mut follower = Follower {
            job,
            on_event,
            reports: Vec::new(),
            current: None,
            group: None,
            watchdog: for_follower,
        };
        let (error, reason) = follower.follow(&supervisor, input, for_job);
        follower.finish(error, &reason);
    });
    spawned.map_err(failed)?;
    Ok(Running {
        watchdog,
        _supervisor_input: write_end,
    })
}

fn not_started(error: &io::Error) -> String {
    format!("the gate could not be started: {error}")
}

/// The last state of a running gate that the supervisor has reported.
struct Follower<F> {
    job: Job,
    on_event: F,
    reports: Vec<Report>,
    current: Option<(usize, Instant)>,
    /// The process group that runs.
    group: Option<u32>,
    watchdog: Watchdog,
}

impl<F: FnMut(GateEvent)> Follower<F> {
    /// Reads the supervisor's messages until it ends; returns how and why it ended.
    fn follow(&mut self, supervisor: &Path, input: PipeReader, job: PipeWriter) -> Failure {
        let mut child = match spawn(supervisor, input) {
            Ok(child) => child,
            Err(error) => return (CheckError::Start, not_started(&error)),
        };
        if let Err(error) = self.watchdog.watch(&child) {
            tracing::warn!(%error, "a gate has no second clock");
        }
        if let Err(error) = self.send_job(job) {
            // It has ended, or ends when its input does: both are reported below.
            tracing::warn!(%error, "the supervisor of a gate does not read its job");
        }
        if let Some(output) = child.stdout.take() {
            let lost = |error: &io::Error| {
                tracing::warn!(%error, "the output of a gate's supervisor is lost");
            };
            let lines = BufReader::new(output).lines();
            for line in lines.map_while(|line| line.inspect_err(lost).ok()) {
                match serde_json::from_str(&line) {
                    Ok(message) => self.handle(message),
                    Err(error) => {
                        tracing::warn!(%error, "a message of a gate's supervisor is invalid");
                    }
                }
            }
        }
        let (ended, was_killed) = self.watchdog.wait_for(&mut child);
        if was_killed {
            let reason = "the supervisor of the gate did not answer in time and was stopped: a command may have suspended it";
            return (CheckError::Timeout, reason.to_owned());
        }
        let reason = match ended {
            Ok(status) => {
                format!("the supervisor of the gate ended before the check did: {status}")
            }
            Err(error) => format!("the connection to the supervisor of the gate was lost: {error}"),
        };
        (CheckError::Start, reason)
    }

    fn send_job(&self, mut pipe: PipeWriter) -> io::Result<()> {
        writeln!(pipe, "{}", serde_json::to_string(&self.job)?)
    }

    fn handle(&mut self, message: SupervisorMessage) {
        match message {
            SupervisorMessage::Begins(check) => {
                self.watchdog.check_begins(self.job.gates.get(check));
                self.current = Some((check, Instant::now()));
                self.report_progress();
            }
            SupervisorMessage::Runs(group) => self.group = group,
            SupervisorMessage::Still => self.report_progress(),
            SupervisorMessage::Report(report) => {
                self.watchdog.check_ended();
                self.current = None;
                self.reports.push(report);
            }
        }
    }

    fn report_progress(&mut self) {
        if let Some((check, since)) = self.current
            && let Some(gate) = self.job.gates.get(check)
        {
            let (number, of) = (check + 1, self.job.gates.len());
            let (what, seconds) = (check_name(&gate.check), since.elapsed().as_secs());
            let text = format!("Checking {number} of {of}: {what} ({seconds} s)");
            (self.on_event)(GateEvent::Progress(text));
        }
    }

    /// Sends the final event. If the supervisor was lost, the check that it ran could not be run.
    fn finish(mut self, error: CheckError, reason: &str) {
        if let Some(group) = self.group.and_then(ProcessGroup::numbered) {
            group.end(None);
        }
        let has_stopped = self.reports.last().is_some_and(|last| !last.has_passed());
        if let Some(gate) = self.job.gates.get(self.reports.len())
            && !has_stopped
        {
            let lost = could_not_run(gate, error, reason);
            self.reports.push(lost);
        }
        (self.on_event)(GateEvent::Finished(self.reports));
    }
}

fn spawn(supervisor: &Path, input: PipeReader) -> io::Result<Child> {
    let mut command = Command::new(supervisor);
    #[cfg(unix)]
    std::os::unix::process::CommandExt::arg0(&mut command, NAME);
    command.arg(COMMAND).stdin(input).stdout(Stdio::piped());
    // An inherited stderr would keep the host's pipe open after the sidecar has ended.
    command.stderr(Stdio::null()).spawn()
}
