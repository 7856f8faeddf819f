//! What the process knows: the host, its sessions, what is waited for.
//!
//! Owns every [`Session`] and steps them; what follows beyond the answer itself (answers to
//! earlier requests, questions, actions that time caused) goes to the outbox. Must not know
//! method names or lines.

use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use workflow_core::definition::Loaded;
use workflow_core::input::{Millis, Ticket};
use workflow_core::output::{Action, Output, Question, Settled};
use workflow_core::session::Abilities;
use workflow_core::{Input, Session};
use workflow_protocol::method::{HostApply, UiConfirm};
use workflow_protocol::{CommandRunResult, Context, Error, HostApplyParams, Kind, SessionBound};

use super::clock::Clock;
use super::definitions::{Definitions, Loader, OnDisk};
use super::outbox::Outbox;
use super::peer::{Asked, Peer};
use super::session::Slot;
use crate::wire;

/// What lies around the process: where files and time come from.
#[derive(Debug)]
pub(crate) struct Surroundings {
    pub(super) loader: Arc<dyn Loader>,
    pub(super) clock: Clock,
    /// What task ids are made from; nobody can know them before if there is none.
    pub(super) seed: Option<u64>,
}

impl Default for Surroundings {
    /// The disk and the system's clock.
    fn default() -> Self {
        Self::of(Arc::new(OnDisk))
    }
}

impl Surroundings {
    /// Other files than those of the disk.
    pub(crate) fn of(loader: Arc<dyn Loader>) -> Self {
        Self {
            loader,
            clock: Clock::system(),
            seed: None,
        }
    }

    /// A clock and task ids that can be told of, so that what happens can happen again.
    pub(crate) fn repeatable(loader: Arc<dyn Loader>, seed: u64) -> Self {
        Self {
            loader,
            clock: Clock::held(),
            seed: Some(seed),
        }
    }
}

