//! What the process knows: the host, its sessions, what is waited for.
//!
//! Owns every [`Session`] and steps them; what follows beyond the answer itself (answers to
//! earlier requests, questions, actions that time caused) goes to the outbox. Must not know
//! method names or lines.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use jsonrpsee::types::Id;
use serde_json::value::RawValue;
use tokio::sync::Notify;
use workflow_core::definition::Loaded;
use workflow_core::effect::{
    Action, DeferredAnswer, DeferredReply, Effect, Question, Reply, TriggerOutcome,
};
use workflow_core::event::{Answer, Entry, PlatformEvent};
use workflow_core::session::Abilities;
use workflow_core::types::{Millis, RequestId};
use workflow_core::{Effects, Session};
use workflow_protocol::method::{HostApply, UiConfirm, UiSelect};
use workflow_protocol::{
    CommandRunResult, Context, Error, HostApplyParams, Kind, SessionBound, Text,
};

use super::definitions::{Definitions, Loader, OnDisk, ProjectOf};
use super::host_questions::{HostQuestion, ShownFile};
use super::session_handle::Slot;
use super::timer::Clock;
use crate::platform::{Platform, PlatformReport, Project, RealPlatform, SessionContext};
use crate::rpc::{Outbox, OutgoingRequests, success};
use crate::server::convert as wire;

/// What lies around the process: where files and time come from.
#[derive(Debug)]
pub(crate) struct Surroundings {
    pub(super) loader: Arc<dyn Loader>,
    pub(super) clock: Clock,
    /// What task ids are made from; nobody can know them before if there is none.
    pub(super) seed: Option<u64>,
    pub(super) platform: Arc<dyn Platform>,
}

impl Default for Surroundings {
    /// The disk and the system's clock.
    fn default() -> Self {
        Self::of(Arc::new(OnDisk::default()))
    }
}

impl Surroundings {
    /// Other files than those of the disk.
    pub(crate) fn of(loader: Arc<dyn Loader>) -> Self {
        Self {
            loader,
            clock: Clock::system(),
            seed: None,
            platform: Arc::new(RealPlatform::default()),
        }
    }

    /// Another platform than this machine.
    pub(crate) fn on_platform(mut self, platform: Arc<dyn Platform>) -> Self {
        self.platform = platform;
        self
    }

    /// A clock and task ids that can be told of, so that what happens can happen again.
    pub(crate) fn repeatable(loader: Arc<dyn Loader>, seed: u64) -> Self {
        Self {
            loader,
            clock: Clock::held(),
            seed: Some(seed),
            ..Self::default()
        }
    }
}

/// Sessions that are open at once: a host that forgets to end them is told.
const MOST_SESSIONS: usize = 4096;

/// More gates than one session runs.
const GATES_OF_A_SESSION: u64 = 1 << 32;

/// Everything the process knows.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) host: Option<Host>,
    pub(super) clock: Clock,
    pub(super) loader: Arc<dyn Loader>,
    pub(super) seed: Option<u64>,
    pub(super) platform: Arc<dyn Platform>,
    // Few, and looked for several times at each call: comparing is cheaper than hashing.
    pub(super) sessions: BTreeMap<String, Box<Slot>>,
    /// When which session is due.
    deadlines: BTreeSet<(Millis, String)>,
    /// Told when the first deadline is another one.
    deadline_changed: Arc<Notify>,
    questions: OutgoingRequests<HostQuestion>,
    /// How many sessions were opened.
    opened: u64,
    requests: u64,
    /// The requests that are answered later.
    waiting: HashMap<RequestId, Waiting>,
    /// The call in progress, if its answer may come later.
    in_progress: Option<RequestId>,
    /// The answer to the call in progress, where what had to be done first was done at once.
    at_once: Option<DeferredReply>,
    /// Set when the call in progress is answered later.
    deferred: Option<Deferred>,
    pub(super) outbox: Outbox,
    /// Whether the host asked for the end.
    pub(super) is_over: bool,
}

/// A request that is answered later.
#[derive(Debug)]
struct Waiting {
    id: Id<'static>,
    deferred: Deferred,
    /// Ends in the log when the answer is given.
    _span: tracing::Span,
}

