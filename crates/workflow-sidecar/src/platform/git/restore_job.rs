//! Restoring a checkpoint in the background, with progress.
//!
//! Owns that there is exactly one final event. Git may take minutes, so it runs on another thread.

use std::io;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use workflow_core::event::RestoreOutcome;
use workflow_core::types::Snapshot;

use super::checkpoint::restore_checkpoint;

/// Interval of progress events.
const INTERVAL: Duration = Duration::from_secs(1);

/// An event of a checkpoint that is being restored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RestoreEvent {
    /// Sent about once a second.
    Progress {
        step: &'static str,
        /// Time since the beginning of the whole operation.
        elapsed_ms: u64,
    },
    /// Sent once, as the last event.
    Finished(RestoreOutcome),
}

/// Starts to restore a checkpoint. The returned thread calls `on_event`.
///
/// If the thread cannot be started, no file is changed and the error has the reason.
pub(crate) fn start_restore(
    snapshot: Snapshot,
    cwd: &Path,
    agent_dir: &Path,
    on_event: impl Fn(RestoreEvent) + Send + 'static,
) -> Result<JoinHandle<()>, RestoreOutcome> {
    let (cwd, agent_dir) = (cwd.to_path_buf(), agent_dir.to_path_buf());
    let reporter = thread::Builder::new().name("restore".to_owned());
    let spawned = reporter.spawn(move || {
        let restored = thread::scope(|scope| {
            let (steps, received) = channel();
            let worker = thread::Builder::new().name("git".to_owned());
            let worker = worker.spawn_scoped(scope, || {
                let steps = steps;
                restore_checkpoint(&snapshot, &cwd, &agent_dir, &|step| {
                    // The receiver lives until this thread has ended.
                    let _ = steps.send(step);
                })
            });
            let worker = match worker {
                Ok(worker) => worker,
                Err(error) => return not_started(&error),
            };
            let (began, mut step) = (Instant::now(), "");
            loop {
                match received.recv_timeout(INTERVAL) {
                    Ok(next) => step = next,
                    Err(RecvTimeoutError::Disconnected) => break,
                    Err(RecvTimeoutError::Timeout) => {
                        let elapsed = began.elapsed().as_millis();
                        let elapsed_ms = u64::try_from(elapsed).unwrap_or(u64::MAX);
                        on_event(RestoreEvent::Progress { step, elapsed_ms });
                    }
                }
            }
            worker.join().unwrap_or_else(|_| RestoreOutcome {
                problem: Some(
                    "the sidecar failed at it: see `git status` and `git stash list`".to_owned(),
                ),
                ..RestoreOutcome::default()
            })
        });
        on_event(RestoreEvent::Finished(restored));
    });
    spawned.map_err(|error| not_started(&error))
}

fn not_started(error: &io::Error) -> RestoreOutcome {
    RestoreOutcome {
        problem: Some(format!("it could not be started: {error}")),
        ..RestoreOutcome::default()
    }
}
