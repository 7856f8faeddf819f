//! Restoring a checkpoint with progress. Git may take minutes, so it runs on a thread of its own.

use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use workflow_core::event::RestoreOutcome;
use workflow_core::types::Snapshot;

use super::checkpoint::restore_checkpoint;

/// Interval of progress.
const INTERVAL: Duration = Duration::from_secs(1);

/// Restores a checkpoint. `on_progress` gets the step, and the time since the beginning, about once a second.
pub(crate) fn restore_with_progress(
    snapshot: &Snapshot,
    cwd: &Path,
    agent_dir: &Path,
    on_progress: impl Fn(&'static str, Duration),
) -> RestoreOutcome {
    let (began, mut step) = (Instant::now(), "");
    thread::scope(|scope| {
        let (steps, received) = channel();
        let git = thread::Builder::new().name("git".to_owned());
        let git = git.spawn_scoped(scope, move || {
            restore_checkpoint(snapshot, cwd, agent_dir, &|step| {
                // The receiver lives until this thread has ended.
                let _ = steps.send(step);
            })
        });
        let git = match git {
            Ok(git) => git,
            Err(error) => {
                return RestoreOutcome::failed(format!("it could not be started: {error}"));
            }
        };
        loop {
            match received.recv_timeout(INTERVAL) {
                Ok(next) => step = next,
                Err(RecvTimeoutError::Timeout) => on_progress(step, began.elapsed()),
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        git.join().unwrap_or_else(|_| {
            RestoreOutcome::failed(
                "the sidecar failed at it: see `git status` and `git stash list`",
            )
        })
    })
}