/// Everything the process knows.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) host: Option<Host>,
    pub(super) clock: Clock,
    pub(super) loader: Arc<dyn Loader>,
    pub(super) seed: Option<u64>,
    pub(super) sessions: HashMap<String, Slot>,
    /// When which session is due.
    deadlines: BTreeSet<(Millis, String)>,
    /// Told when the first deadline is another one.
    deadline_changed: Arc<Notify>,
    peer: Peer,
    tickets: u64,
    /// The ids, as they came, of the requests that are answered later.
    waiting: HashMap<Ticket, String>,
    /// Set when the call in progress is answered later.
    deferred: Option<Ticket>,
    pub(super) outbox: Outbox,
    /// Whether the host asked for the end.
    pub(super) is_over: bool,
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
        } = surroundings;
        Self {
            host: None,
            clock,
            loader,
            seed,
            sessions: HashMap::new(),
            deadlines: BTreeSet::new(),
            deadline_changed,
            peer: Peer::default(),
            tickets: 0,
            waiting: HashMap::new(),
            deferred: None,
            outbox: Outbox::default(),
            is_over: false,
        }
    }

    /// Steps the session of a call with what the call means.
    pub(super) fn step<'a>(
        &mut self,
        params: &impl SessionBound<'a>,
        input: Input<'_>,
    ) -> Result<Output, Error> {
        self.known(params)?;
        Ok(self.step_session(params.session_id(), input))
    }

    /// The session of a call, which takes over what the host knows of it now.
    pub(super) fn known<'a>(&mut self, params: &impl SessionBound<'a>) -> Result<&Slot, Error> {
        let id = params.session_id();
        let slot = self.sessions.get_mut(id);
        let slot = slot.ok_or_else(|| unknown_session(id))?;
        slot.note(params.context());
        Ok(slot)
    }

    /// Steps a session that is new, or starts anew from what the host ships.
    pub(super) fn begin<'i>(
        &mut self,
        id: &str,
        context: &Context<'_>,
        input: impl FnOnce(Arc<Loaded>) -> Input<'i>,
    ) -> Result<Output, Error> {
        let loaded = self.definitions(id, context)?;
        let host = self.host.as_ref().ok_or_else(not_initialized)?;
        let new = || Slot::new(Session::new(host.abilities, host.seed.of(id)));
        let mut slot = self.sessions.remove(id).unwrap_or_else(new);
        slot.note(context);
        self.peer.forget(id);
        // Nobody holds the session while it takes up its run: should that fail, it is unknown,
        // rather than a session without a run and its guards.
        let now = self.now();
        let output = slot.session.step(now, input(loaded));
        self.sessions.insert(id.to_owned(), slot);
        let output = self.follow_up(id, output);
        Ok(output)
    }

    /// Closes every session, and answers what waits in it.
    pub(super) fn close_all(&mut self) {
        let mut ids: Vec<String> = self.sessions.keys().cloned().collect();
        ids.sort_unstable();
        for id in ids {
            let output = self.close(&id);
            self.apply(&id, output.actions);
        }
    }

    /// Steps a session for the last time and forgets it.
    pub(super) fn close(&mut self, id: &str) -> Output {
        let output = self.step_session(id, Input::Shutdown);
        self.peer.forget(id);
        self.sessions.remove(id);
        output
    }

    /// The definitions as the files stand now, for a session or for none.
    pub(super) fn definitions(
        &mut self,
        session: &str,
        context: &Context<'_>,
    ) -> Result<Arc<Loaded>, Error> {
        let host = self.host.as_mut().ok_or_else(not_initialized)?;
        let cwd = cwd(context, self.sessions.get(session));
        Ok(host.definitions.load(cwd))
    }

    /// The definitions as the files stood a moment ago, for a session or for none.
    ///
    /// Under a virtual clock no moment passes by itself: there it is as they stand now.
    pub(super) fn recent_definitions(
        &mut self,
        session: &str,
        context: &Context<'_>,
    ) -> Result<Arc<Loaded>, Error> {
        if let Clock::Virtual { .. } = self.clock {
            return self.definitions(session, context);
        }
        let host = self.host.as_mut().ok_or_else(not_initialized)?;
        let cwd = cwd(context, self.sessions.get(session));
        Ok(host.definitions.recent(cwd))
    }

    fn step_session(&mut self, id: &str, input: Input<'_>) -> Output {
        let now = self.now();
        self.step_session_at(now, id, input)
    }

    fn step_session_at(&mut self, now: Millis, id: &str, input: Input<'_>) -> Output {
        let Some(slot) = self.sessions.get_mut(id) else {
            return Output::default();
        };
        let output = slot.session.step(now, input);
        self.follow_up(id, output)
    }

    /// The time for a step that anything but time causes.
    fn now(&mut self) -> Millis {
        if self.deadlines.is_empty() {
            self.clock.set();
        }
        self.clock.now()
    }

    /// Does what a step asks for beyond its answer.
    fn follow_up(&mut self, id: &str, mut output: Output) -> Output {
        if let Some(slot) = self.sessions.get_mut(id) {
            let deadline = slot.session.deadline();
            let before = std::mem::replace(&mut slot.deadline, deadline);
            if before != deadline {
                self.wait_for(id, before, deadline);
            }
        }
        for settled in output.settled.drain(..) {
            self.settle(id, settled);
        }
        for question in output.questions.drain(..) {
            self.ask(id, question);
        }
        output
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
            self.deadline_changed.notify_one();
        }
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
            let output = self.step_session_at(now, &id, Input::Tick);
            if asking == Some(&*id) {
                asked_for.extend(output.actions);
            } else {
                self.apply(&id, output.actions);
            }
        }
        asked_for
    }

    /// The host answered a question of ours, under its id.
    pub(super) fn answered(&mut self, id: &str, confirmed: bool) {
        let Some(Asked { session, question }) = self.peer.answered(id) else {
            tracing::warn!(id, "the host answered what was not asked, or not any more");
            return;
        };
        let input = Input::Answer {
            question,
            confirmed,
        };
        let output = self.step_session(&session, input);
        self.apply(&session, output.actions);
    }

    /// Sends actions that no answer carries.
    pub(super) fn apply(&mut self, session: &str, actions: Vec<Action>) {
        if !actions.is_empty() {
            self.outbox.notification::<HostApply>(&HostApplyParams {
                session_id: session.to_owned(),
                actions: wire::actions(actions),
            });
        }
    }

    fn ask(&mut self, session: &str, question: Question) {
        let Question { id, title, message } = question;
        let asked = Asked {
            session: session.to_owned(),
            question: id,
        };
        let params = wire::confirm(session, title, message);
        let id = self.peer.ask(asked);
        self.outbox.request::<UiConfirm>(&id, &params);
    }

    pub(super) fn next_ticket(&mut self) -> Ticket {
        self.tickets += 1;
        Ticket(self.tickets)
    }

    /// Answers a request that had to wait. The actions of one that came without an id are sent alone.
    fn settle(&mut self, session: &str, settled: Settled) {
        let Some(id) = self.waiting.remove(&settled.ticket) else {
            return self.apply(session, settled.actions);
        };
        let result = CommandRunResult {
            actions: wire::actions(settled.actions),
            ..CommandRunResult::default()
        };
        self.outbox.result(&id, &result);
    }

    /// The call in progress is answered when its ticket is settled.
    pub(super) fn defer(&mut self, ticket: Ticket) {
        self.deferred = Some(ticket);
    }

    /// Whether the call that just returned is answered later.
    pub(super) fn take_deferred(&mut self) -> Option<Ticket> {
        self.deferred.take()
    }

    /// Keeps the id under which a ticket is answered.
    pub(super) fn keep_waiting(&mut self, ticket: Ticket, id: &str) {
        self.waiting.insert(ticket, id.to_owned());
    }
}

/// The directory a call is about, where the host ever said it.
fn cwd<'a>(context: &'a Context<'_>, slot: Option<&'a Slot>) -> Option<&'a Path> {
    let said = context.cwd.as_deref().map(Path::new);
    said.or_else(|| slot?.cwd.as_deref())
}

fn unknown_session(id: &str) -> Error {
    Error::new(
        Kind::UnknownSession,
        format!("there is no session {id:?}: send hook/session_start first"),
    )
}

pub(super) fn not_initialized() -> Error {
    Error::new(Kind::NotInitialized, "send initialize first")
}
