//! One call of `workflow_step`: its ticket, its session, and the gate of the phase.
//!
//! A call handles its event twice if the phase has a gate. The first time shows which gate has to run; nothing of it is kept.
//! The gate runs while the session is neither locked nor in memory, so that hooks continue. Then the event is handled again, in
//! the session as it is by then, and the gate's result counts only if the same gate has to run.
//!
//! What waits for the user is saved first, as without dialogs. Then the host asks, and an answer is one to what was saved: the
//! event is handled once more.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rmcp::model::JsonObject;
use serde_json::Value;
use serde_json::value::to_raw_value;
use workflow_core::Session;
use workflow_core::approval::Decision;
use workflow_core::effect::{AnswerKind, Effect, GateRun, Reply};
use workflow_core::event::{Answer, PlatformEvent};
use workflow_core::run::RunState;
use workflow_core::session::{Abilities, GATE_VALID_FOR, StepCall, dismissed};
use workflow_core::types::QuestionId;

use super::dialogs::{Asked, CallHost, DialogQuestion, Dialogs, ToHost, YES};
use crate::driver::{ATTEMPTS, Driver, HostMemory, RestoredSession};
use crate::hook_hosts::{HOSTS, TICKET_ARGUMENT, host};
use crate::platform::answers::notify::notifiers;
use crate::platform::answers::trust_store::{CommandsHash, hash_of, is_trusted};
use crate::platform::disk::user_agent_dir;
use crate::platform::{Platform, RealPlatform, SessionContext, file_excerpt};
use crate::store::{Saved, Store, StoreError, Ticket};
use crate::telemetry;
use crate::time::wall_time;

/// The time after which a running gate is asked whether its call is still wanted.
const CANCELLATION_CHECK: Duration = Duration::from_millis(100);
/// The looks for the end of a dialog for each at the user's trust, which is in a database.
const LOOKS_FOR_TRUST: u64 = 10;
/// The time for which the result of a gate counts while the user decides.
const VALID_FOR: Duration = Duration::from_millis(GATE_VALID_FOR);
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
const TOO_LATE: &str = "[workflow] The user's answer in the dialog does not count, because what it was about has changed in the meantime. \
    Tell the user, and call workflow_step with action='status'.";
const CANCELLED: &str = "[workflow] The call was cancelled: the workflow stays in its phase.";
const LOST: &str = "[workflow] The checks ended without a result. Call workflow_step again.";

/// The answer to a call: a text for the model, or why nothing was done.
pub(super) type StepAnswer = Result<String, String>;

/// The calls of a server.
pub(super) struct StepRunner {
    store: Store,
    platform: Arc<RealPlatform>,
    /// The receivers of reports on gates, by session.
    gates: Arc<Mutex<HashMap<String, Sender<PlatformEvent>>>>,
    dialogs: Dialogs,
    /// The number of calls so far.
    calls: AtomicU64,
}

impl StepRunner {
    pub(super) fn new(store: Store) -> Self {
        let gates: Arc<Mutex<HashMap<String, Sender<PlatformEvent>>>> = Arc::default();
        let platform = Arc::new(RealPlatform::default());
        notifiers(&user_agent_dir(None));
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
            dialogs: Dialogs::default(),
            calls: AtomicU64::new(0),
        }
    }

    /// Ends what runs.
    pub(super) fn finish(&self) {
        self.platform.finish();
    }

    /// Carries out a call. `meta` is what the host says of it.
    pub(super) fn run(
        &self,
        arguments: &JsonObject,
        meta: &JsonObject,
        host: &CallHost,
    ) -> StepAnswer {
        let ticket = self.ticket(arguments, meta)?;
        let name = format!("{}:{}", ticket.key.host, ticket.key.session);
        let (sender, reports) = channel();
        match self.gates.lock().entry(name.clone()) {
            Entry::Occupied(_) => return Err(BUSY.to_owned()),
            Entry::Vacant(free) => drop(free.insert(sender)),
        }
        let call = Call {
            runner: self,
            arguments,
            host,
            ticket,
            reports,
            number: self.calls.fetch_add(1, Ordering::Relaxed),
            state: OnceCell::new(),
            finished: None,
            decision: None,
            has_trusted: false,
        };
        let answer = call.answer();
        self.gates.lock().remove(&name);
        answer
    }

    /// Takes the ticket of a call.
    fn ticket(&self, arguments: &JsonObject, meta: &JsonObject) -> Result<Ticket, String> {
        let argument = arguments.get(TICKET_ARGUMENT).and_then(Value::as_str);
        let mut hosts = HOSTS.iter();
        let of_process = hosts.find_map(|host| Some((host.name, host.process()?)));
        let id = argument.or(of_process.as_ref().map(|(_, process)| &**process));
        let id = id.filter(|id| id.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let ticket = self.store.take(id.ok_or(NO_TICKET)?, wall_time());
        let missing = argument.map_or(NO_TICKET, |_| USED_TICKET);
        let ticket = ticket.map_err(|error| unusable(&error))?;
        let is_its = |it: &Ticket| matches!(of_process, Some((host, _)) if host == it.key.host);
        let ticket = ticket
            .filter(|it| argument.is_some() || is_its(it))
            .ok_or(missing)?;
        // The host may name the session as well.
        match meta.get("sessionId").and_then(Value::as_str) {
            Some(session) if *session != ticket.key.session => Err(OTHER_SESSION.to_owned()),
            _ => Ok(ticket),
        }
    }
}

