//! One call of `workflow_step`: its ticket, its session, and the gate of the phase.
//!
//! A call handles its event twice if the phase has a gate. The first time shows which gate has to run; nothing of it is kept.
//! The gate runs while the session is neither locked nor in memory, so that hooks continue. Then the event is handled again, in
//! the session as it is by then, and the gate's result counts only if the same gate has to run.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use parking_lot::Mutex;
use rmcp::model::JsonObject;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use tokio_util::sync::CancellationToken;
use workflow_core::effect::{AnswerKind, Effect, GateRun, Reply, ToolAnswer};
use workflow_core::event::PlatformEvent;
use workflow_core::session::Abilities;
use workflow_core::types::GateRunId;

use crate::hook_hosts::{
    ATTEMPTS, FinishedSession, HostMemory, RestoredSession, TICKET_ARGUMENT,
    with_commands_as_prompts,
};
use crate::platform::disk::user_agent_dir;
use crate::platform::{Platform, PlatformReport, RealPlatform, SessionContext};
use crate::step_arguments::StepArguments;
use crate::store::{Saved, SessionKey, Store, StoreError, Ticket};
use crate::telemetry;
use crate::time::wall_time;

/// The time after which a running gate is asked whether its call is still wanted.
const CANCELLATION_CHECK: Duration = Duration::from_millis(100);
/// The numbers of gate runs that a call has for itself.
const RUNS_OF_A_CALL: u64 = 1 << 16;

const NO_TICKET: &str = "[workflow] Nothing was done: the hooks of workflow-sidecar do not run in this session, so no rule of a workflow \
    holds in it. Tell the user: `workflow-sidecar doctor` says what is missing (in Codex the hooks have to be trusted: start `codex` and \
    choose to trust them, or type /hooks).";
const USED_TICKET: &str = "[workflow] Nothing was done: this call is too old or was made before. Call workflow_step again.";
const OTHER_SESSION: &str =
    "[workflow] Nothing was done: this call comes from another session than its hook.";
const BUSY: &str =
    "[workflow] Another call of workflow_step is in progress in this session: wait for its answer.";
const MOVED: &str = "[workflow] The workflow was moved while this call ran, so it does not count. Call workflow_step with \
    action='status'.";
const CANCELLED: &str = "[workflow] The call was cancelled: the workflow stays in its phase.";
const LOST: &str = "[workflow] The checks ended without a result. Call workflow_step again.";

/// The answer to a call.
#[derive(Debug)]
pub(super) struct StepAnswer {
    pub(super) text: String,
    pub(super) is_error: bool,
}

impl StepAnswer {
    fn error(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            is_error: true,
        }
    }
}

impl From<ToolAnswer> for StepAnswer {
    fn from(answer: ToolAnswer) -> Self {
        Self {
            text: with_commands_as_prompts(&answer.text),
            is_error: answer.kind == Some(AnswerKind::Error),
        }
    }
}

impl From<StoreError> for StepAnswer {
    fn from(error: StoreError) -> Self {
        Self::error(format!(
            "[workflow] Nothing was done: the store of workflow-sidecar cannot be used: {error}. Tell the user."
        ))
    }
}

/// A call of the tool.
#[derive(Debug)]
pub(super) struct StepRequest {
    arguments: Box<RawValue>,
    ticket: Option<String>,
    /// The session, if the host names it as well.
    session: Option<String>,
    cancelled: CancellationToken,
}

impl StepRequest {
    pub(super) fn new(
        arguments: &JsonObject,
        meta: &JsonObject,
        cancelled: CancellationToken,
    ) -> Self {
        let ticket = arguments.get(TICKET_ARGUMENT).and_then(Value::as_str);
        let ticket = ticket.filter(|ticket| ticket.bytes().all(|byte| byte.is_ascii_hexdigit()));
        Self {
            arguments: to_raw_value(arguments).expect("JSON has string keys only"),
            ticket: ticket.map(str::to_owned),
            session: meta
                .get("sessionId")
                .and_then(Value::as_str)
                .map(str::to_owned),
            cancelled,
        }
    }

    fn is_cancelled(&self) -> bool {
        self.cancelled.is_cancelled()
    }
}

/// The calls of a server.
pub(super) struct StepRunner {
    store: Box<dyn Store>,
    platform: RealPlatform,
    /// The receivers of reports on gates, by session.
    gates: Arc<Mutex<HashMap<String, Sender<PlatformEvent>>>>,
    /// The number of calls so far.
    calls: AtomicU64,
}

