//! The sidecar's side of a running gate: starts the supervisor process and forwards its events.
//!
//! Owns that there is exactly one final event, even if the supervisor is lost, and a second clock: a command runs as the same
//! user as its supervisor, so it can stop it (`kill -STOP $PPID`). The supervisor then neither ends the command at its time
//! limit nor notices that the gate is cancelled.

use std::io::{self, BufRead, BufReader, PipeReader, PipeWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use workflow_core::definition::Gate;

use super::Report;
use super::job::Job;
use super::report::{check_name, could_not_run};
use super::supervisor::SupervisorMessage;
use crate::platform::process::{CheckError, Failure, GRACE, ProcessGroup, is_stopped, kill_tree};
use crate::threads;

/// The hidden command that makes this binary a supervisor.
const COMMAND: &str = "run-gate";

/// Name of the supervisor process. It differs from the sidecar's, so that killing all sidecars by name leaves the
/// supervisors, which then clean up.
#[cfg(unix)]
const NAME: &str = "workflow-gate";

/// Time beyond a limit for a supervisor that is stopped.
const MARGIN: Duration = Duration::from_secs(2);
/// Time beyond a limit for a supervisor that works: it asks processes to end, kills them, and reports.
const CLEANUP: Duration = Duration::from_secs(6).saturating_add(GRACE.saturating_mul(2));
/// Time limit of a check that is not a command: reading a file or comparing a repository, each with limits of its parts.
const NO_COMMAND: Duration = Duration::from_secs(1200);
/// Interval of looking at the clock.
const INTERVAL: Duration = Duration::from_millis(250);
/// Interval of waiting for the end of a supervisor.
const PAUSE: Duration = Duration::from_millis(5);

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
    clock: Arc<Mutex<Clock>>,
    _supervisor_input: PipeWriter,
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut clock = self.clock.lock();
        clock.allow(Duration::ZERO);
        clock.is_cancelled = true;
        // At once, because this process may end.
        clock.kill_if_late(Duration::ZERO);
    }
}

/// The time that a supervisor has.
#[derive(Debug)]
struct Clock {
    /// Its number, until it was waited for: from then on it may be that of another process.
    supervisor: Option<u32>,
    /// When it should have reported.
    limit: Instant,
    is_cancelled: bool,
    has_killed: bool,
}

impl Clock {
    /// Gives the supervisor this time from now on, unless the gate is cancelled.
    fn allow(&mut self, time: Duration) {
        if !self.is_cancelled {
            self.limit = Instant::now() + time;
        }
    }

