//! The state of the process: the host, its sessions, open requests and questions.
//!
//! [`Server`] composes parts that own their state and do not know each other. It passes an event to a session, has the
//! platform perform the effects, and adds everything beyond the answer itself (answers to earlier requests, questions,
//! actions that time caused) to the outbox. Must not know method names or lines.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::Notify;
use workflow_core::definition::Loaded;
use workflow_core::effect::{Action, Effect, Reply, TriggerOutcome};
use workflow_core::event::{Entry, PlatformEvent};
use workflow_core::session::View;
use workflow_core::types::{Millis, RequestId};
use workflow_core::{Effects, Session};
use workflow_protocol::method::HostApply;
use workflow_protocol::{CommandRunResult, Context, Error, HostApplyParams, Kind, SessionBound};

use super::config::ServerConfig;
use super::convert;
use super::definitions::Loader;
use super::handlers::HandlerResult;
use super::host::{Host, not_initialized};
use super::host_gates::HostGates;
use super::host_questions::HostQuestions;
use super::requests::{Request, RequestKind, Requests};
use super::session_handle::{SessionDirectories, SessionHandle, project_of};
use super::sessions::{Sessions, unknown_session};
use super::timer::Timer;
use crate::platform::gates::HostAnswer;
use crate::platform::{Platform, PlatformReport, SessionContext};
use crate::present::{ended_run, indexed_run};
use crate::rpc::{Outbox, failure, success};
use crate::store::Run;
use crate::telemetry::{self, PhaseClock};

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
    pub(super) host_gates: HostGates,
    pub(super) requests: Requests,
    pub(super) outbox: Outbox,
    /// True if the host requested the end.
    pub(super) is_over: bool,
}

impl Server {
    pub(super) fn new(config: ServerConfig, deadline_changed: Arc<Notify>) -> Self {
        let ServerConfig {
            loader,
            clock,
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
            timer: Timer::new(clock, deadline_changed),
            questions: HostQuestions::default(),
            host_gates: HostGates::default(),
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
        let driven = self.drive(session, |session, out| handle(session, id, out));
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
        let (result, mut out) = self.drive(id, handle).ok_or_else(|| unknown_session(id))?;
        self.deliver(id, &mut out);
        Ok((result, out))
    }

    /// The session of a call, after it has adopted the call's context.
    pub(super) fn session_of<'a>(
        &mut self,
        params: &impl SessionBound<'a>,
    ) -> Result<&SessionHandle, Error> {
        let id = params.session_id();
        let handle = self.sessions.get_mut(id);
        let handle = handle.ok_or_else(|| unknown_session(id))?;
        if handle.adopt_context(params.context()) {
            self.reload_settings(id)?;
        }
        self.sessions.get(id).ok_or_else(|| unknown_session(id))
    }

