//! One run of the test command, so that whoever creates a workflow learns what its gates will find.

use std::path::Path;
use std::sync::mpsc;

use super::test_command::TestCommand;
use crate::platform::gates::{Baseline, GateEvent, Job, Report, start, this_binary};

/// The most seconds that it may take.
pub(super) const SECONDS: u32 = 120;

/// Runs the command as a gate does: without input, and ended with everything that it started. `on_second` is called
/// while it runs. Returns `None` if it was lost.
pub(super) fn first_run(
    command: &TestCommand,
    project: &Path,
    mut on_second: impl FnMut(),
) -> Option<Report> {
    let job = Job {
        gates: vec![command.check(SECONDS)],
        cwd: project.to_path_buf(),
        baseline: Baseline::default(),
        start: None,
        agent_dir: None,
    };
    let (sender, events) = mpsc::channel();
    // The receiver is gone only when this function has returned.
    let forward = move |event| drop(sender.send(event));
    let _running = match start(this_binary(), job, forward) {
        Ok(running) => running,
        Err(reports) => return reports.into_iter().next(),
    };
    // The first event says that the check begins.
    for event in events.into_iter().skip(1) {
        match event {
            GateEvent::Progress(_) => on_second(),
            GateEvent::Finished(reports) => return reports.into_iter().next(),
        }
    }
    None
}
