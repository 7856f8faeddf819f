//! Bringing the code back, told as it goes.
//!
//! Owns that there is exactly one end. Git may take minutes, so it is asked on a thread of its own.

use std::io;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use workflow_core::event::RestoreOutcome as Restored;
use workflow_core::types::Snapshot;

use super::restore_code;

/// How often it is said that it goes on.
const EVERY: Duration = Duration::from_secs(1);

/// What is told of code that is brought back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum OnTheWayBack {
    /// It goes on: told about once a second.
    Still {
        /// What is being done.
        step: &'static str,
        /// For how long all of it has been going on.
        elapsed_ms: u64,
    },
    /// It is over. Told once, as the last.
    Over(Restored),
}

/// Begins to bring the code back; what becomes of it is told on the thread that is given back.
///
/// Where there can be no thread nothing is touched, and the error says so.
pub(crate) fn start_restore(
    snapshot: Snapshot,
    cwd: &Path,
    agent_dir: &Path,
    told: impl Fn(OnTheWayBack) + Send + 'static,
) -> Result<JoinHandle<()>, Restored> {
    let (cwd, agent_dir) = (cwd.to_path_buf(), agent_dir.to_path_buf());
    let teller = thread::Builder::new().name("restore".to_owned());
    let spawned = teller.spawn(move || {
        let restored = thread::scope(|scope| {
            let (steps, said) = channel();
            let worker = thread::Builder::new().name("git".to_owned());
            let worker = worker.spawn_scoped(scope, || {
                let steps = steps;
                restore_code(&snapshot, &cwd, &agent_dir, &|step| {
                    // Whoever listens does so until the end.
                    let _ = steps.send(step);
                })
            });
            let worker = match worker {
                Ok(worker) => worker,
                Err(error) => return not_started(&error),
            };
            let (began, mut step) = (Instant::now(), "");
            loop {
                match said.recv_timeout(EVERY) {
                    Ok(next) => step = next,
                    Err(RecvTimeoutError::Disconnected) => break,
                    Err(RecvTimeoutError::Timeout) => {
                        let elapsed = began.elapsed().as_millis();
                        let elapsed_ms = u64::try_from(elapsed).unwrap_or(u64::MAX);
                        told(OnTheWayBack::Still { step, elapsed_ms });
                    }
                }
            }
            worker.join().unwrap_or_else(|_| Restored {
                problem: Some(
                    "the sidecar failed at it: see `git status` and `git stash list`".to_owned(),
                ),
                ..Restored::default()
            })
        });
        told(OnTheWayBack::Over(restored));
    });
    spawned.map_err(|error| not_started(&error))
}

fn not_started(error: &io::Error) -> Restored {
    Restored {
        problem: Some(format!("it could not be started: {error}")),
        ..Restored::default()
    }
}
