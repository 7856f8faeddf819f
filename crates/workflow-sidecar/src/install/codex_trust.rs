//! Trust in the hooks of Codex, through its app-server.
//!
//! Codex runs the hooks of a user once the person trusts them, and remembers a hash of each. The app-server, which its own
//! user interface talks to, lists them and writes that down.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use anyhow::{Error, Result, anyhow, bail};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::platform::{ProgramLine, RunningProgram};

/// The time for one answer of Codex.
const TIME_LIMIT: Duration = Duration::from_secs(20);
/// The time in which it has to end once its input is closed.
const TIME_TO_END: Duration = Duration::from_secs(2);

/// A hook, as Codex lists it.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ListedHook {
    key: String,
    #[serde(default)]
    command: Option<String>,
    source_path: PathBuf,
    current_hash: String,
    trust_status: String,
    #[serde(default)]
    is_managed: bool,
    #[serde(default = "enabled")]
    enabled: bool,
}

fn enabled() -> bool {
    true
}

impl ListedHook {
    /// Returns true if Codex runs it.
    fn runs(&self) -> bool {
        self.enabled && (self.is_managed || self.trust_status == "trusted")
    }
}

/// Our hooks, as Codex sees them.
#[derive(Debug)]
pub(crate) struct HooksOfCodex {
    pub(crate) listed: usize,
    pub(crate) trusted: usize,
}

/// Asks Codex about the hooks in a file that have one of these commands.
pub(crate) fn status(
    program: &Path,
    directory: &Path,
    file: &Path,
    commands: &[String],
) -> Result<HooksOfCodex> {
    let mut server = AppServer::start(program)?;
    let hooks = server.hooks(directory, file, commands)?;
    Ok(HooksOfCodex {
        listed: hooks.len(),
        trusted: hooks.iter().filter(|hook| hook.runs()).count(),
    })
}

/// Has Codex trust the hooks in a file that have one of these commands, and returns their number.
pub(crate) fn trust(
    program: &Path,
    directory: &Path,
    file: &Path,
    commands: &[String],
) -> Result<usize> {
    let mut server = AppServer::start(program)?;
    let hooks = server.hooks(directory, file, commands)?;
    if hooks.is_empty() {
        bail!(
            "Codex does not list the hooks of {}. It reads those of a project once you trust the project: start \
             `codex` there",
            file.display()
        );
    }
    let state: Map<String, Value> = hooks
        .iter()
        .filter(|hook| !hook.runs())
        .map(|hook| {
            (
                hook.key.clone(),
                json!({ "trusted_hash": hook.current_hash }),
            )
        })
        .collect();
    if !state.is_empty() {
        let edit = json!({ "keyPath": "hooks.state", "value": state, "mergeStrategy": "upsert" });
        server.request("config/batchWrite", &json!({ "edits": [edit] }))?;
    }
    let hooks = server.hooks(directory, file, commands)?;
    match hooks.iter().filter(|hook| !hook.runs()).count() {
        0 => Ok(hooks.len()),
        left => bail!(
            "Codex still does not trust {left} of the hooks: start `codex` and choose to trust them"
        ),
    }
}

/// A running app-server. It ends with its input.
struct AppServer {
    program: RunningProgram,
    requests: u64,
}

impl AppServer {
    fn start(program: &Path) -> Result<Self> {
        let started = RunningProgram::start(Command::new(program).arg("app-server"), TIME_TO_END);
        let mut server = Self {
            program: started.map_err(|error| {
                anyhow!(
                    "`{} app-server` cannot be started ({error}): put Codex on the PATH, or choose to trust the hooks \
                     when it starts",
                    program.display()
                )
            })?,
            requests: 0,
        };
        let client = json!({
            "name": "workflow-sidecar",
            "title": "workflow-sidecar",
            "version": env!("CARGO_PKG_VERSION"),
        });
        server.request("initialize", &json!({ "clientInfo": client }))?;
        server.send("initialized", &json!({ "method": "initialized" }))?;
        Ok(server)
    }

    /// The hooks in a file that have one of these commands.
    fn hooks(
        &mut self,
        directory: &Path,
        file: &Path,
        commands: &[String],
    ) -> Result<Vec<ListedHook>> {
        const METHOD: &str = "hooks/list";
        let result = self.request(METHOD, &json!({ "cwds": [directory] }))?;
        let directories = result["data"].as_array().into_iter().flatten();
        let hooks = directories.flat_map(|data| data["hooks"].as_array().into_iter().flatten());
        let hooks = hooks.map(ListedHook::deserialize);
        let hooks = hooks.collect::<serde_json::Result<Vec<_>>>();
        let hooks = hooks.map_err(|error| refused(METHOD, &error.to_string()))?;
        // Codex may name the file without links.
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        let file = real(file);
        let is_ours = |hook: &ListedHook| {
            let command = hook.command.as_ref();
            real(&hook.source_path) == file && command.is_some_and(|one| commands.contains(one))
        };
        Ok(hooks.into_iter().filter(is_ours).collect())
    }

    fn send(&mut self, method: &'static str, message: &Value) -> Result<()> {
        let written = self.program.write(&format!("{message}\n"));
        written.map_err(|_| ended(method))
    }

    fn request(&mut self, method: &'static str, params: &Value) -> Result<Value> {
        self.requests += 1;
        let id = self.requests;
        self.send(
            method,
            &json!({ "id": id, "method": method, "params": params }),
        )?;
        let until = Instant::now() + TIME_LIMIT;
        loop {
            let line = self.program.next_line(until);
            let line = line.map_err(|error| match error {
                RecvTimeoutError::Timeout => {
                    let seconds = TIME_LIMIT.as_secs();
                    anyhow!("Codex did not answer {method} within {seconds} seconds")
                }
                RecvTimeoutError::Disconnected => ended(method),
            })?;
            let ProgramLine::Out(line) = line else {
                continue;
            };
            // Notifications and other lines are none of ours.
            let Ok(mut message) = serde_json::from_str::<Value>(&line) else {
                continue;
            };
            if message["id"] != id || message.get("method").is_some() {
                continue;
            }
            if let Some(error) = message.get("error") {
                let message = error["message"].as_str().unwrap_or("no reason given");
                return Err(refused(method, message));
            }
            return Ok(message["result"].take());
        }
    }
}

fn ended(method: &str) -> Error {
    anyhow!("Codex ended before it answered {method}: is it 0.169.0 or later?")
}

fn refused(method: &str, message: &str) -> Error {
    anyhow!("Codex refused {method}: {message}")
}
