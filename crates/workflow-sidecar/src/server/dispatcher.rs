//! The path of an event: a line is parsed, routed to its handler, passed to its session, answered, and recorded.
//!
//! What a session gives beyond the answer itself (answers to earlier requests, questions, actions that time caused) is added
//! to the outbox.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use jsonrpsee::types::Id;
use serde::Deserialize;
use serde_json::value::RawValue;
use tracing::field::Empty;
use tracing::{Level, Span};
use workflow_core::effect::{Action, Reply, TriggerOutcome};
use workflow_core::event::PlatformEvent;
use workflow_core::types::{Millis, RequestId};
use workflow_core::{Effects, Session};
use workflow_protocol::method::{self, HostApply, HostCancel, HostExec, Initialize};
use workflow_protocol::{
    CommandRunResult, Error, HostApplyParams, HostCancelParams, Kind, Method, PROTOCOL_VERSION,
    SessionBound, for_each_method,
};

use super::config::Cause;
use super::convert;
use super::handlers::Handler;
use super::host::not_initialized;
use super::requests::HostRequest;
use super::requests::{HandlerResult, PendingRequest, RequestKind};
use super::state::{Server, unknown_session};
use crate::driver::{Driver, HostCall};
use crate::log::LINES;
use crate::platform::PlatformReport;
use crate::platform::gates::host_command;
use crate::present::ended_run;
use crate::rpc::{Frame, Message, MethodCall, failure, success};
use crate::telemetry::PhaseClock;

/// Everything that happens to a server. The lines that follow are in its outbox; a panic costs one answer or one step, and
/// the sessions continue.
impl Server {
    /// Handles the input of the host.
    pub(super) fn handle_input(&mut self, line: Frame<'_>) {
        self.handle_due_time();
        let is_recorded = self.config.recorder.is_some();
        let before = is_recorded.then(|| (depends_on_payload(self), denials(self)));
        match line {
            Frame::Line(line) => self.handle_line(line),
            Frame::TooLong(limit) => self.refuse_long_line(limit),
            // The host is gone.
            Frame::End => {
                self.run("a session could not be closed", Self::close_all);
            }
        }
        let depends_on_payload =
            before.is_some_and(|(depends, before)| depends || denials(self) > before);
        self.record(Cause::Host {
            line,
            depends_on_payload,
        });
    }

    /// Handles the deadlines that have come before the next event.
    pub(super) fn handle_due_time(&mut self) {
        let deadline = self.deadline();
        if self.clock.sample(deadline) {
            self.run("a step of the clock failed", |server| server.tick(None));
            self.record(Cause::Time);
        }
    }

    /// Handles a report if the platform accepts it, and gives what happens to the message of a trigger.
    pub(super) fn accept_report(&mut self, report: &PlatformReport) -> Option<TriggerOutcome> {
        self.handle_due_time();
        if !self.config.platform.accept(report) {
            return None;
        }
        let outcome = self.run("a report of the platform could not be handled", |server| {
            server.handle_report(report.clone())
        });
        self.record(Cause::Platform(report));
        outcome.flatten()
    }

    /// Handles a report that the platform accepts, and gives the outcome of a trigger's message. `None` if the session
    /// is gone.
    fn handle_report(&mut self, report: PlatformReport) -> Option<TriggerOutcome> {
        let PlatformReport { session, event, .. } = report;
        if let PlatformEvent::CodeRestored { outcome, .. } = &event
            && !self.sessions.contains_key(&session)
        {
            tracing::warn!(?outcome, "code went back for a session that is gone");
        }
        let driven = self.drive(&session, |driver, now| driver.on_report(now, event));
        let (outcome, out) = driven.ok()?;
        self.apply(&session, out.actions);
        outcome
    }

    /// Adds the lines that follow from a cause, and records both.
    fn record(&mut self, cause: Cause<'_>) {
        let lines = self.outbox.take();
        if let Some(recorder) = &mut self.config.recorder {
            recorder.write(self.clock.now(), cause, &lines);
        }
        self.unsent.extend_from_slice(&lines);
    }

