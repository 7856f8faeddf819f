//! The state of the process: the host, its sessions, open requests and questions.
//!
//! [`Server`] composes parts that own their state and do not know each other. It passes an event to a session, has the
//! platform perform the effects, and adds everything beyond the answer itself (answers to earlier requests, questions,
//! actions that time caused) to the outbox. Must not know method names or lines.

use std::path::Path;
use std::sync::Arc;

use tokio::sync::Notify;
use workflow_core::definition::Loaded;
use workflow_core::effect::{Action, Reply, TriggerOutcome};
use workflow_core::event::{Entry, PlatformEvent};
use workflow_core::session::View;
use workflow_core::types::{Millis, RequestId};
use workflow_core::{Effects, Session};
use workflow_protocol::method::{HostApply, HostCancel, HostExec};
use workflow_protocol::{
    CommandRunResult, Context, Error, HostApplyParams, HostCancelParams, Kind, SessionBound,
};

use super::config::ServerConfig;
use super::convert;
use super::definitions::Loader;
use super::host::{Host, not_initialized};
use super::host_questions::HostQuestions;
use super::open_session::OpenSession;
use super::requests::{HandlerResult, Request, RequestKind, Requests};
use super::sessions::{Sessions, unknown_session};
use super::timer::Timer;
use crate::driver::{Driver, HostCall};
use crate::platform::{Platform, PlatformReport};
use crate::present::{ended_run, indexed_run};
use crate::rpc::{Outbox, failure, success};
use crate::store::Run;
use crate::telemetry::PhaseClock;

/// The server.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) host: Option<Host>,
    pub(super) loader: Arc<dyn Loader>,
    /// The seed of task ids, if the configuration fixes it.
    pub(super) seed: Option<u64>,
    pub(super) platform: Arc<dyn Platform>,
    pub(super) has_surroundings: bool,
    pub(super) sessions: Sessions,
    pub(super) timer: Timer,
    pub(super) questions: HostQuestions,
    pub(super) requests: Requests,
    pub(super) outbox: Outbox,
    /// True if the host requested the end.
    pub(super) is_over: bool,
}

impl Server {
    pub(super) fn new(config: ServerConfig, deadline_changed: Arc<Notify>) -> Self {
        let ServerConfig {
            loader,
            seed,
            platform,
            has_surroundings,
        } = config;
        Self {
            host: None,
            loader,
            seed,
            platform,
            has_surroundings,
            sessions: Sessions::default(),
            timer: Timer::new(deadline_changed),
            questions: HostQuestions::default(),
            requests: Requests::default(),
            outbox: Outbox::default(),
            is_over: false,
        }
    }

