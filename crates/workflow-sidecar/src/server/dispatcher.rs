//! The path of a line: it is parsed, routed to its handler, and answered.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use jsonrpsee::MethodResponse;
use jsonrpsee::types::Id;
use parking_lot::{Mutex, MutexGuard};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::Notify;
use tracing::field::Empty;
use tracing::{Level, Span};
use workflow_core::Session;
use workflow_core::effect::TriggerOutcome;
use workflow_core::types::Millis;
use workflow_protocol::method::{self, Initialize};
use workflow_protocol::{Error, Kind, Method, PROTOCOL_VERSION, for_each_method};

use super::config::ServerConfig;
use super::handlers::Handler;
use super::host::{not_initialized, unsupported_version};
use super::state::Server;
use crate::log::LINES;
use crate::platform::PlatformReport;
use crate::rpc::{Call, Message, failure, success};

/// The sessions behind one lock, and everything that happens to them.
///
/// Output lines are kept until [`take_output`](Self::take_output).
pub(super) struct Dispatcher {
    server: Mutex<Server>,
}

impl Dispatcher {
    pub(super) fn new(config: ServerConfig, deadline_changed: Arc<Notify>) -> Self {
        Self {
            server: Mutex::new(Server::new(config, deadline_changed)),
        }
    }

    /// Handles a line of the host.
    pub(super) fn handle_line(&self, line: &[u8]) {
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
            Ok(Message::Request(id, call)) => self.handle_request(id, &call),
            Ok(Message::Notification(call)) => self.handle_notification(&call),
            Ok(Message::Response { id, result }) => self.handle_response(id, result),
            Err(invalid) => self.server().outbox.respond(&invalid.into_response()),
        }
    }

    fn handle_request(&self, id: Id<'_>, call: &Call<'_>) {
        log_call(Some(&id), call);
        if let Some(response) = self.call(Some(id), call) {
            self.server().outbox.respond(&response);
        }
    }

    fn handle_notification(&self, call: &Call<'_>) {
        log_call(None, call);
        if let Some(failed) = self.call(None, call).filter(MethodResponse::is_error) {
            tracing::warn!(
                method = &*call.method,
                code = failed.as_error_code(),
                "a notification failed"
            );
        }
    }

    fn handle_response(&self, id: Option<Id<'_>>, result: Option<&RawValue>) {
        let Some(id) = id else {
            tracing::warn!("the host answered a request without a valid id");
            return;
        };
        self.run("the response of the host could not be handled", |server| {
            server.handle_response(&id, result);
        });
    }

    /// Refuses a line that was too long to be read.
    pub(super) fn refuse_long_line(&self, max_line: usize) {
        let message = format!("the line is longer than {max_line} bytes and was skipped");
        let error = Error::new(Kind::LineTooLong, message);
        self.server().outbox.respond(&failure(Id::Null, &error));
    }

    /// Handles the deadlines that have come before the next event. Returns true if there was one.
    pub(super) fn handle_due_time(&self) -> bool {
        let is_due = self.server().timer.sample();
        if is_due {
            self.run("a step of the clock failed", |server| server.tick(None));
        }
        is_due
    }

    /// Decides if a report is still to be handled.
    pub(super) fn accepts(&self, report: &PlatformReport) -> bool {
        self.server().platform.accept(report)
    }

    /// Handles a report of the platform, and gives what happens to the message of a trigger.
    pub(super) fn handle_report(&self, report: PlatformReport) -> Option<TriggerOutcome> {
        self.run("a report of the platform could not be handled", |server| {
            server.handle_report(report)
        })
        .flatten()
    }

    /// Closes the sessions and answers the pending requests, because the host is gone.
    pub(super) fn finish(&self) {
        self.run("a session could not be closed", Server::close_all);
    }

    /// Takes the lines that are to be written.
    pub(super) fn take_output(&self) -> Vec<u8> {
        self.server().outbox.take()
    }

    /// Returns true if decisions depend on what tools are given or give back.
    pub(super) fn depends_on_payload(&self) -> bool {
        let server = self.server();
        server.sessions.iter().any(Session::looks_at_payload)
    }

    /// Counts the calls of all sessions that were denied because of their content.
    pub(super) fn denials(&self) -> u64 {
        let server = self.server();
        server.sessions.iter().map(Session::denials).sum()
    }

    /// The time of the last event, by the clock of a recording or a virtual one.
    pub(super) fn now(&self) -> Millis {
        self.server().timer.now()
    }

    /// The time until the next deadline.
    pub(super) fn due_in(&self) -> Option<Duration> {
        self.server().timer.due_in()
    }

    /// Returns true if the host requested the end.
    pub(super) fn is_over(&self) -> bool {
        self.server().is_over
    }

    /// Calls a method. A panic costs this one answer; the sessions continue.
    fn call(&self, id: Option<Id<'_>>, call: &Call<'_>) -> Option<MethodResponse> {
        let response = catch_panic(|| {
            let mut server = self.server();
            server.requests.current = id.clone().map(Id::into_owned);
            route(&mut server, id.clone().unwrap_or(Id::Null), call)
        });
        response.unwrap_or_else(|| {
            tracing::error!(method = &*call.method, "a call failed");
            let message = "the sidecar failed at this call and lives on";
            let error = Error::new(Kind::Internal, message);
            Some(failure(id.unwrap_or(Id::Null), &error))
        })
    }

    /// Runs a step that answers no request. A panic costs this step only.
    fn run<T>(&self, failed: &str, step: impl FnOnce(&mut Server) -> T) -> Option<T> {
        let result = catch_panic(|| step(&mut self.server()));
        if result.is_none() {
            tracing::error!("{failed}");
        }
        result
    }

    /// Locks the server, also after a panic: steps are not undone, but no line is half written.
    fn server(&self) -> MutexGuard<'_, Server> {
        self.server.lock()
    }
}

