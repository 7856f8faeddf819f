//! An MCP server on standard input and output with one tool, `workflow_step`, for hosts that start hooks.
//!
//! ```text
//! mod (lines, methods, a thread a call) ── step (one call: ticket, session, gate)
//! ```
//!
//! The server owns no state of a run: hosts start several, restart them, and use one for several sessions. Every call says
//! by its ticket which session it is of, see [`step`]. Gates run here, because a hook has no time for them.

mod step;

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use jsonrpsee::types::Id;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use workflow_core::policy::STEP_TOOL;

use self::step::{Cancelled, Step, StepAnswer, Steps};
use crate::platform::disk::user_agent_dir;
use crate::rpc::{Call, DEFAULT_MAX_LINE, Frame, LineReader, Message};
use crate::server::step_tool;
use crate::store::{self, StoreError, state_directory};

/// The versions of the protocol that are spoken, newest last.
const VERSIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
const NEWEST: &str = VERSIONS[VERSIONS.len() - 1];

const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;

/// What the model reads of the server. Some hosts show it nothing else until it searches for the tool.
const INSTRUCTIONS: &str = "Moves the workflow that the user started in this session. Call the tool `workflow_step` of this server (its \
    full name may be `mcp__workflow__workflow_step`) with action=\"next\" once everything the current phase asks for is done, and not \
    before; call it by itself and wait for its answer. action=\"status\" says which phase is active. The checks of a phase run inside the \
    call and may take minutes.";

/// Serves a host until its input ends.
pub(crate) fn serve(state: Option<&Path>) -> Result<(), ServeError> {
    let store = store::open(state_directory(state)?, &user_agent_dir(None))?;
    let server = Arc::new(Server {
        steps: Steps::new(store),
        calls: Mutex::default(),
        output: Mutex::new(io::stdout()),
    });
    let mut lines = LineReader::new(io::stdin().lock(), DEFAULT_MAX_LINE);
    loop {
        match lines.next()? {
            Frame::Line(line) if line.trim_ascii().is_empty() => {}
            Frame::Line(line) => server.handle_line(line)?,
            Frame::TooLong => {
                tracing::warn!("a line of more than {DEFAULT_MAX_LINE} bytes was skipped");
            }
            Frame::End => break,
        }
    }
    server.steps.finish();
    Ok(())
}

/// The server could not go on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ServeError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the pipe to the host failed: {0}")]
    Pipe(#[from] io::Error),
}

struct Server {
    steps: Steps,
    /// The calls that run, by their ids.
    calls: Mutex<HashMap<String, Cancelled>>,
    output: Mutex<io::Stdout>,
}

/// The parameters of `tools/call`.
#[derive(Deserialize)]
struct CallParams {
    name: String,
    #[serde(default)]
    arguments: Value,
    #[serde(default, rename = "_meta")]
    meta: Value,
}

impl Server {
    fn handle_line(self: &Arc<Self>, line: &[u8]) -> io::Result<()> {
        match Message::parse(line) {
            Ok(Message::Request(id, call)) => self.handle_request(&id, &call),
            Ok(Message::Notification(call)) => {
                if &*call.method == "notifications/cancelled" {
                    self.cancel(call.params);
                }
                Ok(())
            }
            // Nothing is asked of the host.
            Ok(Message::Response { .. }) => Ok(()),
            Err(refusal) => self.write(refusal.into_response().as_json().get()),
        }
    }

    fn handle_request(self: &Arc<Self>, id: &Id<'_>, call: &Call<'_>) -> io::Result<()> {
        match &*call.method {
            "initialize" => self.respond(id, &initialized(call.params)),
            "ping" => self.respond(id, &json!({})),
            "tools/list" => self.respond(id, &json!({ "tools": [tool()] })),
            "tools/call" => self.call_tool(id, call.params),
            method => self.refuse(
                id,
                METHOD_NOT_FOUND,
                &format!("there is no method {method:?}"),
            ),
        }
    }

    /// Calls the tool on a thread of its own: a gate may take minutes, and the host may cancel it.
    fn call_tool(self: &Arc<Self>, id: &Id<'_>, params: Option<&RawValue>) -> io::Result<()> {
        let params: CallParams = match serde_json::from_str(params.map_or("null", RawValue::get)) {
            Ok(params) => params,
            Err(error) => return self.refuse(id, INVALID_PARAMS, &error.to_string()),
        };
        if params.name != STEP_TOOL {
            let message = format!("there is no tool {:?}", params.name);
            return self.refuse(id, INVALID_PARAMS, &message);
        }
        let cancelled = Cancelled::default();
        let name = id.to_string();
        lock(&self.calls).insert(name.clone(), cancelled.clone());
        let (server, id) = (Arc::clone(self), id.clone().into_owned());
        let run = move || {
            let step = Step::new(&params.arguments, &params.meta, cancelled);
            let progress = Progress::new(&params.meta);
            let answer = server
                .steps
                .run(&step, &|text| progress.report(&server, text));
            lock(&server.calls).remove(&name);
            if !step.is_cancelled() {
                server.answer(&id, &answer);
            }
        };
        thread::Builder::new()
            .name("workflow_step".to_owned())
            .spawn(run)
            .map(drop)
    }