/// A call whose answer comes later.
#[derive(Debug, Clone)]
pub(super) struct Deferred {
    pub(super) request: RequestId,
    pub(super) kind: PendingKind,
}

/// The kind of a call, which determines the form of its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PendingKind {
    Command,
    ToolCall,
    Branch,
    /// The tool of this session, under the host's id of the call.
    Step {
        session: String,
        call: String,
    },
}

/// What the host said of itself.
#[derive(Debug)]
pub(super) struct Host {
    pub(super) abilities: Abilities,
    pub(super) definitions: Definitions,
    pub(super) seed: Seed,
}

/// What a session's task ids are made from.
#[derive(Debug)]
pub(super) enum Seed {
    Fixed(u64),
    Random(RandomState),
}

impl Seed {
    /// A seed of its own for every session; the session without a name has the host's as it is.
    fn of(&self, session: &str) -> u64 {
        const PRIME: u64 = 0x0100_0000_01b3;
        match self {
            Self::Fixed(seed) => session.bytes().fold(*seed, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(PRIME)
            }),
            Self::Random(state) => state.hash_one(session),
        }
    }
}

impl Server {
    pub(super) fn new(surroundings: Surroundings, deadline_changed: Arc<Notify>) -> Self {
        let Surroundings {
            loader,
            clock,
            seed,
            platform,
        } = surroundings;
        Self {
            host: None,
            clock,
            loader,
            seed,
            platform,
            sessions: BTreeMap::new(),
            deadlines: BTreeSet::new(),
            deadline_changed,
            questions: OutgoingRequests::default(),
            opened: 0,
            requests: 0,
            waiting: HashMap::new(),
            in_progress: None,
            at_once: None,
            deferred: None,
            outbox: Outbox::default(),
            is_over: false,
        }
    }