    /// Loads the settings of a call's session again if they could not be read: they may have been corrected.
    pub(super) fn reload_unreadable_settings<'a>(
        &mut self,
        params: &impl SessionBound<'a>,
    ) -> Result<(), Error> {
        if self.session_of(params)?.session.misses_settings() {
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
        let project = project_of(context, self.sessions.get(session));
        Ok(host.definitions.load(&project))
    }

    /// The definitions for a completion, which may be a moment old.
    pub(super) fn recent_definitions(
        &self,
        session: &str,
        context: &Context<'_>,
    ) -> Result<Arc<Loaded>, Error> {
        let host = self.host.as_ref().ok_or_else(not_initialized)?;
        let project = project_of(context, self.sessions.get(session));
        Ok(host.definitions.load_recent(&project))
    }

    /// The directories of a session.
    pub(super) fn directories(&self, id: &str) -> Option<SessionDirectories> {
        let definitions = &self.host.as_ref()?.definitions;
        Some(self.sessions.get(id)?.directories(definitions))
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
        let mut handle = self.sessions.take_or_create(id, host);
        handle.adopt_context(context);
        let span = handle.span(id);
        let _entered = span.enter();
        // The session is out of the table while it restores its run: if that panics, the session is unknown, rather
        // than a session without a run and its guards.
        let mut out = Effects::at(self.timer.now_for_event());
        handle.session.handle_session(entries, &loaded, &mut out);
        self.sessions.insert(id, handle);
        if let Some(directories) = self.directories(id) {
            self.platform.open_session(&directories.context(id));
        }
        self.perform_all(id, &mut out);
        self.deliver(id, &mut out);
        if let Some(handle) = self.sessions.get_mut(id) {
            // It may be in another file, or another session may have had the run meanwhile.
            handle.noted = None;
        }
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
        let out = self.handle_event(id, Session::handle_shutdown);
        self.end_host_gate(id, None);
        self.questions.forget_session(id);
        self.sessions.remove(id);
        self.platform.close_session(id);
        out
    }

    /// Handles a report that the platform accepts, and gives the outcome of a trigger's message. `None` if the session
    /// is gone.
    pub(super) fn handle_report(&mut self, report: PlatformReport) -> Option<TriggerOutcome> {
        let PlatformReport { session, event, .. } = report;
        if !self.sessions.contains(&session) {
            if let PlatformEvent::CodeRestored { outcome, .. } = event {
                tracing::warn!(?outcome, "code went back for a session that is gone");
            }
            return None;
        }
        let event = match event {
            PlatformEvent::GateFinished { gate, reports }
                if self.host_gates.on_reports(&session, gate, &reports) =>
            {
                self.continue_host_gate(&session)
            }
            // The platform counts only the checks that it was given.
            PlatformEvent::GateProgress { gate, .. }
                if self.host_gates.running(&session) == Some(gate) =>
            {
                return None;
            }
            event => Some(event),
        };
        let (outcome, mut out) = self.drive(&session, |session, out| {
            let event = event?;
            if let PlatformEvent::GateFinished { reports, .. } = &event {
                telemetry::gate(session, reports);
            }
            session.handle_platform_event(event, out)
        })?;
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
            if let Some(handle) = self.sessions.get_mut(&id) {
                handle.deadline = None;
            }
            let late = self.host_gates.overdue(&id, now);
            let event = late.and_then(|request| {
                self.cancel_command(&request);
                self.host_gates.on_answer(&id, HostAnswer::Late, now);
                self.continue_host_gate(&id)
            });
            // With the time by which the deadline was reached: the system's time may have been set back since.
            let Some(((), mut out)) = self.drive_at(now, &id, |session, out| {
                session.poll_deadline(out);
                if let Some(event) = event {
                    session.handle_platform_event(event, out);
                }
            }) else {
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
        let Some(((), mut out)) = self.drive(id, handle) else {
            return Effects::default();
        };
        self.deliver(id, &mut out);
        out
    }

    /// Has a session handle an event, with the effects that follow. `None` if it is not open.
    fn drive<T>(
        &mut self,
        id: &str,
        handle: impl FnOnce(&mut Session, &mut Effects) -> T,
    ) -> Option<(T, Effects)> {
        let now = self.timer.now_for_event();
        self.drive_at(now, id, handle)
    }

    fn drive_at<T>(
        &mut self,
        now: Millis,
        id: &str,
        handle: impl FnOnce(&mut Session, &mut Effects) -> T,
    ) -> Option<(T, Effects)> {
        let session = self.sessions.get_mut(id)?;
        let span = session.span(id);
        let _entered = span.enter();
        let mut out = Effects::at(now);
        let reply = handle(&mut session.session, &mut out);
        let has_changed = !out.is_empty();
        self.perform_all(id, &mut out);
        if let Some(handle) = self.sessions.get_mut(id) {
            telemetry::denials(&handle.session, &out.denied);
            PhaseClock::follow(&mut handle.clock, &handle.session, now);
        }
        if has_changed {
            let ended = out.ended.iter().map(ended_run).collect();
            self.note_runs(id, ended, Session::view);
        }
        Some((reply, out))
    }

    /// Has the runs of a session noted in the index of all runs, unless it has them: those that ended, and the one that
    /// there is. A run with a virtual clock is not real.
    fn note_runs(
        &mut self,
        id: &str,
        mut runs: Vec<Run>,
        view: impl FnOnce(&Session) -> Option<View<'_>>,
    ) {
        let (Some(host), Some(directories)) = (&self.host, self.directories(id)) else {
            return;
        };
        let Some(handle) = self
            .sessions
            .get_mut(id)
            .filter(|_| !self.timer.is_virtual())
        else {
            return;
        };
        runs.extend(view(&handle.session).as_ref().map(indexed_run));
        for run in runs {
            if handle.noted.as_ref() != Some(&run) {
                handle.noted = Some(run.clone());
                self.platform
                    .note_run(&directories.project(), &host.name, run);
            }
        }
    }

    /// Performs the effects of an event, and those that follow from them.
    fn perform_all(&mut self, id: &str, out: &mut Effects) {
        let mut effects = VecDeque::from(std::mem::take(&mut out.effects));
        while let Some(effect) = effects.pop_front() {
            if let Some(event) = self.perform(id, effect)
                && let Some(handle) = self.sessions.get_mut(id)
            {
                let mut more = Effects::at(self.timer.now());
                handle.session.handle_platform_event(event, &mut more);
                effects.extend(std::mem::take(&mut more.effects));
                out.merge(more);
            }
        }
        if let Some(handle) = self.sessions.get_mut(id) {
            let of_command = self.host_gates.deadline(id);
            let deadlines = [handle.session.deadline(), of_command];
            let deadline = deadlines.into_iter().flatten().min();
            let before = std::mem::replace(&mut handle.deadline, deadline);
            self.timer.reschedule(id, before, deadline);
        }
    }

    /// Passes on the outputs of a session: questions, withdrawals, and answers to earlier requests. Actions and diagnostics are
    /// left for the answer to the event.
    fn deliver(&mut self, id: &str, out: &mut Effects) {
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

    /// Performs an effect of a session. Gives the result if it is known at once.
    fn perform(&mut self, id: &str, effect: Effect) -> Option<PlatformEvent> {
        let runs_commands = self.host.as_ref().is_some_and(|host| host.runs_commands);
        if let Effect::RunGate(run) = &effect
            && runs_commands
            && HostGates::has_command(run)
        {
            return self.begin_host_gate(id, run.clone());
        }
        if let Effect::CancelGate { gate } = &effect {
            self.end_host_gate(id, Some(*gate));
        }
        self.perform_on_platform(id, effect)
    }

    /// Has the platform perform an effect of a session. Gives the result if it is known at once.
    pub(super) fn perform_on_platform(&self, id: &str, effect: Effect) -> Option<PlatformEvent> {
        let directories = self.directories(id)?;
        let context = SessionContext {
            is_virtual: self.timer.is_virtual(),
            ..directories.context(id)
        };
        self.platform.perform(&context, effect)
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
