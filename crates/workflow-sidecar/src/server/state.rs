//! The state of the process: the host, its sessions, open requests and questions.
//!
//! [`Server`] composes parts that own their state and do not know each other. It begins, looks at and
//! ends sessions; `dispatcher` passes events to them. Must not know method names or lines.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use workflow_core::definition::Loaded;
use workflow_core::effect::Action;
use workflow_core::event::Entry;
use workflow_core::session::View;
use workflow_core::types::Millis;
use workflow_core::{Effects, Session};
use workflow_protocol::{Context, Error, Kind, SessionBound};

use super::clock::Clock;
use super::config::ServerConfig;
use super::host::{ConnectedHost, not_initialized};
use super::open_session::OpenSession;
use super::requests::HostRequest;
use super::requests::PendingRequests;
use crate::driver::HostMemory;
use crate::platform::SessionContext;
use crate::present::indexed_run;
use crate::rpc::{Outbox, OutgoingRequests};
use crate::store::{Run, RunNote, SessionKey};
use crate::time::wall_time;

/// The milliseconds between two notes of nothing but what was counted.
const COUNT_INTERVAL: u64 = 1000;

/// The number of sessions that may be open at once, as a limit for a host that does not end them.
const MAX_SESSIONS: usize = 4096;

/// The server.
pub(super) struct Server {
    pub(super) host: Option<ConnectedHost>,
    pub(super) config: ServerConfig,
    /// The open sessions by their ids.
    pub(super) sessions: BTreeMap<String, Box<OpenSession>>,
    /// The number of sessions so far.
    opened: u64,
    pub(super) clock: Clock,
    /// The requests to the host that it has not answered yet.
    pub(super) asked: OutgoingRequests<HostRequest>,
    pub(super) requests: PendingRequests,
    pub(super) outbox: Outbox,
    /// The lines from the outbox that are recorded, if they have to be, and that were not taken yet.
    pub(super) unsent: Vec<u8>,
    /// True if the host requested the end.
    pub(super) is_over: bool,
}

impl Server {
    pub(super) fn new(mut config: ServerConfig) -> Self {
        if let Some(recorder) = &config.recorder {
            config.loader = recorder.loader();
            config.seed = Some(recorder.seed());
            config.platform = recorder.platform(config.platform);
        }
        Self {
            host: None,
            config,
            sessions: BTreeMap::new(),
            opened: 0,
            clock: Clock::system(),
            asked: OutgoingRequests::default(),
            requests: PendingRequests::default(),
            outbox: Outbox::default(),
            unsent: Vec::new(),
            is_over: false,
        }
    }