    /// Handles an event in the session of a call.
    pub(super) fn handle_call<'a, T>(
        &mut self,
        params: &impl SessionBound<'a>,
        handle: impl FnOnce(&mut Session, &mut Effects) -> T,
    ) -> Result<(T, Effects), Error> {
        self.known(params)?;
        let id = params.session_id();
        self.handle(id, handle).ok_or_else(|| unknown_session(id))
    }

    /// Handles a request whose answer may come later. One that is decided while the platform performs the effects of the
    /// request is answered at once after all.
    pub(super) fn handle_request<'a, T>(
        &mut self,
        params: &impl SessionBound<'a>,
        kind: PendingKind,
        handle: impl FnOnce(&mut Session, RequestId, &mut Effects) -> Reply<T>,
        deferred: impl FnOnce(DeferredAnswer) -> T,
    ) -> Result<(Reply<T>, Effects), Error> {
        self.requests += 1;
        let request = RequestId(self.requests);
        self.begin_call(request);
        let handled = self.handle_call(params, |session, out| handle(session, request, out));
        self.in_progress = None;
        let at_once = self.at_once.take();
        let (reply, mut out) = handled?;
        if let Some(DeferredReply {
            answer, actions, ..
        }) = at_once
        {
            out.actions.extend(actions);
            return Ok((Reply::Now(deferred(answer)), out));
        }
        if let Reply::Later = reply {
            self.deferred = Some(Deferred { request, kind });
            self.apply(params.session_id(), std::mem::take(&mut out.actions));
        }
        Ok((reply, out))
    }

    /// The session of a call, which takes over what the host knows of it now.
    pub(super) fn known<'a>(&mut self, params: &impl SessionBound<'a>) -> Result<&Slot, Error> {
        let id = params.session_id();
        let slot = self.sessions.get_mut(id);
        let slot = slot.ok_or_else(|| unknown_session(id))?;
        if slot.note(params.context()) {
            self.read_settings_again(id)?;
        }
        let slot = self.sessions.get(id).map(Box::as_ref);
        slot.ok_or_else(|| unknown_session(id))
    }

    /// Reads the settings of a call's session again, if they could not be read: they may have been corrected.
    pub(super) fn look_again_for_settings<'a>(
        &mut self,
        params: &impl SessionBound<'a>,
    ) -> Result<(), Error> {
        if self.known(params)?.session.misses_settings() {
            self.read_settings_again(params.session_id())?;
        }
        Ok(())
    }

    /// Has a session take over what its settings say now.
    fn read_settings_again(&mut self, id: &str) -> Result<(), Error> {
        let loaded = self.definitions(id, &Context::default())?;
        let out = self.handle_event(id, |session, out| session.handle_settings(&loaded, out));
        self.apply(id, out.actions);
        Ok(())
    }

    /// Whether a session's settings hold without a run, if the host was told otherwise.
    pub(super) fn guarded_news(&mut self, id: &str) -> Option<bool> {
        self.sessions.get_mut(id)?.guarded_news()
    }

    /// The answer to a command.
    pub(super) fn command_result(&mut self, id: &str, out: Effects) -> CommandRunResult {
        CommandRunResult {
            guarded: self.guarded_news(id),
            ..wire::command_run_result(out)
        }
    }

    /// Begins a session, or begins one anew over these entries.
    pub(super) fn begin(
        &mut self,
        id: &str,
        context: &Context<'_>,
        entries: &[Entry<'_>],
    ) -> Result<Effects, Error> {
        if self.sessions.len() >= MOST_SESSIONS && !self.sessions.contains_key(id) {
            return Err(too_many_sessions());
        }
        let loaded = self.definitions(id, context)?;
        let host = self.host.as_ref().ok_or_else(not_initialized)?;
        if !self.sessions.contains_key(id) {
            // What a session of this name asked that is gone, nobody waits for.
            self.questions.retain(|asked| asked.session != id);
        }
        let mut slot = self.sessions.remove(id).unwrap_or_else(|| {
            let mut session = Session::new(host.abilities, host.seed.of(id));
            // A gate of a session that was open under this id before may still be told of.
            session.number_jobs_after(self.opened * GATES_OF_A_SESSION);
            self.opened += 1;
            Box::new(Slot::new(id, session))
        });
        slot.note(context);
        let span = slot.logged(id);
        let _worked_on = span.enter();
        // Nobody holds the session while it takes up its run: should that fail, it is unknown,
        // rather than a session without a run and its guards.
        let mut out = Effects::at(self.now());
        slot.session.handle_session(entries, &loaded, &mut out);
        self.sessions.insert(id.to_owned(), slot);
        self.follow_up(id, &mut out);
        Ok(out)
    }

    /// Closes every session, and answers what waits in it.
    pub(super) fn close_all(&mut self) {
        while let Some((id, _)) = self.sessions.first_key_value() {
            let id = id.clone();
            let output = self.close(&id);
            self.apply(&id, output.actions);
        }
    }

    /// Steps a session for the last time and forgets it.
    pub(super) fn close(&mut self, id: &str) -> Effects {
        let output = self.handle_event(id, Session::handle_shutdown);
        self.questions.retain(|asked| asked.session != id);
        self.sessions.remove(id);
        self.platform.close_session(id);
        output
    }

    /// The definitions as the files are now, for a session or for none.
    pub(super) fn definitions(
        &mut self,
        session: &str,
        context: &Context<'_>,
    ) -> Result<Arc<Loaded>, Error> {
        let host = self.host.as_mut().ok_or_else(not_initialized)?;
        let project = project(context, self.sessions.get(session).map(Box::as_ref));
        Ok(host.definitions.load(&project))
    }

    /// Handles an event in a session, if there is one under this id.
    pub(super) fn handle<T>(
        &mut self,
        id: &str,
        handle: impl FnOnce(&mut Session, &mut Effects) -> T,
    ) -> Option<(T, Effects)> {
        let now = self.now();
        self.handle_at(now, id, handle)
    }

    /// Handles an event that is not a request.
    pub(super) fn handle_event(
        &mut self,
        id: &str,
        handle: impl FnOnce(&mut Session, &mut Effects),
    ) -> Effects {
        // A session that is gone has nothing to do.
        self.handle(id, handle)
            .map(|((), out)| out)
            .unwrap_or_default()
    }

    fn handle_at<T>(
        &mut self,
        now: Millis,
        id: &str,
        handle: impl FnOnce(&mut Session, &mut Effects) -> T,
    ) -> Option<(T, Effects)> {
        let slot = self.sessions.get_mut(id)?;
        let span = slot.logged(id);
        let _worked_on = span.enter();
        let mut out = Effects::at(now);
        let reply = handle(&mut slot.session, &mut out);
        self.follow_up(id, &mut out);
        Some((reply, out))
    }

    /// The time for a step that anything but time causes.
    fn now(&mut self) -> Millis {
        if self.deadlines.is_empty() {
            self.clock.set();
        }
        self.clock.now()
    }

    /// Performs effects, sends questions, and answers earlier requests. Actions and diagnostics are left for the answer.
    fn follow_up(&mut self, id: &str, out: &mut Effects) {
        let mut effects = VecDeque::from(std::mem::take(&mut out.effects));
        while let Some(effect) = effects.pop_front() {
            if let Some(event) = self.perform(id, effect)
                && let Some(slot) = self.sessions.get_mut(id)
            {
                let mut more = Effects::at(self.clock.now());
                slot.session.handle_platform_event(event, &mut more);
                effects.extend(std::mem::take(&mut more.effects));
                out.merge(more);
            }
        }
        if let Some(slot) = self.sessions.get_mut(id) {
            let deadline = slot.session.deadline();
            let before = std::mem::replace(&mut slot.deadline, deadline);
            if before != deadline {
                self.wait_for(id, before, deadline);
            }
        }
        for deferred in std::mem::take(&mut out.deferred) {
            self.answer_deferred(id, deferred);
        }
        for question in out.questions.drain(..) {
            self.ask(id, question);
        }
    }

    /// Has the platform carry out an effect of a session; gives the result if it is known at once.
    fn perform(&self, id: &str, effect: Effect) -> Option<PlatformEvent> {
        let places = self.places(id)?;
        let context = SessionContext {
            id,
            session: &self.sessions.get(id)?.session,
            project: places.project(),
            is_trusted: places.is_trusted,
        };
        self.platform.perform(&context, effect)
    }

    /// Handles a report that the platform accepts.
    ///
    /// Gives what happens to the message of a trigger. `None` if no session takes it any more.
    pub(super) fn platform_reported(&mut self, report: PlatformReport) -> Option<TriggerOutcome> {
        let PlatformReport { session, event, .. } = report;
        if !self.sessions.contains_key(&session) {
            if let PlatformEvent::CodeRestored { outcome, .. } = event {
                tracing::warn!(?outcome, "code went back for a session that is gone");
            }
            return None;
        }
        let (outcome, out) = self.handle(&session, |session, out| {
            session.handle_platform_event(event, out)
        })?;
        self.apply(&session, out.actions);
        outcome
    }

    /// The directories of a session.
    pub(super) fn places(&self, id: &str) -> Option<Places> {
        let definitions = &self.host.as_ref()?.definitions;
        let slot = self.sessions.get(id)?;
        Some(Places {
            agent_dir: Arc::clone(definitions.agent_dir()),
            cwd: Arc::clone(slot.cwd.as_ref().unwrap_or(definitions.cwd())),
            is_trusted: slot.is_trusted,
        })
    }

    /// The host does not want the answer to a call of a tool any more.
    pub(super) fn cancel_step(&mut self, id: &str, call: &str) -> Effects {
        let is_meant = |waiting: &&Waiting| matches!(&waiting.deferred.kind, PendingKind::Step { session, call: this } if session == id && this == call);
        let request = self
            .waiting
            .values()
            .find(is_meant)
            .map(|waiting| waiting.deferred.request);
        match request {
            Some(request) => self.handle_event(id, |session, out| {
                session.handle_step_cancelled(request, out);
            }),
            None => Effects::default(),
        }
    }

    fn wait_for(&mut self, id: &str, before: Option<Millis>, deadline: Option<Millis>) {
        let first = self.next_deadline();
        if let Some(before) = before {
            self.deadlines.remove(&(before, id.to_owned()));
        }
        if let Some(deadline) = deadline {
            self.deadlines.insert((deadline, id.to_owned()));
        }
        if self.next_deadline() != first {
            self.due_changed();
        }
    }

    /// Has the thread that waits look again for what it waits for.
    pub(super) fn due_changed(&self) {
        self.deadline_changed.notify_one();
    }

    fn next_deadline(&self) -> Option<Millis> {
        self.deadlines.first().map(|(deadline, _)| *deadline)
    }

    /// How long it is to the first deadline. A virtual clock's come only when it is advanced.
    pub(super) fn due_in(&self) -> Option<Duration> {
        self.clock.until(self.next_deadline()?)
    }

    /// Looks at a clock that is held, and says whether something is due before anything else happens.
    ///
    /// Time that brings something is later than everything before it.
    pub(super) fn look_at_clock(&mut self) -> bool {
        let before = self.clock.now();
        self.clock.look(self.deadlines.is_empty());
        let is_due = matches!(self.clock, Clock::Held { .. })
            && self
                .next_deadline()
                .is_some_and(|deadline| deadline <= self.clock.now());
        if is_due && self.clock.now() == before {
            self.clock.nudge();
        }
        is_due
    }

    /// Steps every session that is due. The actions of one are given back, those of others are sent.
    pub(super) fn tick(&mut self, asking: Option<&str>) -> Vec<Action> {
        let mut asked_for = Vec::new();
        let now = self.clock.now();
        while self.next_deadline().is_some_and(|due| due <= now) {
            let Some((_, id)) = self.deadlines.pop_first() else {
                break;
            };
            // Forgotten before the step, so that a step that panics does not come due for ever.
            if let Some(slot) = self.sessions.get_mut(&id) {
                slot.deadline = None;
            }
            // By the clock the deadline was set by: the wall's time may have been set back since.
            let Some(((), out)) = self.handle_at(now, &id, Session::poll_deadline) else {
                continue;
            };
            if asking == Some(&*id) {
                asked_for.extend(out.actions);
            } else {
                self.apply(&id, out.actions);
            }
        }
        asked_for
    }

    /// The host answered a question of ours, under its id.
    pub(super) fn answered(&mut self, id: &Id<'_>, result: Option<&RawValue>) {
        let Some(HostQuestion {
            session,
            question,
            has_options,
            shown,
        }) = self.questions.take(id)
        else {
            tracing::warn!(%id, "the host answered what was not asked, or not any more");
            return;
        };
        let chosen;
        let answer = match result.map(RawValue::get) {
            Some("true") if !has_options => Answer::Confirmed(true),
            Some("false") if !has_options => Answer::Confirmed(false),
            Some("null") => Answer::Dismissed,
            Some(result) if has_options => {
                chosen = serde_json::from_str::<Text<'_>>(result).ok();
                chosen.as_deref().map_or(Answer::Dismissed, Answer::Chosen)
            }
            Some(_) | None => {
                tracing::warn!(%id, "the host could not ask: this counts as no answer");
                Answer::Dismissed
            }
        };
        let is_outdated = matches!(answer, Answer::Chosen(_))
            && shown.is_some_and(|shown| !self.is_as_shown(&session, &shown));
        let answer = if is_outdated {
            Answer::Outdated
        } else {
            answer
        };
        let out = self.handle_event(&session, |session, out| {
            session.handle_answer(question, answer, out);
        });
        self.apply(&session, out.actions);
    }

    fn is_as_shown(&self, session: &str, ShownFile { path, state }: &ShownFile) -> bool {
        self.places(session)
            .is_some_and(|places| self.platform.is_unchanged(path, &places.cwd, state))
    }

    /// Sends actions that no answer carries.
    pub(super) fn apply(&mut self, session: &str, actions: Vec<Action>) {
        if !actions.is_empty() {
            self.outbox.notify::<HostApply>(&HostApplyParams {
                session_id: session.to_owned(),
                actions: wire::actions(actions),
            });
        }
    }

    fn ask(&mut self, session: &str, question: Question) {
        let Question {
            id,
            title,
            message,
            options,
            show,
        } = question;
        let show = show.zip(self.places(session));
        // How it stands is looked at first: what changes before it is shown counts as a change.
        let shown = show.as_ref().map(|(path, places)| ShownFile {
            path: path.clone(),
            state: self.platform.fingerprint(path, &places.cwd),
        });
        let asked = HostQuestion {
            session: session.to_owned(),
            question: id,
            has_options: !options.is_empty(),
            shown,
        };
        let excerpt = show.map(|(path, places)| self.platform.excerpt(&path, &places.cwd));
        let message = [message, excerpt.unwrap_or_default()]
            .join("\n")
            .trim()
            .to_owned();
        let id = self.questions.add(asked);
        if options.is_empty() {
            let params = wire::confirm(session, title, message);
            self.outbox.request::<UiConfirm>(id, &params);
        } else {
            let params = wire::select(session, &title, &message, options);
            self.outbox.request::<UiSelect>(id, &params);
        }
    }

    /// Answers an earlier request. The actions of one that came without an id are sent alone.
    fn answer_deferred(&mut self, session: &str, deferred: DeferredReply) {
        if self.is_in_progress(deferred.request) {
            self.at_once = Some(deferred);
            return;
        }
        let DeferredReply {
            request,
            answer,
            actions,
        } = deferred;
        let Some(Waiting { id, deferred, .. }) = self.waiting.remove(&request) else {
            return self.apply(session, actions);
        };
        let mut out = Effects::default();
        out.actions = actions;
        let response = match deferred.kind {
            PendingKind::Command => success(id, self.command_result(session, out)),
            PendingKind::Branch => success(id, wire::branch_result(out)),
            PendingKind::ToolCall => {
                let decision = wire::tool_decision(answer);
                success(id, wire::tool_call_result(decision, out))
            }
            PendingKind::Step { .. } => {
                let answer = wire::step_answer(answer);
                success(id, wire::tool_execute_result(answer, out))
            }
        };
        self.outbox.respond(&response);
    }

    /// A call may be answered at once, or later under this request.
    pub(super) fn begin_call(&mut self, request: RequestId) {
        self.at_once = None;
        self.in_progress = Some(request);
    }

    /// Whether what settles this request is the answer to the call in progress.
    pub(super) fn is_in_progress(&self, request: RequestId) -> bool {
        self.in_progress == Some(request)
    }

    /// The call in progress panicked, and has been answered: whatever comes of it is the answer to nothing.
    pub(super) fn forget_call(&mut self) {
        self.in_progress = None;
        self.at_once = None;
        self.deferred = None;
    }

    /// Whether the call that just returned is answered later.
    pub(super) fn take_deferred(&mut self) -> Option<Deferred> {
        self.deferred.take()
    }

    /// Keeps the id under which a call is answered.
    pub(super) fn keep_waiting(&mut self, deferred: Deferred, id: Id<'static>) {
        let request = deferred.request;
        let waiting = Waiting {
            id,
            deferred,
            _span: tracing::Span::current(),
        };
        self.waiting.insert(request, waiting);
    }
}