    /// Handles a line of the host.
    fn handle_line(&mut self, line: &[u8]) {
        let _span = tracing::debug_span!(
            "message",
            bytes = line.len(),
            id = Empty,
            method = Empty,
            session = Empty
        )
        .entered();
        if line.trim_ascii().is_empty() {
            return;
        }
        tracing::trace!(target: LINES, line = &*String::from_utf8_lossy(line), "from the host");
        match Message::parse(line) {
            Ok(Message::Request(id, call)) => match self.call(Some(id.clone()), &call) {
                Ok(Some(response)) => self.outbox.respond(&response),
                Ok(None) => {}
                Err(error) => self.outbox.respond(&failure(id, &error)),
            },
            Ok(Message::Notification(call)) => {
                if let Err(error) = self.call(None, &call) {
                    let (method, code) = (&*call.method, error.kind.code());
                    tracing::warn!(method, code, "a notification failed");
                }
            }
            Ok(Message::Response { id: None, .. }) => {
                tracing::warn!("the host answered a request without a valid id");
            }
            Ok(Message::Response {
                id: Some(id),
                result,
            }) => {
                self.run("the response of the host could not be handled", |server| {
                    server.handle_response(&id, result);
                });
            }
            Err(invalid) => self.outbox.respond(&invalid.into_response()),
        }
    }

    /// Refuses a line that was too long to be read.
    fn refuse_long_line(&mut self, max_line: usize) {
        let message = format!("the line is longer than {max_line} bytes and was skipped");
        let error = Error::new(Kind::LineTooLong, message);
        self.outbox.respond(&failure(Id::Null, &error));
    }

    /// The first deadline of all sessions.
    pub(super) fn deadline(&self) -> Option<Millis> {
        self.first_due().map(|(deadline, _)| deadline)
    }

    /// The time until the first deadline. A virtual clock reaches none by itself.
    pub(super) fn due_in(&self) -> Option<Duration> {
        self.clock.until(self.deadline()?)
    }

    /// Calls a method. Gives the response, unless an output of the session answers.
    fn call(&mut self, id: Option<Id<'_>>, call: &MethodCall<'_>) -> Result<Option<String>, Error> {
        if tracing::enabled!(Level::DEBUG) {
            let shown = id.as_ref().map(ToString::to_string).unwrap_or_default();
            let span = Span::current();
            span.record("id", shown).record("method", &*call.method);
        }
        self.requests.current = id.clone().map(Id::into_owned);
        let id = id.unwrap_or(Id::Null);
        catch_panic(|| route(self, id, call)).unwrap_or_else(|| {
            tracing::error!(method = &*call.method, "a call failed");
            let message = "the sidecar failed at this call and lives on";
            Err(Error::new(Kind::Internal, message))
        })
    }

    /// Runs a step that answers no request.
    pub(super) fn run<T>(&mut self, failed: &str, step: impl FnOnce(&mut Self) -> T) -> Option<T> {
        let result = catch_panic(|| step(self));
        if result.is_none() {
            tracing::error!("{failed}");
        }
        result
    }

