//! One call of `workflow_step`: its ticket, its session, and the gate of the phase.
//!
//! A call handles its event twice if the phase has a gate. The first time shows which gate has to run; nothing of it is kept.
//! The gate runs while the session is neither locked nor in memory, so that hooks continue. Then the event is handled again, in
//! the session as it is by then, and the gate's result counts only if the same gate has to run.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use parking_lot::Mutex;
use rmcp::model::JsonObject;
use serde_json::Value;
use serde_json::value::to_raw_value;
use tokio_util::sync::CancellationToken;
use workflow_core::effect::{AnswerKind, Effect, GateRun, Reply};
use workflow_core::event::PlatformEvent;
use workflow_core::session::{Abilities, StepCall};

use crate::driver::{ATTEMPTS, Driver, HostMemory, RestoredSession, with_commands_as_prompts};
use crate::hook_hosts::{HOSTS, TICKET_ARGUMENT};
use crate::platform::answers::notifier::notifier;
use crate::platform::disk::user_agent_dir;
use crate::platform::{Platform, RealPlatform};
use crate::store::{Saved, Store, StoreError, Ticket};
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

/// The answer to a call: a text for the model, or why nothing was done.
pub(super) type StepAnswer = Result<String, String>;

/// A call of the tool.
pub(super) struct StepRequest {
    pub(super) arguments: JsonObject,
    /// What the host says of the call.
    pub(super) meta: JsonObject,
    pub(super) cancelled: CancellationToken,
}

/// The calls of a server.
pub(super) struct StepRunner {
    store: Store,
    platform: Arc<RealPlatform>,
    /// The receivers of reports on gates, by session.
    gates: Arc<Mutex<HashMap<String, Sender<PlatformEvent>>>>,
    /// The number of calls so far.
    calls: AtomicU64,
}