    /// The session of a call, after it has adopted the call's context.
    pub(super) fn session_of<'a>(
        &mut self,
        params: &impl SessionBound<'a>,
    ) -> Result<&OpenSession, Error> {
        let id = params.session_id();
        let open = self.sessions.get_mut(id);
        let open = open.ok_or_else(|| unknown_session(id))?;
        if open.adopt_context(params.context()) {
            self.reload_settings(id)?;
        }
        self.known(id)
    }

    /// The same. If its settings could not be read, they are loaded again: they may have been corrected.
    pub(super) fn readable_session_of<'a>(
        &mut self,
        params: &impl SessionBound<'a>,
    ) -> Result<&OpenSession, Error> {
        let id = params.session_id();
        if self.session_of(params)?.driver.session.misses_settings() {
            self.reload_settings(id)?;
        }
        self.known(id)
    }

    fn known(&self, id: &str) -> Result<&OpenSession, Error> {
        let open = self.sessions.get(id);
        open.map(Box::as_ref).ok_or_else(|| unknown_session(id))
    }

    fn reload_settings(&mut self, id: &str) -> Result<(), Error> {
        let loaded = self.definitions(id, &Context::default())?;
        let out = self.handle_event(id, |session| session.handle_settings(&loaded));
        self.apply(id, out.actions);
        Ok(())
    }

    /// The definitions as the files are now, for a session or without one.
    pub(super) fn definitions(
        &mut self,
        session: &str,
        context: &Context<'_>,
    ) -> Result<Arc<Loaded>, Error> {
        let project = self.project_of(session, context)?;
        let host = self.host.as_mut().ok_or_else(not_initialized)?;
        Ok(host.definitions.load(&project))
    }

    /// The definitions for a completion, which may be a moment old.
    pub(super) fn recent_definitions(
        &self,
        session: &str,
        context: &Context<'_>,
    ) -> Result<Arc<Loaded>, Error> {
        let project = self.project_of(session, context)?;
        let host = self.host.as_ref().ok_or_else(not_initialized)?;
        Ok(host.definitions.load_recent(&project))
    }

    /// The directory of the project of a call, whose own context counts before that of its session. Without a project,
    /// because the user does not trust it, it is the user's own.
    fn project_of(&self, session: &str, context: &Context<'_>) -> Result<Arc<Path>, Error> {
        let host = self.host.as_ref().ok_or_else(not_initialized)?;
        let session = self.sessions.get(session);
        let own = session.map(|open| &open.driver.context);
        let is_trusted = own.map(|own| own.is_trusted);
        if context.project_trusted.or(is_trusted) == Some(false) {
            return Ok(Arc::clone(&host.definitions.agent_dir));
        }
        Ok(match (context.cwd.as_deref(), own) {
            (Some(cwd), _) => Path::new(cwd).into(),
            (None, Some(own)) => Arc::clone(&own.cwd),
            (None, None) => Arc::clone(&host.definitions.cwd),
        })
    }

    /// The new state of a session's settings without a run, if the host does not know it yet.
    pub(super) fn take_guarded_change(&mut self, id: &str) -> Option<bool> {
        self.sessions.get_mut(id)?.take_guarded_change()
    }

    /// Begins a session, or begins one again over these entries.
    pub(super) fn begin(
        &mut self,
        id: &str,
        context: &Context<'_>,
        entries: &[Entry<'_>],
    ) -> Result<Effects, Error> {
        let is_new = !self.sessions.contains_key(id);
        if is_new && self.sessions.len() >= MAX_SESSIONS {
            let message =
                format!("{MAX_SESSIONS} sessions are open: end some with hook/session_shutdown");
            return Err(Error::new(Kind::TooManySessions, message));
        }
        let left = self.sessions.get(id).and_then(|open| {
            let run = open.driver.session.closed_view().as_ref().map(indexed_run);
            Some((open.driver.context.clone(), run?))
        });
        let loaded = self.definitions(id, context)?;
        let host = self.host.as_ref().ok_or_else(not_initialized)?;
        if is_new {
            // Answers to questions of an earlier session with this id are ignored.
            self.asked.retain(|request| request.session() != id);
        }
        let mut open = self.sessions.remove(id).unwrap_or_else(|| {
            self.opened += 1;
            let (platform, is_virtual) = (&self.config.platform, self.clock.is_virtual());
            let open = OpenSession::new(id, self.opened, host, platform, is_virtual);
            Box::new(open)
        });
        open.adopt_context(context);
        let span = open.span(id);
        let _entered = span.enter();
        open.driver.open();
        // The session is out of the table while it restores its run: if that panics, the session is unknown, rather
        // than a session without a run and its guards.
        let restore = |session: &mut Session| session.handle_session(entries, &loaded);
        let ((), mut out) = open.driver.with_effects(self.clock.now(), restore);
        // What waited in a run that the session no longer has waits no longer.
        let run = open
            .driver
            .session
            .view()
            .map(|view| view.state.task_id.clone());
        let left = left.filter(|(_, left)| run.as_ref() != Some(&left.task_id));
        // Its times begin where they did before a restart.
        if let (None, Some(run)) = (&open.clock, run)
            && !self.clock.is_virtual()
        {
            let key = SessionKey {
                host: host.name.clone(),
                session: run,
            };
            let noted = self.config.platform.remembered(&open.driver.context, &key);
            let noted = HostMemory::parse(&noted).clock;
            open.clock = noted.and_then(|clock| clock.resumed(&open.driver.session));
        }
        self.sessions.insert(id.to_owned(), open);
        if let Some((context, left)) = left {
            self.note_run(id, context, Some(left));
        }
        self.deliver(id, &mut out);
        self.note_runs(id, Vec::new(), Session::view);
        Ok(out)
    }

    /// Closes every session, and answers the requests that are pending in it.
    pub(super) fn close_all(&mut self) {
        while let Some((id, _)) = self.sessions.first_key_value() {
            let id = id.clone();
            let out = self.close(&id);
            self.apply(&id, out.actions);
        }
    }

    /// Shuts a session down and forgets it.
    pub(super) fn close(&mut self, id: &str) -> Effects {
        if let Some(open) = self.sessions.get_mut(id) {
            open.counted = 0;
        }
        // What waits in it waits no longer.
        self.note_runs(id, Vec::new(), Session::closed_view);
        if let Some(open) = self.sessions.get_mut(id) {
            open.counted = 0;
            // Neither is its phase over.
            open.clock = None;
        }
        let driven = self.drive(id, |driver, now| ((), driver.close(now)));
        let ((), out) = driven.unwrap_or_default();
        self.asked.retain(|request| request.session() != id);
        self.sessions.remove(id);
        out
    }

    /// Handles every deadline that has come. Returns the actions of one session; those of others are sent.
    pub(super) fn tick(&mut self, of_session: Option<&str>) -> Vec<Action> {
        let mut returned = Vec::new();
        let now = self.clock.now();
        while let Some((_, id)) = self.first_due().filter(|(deadline, _)| *deadline <= now) {
            let id = id.to_owned();
            // Forgotten before the step, so that a step that panics is not due forever.
            if let Some(open) = self.sessions.get_mut(&id) {
                open.deadline = None;
            }
            // With the time by which the deadline was reached: the system's time may have been set back since.
            let driven = self.drive(&id, |driver, now| ((), driver.poll(now)));
            let ((), out) = driven.unwrap_or_default();
            if of_session == Some(&*id) {
                returned.extend(out.actions);
            } else {
                self.apply(&id, out.actions);
            }
        }
        returned
    }

    /// The first deadline, and the session that it is of.
    pub(super) fn first_due(&self) -> Option<(Millis, &str)> {
        let sessions = self.sessions.iter();
        let due = sessions.filter_map(|(id, open)| Some((open.deadline?, id.as_str())));
        due.min()
    }

    /// Has the runs of a session noted in the index of all runs: those that ended, and the one that there is. What was counted
    /// is noted without one, too.
    pub(super) fn note_runs(
        &mut self,
        id: &str,
        mut runs: Vec<Run>,
        view: impl FnOnce(&Session) -> Option<View<'_>>,
    ) {
        let Some(open) = self.sessions.get(id) else {
            return;
        };
        runs.extend(view(&open.driver.session).as_ref().map(indexed_run));
        let context = open.driver.context.clone();
        for run in runs.into_iter().map(Some).chain([None]) {
            self.note_run(id, context.clone(), run);
        }
    }

    /// Has a run noted with what was counted, unless that is nothing and the run what was noted last for its session. A run
    /// with a virtual clock is not real.
    fn note_run(&mut self, id: &str, context: SessionContext, run: Option<Run>) {
        let (Some(host), Some(open)) = (&self.host, self.sessions.get_mut(id)) else {
            return;
        };
        let noted = |(of, noted): &(_, Run)| *of == context && Some(noted) == run.as_ref();
        let is_noted = run.is_none() || open.noted.as_ref().is_some_and(noted);
        // Many calls may be blocked in a second, and each note is written.
        let now = wall_time();
        let is_due = now.saturating_sub(open.counted) >= COUNT_INTERVAL;
        let is_counted = open.driver.counts.is_empty() || !is_due;
        if self.clock.is_virtual() || is_noted && is_counted {
            return;
        }
        open.counted = now;
        let counts = std::mem::take(&mut open.driver.counts);
        let memory = HostMemory {
            clock: open.clock.clone(),
            ..HostMemory::default()
        };
        let file = context.session_file.as_deref();
        let note = RunNote {
            host: host.name.clone(),
            run: run.clone(),
            memory: memory.to_text(),
            cwd: context.cwd.to_path_buf(),
            file: file.map(|file| file.to_string_lossy().into_owned()),
            counts,
            now,
        };
        self.config.platform.note_run(&context, note);
        let Some(run) = run else { return };
        // Another session that had the run has it noted anew when it has it again.
        for other in self.sessions.values_mut() {
            let is_it = |(_, noted): &(_, Run)| noted.task_id == run.task_id;
            other.noted.take_if(|noted| is_it(noted));
        }
        if let Some(open) = self.sessions.get_mut(id) {
            open.noted = Some((context, run));
        }
    }
}

pub(super) fn unknown_session(id: &str) -> Error {
    let message = format!("there is no session {id:?}: send hook/session_start first");
    Error::new(Kind::UnknownSession, message)
}
