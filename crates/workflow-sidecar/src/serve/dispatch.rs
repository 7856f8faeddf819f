//! One line in, the lines that follow from it out.
//!
//! Owns the method table and the order of what is written. Must not know methods one by one, or
//! where lines come from and go.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jsonrpsee::types::{Id, Params};
use jsonrpsee::{Extensions, MethodCallback, MethodResponse, RpcModule};
use serde::Deserialize;
use tokio::sync::Notify;
use tracing::field::Empty;
use tracing::{Level, Span};
use workflow_core::effect::TriggerOutcome;
use workflow_core::types::Millis;
use workflow_protocol::{
    Dropped, Error, Kind, Method, PROTOCOL_VERSION, Text, for_each_method, method,
};

use super::envelope::{Call, Invalid, Message, NO_ID, classify};
use super::handlers::{Answered, unsupported};
use super::outbox::Outbox;
use super::server::{Server, Surroundings, not_initialized};
use super::usual::glance;
use crate::log::LINES;
use crate::platform::PlatformReport;
use crate::wire;

/// The methods, and what they work on.
pub(super) struct Dispatch {
    methods: RpcModule<Mutex<Server>>,
    /// Hardly ever waited for: who takes a line or a tick holds the pen.
    server: Arc<Mutex<Server>>,
}

impl Dispatch {
    pub(super) fn new(surroundings: Surroundings, deadline_changed: Arc<Notify>) -> Self {
        let server = Server::new(surroundings, deadline_changed);
        let server = Arc::new(Mutex::new(server));
        let mut methods = RpcModule::from_arc(Arc::clone(&server));
        macro_rules! register {
            ($($(#[$doc:meta])* $row:ident: $handler:ident = $name:literal ($params:ident) -> $result:ty;)*) => {$(
                let own = Arc::clone(&server);
                let callback = move |_: Id<'_>, params: Params<'_>, _, _| {
                    respond::<method::$row>(&params, &own)
                };
                methods
                    .verify_and_insert($name, MethodCallback::Sync(Arc::new(callback)))
                    .expect("each row has a name of its own");
            )*};
        }
        for_each_method!(register);
        Self { methods, server }
    }

    /// Takes a line, out of which something was taken before; what is to be written because of it is added to `out`.
    pub(super) fn take(&self, line: &[u8], dropped: Dropped, out: &mut Outbox) {
        let _taken = tracing::debug_span!(
            "message",
            bytes = line.len() + dropped.bytes,
            id = Empty,
            method = Empty,
            session = Empty
        )
        .entered();
        let line = match simdutf8::compat::from_utf8(line) {
            Ok(line) => line,
            Err(error) => {
                let byte = error.valid_up_to() + 1;
                return refuse(NO_ID, Invalid::NotUtf8(byte).moved(dropped), out);
            }
        };
        if line.bytes().all(|byte| byte.is_ascii_whitespace()) {
            return;
        }
        tracing::trace!(target: LINES, line, "from the host");
        if let Some((id, call)) = glance(line) {
            note(id, &call);
            let response = self.call(id, &call);
            // Nothing was done where there is an error, unless it is that doing it failed.
            let has_failed = response.as_error_code() == Some(Kind::Internal.code());
            if response.is_success() || has_failed {
                return self.answer(id, &response, out);
            }
        }
        self.take_in_full(line, dropped, out);
    }

    fn take_in_full(&self, line: &str, dropped: Dropped, out: &mut Outbox) {
        match classify(line) {
            Message::Request { id, call } => {
                note(id, &call);
                self.answer(id, &self.call(id, &call), out);
            }
            Message::Notification(call) => {
                note("", &call);
                self.hear(&call, out);
            }
            Message::Response { id, result } => self.answered(id, result, out),
            Message::Invalid { id, why } => refuse(id, why.moved(dropped), out),
        }
    }

    /// Answers a line that was too long to be taken.
    pub(super) fn refuse_long_line(max_line: usize, out: &mut Outbox) {
        let error = Error::new(
            Kind::LineTooLong,
            format!("the line is longer than {max_line} bytes and was skipped"),
        );
        push_error(NO_ID, &error, out);
    }

    /// Does what time caused.
    pub(super) fn tick(&self, out: &mut Outbox) {
        let tick = |server: &mut Server| {
            server.tick(None);
        };
        self.do_or_log(tick, "a step of the clock failed", out);
    }

    /// Handles a report of the platform, and says what happens to the message of a trigger.
    pub(super) fn platform_reported(
        &self,
        report: PlatformReport,
        out: &mut Outbox,
    ) -> Option<TriggerOutcome> {
        let mut outcome = None;
        let handle = |server: &mut Server| outcome = server.platform_reported(report);
        self.do_or_log(handle, "a report of the platform could not be taken", out);
        outcome
    }

    /// Answers what still waits: nothing more will come.
    pub(super) fn finish(&self, out: &mut Outbox) {
        self.do_or_log(Server::close_all, "a session could not be closed", out);
    }

    /// Looks at a clock that is held, and says whether something is due before anything else happens.
    pub(super) fn look_at_clock(&self) -> bool {
        self.server().look_at_clock()
    }

    /// Whether what is decided hangs on what tools are given or give back.
    pub(super) fn hangs_on_payload(&self) -> bool {
        let server = self.server();
        server
            .sessions
            .values()
            .any(|slot| slot.session.looks_at_payload())
    }

    /// How many calls were denied for what they hold, of all sessions.
    pub(super) fn denials(&self) -> u64 {
        let server = self.server();
        let sessions = server.sessions.values();
        sessions.map(|slot| slot.session.denials()).sum()
    }

    /// The time of what happened last, by a clock that is held or virtual.
    pub(super) fn now(&self) -> Millis {
        self.server().clock.now()
    }

    pub(super) fn due_in(&self) -> Option<Duration> {
        self.server().due_in()
    }

    /// Whether the host asked for the end.
    pub(super) fn is_over(&self) -> bool {
        self.server().is_over
    }

    fn answer(&self, id: &str, response: &MethodResponse, out: &mut Outbox) {
        let mut server = self.server();
        // Answers to earlier requests come before this one's. A call that asks is answered later, so
        // that its question, which is among them, stands alone.
        let mut before = std::mem::take(&mut server.outbox);
        out.append(&mut before);
        match server.take_deferred() {
            Some(deferred) => server.keep_waiting(deferred, id),
            None if response.is_error() => out.refusal(id, response.as_ref()),
            None => out.append(&mut server.answer),
        }
    }

    fn hear(&self, call: &Call<'_>, out: &mut Outbox) {
        let response = self.call(NO_ID, call);
        let mut server = self.server();
        server.take_deferred();
        out.append(&mut server.outbox);
        if response.is_error() {
            tracing::warn!(
                method = &*call.method,
                code = response.as_error_code(),
                "a notification failed"
            );
        }
    }

    fn answered(&self, id: &str, result: Option<&str>, out: &mut Outbox) {
        let Ok(id) = serde_json::from_str::<Text<'_>>(id) else {
            tracing::warn!(id, "the host answered what was not asked");
            return;
        };
        let take = |server: &mut Server| server.answered(&id, result);
        self.do_or_log(take, "the host's answer could not be taken", out);
    }

