//! The commands of gates at the host: requests, their answers, and the events that follow for the session.

use jsonrpsee::types::Id;
use workflow_core::effect::{Effect, GateRun};
use workflow_core::event::PlatformEvent;
use workflow_core::types::GateRunId;
use workflow_protocol::HostCancelParams;
use workflow_protocol::method::{HostCancel, HostExec};

use super::convert;
use super::host_gates::NextCheck;
use super::state::Server;
use crate::platform::gates::HostAnswer;

impl Server {
    /// Handles the end of a command that the host ran.
    pub(super) fn handle_executed(&mut self, id: &str, answer: HostAnswer) {
        let now = self.timer.now();
        self.host_gates.on_answer(id, answer, now);
        let event = self.continue_host_gate(id);
        let out = self.handle_event(id, |session, out| {
            if let Some(event) = event {
                session.handle_platform_event(event, out);
            }
        });
        self.apply(id, out.actions);
    }

    /// Begins a gate whose commands the host runs.
    pub(super) fn begin_host_gate(&mut self, id: &str, run: GateRun) -> Option<PlatformEvent> {
        self.end_host_gate(id, None);
        self.host_gates.begin(id, run);
        self.continue_host_gate(id)
    }

    /// Runs what a gate needs next. Gives the event for the session that is known at once.
    pub(super) fn continue_host_gate(&mut self, id: &str) -> Option<PlatformEvent> {
        loop {
            let cwd = self.directories(id)?.cwd;
            match self.host_gates.next(id, &cwd)? {
                NextCheck::Finished(gate, reports) => {
                    return Some(PlatformEvent::GateFinished { gate, reports });
                }
                NextCheck::Platform(part, text) => {
                    let gate = part.id;
                    match self.perform_on_platform(id, Effect::RunGate(part)) {
                        Some(PlatformEvent::GateFinished { reports, .. }) => {
                            self.host_gates.on_reports(id, gate, &reports);
                        }
                        Some(refused) => {
                            self.host_gates.cancel(id, None);
                            return Some(refused);
                        }
                        None => return Some(PlatformEvent::GateProgress { gate, text }),
                    }
                }
                NextCheck::Host(command, text) => {
                    let request = self.questions.add_command(id);
                    let now = self.timer.now();
                    self.host_gates.on_asked(id, request.clone(), &command, now);
                    let params = convert::exec(id, command);
                    self.outbox.request::<HostExec>(request, &params);
                    let gate = self.host_gates.running(id)?;
                    return Some(PlatformEvent::GateProgress { gate, text });
                }
            }
        }
    }

    /// Ends the gate of a session, and what the host runs for it.
    pub(super) fn end_host_gate(&mut self, id: &str, gate: Option<GateRunId>) {
        if let Some(request) = self.host_gates.cancel(id, gate) {
            self.cancel_command(&request);
        }
    }

    /// Asks the host to end a command.
    pub(super) fn cancel_command(&mut self, request: &Id<'_>) {
        self.questions.take(request);
        if let Some(id) = request.as_str() {
            let id = id.to_owned();
            self.outbox.notify::<HostCancel>(&HostCancelParams { id });
        }
    }
}
