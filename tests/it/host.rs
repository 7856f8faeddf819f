//! A host for tests that are more than a transcript.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::connection::{Connection, InMemory, Process};

/// A host. It fails when it is dropped with unread lines of the sidecar.
pub(crate) struct TestHost {
    connection: Box<dyn Connection>,
    calls: u64,
}

impl TestHost {
    /// Over the real binary.
    pub(crate) fn over_pipes() -> Self {
        Self::over(Process::start(&[]))
    }

    /// Over the same dispatch in memory.
    pub(crate) fn in_memory() -> Self {
        Self::over(InMemory::default())
    }

    pub(crate) fn over(connection: impl Connection + 'static) -> Self {
        Self {
            connection: Box::new(connection),
            calls: 0,
        }
    }

    /// Sends a line.
    pub(crate) fn send(&mut self, line: impl AsRef<[u8]>) {
        let mut line = line.as_ref().to_vec();
        line.push(b'\n');
        self.connection.send(&line);
    }

    /// Sends bytes as they are.
    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        self.connection.send(bytes);
    }

    /// The next line, as text.
    pub(crate) fn receive_line(&mut self) -> String {
        self.connection.receive()
    }

    /// The next line.
    pub(crate) fn receive(&mut self) -> Value {
        let line = self.receive_line();
        let message = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        crate::hidden_characters::check(&message);
        message
    }

    /// The next line, if one comes in this time.
    pub(crate) fn receive_within(&mut self, time: Duration) -> Option<Value> {
        let line = self.connection.receive_within(time)?;
        Some(serde_json::from_str(&line).unwrap())
    }

    /// Sends a request, gives its id.
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> u64 {
        self.calls += 1;
        let id = self.calls;
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.send(request.to_string());
        id
    }

    /// Sends a request, gives what comes next, which must answer it.
    pub(crate) fn call(&mut self, method: &str, params: &Value) -> Value {
        let id = self.request(method, params);
        let answer = self.receive();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// The result of a request that must not fail.
    pub(crate) fn result(&mut self, method: &str, params: &Value) -> Value {
        let mut answer = self.call(method, params);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].take()
    }

    /// Introduces itself, with dialogs, widgets and this clock.
    pub(crate) fn initialize(&mut self, cwd: &Path, clock: &Value) -> Value {
        let params = json!({
            "protocolVersion": 1,
            "host": {"name": "test", "version": "0"},
            "cwd": cwd,
            "agentDir": cwd.join("agent"),
            "capabilities": {"dialogs": true, "widgets": true},
            "clock": clock,
        });
        self.result("initialize", &params)
    }

    /// Introduces itself with a virtual clock and no definitions.
    pub(crate) fn initialize_bare(&mut self) {
        let clock = json!({"virtual": {"now": 0, "seed": 0}});
        self.initialize(Path::new("/dev/null/nowhere"), &clock);
    }

    /// Starts the session without a name.
    pub(crate) fn start_session(&mut self) -> Value {
        self.result("hook/session_start", &json!({"context": {"branch": []}}))
    }

    /// Starts a run of the workflow `w` whose commands are not trusted. Gives the question about them, which is answered
    /// unless there is no answer, and the result.
    pub(crate) fn start_without_trust(&mut self, trusts: Option<bool>) -> (String, Value) {
        let start = json!({"name": "workflow", "arguments": "w it"});
        let id = self.request("command/run", &start);
        let question = self.receive();
        assert_eq!(question["method"], "ui/confirm", "{question}");
        let mut answer = self.receive();
        assert_eq!(answer["id"], id, "{answer}");
        if let Some(trusts) = trusts {
            let reply = json!({"jsonrpc": "2.0", "id": question["id"], "result": trusts});
            self.send(reply.to_string());
        }
        let asked = question["params"]["message"].as_str().unwrap();
        (asked.to_owned(), answer["result"].take())
    }

    /// Closes the host's side and gives the lines that follow.
    pub(crate) fn close_and_hear(&mut self) -> Vec<String> {
        self.unread()
    }

    /// Drops a sidecar that was killed, with its unread lines.
    pub(crate) fn lose(self) {
        let mut lost = std::mem::ManuallyDrop::new(self);
        // The connection is dropped, because the killed process cannot end well.
        lost.connection = Box::new(InMemory::default());
    }

    /// Closes the connection and gives the unread lines.
    fn unread(&mut self) -> Vec<String> {
        self.connection.finish()
    }
}

impl Drop for TestHost {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let unread = self.unread();
            assert!(unread.is_empty(), "never received: {unread:#?}");
        }
    }
}

/// The `error.data.kind` of an answer.
pub(crate) fn kind_of(answer: &Value) -> &str {
    answer["error"]["data"]["kind"]
        .as_str()
        .unwrap_or_else(|| panic!("no error: {answer}"))
}
