//! A server whose lines can be recorded, and the port to the recording.

use std::fmt;
use std::sync::Arc;

use workflow_core::Session;
use workflow_core::effect::TriggerOutcome;
use workflow_core::types::Millis;

use super::config::ServerConfig;
use super::definitions::Loader;
use super::state::Server;
use crate::platform::{Platform, PlatformReport};

/// A recording of a connection.
pub(crate) trait ConnectionRecorder: fmt::Debug + Send {
    /// The seed of task ids while this is recorded.
    fn seed(&self) -> u64;

    /// A loader of definitions that records its reads.
    fn loader(&self) -> Arc<dyn Loader>;

    /// A platform with the results of this one, which are recorded.
    fn platform(&self, platform: Arc<dyn Platform>) -> Arc<dyn Platform>;

    /// Writes what happened, and the lines that followed.
    fn write(&mut self, at: Millis, cause: Cause<'_>, followed: &[u8]);
}

/// The cause of lines of the sidecar.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Cause<'a> {
    Host {
        line: HostLine<'a>,
        /// True if decisions depend on what tools are given or give back.
        depends_on_payload: bool,
    },
    Time,
    Platform(&'a PlatformReport),
}

/// The input of the host.
#[derive(Debug, Clone, Copy)]
pub(crate) enum HostLine<'a> {
    Line(&'a [u8]),
    /// A line over the limit of this many bytes.
    TooLong(usize),
    /// The host closed its side.
    End,
}

/// A server, its lines that were not taken yet, and the recording of all lines.
#[derive(Debug)]
pub(super) struct RecordedServer {
    pub(super) server: Server,
    pub(super) unsent: Vec<u8>,
    recorder: Option<Box<dyn ConnectionRecorder>>,
}

impl RecordedServer {
    pub(super) fn new(
        mut config: ServerConfig,
        recorder: Option<Box<dyn ConnectionRecorder>>,
    ) -> Self {
        if let Some(recorder) = &recorder {
            config.loader = recorder.loader();
            config.seed = Some(recorder.seed());
            config.platform = recorder.platform(config.platform);
        }
        Self {
            server: Server::new(config),
            unsent: Vec::new(),
            recorder,
        }
    }

    /// Handles the input of the host.
    pub(super) fn handle_line(&mut self, line: HostLine<'_>) {
        self.handle_due_time();
        let server = &mut self.server;
        let is_recorded = self.recorder.is_some();
        let before = is_recorded.then(|| (depends_on_payload(server), denials(server)));
        match line {
            HostLine::Line(line) => server.handle_line(line),
            HostLine::TooLong(limit) => server.refuse_long_line(limit),
            HostLine::End => server.finish(),
        }
        let depends_on_payload =
            before.is_some_and(|(depends, before)| depends || denials(server) > before);
        self.add(Cause::Host {
            line,
            depends_on_payload,
        });
    }

    /// Handles what is due before the next event.
    pub(super) fn handle_due_time(&mut self) {
        if self.server.handle_due_time() {
            self.add(Cause::Time);
        }
    }

    /// Handles a report of the platform, and gives what happens to the message of a trigger.
    pub(super) fn handle_report(&mut self, report: &PlatformReport) -> Option<TriggerOutcome> {
        self.handle_due_time();
        if !self.server.config.platform.accept(report) {
            return None;
        }
        let outcome = self.server.report(report.clone());
        self.add(Cause::Platform(report));
        outcome
    }

    /// Adds the lines that follow from a cause, and records both.
    fn add(&mut self, cause: Cause<'_>) {
        let lines = self.server.outbox.take();
        if let Some(recorder) = &mut self.recorder {
            recorder.write(self.server.clock.now(), cause, &lines);
        }
        self.unsent.extend_from_slice(&lines);
    }
}

/// Returns true if decisions depend on what tools are given or give back.
fn depends_on_payload(server: &Server) -> bool {
    sessions(server).any(Session::looks_at_payload)
}

/// Counts the calls of all sessions that were denied because of their content.
fn denials(server: &Server) -> u64 {
    sessions(server).map(Session::denials).sum()
}

fn sessions(server: &Server) -> impl Iterator<Item = &Session> {
    server.sessions.values().map(|open| &open.driver.session)
}