    /// Handles a request that an output of its session answers, now or later.
    pub(super) fn handle_request<'a, R>(
        &mut self,
        params: &impl SessionBound<'a>,
        kind: RequestKind,
        handle: impl FnOnce(&mut Session, RequestId),
    ) -> HandlerResult<R> {
        self.session_of(params)?;
        let session = params.session_id();
        let (id, request) = self.requests.open(kind);
        let (answer, mut out) = self.drive(session, |driver, now| {
            let ((), mut out) = driver.with_effects(now, |session| handle(session, id));
            (out.take_answer(id), out)
        })?;
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
        handle: impl FnOnce(&mut Session) -> T,
    ) -> Result<(T, Effects), Error> {
        self.session_of(params)?;
        self.drive(params.session_id(), |driver, now| {
            driver.with_effects(now, handle)
        })
    }

    /// Handles an event that is not a request. A session that is gone ignores it.
    pub(super) fn handle_event(&mut self, id: &str, handle: impl FnOnce(&mut Session)) -> Effects {
        let driven = self.drive(id, |driver, now| driver.with_effects(now, handle));
        driven.unwrap_or_default().1
    }

    /// Has a session handle an event, and passes on what it gives. Actions and diagnostics are left for the answer to the
    /// event.
    pub(super) fn drive<T>(
        &mut self,
        id: &str,
        event: impl FnOnce(&mut Driver, Millis) -> (T, Effects),
    ) -> Result<(T, Effects), Error> {
        let now = self.clock.now();
        let open = self.sessions.get_mut(id);
        let open = open.ok_or_else(|| unknown_session(id))?;
        let span = open.span(id);
        let _entered = span.enter();
        let (result, mut out) = event(&mut open.driver, now);
        let driver = &mut open.driver;
        if std::mem::take(&mut driver.has_changed) {
            PhaseClock::follow(&mut open.clock, &driver.session, now, &mut driver.counts);
            let ended = out.ended.iter().map(ended_run).collect();
            self.note_runs(id, ended, Session::view);
        }
        self.deliver(id, &mut out);
        Ok((result, out))
    }

    /// Passes on the outputs of a session: questions, withdrawals, and answers to earlier requests.
    pub(super) fn deliver(&mut self, id: &str, out: &mut Effects) {
        let Some(open) = self.sessions.get_mut(id) else {
            return;
        };
        open.deadline = open.driver.deadline();
        for call in std::mem::take(&mut open.driver.host_calls) {
            match call {
                HostCall::Run(check) => {
                    let cwd = &open.driver.context.cwd;
                    let Some(params) = host_command(id, &check, cwd) else {
                        continue;
                    };
                    let request = self.asked.add(HostRequest::Command(id.to_owned()));
                    self.outbox.request::<HostExec>(request, &params);
                }
                HostCall::Cancel => {
                    let is_it = |request: &HostRequest| matches!(request, HostRequest::Command(of) if of == id);
                    if let Some(id) = self.asked.take_where(is_it) {
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
    fn answer(&mut self, session: &str, request: PendingRequest, reply: Reply, out: Effects) {
        let Some(id) = request.id else {
            return self.apply(session, out.actions);
        };
        let response = match (request.kind, reply) {
            (RequestKind::Command, Reply::Command) => success(
                id,
                CommandRunResult {
                    guarded: self.take_guarded_change(session),
                    ..out.into()
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
            _ => {
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
                actions,
            });
        }
    }
}

macro_rules! routes {
    ($($(#[$doc:meta])* $row:ident = $name:literal ($params:ident) -> $result:ty;)*) => {
        /// Calls the handler of a method.
        fn route(server: &mut Server, id: Id<'_>, call: &MethodCall<'_>) -> Result<Option<String>, Error> {
            let params = call.params.map(RawValue::get);
            match &*call.method {
                $($name => respond::<method::$row>(server, id, params),)*
                unknown => {
                    let message = format!("there is no method {unknown:?}");
                    Err(Error::new(Kind::MethodNotFound, message))
                }
            }
        }
    };
}

for_each_method!(routes);

/// Reads the parameters, runs the handler of the method and makes the response.
fn respond<M: Method>(
    server: &mut Server,
    id: Id<'_>,
    params: Option<&str>,
) -> Result<Option<String>, Error>
where
    Server: Handler<M>,
{
    check(server, M::NAME, params)?;
    let result = server.handle(M::read(params)?)?;
    Ok(result.map(|result| success(id, result)))
}

/// Checks that a call may be made now, before its parameters are read.
fn check(server: &Server, method: &str, params: Option<&str>) -> Result<(), Error> {
    if server.host.is_some() {
        return Ok(());
    }
    if method != Initialize::NAME {
        return Err(not_initialized());
    }
    // Another version may have other parameters, so the version is read before the others.
    match params.and_then(protocol_version) {
        Some(version) if version != PROTOCOL_VERSION => {
            let message = format!("version {version} of the protocol is not spoken here");
            Err(Error::new(Kind::UnsupportedVersion, message))
        }
        _ => Ok(()),
    }
}

/// Returns true if decisions depend on what tools are given or give back.
fn depends_on_payload(server: &Server) -> bool {
    sessions(server).any(Session::looks_at_payload)
}

/// Counts the calls of all sessions that were denied because of their content.
fn denials(server: &Server) -> u64 {
    sessions(server).map(Session::denials).sum()
}

fn sessions(server: &Server) -> impl Iterator<Item = &Session> {
    server.sessions.values().map(|open| &open.driver.session)
}

fn catch_panic<T>(step: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(step)).ok()
}

/// The version in the parameters of `initialize`, if it can be read.
fn protocol_version(params: &str) -> Option<u32> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct RequestedVersion {
        protocol_version: u32,
    }
    let version: RequestedVersion = serde_json::from_str(params).ok()?;
    Some(version.protocol_version)
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;
    use std::time::Instant;

    use workflow_core::definition::Loaded;
    use workflow_core::effect::Effect;

    use super::super::clock::Clock;
    use super::super::config::ServerConfig;
    use super::*;
    use crate::definitions::Loader;
    use crate::platform::{Platform, SessionContext};

    /// Sends a line, gives the lines that follow.
    fn send(server: &mut Server, line: &str) -> String {
        server.handle_line(line.as_bytes());
        String::from_utf8(server.outbox.take()).unwrap()
    }

    /// Initializes a sidecar and starts a session.
    fn initialized(mut server: Server) -> Server {
        send(
            &mut server,
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"host":{"name":"h","version":"1"},"cwd":"/nowhere","agentDir":"/dev/null/nowhere"}}"#,
        );
        send(
            &mut server,
            r#"{"jsonrpc":"2.0","id":2,"method":"hook/session_start"}"#,
        );
        server
    }

    /// A loader that panics.
    #[derive(Debug)]
    struct Panics;

    impl Loader for Panics {
        fn load(&self, _: &Path, cwd: &Path) -> Arc<Loaded> {
            assert!(!cwd.ends_with("panic"), "on purpose");
            Arc::default()
        }
    }

    #[test]
    fn a_panic_costs_one_answer_and_nothing_else() {
        let mut server = initialized(Server::new(ServerConfig {
            loader: Arc::new(Panics),
            ..ServerConfig::default()
        }));
        let failed = send(
            &mut server,
            r#"{"jsonrpc":"2.0","id":3,"method":"command/run","params":{"name":"workflow","arguments":"","context":{"cwd":"/panic"}}}"#,
        );
        assert!(failed.starts_with(r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32603,"#));
        assert!(failed.contains(r#""kind":"internal""#), "{failed}");
        let lives = send(
            &mut server,
            r#"{"jsonrpc":"2.0","id":4,"method":"session/state"}"#,
        );
        assert!(lives.contains(r#""active":false"#), "{lives}");
    }

    /// The open sessions of a platform that panics when it has something to do.
    #[derive(Debug, Default)]
    struct Opened(parking_lot::Mutex<Vec<String>>);

    impl Platform for Opened {
        fn perform(&self, _: &SessionContext, _: Effect) -> Option<PlatformEvent> {
            panic!("on purpose")
        }

        fn open_session(&self, session: &SessionContext) {
            self.0.lock().push(session.id.clone());
        }

        fn close_session(&self, session: &str) {
            self.0.lock().retain(|open| open != session);
        }
    }

    #[test]
    fn a_session_that_panics_while_it_is_restored_is_not_open() {
        let agent_dir = tempfile::tempdir().unwrap();
        let settings = "{triggers: [{file: '/nowhere/trigger.txt', prompt: 'Go'}]}";
        std::fs::write(agent_dir.path().join("workflow-sidecar.json5"), settings).unwrap();
        let platform = Arc::new(Opened::default());
        let mut server = Server::new(ServerConfig {
            platform: Arc::clone(&platform) as _,
            ..ServerConfig::default()
        });
        let initialize = serde_json::json!({
            "protocolVersion": 1, "host": {"name": "h", "version": "1"}, "cwd": "/nowhere",
            "agentDir": agent_dir.path(),
        });
        for (method, params) in [
            ("initialize", initialize),
            ("hook/session_start", serde_json::json!({})),
        ] {
            let request =
                serde_json::json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
            let answer = send(&mut server, &request.to_string());
            assert_eq!(answer.contains("error"), method != "initialize", "{answer}");
        }
        assert_eq!(*platform.0.lock(), Vec::<String>::new());
    }

    #[test]
    fn a_wall_clock_that_was_set_back_stalls_no_countdown() {
        let project = tempfile::tempdir().unwrap();
        let workflow = project.path().join("workflows/w");
        std::fs::create_dir_all(&workflow).unwrap();
        let definition = r#"{name: "W", commandName: "w", initialMessage: "Go", continue: {countdown: 0},
            phases: [{id: "a", name: "A", emoji: "a", instructions: "Do it."}]}"#;
        std::fs::write(workflow.join("workflow.json5"), definition).unwrap();
        let mut server = Server::new(ServerConfig::default());
        let mut call = |method: &str, params: serde_json::Value| {
            let request =
                serde_json::json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
            send(&mut server, &request.to_string())
        };
        call(
            "initialize",
            serde_json::json!({
                "protocolVersion": 1, "host": {"name": "h", "version": "1"}, "cwd": "/nowhere",
                "agentDir": project.path(),
            }),
        );
        for session in ["a", "b"] {
            call(
                "hook/session_start",
                serde_json::json!({"sessionId": session}),
            );
            call(
                "command/run",
                serde_json::json!({"sessionId": session, "name": "workflow", "arguments": "w it"}),
            );
        }
        call("hook/agent_end", serde_json::json!({"sessionId": "a"}));
        // During the first countdown the system's time is set back by an hour.
        let ahead = Clock::system().now() + 3_600_000;
        server.clock = Clock::System {
            wall: ahead,
            since: Instant::now(),
            now: ahead,
        };
        let end =
            r#"{"jsonrpc":"2.0","id":1,"method":"hook/agent_end","params":{"sessionId":"b"}}"#;
        send(&mut server, end);
        server.handle_due_time();
        let lines = String::from_utf8(server.unsent).unwrap();
        assert_eq!(lines.matches("sendUserMessage").count(), 2, "{lines}");
    }
}