    fn answer(&self, id: &Id<'_>, answer: &StepAnswer) {
        let result = json!({
            "content": [{ "type": "text", "text": answer.text }],
            "isError": answer.is_error,
        });
        if let Err(error) = self.respond(id, &result) {
            tracing::warn!("the host did not get the answer of a call: {error}");
        }
    }

    /// Cancels a call. One that is not running any more is not cancelled.
    fn cancel(&self, params: Option<&RawValue>) {
        let params: Option<Value> =
            params.and_then(|params| serde_json::from_str(params.get()).ok());
        let id = params.as_ref().and_then(|params| params.get("requestId"));
        let id: Option<Id<'_>> = id.and_then(|id| Deserialize::deserialize(id).ok());
        let call = id.and_then(|id| lock(&self.calls).get(&id.to_string()).cloned());
        if let Some(call) = call {
            call.cancel();
        }
    }

    fn respond(&self, id: &Id<'_>, result: &Value) -> io::Result<()> {
        self.write_json(&json!({ "jsonrpc": "2.0", "id": id, "result": result }))
    }

    fn refuse(&self, id: &Id<'_>, code: i64, message: &str) -> io::Result<()> {
        let error = json!({ "code": code, "message": message });
        self.write_json(&json!({ "jsonrpc": "2.0", "id": id, "error": error }))
    }

    fn write_json(&self, message: &Value) -> io::Result<()> {
        self.write(&message.to_string())
    }

    fn write(&self, line: &str) -> io::Result<()> {
        let mut output = lock(&self.output);
        output.write_all(format!("{line}\n").as_bytes())?;
        output.flush()
    }
}

/// The notifications on a call's progress.
struct Progress {
    /// `None` if the host does not want them.
    token: Option<Value>,
    count: Mutex<u64>,
}

impl Progress {
    fn new(meta: &Value) -> Self {
        Self {
            token: meta.get("progressToken").cloned(),
            count: Mutex::default(),
        }
    }

    fn report(&self, server: &Server, text: &str) {
        let Some(token) = &self.token else { return };
        let mut count = lock(&self.count);
        *count += 1;
        let params = json!({ "progressToken": token, "progress": *count, "message": text });
        let message =
            json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params });
        if let Err(error) = server.write_json(&message) {
            tracing::debug!("progress cannot be reported: {error}");
        }
    }
}

/// The result of `initialize`: the version that the client asks for, if it is known.
fn initialized(params: Option<&RawValue>) -> Value {
    let params: Value = params
        .and_then(|params| serde_json::from_str(params.get()).ok())
        .unwrap_or_default();
    let asked = params["protocolVersion"].as_str();
    let version = VERSIONS.iter().find(|version| asked == Some(version));
    json!({
        "protocolVersion": version.unwrap_or(&NEWEST),
        "capabilities": { "tools": {} },
        "serverInfo": { "name": "workflow", "version": env!("CARGO_PKG_VERSION") },
        "instructions": INSTRUCTIONS,
    })
}

/// The tool as hosts list it. The annotations keep hosts from asking before each call.
fn tool() -> Value {
    let tool = step_tool();
    json!({
        "name": tool.name,
        "title": tool.label,
        "description": tool.description,
        "inputSchema": tool.parameters,
        "annotations": { "readOnlyHint": false, "destructiveHint": false, "openWorldHint": false },
    })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_of_the_client_is_spoken_if_it_is_known() {
        let version = |asked: &str| {
            let params = json!({ "protocolVersion": asked }).to_string();
            let params = RawValue::from_string(params).unwrap();
            initialized(Some(&params))["protocolVersion"].clone()
        };
        assert_eq!(version("2025-06-18"), "2025-06-18");
        assert_eq!(version("2026-07-28"), NEWEST);
        assert_eq!(initialized(None)["protocolVersion"], NEWEST);
    }

    #[test]
    fn the_tool_has_the_annotations_without_which_a_host_refuses_it() {
        let tool = tool();
        assert_eq!(tool["name"], STEP_TOOL);
        assert_eq!(tool["annotations"]["destructiveHint"], false);
        assert_eq!(tool["inputSchema"]["type"], "object");
        // The ticket is no argument of the model, and must be let through.
        assert!(tool["inputSchema"].get("additionalProperties").is_none());
        assert!(INSTRUCTIONS.contains(STEP_TOOL));
    }
}
