//! The sidecar on standard input and output.
//!
//! The main thread reads a line, handles it and writes the answer. A second thread waits for deadlines, and others report
//! on gates and triggers. Each of them locks the server and the output while it handles an event, so that lines are written
//! in the order in which they were decided.

use std::io::{self, Stdout, Write};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use workflow_core::effect::TriggerOutcome;
use workflow_core::types::Millis;

use super::config::ConnectionRecorder;
use super::config::ServerConfig;
use super::state::Server;
use crate::platform::{Platform, PlatformReport, RealPlatform};
use crate::rpc::{Frame, LineReader};
use crate::threads::spawn;

/// The number of unsent bytes above which lines are written at once.
const MAX_UNSENT: usize = 64 << 10;

/// Serves the host on standard input and output until either ends, or the host asks for the end.
///
/// A line longer than `max_line` bytes is refused and skipped. A host that is gone is not an error.
pub(crate) fn serve(
    max_line: usize,
    recorder: Option<Box<dyn ConnectionRecorder>>,
) -> io::Result<()> {
    let real = Arc::new(RealPlatform::default());
    let config = ServerConfig {
        platform: Arc::clone(&real) as Arc<dyn Platform>,
        has_surroundings: recorder.is_none(),
        recorder,
        ..ServerConfig::default()
    };
    let connection = Arc::new(Connection {
        served: Mutex::new(Served {
            server: Server::new(config),
            stdout: io::stdout(),
            awaited: None,
            has_ended: false,
        }),
        changed: Condvar::new(),
    });
    let waiting = Arc::clone(&connection);
    let timer = spawn("timer", move || waiting.wait_for_deadlines())?;
    let reported = Arc::clone(&connection);
    real.listen(move |report| reported.handle_report(&report));
    let lines = LineReader::new(io::stdin().lock(), max_line);
    let served = connection.handle_lines(lines);
    connection.served.lock().has_ended = true;
    connection.changed.notify_one();
    if timer.join().is_err() {
        tracing::error!("the thread of the timer panicked");
    }
    real.finish();
    match served {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        served => served,
    }
}

/// The connection to the host.
struct Connection {
    served: Mutex<Served>,
    /// Notified when the first deadline changes, and at the end.
    changed: Condvar,
}

/// The server and standard output.
struct Served {
    server: Server,
    stdout: Stdout,
    /// The deadline that the timer waits for.
    awaited: Option<Millis>,
    has_ended: bool,
}

impl Connection {
    /// Reads, handles and answers lines until there are no more.
    fn handle_lines(&self, mut lines: LineReader<impl io::Read>) -> io::Result<()> {
        loop {
            let line = lines.next()?;
            let is_end = line == Frame::End;
            let mut served = self.served.lock();
            served.server.handle_input(line);
            self.reschedule(&served);
            if is_end || served.server.is_over {
                return served.flush();
            }
            // The answers to lines that have arrived together are written together.
            if !lines.has_next() || served.server.unsent.len() > MAX_UNSENT {
                served.flush()?;
            }
        }
    }

    /// Handles a report of the platform, and gives what happens to the message of a trigger.
    fn handle_report(&self, report: &PlatformReport) -> Option<TriggerOutcome> {
        let mut served = self.served.lock();
        let outcome = served.server.accept_report(report);
        self.reschedule(&served);
        served.flush_or_exit();
        outcome
    }

    /// Handles each deadline when it comes, until the connection ends.
    fn wait_for_deadlines(&self) {
        let mut served = self.served.lock();
        while !served.has_ended {
            served.awaited = served.server.deadline();
            match served.server.due_in() {
                None => self.changed.wait(&mut served),
                Some(Duration::ZERO) => {
                    served.server.handle_due_time();
                    served.flush_or_exit();
                }
                Some(wait) => {
                    self.changed.wait_for(&mut served, wait);
                }
            }
        }
    }

    /// Has the timer wait for the first deadline, if it waits for another one.
    fn reschedule(&self, served: &Served) {
        if served.server.deadline() != served.awaited {
            self.changed.notify_one();
        }
    }
}

impl Served {
    fn flush(&mut self) -> io::Result<()> {
        let lines = std::mem::take(&mut self.server.unsent);
        self.stdout.write_all(&lines)?;
        self.stdout.flush()
    }

    /// Writes from a thread other than the one that reads, which may wait for a line forever.
    fn flush_or_exit(&mut self) {
        if self.flush().is_err() {
            // The host is gone.
            std::process::exit(0);
        }
    }
}
