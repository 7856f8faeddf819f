//! The process that runs a gate, and outlives whoever asked for it as long as it takes to clean up.
//!
//! Owns the way a job comes in and reports go out, and every reason to stop: the end of standard
//! input, a reader that is gone, a signal.

use std::io::{self, BufRead, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Report;
use super::check::{Job, check};
use super::process_group::{GRACE, ProcessGroup};
use super::watch::Watch;

/// A line of the keeper's.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Message {
    /// A check begins, counted from 0.
    Begins(usize),
    /// A group of processes runs, or none any more.
    Runs(Option<u32>),
    /// It is still at it.
    Still,
    /// A check has ended.
    Report(Report),
}

/// How often it is said that a check is still running.
const EVERY: Duration = Duration::from_secs(1);

/// How long the keeper has at most to clean up when it is to stop.
const CLEANING: Duration = Duration::from_secs(3).saturating_add(GRACE);

/// Runs the gate that comes on standard input, until that ends.
pub(crate) fn keep() -> io::Result<()> {
    leave_the_terminal();
    let over = Arc::new(AtomicBool::new(false));
    stop_at_signals(&over)?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    let job: Job = serde_json::from_str(&line)?;
    let stop = over.clone();
    thread::spawn(move || stop_at_the_end_of_input(&stop));
    let told = Told(Arc::new(Mutex::new(io::stdout())), over.clone());
    let ticking = told.clone();
    thread::spawn(move || {
        loop {
            thread::sleep(EVERY);
            ticking.say(&Message::Still);
        }
    });
    run(&job, &over, &told);
    Ok(())
}

/// Runs the checks in their order, up to the first that does not pass.
fn run(job: &Job, over: &AtomicBool, told: &Told) {
    for (index, gate) in job.gates.iter().enumerate() {
        told.say(&Message::Begins(index));
        let mut groups = |group: Option<ProcessGroup>| {
            told.say(&Message::Runs(group.map(ProcessGroup::number)));
        };
        let report = check(gate, job, &mut Watch::new(over, &mut groups));
        let goes_on = report.has_passed();
        told.say(&Message::Report(report));
        if !goes_on {
            return;
        }
    }
}

/// Where messages go. When nobody reads them, it is over.
#[derive(Debug, Clone)]
struct Told(Arc<Mutex<io::Stdout>>, Arc<AtomicBool>);

impl Told {
    fn say(&self, message: &Message) {
        let written = serde_json::to_string(message)
            .map_err(io::Error::from)
            .and_then(|mut line| {
                line.push('\n');
                let mut out = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                out.write_all(line.as_bytes())?;
                out.flush()
            });
        if written.is_err() {
            self.1.store(true, Ordering::Relaxed);
        }
    }
}

/// Nothing more comes on standard input: its end is what is waited for.
fn stop_at_the_end_of_input(over: &AtomicBool) {
    // Input that fails has ended too.
    let _ = io::copy(&mut io::stdin(), &mut io::sink());
    over.store(true, Ordering::Relaxed);
    // A check that hangs in the kernel, on a network's file say, cannot be talked to.
    thread::sleep(CLEANING);
    std::process::exit(1);
}

/// A key typed at the host's terminal must not end the keeper before it has cleaned up, and a
/// command that asks for a password there must fail rather than wait.
#[cfg(unix)]
fn leave_the_terminal() {
    // Refused to whoever leads a group already, who then is on its own as well.
    let _ = rustix::process::setsid();
    // What loses its parent is left to us, so that its end is seen even where nobody else looks.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

#[cfg(windows)]
fn leave_the_terminal() {}

#[cfg(unix)]
fn stop_at_signals(over: &Arc<AtomicBool>) -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    for signal in [SIGHUP, SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, over.clone())?;
    }
    Ok(())
}

#[cfg(windows)]
fn stop_at_signals(_over: &Arc<AtomicBool>) -> io::Result<()> {
    Ok(())
}
