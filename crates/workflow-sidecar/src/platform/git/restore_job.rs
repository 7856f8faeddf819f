//! Restoring a checkpoint with progress, because git may take minutes.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
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
    on_progress: impl Fn(&'static str, Duration) + Send,
) -> RestoreOutcome {
    let (began, step) = (Instant::now(), Mutex::new(""));
    let restore = || restore_checkpoint(snapshot, cwd, agent_dir, &|next| *step.lock() = next);
    thread::scope(|scope| {
        let (done, ended) = channel::<()>();
        let step = &step;
        let report = move || {
            while ended.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                on_progress(*step.lock(), began.elapsed());
            }
        };
        // Without this thread there is no progress.
        let _ = thread::Builder::new().spawn_scoped(scope, report);
        let outcome = catch_unwind(AssertUnwindSafe(restore));
        drop(done);
        outcome.unwrap_or_else(|_| {
            RestoreOutcome::failed(
                "the sidecar failed at it: see `git status` and `git stash list`",
            )
        })
    })
}