macro_rules! routes {
    ($($(#[$doc:meta])* $row:ident = $name:literal ($params:ident) -> $result:ty;)*) => {
        /// Calls the handler of a method. Gives the response, unless an output of the session answers.
        fn route(server: &mut Server, id: Id<'_>, call: &Call<'_>) -> Option<MethodResponse> {
            let params = call.params.map(RawValue::get);
            match &*call.method {
                $($name => respond::<method::$row>(server, id, params),)*
                unknown => {
                    let message = format!("there is no method {unknown:?}");
                    Some(failure(id, &Error::new(Kind::MethodNotFound, message)))
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
) -> Option<MethodResponse>
where
    Server: Handler<M>,
{
    let checked = check(server, M::NAME, params);
    match checked.and_then(|()| server.handle(M::read(params)?)) {
        Ok(result) => Some(success(id, result?)),
        Err(error) => Some(failure(id, &error)),
    }
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
        Some(version) if version != PROTOCOL_VERSION => Err(unsupported_version(version)),
        _ => Ok(()),
    }
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

/// Adds the message to the log's span.
fn log_call(id: Option<&Id<'_>>, call: &Call<'_>) {
    if tracing::enabled!(Level::DEBUG) {
        let id = id.map(ToString::to_string).unwrap_or_default();
        let span = Span::current();
        span.record("id", id).record("method", &*call.method);
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Instant;

    use workflow_core::definition::Loaded;

    use super::super::clock::Clock;
    use super::super::definitions::Loader;
    use super::*;

    /// Sends a line, gives the lines that follow.
    fn send(dispatcher: &Dispatcher, line: &str) -> String {
        dispatcher.handle_line(line.as_bytes());
        String::from_utf8(dispatcher.take_output()).unwrap()
    }

    /// Initializes a sidecar and starts a session.
    fn initialized(dispatcher: Dispatcher) -> Dispatcher {
        send(
            &dispatcher,
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"host":{"name":"h","version":"1"},"cwd":"/nowhere","agentDir":"/dev/null/nowhere"}}"#,
        );
        send(
            &dispatcher,
            r#"{"jsonrpc":"2.0","id":2,"method":"hook/session_start"}"#,
        );
        dispatcher
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
        let config = ServerConfig::with_loader(Arc::new(Panics));
        let dispatcher = initialized(Dispatcher::new(config, Arc::new(Notify::new())));
        let failed = send(
            &dispatcher,
            r#"{"jsonrpc":"2.0","id":3,"method":"command/run","params":{"name":"workflow","arguments":"","context":{"cwd":"/panic"}}}"#,
        );
        assert!(failed.starts_with(r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32603,"#));
        assert!(failed.contains(r#""kind":"internal""#), "{failed}");
        let lives = send(
            &dispatcher,
            r#"{"jsonrpc":"2.0","id":4,"method":"session/state"}"#,
        );
        assert!(lives.contains(r#""active":false"#), "{lives}");
    }

    #[test]
    fn a_wall_clock_that_was_set_back_stalls_no_countdown() {
        let project = tempfile::tempdir().unwrap();
        let workflow = project.path().join("workflows/w");
        std::fs::create_dir_all(&workflow).unwrap();
        let definition = r#"{name: "W", commandName: "w", initialMessage: "Go", continue: {countdown: 0},
            phases: [{id: "a", name: "A", emoji: "a", instructions: "Do it."}]}"#;
        std::fs::write(workflow.join("workflow.json5"), definition).unwrap();
        let dispatcher = Dispatcher::new(ServerConfig::default(), Arc::new(Notify::new()));
        let call = |method: &str, params: serde_json::Value| {
            let request =
                serde_json::json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
            send(&dispatcher, &request.to_string())
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
        dispatcher.server().timer.set_clock(Clock::System {
            wall: ahead,
            since: Instant::now(),
            now: ahead,
        });
        call("hook/agent_end", serde_json::json!({"sessionId": "b"}));
        dispatcher.handle_due_time();
        let lines = String::from_utf8(dispatcher.take_output()).unwrap();
        assert_eq!(lines.matches("sendUserMessage").count(), 2, "{lines}");
    }
}