    /// Does what no request is answered with. A panic costs no more than that.
    fn do_or_log(&self, step: impl FnOnce(&mut Server), failed: &str, out: &mut Outbox) {
        if catch_unwind(AssertUnwindSafe(|| step(&mut self.server()))).is_err() {
            tracing::error!("{failed}");
            self.server().forget_call();
        }
        out.append(&mut self.server().outbox);
    }

    /// Calls a method, for this id. A panic costs this one answer; what the session holds stays.
    fn call(&self, id: &str, call: &Call<'_>) -> MethodResponse {
        let Some(MethodCallback::Sync(callback)) = self.methods.method(&call.method) else {
            let unknown = format!("there is no method {:?}", &*call.method);
            return error_response(&Error::new(Kind::MethodNotFound, unknown));
        };
        self.server().answer.begin_answer(id);
        let params = Params::new(call.params);
        let called = || callback(Id::Null, params, usize::MAX, Extensions::new());
        catch_unwind(AssertUnwindSafe(called)).unwrap_or_else(|_| {
            tracing::error!(method = &*call.method, "a call failed");
            self.server().forget_call();
            error_response(&Error::new(
                Kind::Internal,
                "the sidecar failed at this call and lives on",
            ))
        })
    }

    fn server(&self) -> MutexGuard<'_, Server> {
        lock(&self.server)
    }
}

