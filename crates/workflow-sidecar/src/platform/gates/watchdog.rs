//! The second clock of a gate: the sidecar's own, for a supervisor that cannot see its time limits because it is stopped.
//!
//! A command of a gate runs as the same user as its supervisor, so it can stop it (`kill -STOP $PPID`). The supervisor
//! then neither ends the command at its time limit nor notices that the gate is cancelled.

use std::process::{Child, ExitStatus};
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{io, thread};

use parking_lot::Mutex;
use workflow_core::definition::Gate;

use crate::platform::process::{GRACE, is_stopped, kill_tree};
use crate::threads::spawn;

/// Time beyond a limit for a supervisor that is stopped.
const MARGIN: Duration = Duration::from_secs(2);
/// Time beyond a limit for a supervisor that works: it asks processes to end, kills them, and reports.
const CLEANUP: Duration = Duration::from_secs(6).saturating_add(GRACE.saturating_mul(2));
/// Time limit of everything between two checks, and of a cancelled gate.
const BETWEEN: Duration = Duration::ZERO;
/// Time limit of a check that is not a command: reading a file or comparing a repository, each with limits of its parts.
const NO_COMMAND: Duration = Duration::from_secs(1200);
/// Interval of waiting for the end of a supervisor.
const PAUSE: Duration = Duration::from_millis(5);
/// Interval of looking at the clock.
const INTERVAL: Duration = Duration::from_millis(250);

/// The clock, shared by those who know what the supervisor does now.
#[derive(Debug, Clone)]
pub(super) struct Watchdog(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    /// The supervisor, until it was waited for.
    supervisor: Option<u32>,
    /// When the supervisor should have reported.
    limit: Instant,
    is_cancelled: bool,
    has_killed: bool,
}

impl Watchdog {
    pub(super) fn new() -> Self {
        Self(Arc::new(Mutex::new(State {
            supervisor: None,
            limit: Instant::now() + BETWEEN,
            is_cancelled: false,
            has_killed: false,
        })))
    }

    /// Watches a supervisor until it was waited for.
    pub(super) fn watch(&self, supervisor: &Child) -> io::Result<()> {
        let mut state = self.0.lock();
        state.supervisor = Some(supervisor.id());
        state.limit = Instant::now() + BETWEEN;
        drop(state);
        let watchdog = self.clone();
        spawn("gate clock", move || while watchdog.look() {}).map(drop)
    }

    /// Notes that a check begins.
    pub(super) fn check_begins(&self, gate: Option<&Gate>) {
        self.set_limit(match gate.map(|gate| &gate.check) {
            None => NO_COMMAND,
            Some(check) => check
                .command()
                .map_or(NO_COMMAND, |run| Duration::from_secs(run.timeout.into())),
        });
    }

    /// Notes that a check has ended.
    pub(super) fn check_ended(&self) {
        self.set_limit(BETWEEN);
    }

    fn set_limit(&self, limit: Duration) {
        let mut state = self.0.lock();
        if !state.is_cancelled {
            state.limit = Instant::now() + limit;
        }
    }

    /// Notes that the gate is cancelled. A supervisor that is stopped now is killed at once, because this process may end.
    pub(super) fn cancel(&self) {
        let mut state = self.0.lock();
        state.is_cancelled = true;
        state.limit = Instant::now() + BETWEEN;
        if state.supervisor.is_some_and(is_stopped) {
            state.kill();
        }
    }

    /// Waits for the end of the supervisor. Returns how it ended, and whether it was killed by this clock.
    pub(super) fn wait_for(&self, child: &mut Child) -> (io::Result<ExitStatus>, bool) {
        loop {
            let mut state = self.0.lock();
            if let Some(ended) = child.try_wait().transpose() {
                // From now on the number may be that of another process.
                state.supervisor = None;
                return (ended, state.has_killed);
            }
            drop(state);
            thread::sleep(PAUSE);
        }
    }

    /// Kills a supervisor that is too late, then waits for a moment. Returns false once there is none.
    fn look(&self) -> bool {
        let mut state = self.0.lock();
        let Some(supervisor) = state.supervisor else {
            return false;
        };
        let late = Instant::now().saturating_duration_since(state.limit);
        if late > CLEANUP || (late > MARGIN && is_stopped(supervisor)) {
            tracing::warn!(
                supervisor,
                "the supervisor of a gate does not answer, and is killed"
            );
            state.kill();
        }
        drop(state);
        thread::sleep(INTERVAL);
        true
    }
}

impl State {
    fn kill(&mut self) {
        if let Some(supervisor) = self.supervisor {
            self.has_killed = true;
            kill_tree(supervisor);
        }
    }
}