    /// Kills a supervisor that does not report in time; one that is stopped, after a margin.
    fn kill_if_late(&mut self, margin: Duration) {
        let late = Instant::now().saturating_duration_since(self.limit);
        if let Some(supervisor) = self.supervisor
            && (late > CLEANUP || (late >= margin && is_stopped(supervisor)))
        {
            tracing::warn!(
                supervisor,
                "the supervisor of a gate does not answer, and is killed"
            );
            self.has_killed = true;
            kill_tree(supervisor);
        }
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
    let clock = Arc::new(Mutex::new(Clock {
        supervisor: None,
        limit: Instant::now(),
        is_cancelled: false,
        has_killed: false,
    }));
    let for_follower = Arc::clone(&clock);
    let spawned = threads::spawn("gate", move || {
        let mut follower = Follower {
            job,
            on_event,
            reports: Vec::new(),
            current: None,
            shown_seconds: None,
            group: None,
            clock: for_follower,
        };
        let (error, reason) = follower.follow(&supervisor, input, for_job);
        follower.finish(error, &reason);
    });
    spawned.map_err(failed)?;
    Ok(Running {
        clock,
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
    /// The time of the current check that was reported last.
    shown_seconds: Option<u64>,
    /// The process group that runs.
    group: Option<u32>,
    clock: Arc<Mutex<Clock>>,
}

impl<F: FnMut(GateEvent)> Follower<F> {
    /// Reads the supervisor's messages until it ends; returns how and why it ended.
    fn follow(&mut self, supervisor: &Path, input: PipeReader, job: PipeWriter) -> Failure {
        let (mut child, lines) = match self.spawn(supervisor, input, job) {
            Ok(spawned) => spawned,
            Err(error) => return (CheckError::Start, not_started(&error)),
        };
        let ended = loop {
            match lines.recv_timeout(INTERVAL) {
                Ok(line) => match serde_json::from_str(&line) {
                    Ok(message) => self.handle(message),
                    Err(error) => {
                        tracing::warn!(%error, "a message of a gate's supervisor is invalid");
                    }
                },
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    let mut clock = self.clock.lock();
                    if let Some(ended) = child.try_wait().transpose() {
                        clock.supervisor = None;
                        break ended;
                    }
                    drop(clock);
                    thread::sleep(PAUSE);
                }
            }
            self.report_progress();
            self.clock.lock().kill_if_late(MARGIN);
        };
        if self.clock.lock().has_killed {
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

    /// Starts the supervisor, and a thread that sends it the job and reads its lines.
    fn spawn(
        &self,
        supervisor: &Path,
        input: PipeReader,
        mut job: PipeWriter,
    ) -> io::Result<(Child, Receiver<String>)> {
        let text = serde_json::to_string(&self.job)?;
        let mut command = Command::new(supervisor);
        #[cfg(unix)]
        std::os::unix::process::CommandExt::arg0(&mut command, NAME);
        command.arg(COMMAND).stdin(input).stdout(Stdio::piped());
        // An inherited stderr would keep the host's pipe open after the sidecar has ended.
        let mut child = command.stderr(Stdio::null()).spawn()?;
        let output = child.stdout.take();
        let (send, lines) = channel();
        let work = move || {
            if let Err(error) = writeln!(job, "{text}") {
                // It has ended, or ends when its input does: both are reported.
                tracing::warn!(%error, "the supervisor of a gate does not read its job");
            }
            drop(job);
            let lost = |error: &io::Error| {
                tracing::warn!(%error, "the output of a gate's supervisor is lost");
            };
            let lines = output
                .into_iter()
                .flat_map(|output| BufReader::new(output).lines());
            let lines = lines.map_while(|line| line.inspect_err(lost).ok());
            lines.map_while(|line| send.send(line).ok()).for_each(drop);
        };
        if let Err(error) = threads::spawn("gate lines", work) {
            child.kill()?;
            child.wait()?;
            return Err(error);
        }
        self.clock.lock().supervisor = Some(child.id());
        Ok((child, lines))
    }

    fn handle(&mut self, message: SupervisorMessage) {
        match message {
            SupervisorMessage::Begins(check) => {
                let gate = self.job.gates.get(check);
                self.clock.lock().allow(gate.map_or(NO_COMMAND, time_of));
                self.current = Some((check, Instant::now()));
                self.shown_seconds = None;
            }
            SupervisorMessage::Runs(group) => self.group = group,
            SupervisorMessage::Report(report) => {
                self.clock.lock().allow(Duration::ZERO);
                self.current = None;
                self.reports.push(report);
            }
        }
    }

    /// Reports the check that runs, once a second.
    fn report_progress(&mut self) {
        let Some((check, since)) = self.current else {
            return;
        };
        let seconds = since.elapsed().as_secs();
        if let Some(gate) = self.job.gates.get(check)
            && self.shown_seconds.replace(seconds) != Some(seconds)
        {
            let (number, of, what) = (check + 1, self.job.gates.len(), check_name(&gate.check));
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

/// The time limit of a check.
fn time_of(gate: &Gate) -> Duration {
    let command = gate.check.command();
    command.map_or(NO_COMMAND, |run| Duration::from_secs(run.timeout.into()))
}