/// A lock that a panic left behind is as good as any: steps are not undone, but nothing is half written.
fn lock(server: &Mutex<Server>) -> MutexGuard<'_, Server> {
    server.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Calls the handler of a row, and says whether it failed.
///
/// The answer is left with the server as it is to be written: jsonrpsee would read its own result once more.
fn respond<M: Method>(params: &Params<'_>, server: &Mutex<Server>) -> MethodResponse {
    match call::<M>(params, &mut lock(server)) {
        Ok(()) => MethodResponse::notification(),
        Err(error) => error_response(&error),
    }
}

/// Calls the handler of a row with its parameters, and ends the answer that was begun, unless it comes later.
fn call<M: Method>(params: &Params<'_>, server: &mut Server) -> Result<(), Error> {
    let answer = if server.host.is_none() && M::NAME != method::Initialize::NAME {
        Err(not_initialized())
    } else {
        let read = M::read(params.as_str());
        let read = read.map_err(|error| other_version::<M>(params).unwrap_or(error));
        read.and_then(|params| M::call(server, params))
    };
    match answer? {
        Answered::Now(result) => server.answer.json(&result),
        Answered::Later => {}
    }
    Ok(())
}

/// What is wrong first with parameters that cannot be read: a later version may have others.
#[cold]
fn other_version<M: Method>(params: &Params<'_>) -> Option<Error> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Version {
        protocol_version: u32,
    }
    if M::NAME != method::Initialize::NAME {
        return None;
    }
    let version: Version = serde_json::from_str(params.as_str()?).ok()?;
    let is_other = version.protocol_version != PROTOCOL_VERSION;
    is_other.then(|| unsupported(version.protocol_version))
}

fn refuse(id: &str, why: Invalid, out: &mut Outbox) {
    let kind = match why {
        Invalid::NotUtf8(_) | Invalid::NotJson(_) | Invalid::Cut => Kind::ParseError,
        Invalid::Batch
        | Invalid::NotAnObject
        | Invalid::MemberTwice
        | Invalid::Version
        | Invalid::Id
        | Invalid::Method => Kind::InvalidRequest,
    };
    push_error(id, &Error::new(kind, why.to_string()), out);
}

fn push_error(id: &str, error: &Error, out: &mut Outbox) {
    out.refusal(id, error_response(error).as_ref());
}

fn error_response(error: &Error) -> MethodResponse {
    MethodResponse::error(Id::Null, wire::error(error))
}

