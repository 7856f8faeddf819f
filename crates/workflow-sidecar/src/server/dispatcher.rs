//! The path of a line: it is parsed, routed to its handler, and answered.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use jsonrpsee::types::Id;
use serde::Deserialize;
use serde_json::value::RawValue;
use tracing::field::Empty;
use tracing::{Level, Span};
use workflow_core::types::Millis;
use workflow_protocol::method::{self, Initialize};
use workflow_protocol::{Error, Kind, Method, PROTOCOL_VERSION, for_each_method};

use super::handlers::Handler;
use super::host::not_initialized;
use super::state::Server;
use crate::log::LINES;
use crate::rpc::{Call, Message, failure, success};

/// Everything that happens to a server. The lines that follow are in its outbox; a panic costs one answer or one step, and
/// the sessions continue.
impl Server {
    /// Handles a line of the host.
    pub(super) fn handle_line(&mut self, line: &[u8]) {
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
    pub(super) fn refuse_long_line(&mut self, max_line: usize) {
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
    fn call(&mut self, id: Option<Id<'_>>, call: &Call<'_>) -> Result<Option<String>, Error> {
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
}

macro_rules! routes {
    ($($(#[$doc:meta])* $row:ident = $name:literal ($params:ident) -> $result:ty;)*) => {
        /// Calls the handler of a method.
        fn route(server: &mut Server, id: Id<'_>, call: &Call<'_>) -> Result<Option<String>, Error> {
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

    use super::super::clock::Clock;
    use super::super::config::ServerConfig;
    use super::super::definitions::Loader;
    use super::*;

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