impl StepRunner {
    pub(super) fn new(store: Box<dyn Store>) -> Self {
        let gates: Arc<Mutex<HashMap<String, Sender<PlatformEvent>>>> = Arc::default();
        let platform = RealPlatform::default();
        platform.prepare(&user_agent_dir(None));
        let listeners = Arc::clone(&gates);
        platform.listen(move |report| {
            report_to(&listeners.lock(), report);
            None
        });
        Self {
            store,
            platform,
            gates,
            calls: AtomicU64::new(0),
        }
    }

    /// Ends what runs.
    pub(super) fn finish(&self) {
        self.platform.finish();
    }

    /// Carries out a call.
    pub(super) fn run(&self, step: &StepRequest, progress: &dyn Fn(&str)) -> StepAnswer {
        self.try_run(step, progress)
            .unwrap_or_else(|refusal| refusal)
    }

    fn try_run(
        &self,
        step: &StepRequest,
        progress: &dyn Fn(&str),
    ) -> Result<StepAnswer, StepAnswer> {
        let ticket = self.ticket(step)?;
        let name = format!("{}:{}", ticket.key.host, ticket.key.session);
        let (sender, reports) = channel();
        {
            let mut gates = self.gates.lock();
            if gates.contains_key(&name) {
                return Err(StepAnswer::error(BUSY));
            }
            gates.insert(name.clone(), sender);
        }
        let answer = self.step(step, &ticket, &reports, progress);
        self.gates.lock().remove(&name);
        answer
    }

    /// Takes the ticket of a call.
    fn ticket(&self, step: &StepRequest) -> Result<Ticket, StepAnswer> {
        let id = step.ticket.as_deref();
        let id = id.ok_or_else(|| StepAnswer::error(NO_TICKET))?;
        let ticket = self.store.take(id, wall_time())?;
        let ticket = ticket.ok_or_else(|| StepAnswer::error(USED_TICKET))?;
        match &step.session {
            Some(session) if *session != ticket.key.session => {
                Err(StepAnswer::error(OTHER_SESSION))
            }
            _ => Ok(ticket),
        }
    }

    fn step(
        &self,
        step: &StepRequest,
        ticket: &Ticket,
        reports: &Receiver<PlatformEvent>,
        progress: &dyn Fn(&str),
    ) -> Result<StepAnswer, StepAnswer> {
        let arguments = StepArguments::read(&step.arguments);
        let mut finished = None;
        let mut state_at_call = None;
        let mut is_late = false;
        for _ in 0..ATTEMPTS {
            let turn_in_queue = is_late.then(|| self.store.wait_turn(&ticket.key));
            let platform = StepPlatform::new(&self.platform, finished.clone());
            let stored = self.store.load(&ticket.key)?;
            let mut memory = HostMemory::parse(&stored.memory);
            let mut restored = self.restore(&ticket.key, &stored, &memory, &ticket.cwd, &platform);
            // The call is about the phase that it was made in, whoever has moved the run since.
            let state = restored.session.view().map(|view| view.state.clone());
            if *state_at_call.get_or_insert_with(|| state.clone()) != state {
                return Err(StepAnswer::error(MOVED));
            }
            let request = restored.request();
            let call = arguments.call();
            restored.handle(|session, out| session.handle_workflow_step(request, &call, out));
            let Some(Reply::Step(answer)) = restored.take_answer(request) else {
                let run = platform.take_wanted();
                let run = run.ok_or_else(|| StepAnswer::error(LOST))?;
                if finished.is_some() {
                    return Err(StepAnswer::error(MOVED));
                }
                // Hooks continue while the gate runs.
                drop(turn_in_queue);
                let gate = StepGate {
                    restored: &restored,
                    platform: &self.platform,
                    id: run.id,
                };
                finished = Some(gate.run(run, step, reports, progress)?);
                continue;
            };
            let answer = StepAnswer::from(answer);
            if step.is_cancelled() {
                return Err(StepAnswer::error(CANCELLED));
            }
            let outcome = restored.finish(&mut memory);
            let change = FinishedSession::of(&restored, outcome.entries, &mut memory);
            let (store, memory) = (&*self.store, memory.to_text());
            let saved = change.save(store, &ticket.key, stored.version, &memory, &ticket.cwd)?;
            if saved == Saved::Stored {
                return Ok(answer);
            }
            is_late = true;
        }
        Err(StepAnswer::error(BUSY))
    }

    fn restore<'p>(
        &self,
        key: &SessionKey,
        stored: &crate::store::StoredSession,
        memory: &HostMemory,
        cwd: &Path,
        platform: &'p StepPlatform<'p>,
    ) -> RestoredSession<'p> {
        let abilities = Abilities {
            dialogs: false,
            confirmations: false,
            dismissal: false,
            widgets: Some(false),
            hints: false,
            awaits_reminder: true,
            reminders_left: None,
        };
        let mut restored = RestoredSession::restore(key, stored, memory, abilities, cwd, platform);
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        // A report may still come from a gate of an earlier call.
        restored.session.number_jobs_after(call * RUNS_OF_A_CALL);
        restored.open_for_answers();
        restored.drop_notices();
        restored
    }
}