/// A call, and what it has led to so far.
struct Call<'c> {
    runner: &'c StepRunner,
    arguments: &'c JsonObject,
    host: &'c CallHost,
    ticket: Ticket,
    /// The reports on its gate, and on answers.
    reports: Receiver<PlatformEvent>,
    number: u64,
    /// The state of the run when the call was made.
    state: OnceCell<Option<RunState>>,
    finished: Option<FinishedGate>,
    /// The decision that the user made in a dialog.
    decision: Option<Decision>,
    /// True once the user has given trust. Where a database takes it only from others, it is not asked for again.
    has_trusted: bool,
}

impl Call<'_> {
    /// Handles the call, again after each answer of the user to what it waits for.
    fn answer(mut self) -> StepAnswer {
        loop {
            let (answer, awaits_approval, mut session) = self.handle()?;
            let question = self.question(&mut session, awaits_approval);
            let Some((question, trust)) = question else {
                return answer;
            };
            let SessionContext { agent_dir, cwd, .. } = session.driver.context.clone();
            let mut looks = 0_u64;
            let is_answered = || {
                if let (Some(_), Some(gate)) = (trust, &self.finished) {
                    looks += 1;
                    return looks.is_multiple_of(LOOKS_FOR_TRUST)
                        && is_trusted(&agent_dir, &cwd, &gate.commands);
                }
                let mut reports = self.reports.try_iter();
                reports.any(|report| matches!(report, PlatformEvent::ApprovalAnswered { .. }))
            };
            let asked = self.runner.dialogs.ask(&question, self.host, is_answered);
            match (asked, trust) {
                (Asked::Elsewhere, None) => {}
                (Asked::Elsewhere, Some(_)) => self.finished = None,
                (Asked::Answered { choice, comment }, None) => {
                    self.decision = Some(Decision {
                        request: question.about,
                        choice,
                        comment,
                        ..Decision::default()
                    });
                }
                (Asked::Answered { choice, .. }, Some(question)) if choice == YES => {
                    let yes = Answer::Confirmed(true);
                    session.with_effects(|session| session.handle_answer(question, yes));
                    (self.finished, self.has_trusted) = (None, true);
                }
                (Asked::Nobody, _) => {
                    let text = answer.as_ref().map(|text| dismissed(text));
                    return text.map_err(|text| dismissed(text));
                }
                (Asked::Declined | Asked::Answered { .. }, _) => return answer,
            }
            if (self.finished.as_ref()).is_some_and(|gate| gate.at.elapsed() > VALID_FOR) {
                self.finished = None;
            }
        }
    }

    /// Handles the call once, and saves what it leads to. Returns the answer, and true if it waits for an approval.
    fn handle(&mut self) -> Result<(StepAnswer, bool, RestoredSession), String> {
        let (store, key) = (&self.runner.store, &self.ticket.key);
        let arguments = to_raw_value(self.arguments).expect("JSON has string keys only");
        let call = StepCall::read(&arguments);
        let mut is_late = false;
        for _ in 0..ATTEMPTS {
            let turn_in_queue = is_late.then(|| store.wait_turn(key));
            let session = self.restore();
            let mut session = session.map_err(|error| unusable(&error))?;
            session.driver.decision.clone_from(&self.decision);
            // The call is about the phase that it was made in, whoever has moved the run since.
            let state = session.driver.session.view().map(|view| view.state.clone());
            let is_moved = *self.state.get_or_init(|| state.clone()) != state;
            if let Some(decision) = &self.decision {
                let awaited = session.driver.session.awaited_approval();
                if is_moved || awaited.is_none_or(|request| request.id != decision.request) {
                    return Err(TOO_LATE.to_owned());
                }
            } else if is_moved {
                return Err(MOVED.to_owned());
            }
            let (request, mut answer) =
                session.request(|session, request| session.handle_workflow_step(request, &call));
            if let Some(Effect::RunGate(run)) = session.driver.left_out.take() {
                let text = serde_json::to_string(&run).expect("a gate has string keys only");
                let Some(ran) = &self.finished else {
                    // Hooks continue while the gate runs.
                    drop(turn_in_queue);
                    let commands = hash_of(&run.commands);
                    let result = self.run_gate(&session.driver, run)?;
                    self.finished = Some(FinishedGate {
                        run: text,
                        commands,
                        result,
                        at: Instant::now(),
                        is_stored: false,
                    });
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
            if self.host.cancelled.is_cancelled() {
                return Err(CANCELLED.to_owned());
            }
            session.take_texts();
            session.finish();
            let saved = session.save(store, key);
            if saved.map_err(|error| unusable(&error))? == Saved::Stored {
                if let Some(gate) = &mut self.finished {
                    gate.is_stored = true;
                }
                let awaits_approval = answer.details["waiting"] == "approval";
                let text = session.with_commands_as_prompts(&answer.text);
                let text = match answer.kind {
                    Some(AnswerKind::Error) => Err(text),
                    Some(AnswerKind::Cancel | AnswerKind::Complete) | None => Ok(text),
                };
                return Ok((text, awaits_approval, session));
            }
            is_late = true;
        }
        Err(BUSY.to_owned())
    }

    /// Restores the session for the call. Its gate has the same number each time.
    fn restore(&self) -> Result<RestoredSession, StoreError> {
        let Ticket { key, cwd, .. } = &self.ticket;
        let stored = self.runner.store.load(key)?;
        let memory = HostMemory::parse(&stored.memory);
        let platform = Arc::clone(&self.runner.platform) as Arc<dyn Platform>;
        let abilities = Abilities {
            knows_gate: self.finished.as_ref().is_some_and(|gate| gate.is_stored),
            asks_afterwards: self.host.has_dialogs,
            ..Abilities::default()
        };
        let mut session =
            RestoredSession::restore(key, &stored, memory, abilities, cwd, platform, true);
        if let Some(host) = host(&key.host) {
            session.prompt_word = host.prompt_word(cwd);
        }
        // A report may still come from a gate of an earlier call.
        let engine = &mut session.driver.session;
        engine.number_jobs_after(self.number * RUNS_OF_A_CALL);
        session.driver.open();
        session.drop_notices();
        Ok(session)
    }

    /// What the user can answer so that the call continues; with the engine's question if it is about trust.
    fn question(
        &self,
        session: &mut RestoredSession,
        awaits_approval: bool,
    ) -> Option<(DialogQuestion, Option<QuestionId>)> {
        if awaits_approval {
            let mut request = session.driver.session.awaited_approval()?;
            request.cwd = session.driver.context.cwd.to_path_buf();
            request.shown_file = file_excerpt::shown_with(&request);
            let question = DialogQuestion::of_approval(&request);
            return Some((question, None));
        }
        let result = self.finished.as_ref().map(|gate| &gate.result);
        if self.has_trusted || !matches!(result, Some(PlatformEvent::GateNotTrusted { .. })) {
            return None;
        }
        session.request(Session::handle_trust_command);
        let question = session.take_questions().pop()?;
        let asked = DialogQuestion::of_confirmation(&self.ticket.key.session, &question);
        Some((asked, Some(question.id)))
    }

    /// Runs a gate to its end, unless the call is cancelled.
    fn run_gate(&self, driver: &Driver, run: GateRun) -> Result<PlatformEvent, String> {
        let id = run.id;
        if let Some(result) = driver.perform_now(Effect::RunGate(run)) {
            return Ok(result);
        }
        let ended = loop {
            match self.reports.recv_timeout(CANCELLATION_CHECK) {
                Ok(PlatformEvent::GateProgress { gate, text }) if gate == id => {
                    // Without a receiver the call is over.
                    let _ = self.host.messages.send(ToHost::Progress(text));
                }
                Ok(PlatformEvent::GateFinished { gate, reports }) if gate == id => {
                    telemetry::gate(&driver.session, &reports);
                    break Ok(PlatformEvent::GateFinished { gate, reports });
                }
                Err(RecvTimeoutError::Timeout) if self.host.cancelled.is_cancelled() => {
                    break Err(CANCELLED.to_owned());
                }
                Ok(_) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break Err(LOST.to_owned()),
            }
        };
        driver.perform_now(Effect::CancelGate { gate: id });
        ended
    }
}

/// A gate that ran, as text, its commands, its result, when it ended, and whether the session has it.
struct FinishedGate {
    run: String,
    commands: CommandsHash,
    result: PlatformEvent,
    at: Instant,
    is_stored: bool,
}

fn unusable(error: &StoreError) -> String {
    format!(
        "[workflow] Nothing was done: the store of workflow-sidecar cannot be used: {error}. Tell the user."
    )
}