    /// Handles a request that an output of its session answers, now or later.
    pub(super) fn handle_request<'a, R>(
        &mut self,
        params: &impl SessionBound<'a>,
        kind: RequestKind,
        handle: impl FnOnce(&mut Session, RequestId, &mut Effects),
    ) -> HandlerResult<R> {
        self.session_of(params)?;
        let session = params.session_id();
        let (id, request) = self.requests.open(kind);
        let now = self.timer.now();
        let driven = self.drive(now, session, |driver| {
            driver.handle(now, |session, out| handle(session, id, out))
        });
        let ((), mut out) = driven.ok_or_else(|| unknown_session(session))?;
        let answer = out.take_answer(id);
        self.deliver(session, &mut out);
        match answer {
            // A notification wants to know nothing.
            Some(_) if request.id.is_none() => {}
            Some(answer) => {
                out.actions.extend(answer.actions);
                self.answer(session, request, answer.reply, out);
            }
            None => {
                self.requests.keep(id, request);
                self.apply(session, out.actions);
            }
        }
        Ok(None)
    }

    /// Handles an event in the session of a call.
    pub(super) fn handle_call<'a, T>(
        &mut self,
        params: &impl SessionBound<'a>,
        handle: impl FnOnce(&mut Session, &mut Effects) -> T,
    ) -> Result<(T, Effects), Error> {
        self.session_of(params)?;
        let id = params.session_id();
        let now = self.timer.now();
        let driven = self.drive(now, id, |driver| driver.handle(now, handle));
        let (result, mut out) = driven.ok_or_else(|| unknown_session(id))?;
        self.deliver(id, &mut out);
        Ok((result, out))
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
        self.sessions.get(id).ok_or_else(|| unknown_session(id))
    }

    /// Loads the settings of a call's session again if they could not be read: they may have been corrected.
    pub(super) fn reload_unreadable_settings<'a>(
        &mut self,
        params: &impl SessionBound<'a>,
    ) -> Result<(), Error> {
        if self.session_of(params)?.driver.session.misses_settings() {
            self.reload_settings(params.session_id())?;
        }
        Ok(())
    }

    fn reload_settings(&mut self, id: &str) -> Result<(), Error> {
        let loaded = self.definitions(id, &Context::default())?;
        let out = self.handle_event(id, |session, out| session.handle_settings(&loaded, out));
        self.apply(id, out.actions);
        Ok(())
    }

    /// The definitions as the files are now, for a session or without one.
    pub(super) fn definitions(
        &mut self,
        session: &str,
        context: &Context<'_>,
    ) -> Result<Arc<Loaded>, Error> {
        let host = self.host.as_mut().ok_or_else(not_initialized)?;
        let project = project_of(host, context, self.sessions.get(session));
        Ok(host.definitions.load(&project))
    }

    /// The definitions for a completion, which may be a moment old.
    pub(super) fn recent_definitions(
        &self,
        session: &str,
        context: &Context<'_>,
    ) -> Result<Arc<Loaded>, Error> {
        let host = self.host.as_ref().ok_or_else(not_initialized)?;
        let project = project_of(host, context, self.sessions.get(session));
        Ok(host.definitions.load_recent(&project))
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
        self.sessions.check_room_for(id)?;
        // What waits in the session as it was waits no longer.
        self.note_runs(id, Vec::new(), Session::closed_view);
        let loaded = self.definitions(id, context)?;
        let host = self.host.as_ref().ok_or_else(not_initialized)?;
        if !self.sessions.contains(id) {
            // Answers to questions of an earlier session with this id are ignored.
            self.questions.forget_session(id);
        }
        let is_virtual = self.timer.is_virtual();
        let sessions = &mut self.sessions;
        let mut open = sessions.take_or_create(id, host, &self.platform, is_virtual);
        open.adopt_context(context);
        let span = open.span(id);
        let _entered = span.enter();
        open.driver.open();
        // The session is out of the table while it restores its run: if that panics, the session is unknown, rather
        // than a session without a run and its guards.
        let now = self.timer.now();
        let restore = |session: &mut Session, out: &mut Effects| {
            session.handle_session(entries, &loaded, out);
        };
        let ((), mut out) = open.driver.handle(now, restore);
        // It may be in another file, or another session may have had the run meanwhile.
        open.noted = None;
        self.sessions.insert(id, open);
        self.deliver(id, &mut out);
        self.note_runs(id, Vec::new(), Session::view);
        Ok(out)
    }

    /// Closes every session, and answers the requests that are pending in it.
    pub(super) fn close_all(&mut self) {
        while let Some(id) = self.sessions.first_id() {
            let out = self.close(&id);
            self.apply(&id, out.actions);
        }
    }

    /// Shuts a session down and forgets it.
    pub(super) fn close(&mut self, id: &str) -> Effects {
        // What waits in it waits no longer.
        self.note_runs(id, Vec::new(), Session::closed_view);
        let out = self.handle_driven(id, |driver, now| ((), driver.close(now)));
        self.questions.forget_session(id);
        self.sessions.remove(id);
        out
    }

    /// Handles a report that the platform accepts, and gives the outcome of a trigger's message. `None` if the session
    /// is gone.
    pub(super) fn handle_report(&mut self, report: PlatformReport) -> Option<TriggerOutcome> {
        let PlatformReport { session, event, .. } = report;
        if let PlatformEvent::CodeRestored { outcome, .. } = &event
            && !self.sessions.contains(&session)
        {
            tracing::warn!(?outcome, "code went back for a session that is gone");
        }
        let now = self.timer.now();
        let (outcome, mut out) =
            self.drive(now, &session, |driver| driver.on_report(now, event))?;
        self.deliver(&session, &mut out);
        self.apply(&session, out.actions);
        outcome
    }

    /// Cancels a pending call of `workflow_step`.
    pub(super) fn cancel_step(&mut self, id: &str, call: &str) -> Effects {
        match self.requests.find_step(id, call) {
            Some(request) => self.handle_event(id, |session, out| {
                session.handle_step_cancelled(request, out);
            }),
            None => Effects::default(),
        }
    }

    /// Handles every deadline that has come. Returns the actions of one session; those of others are sent.
    pub(super) fn tick(&mut self, of_session: Option<&str>) -> Vec<Action> {
        let mut returned = Vec::new();
        let now = self.timer.now();
        while let Some(id) = self.timer.take_due(now) {
            // Forgotten before the step, so that a step that panics is not due forever.
            if let Some(open) = self.sessions.get_mut(&id) {
                open.deadline = None;
            }
            // With the time by which the deadline was reached: the system's time may have been set back since.
            let driven = self.drive(now, &id, |driver| ((), driver.poll(now)));
            let Some(((), mut out)) = driven else {
                continue;
            };
            self.deliver(&id, &mut out);
            if of_session == Some(&*id) {
                returned.extend(out.actions);
            } else {
                self.apply(&id, out.actions);
            }
        }
        returned
    }

    /// Handles an event that is not a request. A session that is gone ignores it.
    pub(super) fn handle_event(
        &mut self,
        id: &str,
        handle: impl FnOnce(&mut Session, &mut Effects),
    ) -> Effects {
        self.handle_driven(id, |driver, now| driver.handle(now, handle))
    }

    /// The same, for an event that is the driver's.
    pub(super) fn handle_driven(
        &mut self,
        id: &str,
        event: impl FnOnce(&mut Driver, Millis) -> ((), Effects),
    ) -> Effects {
        let now = self.timer.now();
        let driven = self.drive(now, id, |driver| event(driver, now));
        let ((), mut out) = driven.unwrap_or_default();
        self.deliver(id, &mut out);
        out
    }

    /// Has a session handle an event. `None` if it is not open.
    fn drive<T>(
        &mut self,
        now: Millis,
        id: &str,
        event: impl FnOnce(&mut Driver) -> (T, Effects),
    ) -> Option<(T, Effects)> {
        let open = self.sessions.get_mut(id)?;
        let span = open.span(id);
        let _entered = span.enter();
        let (result, out) = event(&mut open.driver);
        PhaseClock::follow(&mut open.clock, &open.driver.session, now);
        if open.driver.take_change() {
            let ended = out.ended.iter().map(ended_run).collect();
            self.note_runs(id, ended, Session::view);
        }
        Some((result, out))
    }

    /// Has the runs of a session noted in the index of all runs, unless it has them: those that ended, and the one that
    /// there is. A run with a virtual clock is not real.
    fn note_runs(
        &mut self,
        id: &str,
        mut runs: Vec<Run>,
        view: impl FnOnce(&Session) -> Option<View<'_>>,
    ) {
        let (Some(host), Some(open)) = (&self.host, self.sessions.get_mut(id)) else {
            return;
        };
        if self.timer.is_virtual() {
            return;
        }
        runs.extend(view(&open.driver.session).as_ref().map(indexed_run));
        let project = open.driver.directories.project();
        for run in runs {
            if open.noted.as_ref() != Some(&run) {
                open.noted = Some(run.clone());
                self.platform.note_run(&project, &host.name, run);
            }
        }
    }

    /// Passes on the outputs of a session: questions, withdrawals, and answers to earlier requests. Actions and diagnostics are
    /// left for the answer to the event.
    fn deliver(&mut self, id: &str, out: &mut Effects) {
        let Some(open) = self.sessions.get_mut(id) else {
            return;
        };
        let deadline = open.driver.deadline();
        let before = std::mem::replace(&mut open.deadline, deadline);
        self.timer.reschedule(id, before, deadline);
        for call in open.driver.take_host_calls() {
            match call {
                HostCall::Run(command) => {
                    let request = self.questions.add_command(id);
                    let params = convert::exec(id, command);
                    self.outbox.request::<HostExec>(request, &params);
                }
                HostCall::Cancel => {
                    if let Some(id) = self.questions.take_command(id) {
                        self.outbox.notify::<HostCancel>(&HostCancelParams { id });
                    }
                }
            }
        }
        for question in std::mem::take(&mut out.withdrawn) {
            // A question that was not sent yet is not sent.
            out.questions.retain(|asked| asked.id != question);
            self.dismiss(id, question);
        }
        for answer in std::mem::take(&mut out.answers) {
            let mut of_answer = Effects::default();
            of_answer.actions = answer.actions;
            match self.requests.take(answer.request) {
                Some(request) => self.answer(id, request, answer.reply, of_answer),
                None => self.apply(id, of_answer.actions),
            }
        }
        for question in out.questions.drain(..) {
            self.ask(id, question);
        }
    }

    /// Answers a request. The actions for one without an id are sent alone.
    fn answer(&mut self, session: &str, request: Request, reply: Reply, out: Effects) {
        let Some(id) = request.id else {
            return self.apply(session, out.actions);
        };
        let response = match (request.kind, reply) {
            (RequestKind::Command, Reply::Command) => success(
                id,
                CommandRunResult {
                    guarded: self.take_guarded_change(session),
                    ..convert::command_run_result(out)
                },
            ),
            (RequestKind::Branch, Reply::Branch(answer)) => {
                success(id, convert::branch_result(answer, out))
            }
            (RequestKind::ToolCall, Reply::ToolCall(decision)) => {
                success(id, convert::tool_call_result(decision, out))
            }
            (RequestKind::Step { .. }, Reply::Step(answer)) => {
                success(id, convert::tool_execute_result(answer, out))
            }
            (
                RequestKind::Command
                | RequestKind::Branch
                | RequestKind::ToolCall
                | RequestKind::Step { .. },
                _,
            ) => {
                let message = "the answer of the session does not fit the request";
                failure(id, &Error::new(Kind::Internal, message))
            }
        };
        self.outbox.respond(&response);
    }

    /// Sends actions that no answer carries.
    pub(super) fn apply(&mut self, session: &str, actions: Vec<Action>) {
        if !actions.is_empty() {
            self.outbox.notify::<HostApply>(&HostApplyParams {
                session_id: session.to_owned(),
                actions: convert::actions(actions),
            });
        }
    }
}

/// The directory of the project of a call, whose own context counts before that of its session. Without a project, because
/// the user does not trust it, it is the user's own.
fn project_of(host: &Host, context: &Context<'_>, session: Option<&OpenSession>) -> Arc<Path> {
    let directories = session.map(|open| &open.driver.directories);
    let is_trusted = directories.map(|directories| directories.is_trusted);
    if context.project_trusted.or(is_trusted) == Some(false) {
        return Arc::clone(host.definitions.agent_dir());
    }
    match (context.cwd.as_deref(), directories) {
        (Some(cwd), _) => Path::new(cwd).into(),
        (None, Some(directories)) => Arc::clone(&directories.cwd),
        (None, None) => Arc::clone(host.definitions.cwd()),
    }
}
