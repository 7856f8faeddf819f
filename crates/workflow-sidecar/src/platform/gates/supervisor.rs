//! The supervisor process, which runs a gate and outlives the sidecar for as long as the cleanup takes.
//!
//! Owns the protocol with the sidecar, and every reason to stop: the end of standard input, a closed standard output,
//! a signal.

use std::io::{self, BufRead, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};
#[cfg(unix)]
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::Report;
use super::check::check;
use super::job::Job;
use crate::platform::process::{GRACE, Monitor, end_descendants};

/// A line of the supervisor's output.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum SupervisorMessage {
    /// A check begins, counted from 0.
    Begins(usize),
    /// A process group has started; `None` when it has ended.
    Runs(Option<u32>),
    /// A check has ended.
    Report(Report),
}

/// Time limit of the cleanup.
const CLEANUP_TIME: Duration = Duration::from_secs(4).saturating_add(GRACE.saturating_mul(2));

/// Runs the gate that is sent on standard input, until that input ends.
pub(crate) fn supervise() -> io::Result<()> {
    leave_the_terminal();
    let cancelled = Arc::new(AtomicBool::new(false));
    cancel_on_signals(&cancelled)?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    let job: Job = serde_json::from_str(&line)?;
    let at_end_of_input = cancelled.clone();
    thread::spawn(move || cancel_at_end_of_input(&at_end_of_input));
    run(&job, &cancelled);
    Ok(())
}

/// Runs the checks in their order, up to the first that does not pass.
fn run(job: &Job, cancelled: &AtomicBool) {
    for (index, gate) in job.gates.iter().enumerate() {
        send(&SupervisorMessage::Begins(index), cancelled);
        let groups = |group| send(&SupervisorMessage::Runs(group), cancelled);
        let stops = || cancelled.load(Ordering::Relaxed);
        let report = check(gate, job, Monitor::new(&stops, &groups));
        // What has left its group has become a child of this process.
        end_descendants();
        let goes_on = report.has_passed();
        send(&SupervisorMessage::Report(report), cancelled);
        if !goes_on {
            return;
        }
    }
}

/// Sends a message to the sidecar. A failed write cancels the gate.
fn send(message: &SupervisorMessage, cancelled: &AtomicBool) {
    let line = serde_json::to_string(message).map_err(io::Error::from);
    let written = line.and_then(|line| writeln!(io::stdout().lock(), "{line}"));
    if written.is_err() {
        cancelled.store(true, Ordering::Relaxed);
    }
}

/// Waits for the end of standard input, which has no data after the job.
fn cancel_at_end_of_input(cancelled: &AtomicBool) {
    // A read error is an end as well.
    let _ = io::copy(&mut io::stdin(), &mut io::sink());
    cancelled.store(true, Ordering::Relaxed);
    // A check that hangs in the kernel, for example on a network file system, does not see the flag.
    thread::sleep(CLEANUP_TIME);
    std::process::exit(1);
}

/// Leaves the host's terminal: Ctrl-C there must not end the supervisor before it has cleaned up, and a command that
/// asks for a password must fail instead of blocking.
fn leave_the_terminal() {
    // Fails only for a process that already leads a group, which is separate from the terminal as well.
    #[cfg(unix)]
    let _ = rustix::process::setsid();
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{
            Signal, getpid, set_child_subreaper, set_parent_process_death_signal,
        };
        // Orphaned processes become children of this one, which ends and reaps them.
        let _ = set_child_subreaper(Some(getpid()));
        // A command may have stopped this process, which then would not notice that the sidecar was killed.
        let _ = set_parent_process_death_signal(Some(Signal::CONT));
    }
}

#[cfg_attr(windows, expect(unused_variables, reason = "there are no signals"))]
fn cancel_on_signals(cancelled: &Arc<AtomicBool>) -> io::Result<()> {
    #[cfg(unix)]
    for signal in [SIGHUP, SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, cancelled.clone())?;
    }
    Ok(())
}
