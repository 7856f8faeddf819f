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

use super::plan::Installed;
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
    command: Option<String>,
    source_path: PathBuf,
    current_hash: String,
    trust_status: String,
    #[serde(default)]
    is_managed: bool,
    enabled: Option<bool>,
}

impl ListedHook {
    /// Returns true if Codex runs it.
    fn runs(&self) -> bool {
        self.enabled != Some(false) && (self.is_managed || self.trust_status == "trusted")
    }
}

/// Asks Codex how many of the installed hooks it lists in a project, and how many of them it runs.
pub(crate) fn status(
    program: &Path,
    project: &Path,
    installed: &Installed,
) -> Result<(usize, usize)> {
    let hooks = AppServer::start(program)?.list(project, installed)?;
    Ok((hooks.len(), hooks.iter().filter(|hook| hook.runs()).count()))
}

/// Has Codex trust the installed hooks, and returns their number.
pub(crate) fn trust(program: &Path, project: &Path, installed: &Installed) -> Result<usize> {
    let mut server = AppServer::start(program)?;
    let hooks = server.list(project, installed)?;
    if hooks.is_empty() {
        bail!(
            "Codex does not list the hooks of {}. It reads those of a project once you trust the project: start \
                 `codex` there",
            installed.hooks.display()
        );
    }
    let state = hooks.iter().filter(|hook| !hook.runs());
    let state = state.map(|hook| {
        let trusted = json!({ "trusted_hash": hook.current_hash });
        (hook.key.clone(), trusted)
    });
    let state: Map<String, Value> = state.collect();
    if !state.is_empty() {
        let edit = json!({ "keyPath": "hooks.state", "value": state, "mergeStrategy": "upsert" });
        server.request("config/batchWrite", &json!({ "edits": [edit] }))?;
    }
    let hooks = server.list(project, installed)?;
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
        let program = started.map_err(|error| {
            anyhow!(
                "`{} app-server` cannot be started ({error}): put Codex on the PATH, or choose to trust the hooks \
                 when it starts",
                program.display()
            )
        })?;
        let requests = 0;
        let mut server = Self { program, requests };
        let client = json!({
            "name": "workflow-sidecar",
            "title": "workflow-sidecar",
            "version": env!("CARGO_PKG_VERSION"),
        });
        server.request("initialize", &json!({ "clientInfo": client }))?;
        server.send("initialized", &json!({ "method": "initialized" }))?;
        Ok(server)
    }

    fn send(&mut self, method: &'static str, message: &Value) -> Result<()> {
        let written = self.program.write(&format!("{message}\n"));
        written.map_err(|_| ended(method))
    }

    fn request(&mut self, method: &'static str, params: &Value) -> Result<Value> {
        self.requests += 1;
        let id = self.requests;
        let message = json!({ "id": id, "method": method, "params": params });
        self.send(method, &message)?;
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

    /// Lists the installed hooks, as Codex sees them in a project.
    fn list(&mut self, project: &Path, installed: &Installed) -> Result<Vec<ListedHook>> {
        const METHOD: &str = "hooks/list";
        let result = self.request(METHOD, &json!({ "cwds": [project] }))?;
        let directories = result["data"].as_array().into_iter().flatten();
        let hooks = directories.flat_map(|data| data["hooks"].as_array().into_iter().flatten());
        let hooks = hooks.map(ListedHook::deserialize);
        let hooks = hooks.collect::<serde_json::Result<Vec<_>>>();
        let hooks = hooks.map_err(|error| refused(METHOD, &error.to_string()))?;
        // Codex may name the file without links.
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        let file = real(&installed.hooks);
        let is_ours = |hook: &ListedHook| {
            let mut commands = installed.commands.iter();
            let is_installed = commands.any(|(_, command)| hook.command.as_ref() == Some(command));
            is_installed && real(&hook.source_path) == file
        };
        Ok(hooks.into_iter().filter(is_ours).collect())
    }
}

fn ended(method: &str) -> Error {
    anyhow!("Codex ended before it answered {method}: is it 0.169.0 or later?")
}

fn refused(method: &str, message: &str) -> Error {
    anyhow!("Codex refused {method}: {message}")
}