/// The directories of a session.
#[derive(Debug)]
pub(super) struct Places {
    pub(super) agent_dir: Arc<Path>,
    pub(super) cwd: Arc<Path>,
    is_trusted: bool,
}

impl Places {
    pub(super) fn project(&self) -> Project<'_> {
        Project {
            agent_dir: &self.agent_dir,
            cwd: &self.cwd,
        }
    }
}

/// The project a call is about, as far as the host ever said it.
fn project<'a>(context: &'a Context<'_>, slot: Option<&'a Slot>) -> ProjectOf<'a> {
    let said = context.project_trusted;
    if said.or(slot.map(|slot| slot.is_trusted)) == Some(false) {
        return ProjectOf::Nobody;
    }
    let said = context.cwd.as_deref().map(Path::new);
    match said.or_else(|| slot?.cwd.as_deref()) {
        Some(cwd) => ProjectOf::Session(cwd),
        None => ProjectOf::Host,
    }
}

fn unknown_session(id: &str) -> Error {
    Error::new(
        Kind::UnknownSession,
        format!("there is no session {id:?}: send hook/session_start first"),
    )
}

fn too_many_sessions() -> Error {
    Error::new(
        Kind::TooManySessions,
        format!("{MOST_SESSIONS} sessions are open: end some with hook/session_shutdown"),
    )
}

pub(super) fn not_initialized() -> Error {
    Error::new(Kind::NotInitialized, "send initialize first")
}