/// Passes a report to the call that waits for it.
fn report_to(gates: &HashMap<String, Sender<PlatformEvent>>, report: PlatformReport) {
    if let Some(sender) = gates.get(&report.session) {
        // A call that has gone on needs no report.
        let _ = sender.send(report.event);
    }
}

/// A gate that ran, and its result.
#[derive(Debug, Clone)]
struct FinishedGate {
    run: String,
    result: PlatformEvent,
}

impl FinishedGate {
    /// The result, for another run of the same gate.
    fn result_for(&self, run: &GateRun) -> Option<PlatformEvent> {
        let gate = run.id;
        (self.run == without_id(run)).then(|| match self.result.clone() {
            PlatformEvent::GateFinished { reports, .. } => {
                PlatformEvent::GateFinished { gate, reports }
            }
            _ => PlatformEvent::GateNotTrusted { gate },
        })
    }
}

/// A gate as text, without the number of its run.
fn without_id(run: &GateRun) -> String {
    let run = GateRun {
        id: GateRunId(0),
        ..run.clone()
    };
    serde_json::to_string(&run).expect("a gate has string keys only")
}

/// A gate that is to run in the project of a session.
struct StepGate<'a, 'p> {
    restored: &'a RestoredSession<'p>,
    platform: &'a RealPlatform,
    id: GateRunId,
}

impl StepGate<'_, '_> {
    /// Runs the gate to its end, unless the call is cancelled.
    fn run(
        &self,
        run: GateRun,
        step: &StepRequest,
        reports: &Receiver<PlatformEvent>,
        progress: &dyn Fn(&str),
    ) -> Result<FinishedGate, StepAnswer> {
        let text = without_id(&run);
        let finished = |result| FinishedGate { run: text, result };
        if let Some(result) = self.perform(Effect::RunGate(run)) {
            return Ok(finished(result));
        }
        let ended = loop {
            match reports.recv_timeout(CANCELLATION_CHECK) {
                Ok(PlatformEvent::GateProgress { gate, text }) if gate == self.id => {
                    progress(&text);
                }
                Ok(PlatformEvent::GateFinished { gate, reports }) if gate == self.id => {
                    telemetry::gate(&self.restored.session, &reports);
                    break Ok(finished(PlatformEvent::GateFinished { gate, reports }));
                }
                Err(RecvTimeoutError::Timeout) if step.is_cancelled() => {
                    break Err(StepAnswer::error(CANCELLED));
                }
                Ok(_) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break Err(StepAnswer::error(LOST)),
            }
        };
        self.perform(Effect::CancelGate { gate: self.id });
        ended
    }

    fn perform(&self, effect: Effect) -> Option<PlatformEvent> {
        self.restored.perform_on(self.platform, effect)
    }
}

/// The platform of a call. A gate is only noted, unless its result is known.
#[derive(Debug)]
struct StepPlatform<'a> {
    real: &'a RealPlatform,
    finished: Option<FinishedGate>,
    wanted: Mutex<Option<GateRun>>,
}

impl<'a> StepPlatform<'a> {
    fn new(real: &'a RealPlatform, finished: Option<FinishedGate>) -> Self {
        Self {
            real,
            finished,
            wanted: Mutex::default(),
        }
    }

    fn take_wanted(&self) -> Option<GateRun> {
        self.wanted.lock().take()
    }
}

impl Platform for StepPlatform<'_> {
    fn perform(&self, session: &SessionContext<'_>, effect: Effect) -> Option<PlatformEvent> {
        match effect {
            Effect::RunGate(run) => {
                let known = self.finished.as_ref();
                let result = known.and_then(|finished| finished.result_for(&run));
                if result.is_none() {
                    *self.wanted.lock() = Some(run);
                }
                result
            }
            Effect::TakeBaseline { .. }
            | Effect::CheckTrust { .. }
            | Effect::TrustCommands { .. }
            | Effect::RequestApproval(_)
            | Effect::ReadApproval(_)
            | Effect::ClearApproval { .. } => self.real.perform(session, effect),
            Effect::CancelGate { .. }
            | Effect::RecordCheckpoint
            | Effect::RestoreCode { .. }
            | Effect::WatchTriggers { .. }
            | Effect::StopWatching
            | Effect::TrustTriggers { .. } => effect.result_on_empty_platform(),
        }
    }

    fn open_session(&self, session: &SessionContext<'_>) {
        self.real.open_session(session);
    }
}