/// Says in the log which message this is.
fn note(id: &str, call: &Call<'_>) {
    if tracing::enabled!(Level::DEBUG) {
        let span = Span::current();
        span.record("id", id).record("method", &*call.method);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use workflow_core::types::RequestId;

    use super::super::clock::Clock;
    use super::*;

    /// Sends a line, gives what follows from it.
    fn send(dispatch: &Dispatch, line: &str) -> String {
        let mut out = Outbox::default();
        dispatch.take(line.as_bytes(), Dropped::default(), &mut out);
        String::from_utf8(out.as_bytes().to_vec()).unwrap()
    }

    /// A sidecar that has been introduced and has a session.
    fn introduced(dispatch: Dispatch) -> Dispatch {
        send(
            &dispatch,
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"host":{"name":"h","version":"1"},"cwd":"/nowhere","agentDir":"/nowhere"}}"#,
        );
        send(
            &dispatch,
            r#"{"jsonrpc":"2.0","id":2,"method":"hook/session_start"}"#,
        );
        dispatch
    }

    fn panicking(_: Params<'_>, server: &Mutex<Server>, _: &Extensions) {
        let _held = lock(server);
        panic!("on purpose");
    }

    #[test]
    fn a_panic_costs_one_answer_and_nothing_else() {
        let mut dispatch = Dispatch::new(Surroundings::default(), Arc::new(Notify::new()));
        dispatch
            .methods
            .register_method("test/panic", panicking)
            .unwrap();
        let dispatch = introduced(dispatch);
        let failed = send(
            &dispatch,
            r#"{"jsonrpc":"2.0","id":3,"method":"test/panic"}"#,
        );
        assert!(failed.starts_with(r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32603,"#));
        assert!(failed.contains(r#""kind":"internal""#), "{failed}");
        let lives = send(
            &dispatch,
            r#"{"jsonrpc":"2.0","id":4,"method":"session/state"}"#,
        );
        assert!(lives.contains(r#""active":false"#), "{lives}");
    }

    #[test]
    fn what_a_call_left_behind_that_panicked_answers_no_other() {
        let mut dispatch = Dispatch::new(Surroundings::default(), Arc::new(Notify::new()));
        let amid = |params: Params<'_>, server: &Mutex<Server>, extensions: &Extensions| {
            lock(server).begin_call(RequestId(1));
            panicking(params, server, extensions);
        };
        dispatch.methods.register_method("test/amid", amid).unwrap();
        let dispatch = introduced(dispatch);
        send(
            &dispatch,
            r#"{"jsonrpc":"2.0","id":3,"method":"test/amid"}"#,
        );
        assert!(!dispatch.server().is_in_progress(RequestId(1)));
    }

    #[test]
    fn a_wall_clock_that_was_set_back_stalls_no_countdown() {
        let project = tempfile::tempdir().unwrap();
        let workflow = project.path().join("workflows/w");
        std::fs::create_dir_all(&workflow).unwrap();
        let definition = r#"{name: "W", commandName: "w", initialMessage: "Go", continue: {countdown: 0},
            phases: [{id: "a", name: "A", emoji: "a", instructions: "Do it."}]}"#;
        std::fs::write(workflow.join("workflow.json5"), definition).unwrap();
        let dispatch = Dispatch::new(Surroundings::default(), Arc::new(Notify::new()));
        let call = |method: &str, params: serde_json::Value| {
            let request =
                serde_json::json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
            send(&dispatch, &request.to_string())
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
        // While the first one counts down, the wall's time falls an hour behind ours.
        let ahead = Clock::system().now() + 3_600_000;
        dispatch.server().clock = Clock::System {
            wall: ahead,
            since: Instant::now(),
        };
        call("hook/agent_end", serde_json::json!({"sessionId": "b"}));
        let mut out = Outbox::default();
        dispatch.tick(&mut out);
        let said = String::from_utf8(out.as_bytes().to_vec()).unwrap();
        assert_eq!(said.matches("sendUserMessage").count(), 2, "{said}");
    }

    /// Every line that can be put together from parts that are right, odd and wrong.
    fn lines() -> Vec<String> {
        const PARTS: [&[&str]; 5] = [
            &[
                r#"{"jsonrpc":"2.0","id":"#,
                r#"{"jsonrpc":"1.0","id":"#,
                r#"{ "jsonrpc":"2.0","id":"#,
            ],
            &[
                "7",
                "07",
                "-7",
                "1e2",
                r#""a""#,
                r#""\u0061""#,
                "\"\u{1}\"",
                "null",
                "[]",
                "",
            ],
            &[
                r#","method":"hook/tool_call""#,
                r#","method":"hook/turn_start""#,
                r#","method":"hook\u002fturn_start""#,
                r#","method":"nope""#,
                r#","method":7"#,
                "",
            ],
            &[
                r#","params":{"event":{"toolName":"edit"}}"#,
                r#","params":{"event":{"toolName":"edit","input":{"a":[1,"\u00e9",{}]}}}"#,
                r#","params":{}"#,
                r#","params":{"later":1}"#,
                r#","params":{"event":{"toolName":"edit","input":{"a":}}}"#,
                r#","params":[]"#,
                r#","params":{"#,
                "",
            ],
            &[
                "}",
                "} ",
                "}}",
                r#","id":8}"#,
                r#","later":{}}"#,
                r#","params":{}}"#,
                "",
            ],
        ];
        PARTS.iter().fold(vec![String::new()], |lines, parts| {
            let longer = |line: String| parts.iter().map(move |part| line.clone() + part);
            lines.into_iter().flat_map(longer).collect()
        })
    }

    #[test]
    fn a_glance_changes_no_answer() {
        let [at_a_glance, in_full] = [(); 2].map(|()| {
            introduced(Dispatch::new(
                Surroundings::default(),
                Arc::new(Notify::new()),
            ))
        });
        for line in lines() {
            let mut out = Outbox::default();
            in_full.take_in_full(&line, Dropped::default(), &mut out);
            let expected = String::from_utf8(out.as_bytes().to_vec()).unwrap();
            assert_eq!(send(&at_a_glance, &line), expected, "{line}");
        }
    }
}