impl StepRunner {
    pub(super) fn new(store: Store) -> Self {
        let gates: Arc<Mutex<HashMap<String, Sender<PlatformEvent>>>> = Arc::default();
        let platform = Arc::new(RealPlatform::default());
        notifier(&user_agent_dir(None));
        let listeners = Arc::clone(&gates);
        platform.listen(move |report| {
            // A call that has gone on needs no report.
            if let Some(sender) = listeners.lock().get(&report.session) {
                let _ = sender.send(report.event);
            }
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
        let ticket = self.ticket(step)?;
        let name = format!("{}:{}", ticket.key.host, ticket.key.session);
        let (sender, reports) = channel();
        {
            let mut gates = self.gates.lock();
            if gates.contains_key(&name) {
                return Err(BUSY.to_owned());
            }
            gates.insert(name.clone(), sender);
        }
        let answer = self.step(step, &ticket, &reports, progress);
        self.gates.lock().remove(&name);
        answer
    }

    /// Takes the ticket of a call.
    fn ticket(&self, step: &StepRequest) -> Result<Ticket, String> {
        let argument = step.arguments.get(TICKET_ARGUMENT).and_then(Value::as_str);
        let of_process = HOSTS.iter().find_map(|host| host.process());
        let id = argument.or(of_process.as_deref());
        let id = id.filter(|id| id.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let ticket = self.store.take(id.ok_or(NO_TICKET)?, wall_time());
        let missing = argument.map_or(NO_TICKET, |_| USED_TICKET);
        let ticket = ticket.map_err(|error| unusable(&error))?.ok_or(missing)?;
        // The host may name the session as well.
        match step.meta.get("sessionId").and_then(Value::as_str) {
            Some(session) if *session != ticket.key.session => Err(OTHER_SESSION.to_owned()),
            _ => Ok(ticket),
        }
    }

    fn step(
        &self,
        step: &StepRequest,
        ticket: &Ticket,
        reports: &Receiver<PlatformEvent>,
        progress: &dyn Fn(&str),
    ) -> StepAnswer {
        let arguments = to_raw_value(&step.arguments).expect("JSON has string keys only");
        let call = StepCall::read(&arguments);
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        let mut finished: Option<FinishedGate> = None;
        let mut state_at_call = None;
        let mut is_late = false;
        for _ in 0..ATTEMPTS {
            let turn_in_queue = is_late.then(|| self.store.wait_turn(&ticket.key));
            let session = self.restore(ticket, number);
            let mut session = session.map_err(|error| unusable(&error))?;
            // The call is about the phase that it was made in, whoever has moved the run since.
            let state = session.driver.session.view().map(|view| view.state.clone());
            if *state_at_call.get_or_insert_with(|| state.clone()) != state {
                return Err(MOVED.to_owned());
            }
            let (request, mut answer) =
                session.request(|session, request| session.handle_workflow_step(request, &call));
            if let Some(Effect::RunGate(run)) = session.driver.left_out.take() {
                let text = serde_json::to_string(&run).expect("a gate has string keys only");
                let Some(ran) = &finished else {
                    // Hooks continue while the gate runs.
                    drop(turn_in_queue);
                    let result = run_gate(&session.driver, run, step, reports, progress)?;
                    finished = Some(FinishedGate { run: text, result });
                    continue;
                };
                if ran.run != text {
                    return Err(MOVED.to_owned());
                }
                let result = ran.result.clone();
                session.with_effects(|session| session.handle_platform_event(result));
                answer = session.take_answer(request);
            }
            let Some(Reply::Step(answer)) = answer else {
                return Err(LOST.to_owned());
            };
            if step.cancelled.is_cancelled() {
                return Err(CANCELLED.to_owned());
            }
            session.take_texts();
            session.finish();
            let saved = session.save(&self.store, &ticket.key);
            if saved.map_err(|error| unusable(&error))? == Saved::Stored {
                let text = with_commands_as_prompts(&answer.text);
                return match answer.kind {
                    Some(AnswerKind::Error) => Err(text),
                    Some(AnswerKind::Cancel | AnswerKind::Complete) | None => Ok(text),
                };
            }
            is_late = true;
        }
        Err(BUSY.to_owned())
    }

    /// Restores the session for the call with this number. Its gate has the same number each time.
    fn restore(
        &self,
        Ticket { key, cwd, .. }: &Ticket,
        call: u64,
    ) -> Result<RestoredSession, StoreError> {
        let stored = self.store.load(key)?;
        let memory = HostMemory::parse(&stored.memory);
        let platform = Arc::clone(&self.platform) as Arc<dyn Platform>;
        let abilities = Abilities::default();
        let mut session =
            RestoredSession::restore(key, &stored, memory, abilities, cwd, platform, true);
        // A report may still come from a gate of an earlier call.
        session
            .driver
            .session
            .number_jobs_after(call * RUNS_OF_A_CALL);
        session.driver.open();
        session.drop_notices();
        Ok(session)
    }
}

/// A gate that ran, as text, and its result.
struct FinishedGate {
    run: String,
    result: PlatformEvent,
}

/// Runs a gate to its end, unless the call is cancelled.
fn run_gate(
    driver: &Driver,
    run: GateRun,
    step: &StepRequest,
    reports: &Receiver<PlatformEvent>,
    progress: &dyn Fn(&str),
) -> Result<PlatformEvent, String> {
    let id = run.id;
    if let Some(result) = driver.perform_now(Effect::RunGate(run)) {
        return Ok(result);
    }
    let ended = loop {
        match reports.recv_timeout(CANCELLATION_CHECK) {
            Ok(PlatformEvent::GateProgress { gate, text }) if gate == id => progress(&text),
            Ok(PlatformEvent::GateFinished { gate, reports }) if gate == id => {
                telemetry::gate(&driver.session, &reports);
                break Ok(PlatformEvent::GateFinished { gate, reports });
            }
            Err(RecvTimeoutError::Timeout) if step.cancelled.is_cancelled() => {
                break Err(CANCELLED.to_owned());
            }
            Ok(_) | Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break Err(LOST.to_owned()),
        }
    };
    driver.perform_now(Effect::CancelGate { gate: id });
    ended
}

fn unusable(error: &StoreError) -> String {
    format!(
        "[workflow] Nothing was done: the store of workflow-sidecar cannot be used: {error}. Tell the user."
    )
}
