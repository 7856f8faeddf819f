//! The sidecar on standard input and output.
//!
//! The main thread reads a line, handles it and writes the answer. A second thread waits for deadlines, and others report
//! on gates and triggers. Each of them locks the output while it handles an event, so that lines are written in the order
//! in which they were decided.

use std::io::{self, Stdout, Write};
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::Notify;
use workflow_core::effect::TriggerOutcome;

use super::config::ServerConfig;
use super::dispatcher::Dispatcher;
use super::recording::{Cause, ConnectionRecorder, HostLine};
use super::timer::Alarm;
use crate::platform::{Platform, PlatformReport, RealPlatform};
use crate::rpc::{Frame, LineReader};

/// The number of unsent bytes above which lines are written at once.
const MAX_UNSENT: usize = 64 << 10;

/// Serves the host on standard input and output until either ends, or the host asks for the end.
///
/// A line longer than `max_line` bytes is refused and skipped. A host that is gone is not an error.
pub(crate) fn serve(
    max_line: usize,
    recorder: Option<impl ConnectionRecorder + 'static>,
) -> io::Result<()> {
    let changed = Arc::new(Notify::new());
    let real = Arc::new(RealPlatform::default());
    let config = match &recorder {
        Some(recorder) => ServerConfig::repeatable(recorder.loader(), recorder.seed()),
        None => ServerConfig::in_surroundings(),
    };
    let platform = Arc::clone(&real) as Arc<dyn Platform>;
    let config = config.on_platform(match &recorder {
        Some(recorder) => recorder.platform(platform),
        None => platform,
    });
    let connection = Arc::new(Connection {
        dispatcher: Dispatcher::new(config, Arc::clone(&changed)),
        output: Mutex::new(Output {
            stdout: io::stdout(),
            unsent: Vec::new(),
            recorder: recorder.map(|recorder| Box::new(recorder) as _),
        }),
    });
    let (timed, due) = (Arc::clone(&connection), Arc::clone(&connection));
    let alarm = Alarm::start(
        changed,
        move || timed.dispatcher.due_in(),
        move || {
            due.handle_time();
        },
    )?;
    let reported = Arc::clone(&connection);
    real.listen(move |report| reported.handle_report(&report));
    let lines = LineReader::new(io::stdin().lock(), max_line);
    let served = connection.handle_lines(lines, max_line);
    drop(alarm);
    real.finish();
    match served {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        served => served,
    }
}

/// The connection to the host.
struct Connection {
    dispatcher: Dispatcher,
    output: Mutex<Output>,
}

/// Standard output, the lines that are not written to it yet, and the recording of all lines.
struct Output {
    stdout: Stdout,
    unsent: Vec<u8>,
    recorder: Option<Box<dyn ConnectionRecorder>>,
}

impl Connection {
    /// Reads, handles and answers lines until there are no more.
    fn handle_lines(
        &self,
        mut lines: LineReader<impl io::Read>,
        max_line: usize,
    ) -> io::Result<()> {
        loop {
            let line = match lines.next()? {
                Frame::Line(line) => HostLine::Line(line),
                Frame::TooLong => HostLine::TooLong(max_line),
                Frame::End => HostLine::End,
            };
            let is_end = matches!(line, HostLine::End);
            let mut output = self.output.lock();
            self.handle_line(line, &mut output);
            if is_end || self.dispatcher.is_over() {
                return output.flush();
            }
            // The answers to lines that have arrived together are written together.
            if !lines.has_next() || output.unsent.len() > MAX_UNSENT {
                output.flush()?;
            }
        }
    }

    fn handle_line(&self, line: HostLine<'_>, output: &mut Output) {
        self.handle_due_time(output);
        let dispatcher = &self.dispatcher;
        let is_recorded = output.recorder.is_some();
        let before = is_recorded.then(|| (dispatcher.depends_on_payload(), dispatcher.denials()));
        match line {
            HostLine::Line(line) => dispatcher.handle_line(line),
            HostLine::TooLong(limit) => dispatcher.refuse_long_line(limit),
            HostLine::End => dispatcher.finish(),
        }
        let depends_on_payload =
            before.is_some_and(|(depends, denials)| depends || dispatcher.denials() > denials);
        let cause = Cause::Host {
            line,
            depends_on_payload,
        };
        output.add(&self.dispatcher, cause);
    }

    /// Handles the deadlines that have come.
    fn handle_time(&self) {
        let mut output = self.output.lock();
        self.handle_due_time(&mut output);
        output.flush_or_exit();
    }

    /// Handles what is due before the next event.
    fn handle_due_time(&self, output: &mut Output) {
        if self.dispatcher.handle_due_time() {
            output.add(&self.dispatcher, Cause::Time);
        }
    }

    /// Handles a report of the platform, and gives what happens to the message of a trigger.
    fn handle_report(&self, report: &PlatformReport) -> Option<TriggerOutcome> {
        let mut output = self.output.lock();
        self.handle_due_time(&mut output);
        let mut outcome = None;
        if self.dispatcher.accepts(report) {
            outcome = self.dispatcher.handle_report(report.clone());
            output.add(&self.dispatcher, Cause::Platform(report));
        }
        output.flush_or_exit();
        outcome
    }
}

impl Output {
    /// Adds the lines that follow from a cause, and records both.
    fn add(&mut self, dispatcher: &Dispatcher, cause: Cause<'_>) {
        let lines = dispatcher.take_output();
        if let Some(recorder) = &mut self.recorder {
            recorder.write(dispatcher.now(), cause, &lines);
        }
        self.unsent.extend_from_slice(&lines);
    }

    fn flush(&mut self) -> io::Result<()> {
        let lines = std::mem::take(&mut self.unsent);
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
