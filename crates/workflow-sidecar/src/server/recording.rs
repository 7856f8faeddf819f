//! The steps of a server, which a recorder writes.

use workflow_core::Session;
use workflow_core::effect::TriggerOutcome;

use super::recorder::{Cause, HostLine};
use super::state::Server;
use crate::platform::PlatformReport;

/// The steps of a server, which are recorded with the lines that follow from each.
impl Server {
    /// Handles the input of the host.
    pub(super) fn handle_input(&mut self, line: HostLine<'_>) {
        self.handle_due_time();
        let is_recorded = self.config.recorder.is_some();
        let before = is_recorded.then(|| (depends_on_payload(self), denials(self)));
        match line {
            HostLine::Line(line) => self.handle_line(line),
            HostLine::TooLong(limit) => self.refuse_long_line(limit),
            // The host is gone.
            HostLine::End => {
                self.run("a session could not be closed", Self::close_all);
            }
        }
        let depends_on_payload =
            before.is_some_and(|(depends, before)| depends || denials(self) > before);
        self.record(Cause::Host {
            line,
            depends_on_payload,
        });
    }

    /// Handles the deadlines that have come before the next event.
    pub(super) fn handle_due_time(&mut self) {
        let deadline = self.deadline();
        if self.clock.sample(deadline) {
            self.run("a step of the clock failed", |server| server.tick(None));
            self.record(Cause::Time);
        }
    }

    /// Handles a report if the platform accepts it, and gives what happens to the message of a trigger.
    pub(super) fn accept_report(&mut self, report: &PlatformReport) -> Option<TriggerOutcome> {
        self.handle_due_time();
        if !self.config.platform.accept(report) {
            return None;
        }
        let outcome = self.run("a report of the platform could not be handled", |server| {
            server.handle_report(report.clone())
        });
        self.record(Cause::Platform(report));
        outcome.flatten()
    }

    /// Adds the lines that follow from a cause, and records both.
    fn record(&mut self, cause: Cause<'_>) {
        let lines = self.outbox.take();
        if let Some(recorder) = &mut self.config.recorder {
            recorder.write(self.clock.now(), cause, &lines);
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
