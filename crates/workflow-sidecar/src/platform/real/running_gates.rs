//! The gate that each session runs.

use std::collections::HashMap;

use parking_lot::Mutex;
use workflow_core::effect::GateRun;
use workflow_core::event::PlatformEvent;
use workflow_core::types::GateRunId;

use crate::platform::answers::trust_store::session_trusts;
use crate::platform::effects::SessionContext;
use crate::platform::gates::{self, Job};
use crate::platform::open_sessions::OpenSessions;

#[derive(Debug, Default)]
pub(super) struct RunningGates {
    running: Mutex<HashMap<String, (GateRunId, gates::Running)>>,
}

impl RunningGates {
    /// Starts a gate; gives its result where nothing has to run.
    pub(super) fn run(
        &self,
        session: &SessionContext,
        run: GateRun,
        sessions: &OpenSessions,
    ) -> Option<PlatformEvent> {
        let gate = run.id;
        if !run.commands.is_empty() && !session_trusts(session, &run.commands) {
            return Some(PlatformEvent::GateNotTrusted { gate });
        }
        // A gate of commands that the host runs: only trust was asked for.
        if run.gates.is_empty() {
            let reports = Vec::new();
            return Some(PlatformEvent::GateFinished { gate, reports });
        }
        // A baseline that cannot be read is a check that could not be run, which the check reports.
        let baseline = run.baseline.as_deref();
        let baseline = baseline.and_then(|baseline| serde_json::from_str(baseline.get()).ok());
        let job = Job {
            gates: run.gates,
            cwd: session.cwd.to_path_buf(),
            baseline: baseline.unwrap_or_default(),
            start: run.start,
            agent_dir: session.is_trusted.then(|| session.agent_dir.to_path_buf()),
        };
        let report = sessions.reporter(&session.id, None);
        let started = gates::start(gates::this_binary(), job, move |event| {
            report(match event {
                gates::GateEvent::Progress(text) => PlatformEvent::GateProgress { gate, text },
                gates::GateEvent::Finished(reports) => {
                    PlatformEvent::GateFinished { gate, reports }
                }
            });
        });
        match started {
            Ok(running) => {
                let session = session.id.clone();
                // Bound to a name, so that it does not end under the lock.
                let _earlier = self.running.lock().insert(session, (gate, running));
                None
            }
            Err(reports) => Some(PlatformEvent::GateFinished { gate, reports }),
        }
    }

    /// Ends the commands of the gate of a session: of this one, or of any.
    pub(super) fn end(&self, session: &str, gate: Option<GateRunId>) {
        let mut gates = self.running.lock();
        let running = gates.get(session).map(|(running, _)| *running);
        let ends = gate.is_none_or(|gate| running == Some(gate));
        let ended = ends.then(|| gates.remove(session));
        // It takes time to end processes, and other sessions need the list.
        drop(gates);
        drop(ended);
    }
}
