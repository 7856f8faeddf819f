//! Minimal agent host: spawns the sidecar, speaks the protocol, applies actions and stores the session's branch.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::dialogue::{DialoguePrinter, Speaker};

/// The demo's time on the virtual clock.
const NOW: u64 = 1_767_225_600_000;

/// A host with one session.
pub(crate) struct DemoHost<'d> {
    sidecar: SidecarProcess,
    directory: &'d Path,
    pub(crate) dialogue: DialoguePrinter,
    /// The session's entries, as a host stores them.
    branch: Vec<Value>,
    /// The user's answer to the next question.
    pub(crate) answer: bool,
    /// User messages of the sidecar, which start the agent.
    pub(crate) prompts: Vec<String>,
}

struct SidecarProcess {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    calls: u64,
}

impl SidecarProcess {
    fn spawn() -> Result<Self> {
        let program = std::env::current_exe().context("this program's own path is not known")?;
        let mut child = Command::new(&program)
            .arg("serve")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("{} could not be started", program.display()))?;
        let input = child
            .stdin
            .take()
            .context("the sidecar has no standard input")?;
        let output = child
            .stdout
            .take()
            .context("the sidecar has no standard output")?;
        Ok(Self {
            child,
            input,
            output: BufReader::new(output),
            calls: 0,
        })
    }

    fn write(&mut self, message: &Value) -> Result<()> {
        writeln!(self.input, "{message}").context("the sidecar does not read")
    }

    fn read(&mut self) -> Result<Value> {
        let mut line = String::new();
        if self.output.read_line(&mut line)? == 0 {
            bail!("the sidecar ended");
        }
        Ok(serde_json::from_str(&line)?)
    }
}

impl<'d> DemoHost<'d> {
    /// Starts a sidecar for a project directory.
    pub(crate) fn start(directory: &'d Path, dialogue: DialoguePrinter) -> Result<Self> {
        let sidecar = SidecarProcess::spawn()?;
        let mut host = Self {
            sidecar,
            directory,
            dialogue,
            branch: Vec::new(),
            answer: false,
            prompts: Vec::new(),
        };
        let manifest = host.initialize()?;
        host.dialogue
            .say(Speaker::Sidecar, &manifest_summary(&manifest))?;
        host.start_session()?;
        Ok(host)
    }

    /// Kills the sidecar as a crash would, and starts another over the same session.
    pub(crate) fn crash_and_restart(&mut self) -> Result<()> {
        self.sidecar.child.kill()?;
        self.sidecar.child.wait()?;
        self.sidecar = SidecarProcess::spawn()?;
        self.initialize()?;
        self.start_session()
    }

    /// Ends the sidecar and waits for it.
    pub(crate) fn stop(mut self) -> Result<()> {
        self.call("shutdown", &json!({}))?;
        drop(self.sidecar.input);
        let status = self.sidecar.child.wait()?;
        if !status.success() {
            bail!("the sidecar ended with {status}");
        }
        Ok(())
    }

    /// Sends `initialize` and returns the manifest.
    fn initialize(&mut self) -> Result<Value> {
        self.call(
            "initialize",
            &json!({
                "protocolVersion": 1,
                "host": { "name": "demo", "version": env!("CARGO_PKG_VERSION") },
                "cwd": self.directory,
                "agentDir": self.directory.join("agent"),
                "capabilities": { "dialogs": true, "widgets": true },
                "clock": { "virtual": { "now": NOW, "seed": self.branch.len() } },
            }),
        )
    }

    /// Sends the session's branch.
    fn start_session(&mut self) -> Result<()> {
        let context = json!({ "cwd": self.directory, "hasUI": true, "branch": self.branch });
        self.call(
            "hook/session_start",
            &json!({ "event": { "reason": "startup" }, "context": context }),
        )?;
        Ok(())
    }

    /// Calls the sidecar, applies the actions of its answer, and answers its questions meanwhile.
    pub(crate) fn call(&mut self, method: &str, params: &Value) -> Result<Value> {
        self.sidecar.calls += 1;
        let id = self.sidecar.calls;
        self.sidecar
            .write(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        loop {
            let message = self.sidecar.read()?;
            match message["method"].as_str() {
                Some("ui/confirm") => self.confirm(&message)?,
                Some("host/apply") => self.apply(&message["params"]["actions"])?,
                Some(other) => bail!("the sidecar called {other}, which this host does not have"),
                None if message["id"] == id => {
                    if let Some(error) = message.get("error") {
                        bail!("{method}: {error}");
                    }
                    let result = message["result"].clone();
                    self.apply(&result["actions"])?;
                    return Ok(result);
                }
                None => bail!("an answer to nothing: {message}"),
            }
        }
    }

    fn confirm(&mut self, question: &Value) -> Result<()> {
        let params = &question["params"];
        let text = format!(
            "asks: {}\n{}",
            text_of(&params["title"]),
            text_of(&params["message"])
        );
        self.dialogue.say(Speaker::Sidecar, &text)?;
        self.dialogue
            .say(Speaker::User, if self.answer { "yes" } else { "no" })?;
        let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": self.answer });
        self.sidecar.write(&answer)
    }

    /// Applies actions in order.
    fn apply(&mut self, actions: &Value) -> Result<()> {
        for action in actions.as_array().into_iter().flatten() {
            let text = match action["type"].as_str().unwrap_or_default() {
                "appendEntry" => {
                    let entry = json!({ "type": "custom", "customType": action["customType"], "data": action["data"] });
                    self.branch.push(entry);
                    format!("stores {}", text_of(&action["customType"]))
                }
                "setStatus" => format!("status: {}", action["text"].as_str().unwrap_or("(none)")),
                "setWidget" => match action["lines"].as_array() {
                    Some(lines) => {
                        format!("widget: {}", lines.iter().map(text_of).collect::<String>())
                    }
                    None => continue,
                },
                "setSessionName" => format!("names the session: {}", text_of(&action["name"])),
                "notify" => text_of(&action["message"]),
                "sendMessage" => text_of(&action["message"]["content"]),
                "sendUserMessage" => {
                    self.prompts.push(text_of(&action["content"]));
                    format!("tells the agent:\n{}", text_of(&action["content"]))
                }
                other => bail!("the sidecar wants `{other}`, which this host does not have"),
            };
            self.dialogue.say(Speaker::Sidecar, &text)?;
        }
        Ok(())
    }
}

/// Describes what a manifest asks of a host.
fn manifest_summary(manifest: &Value) -> String {
    let names = |list: &str| -> String {
        let items = manifest[list].as_array().into_iter().flatten();
        let names = items.filter_map(|item| item["name"].as_str());
        names.collect::<Vec<_>>().join(", ")
    };
    format!(
        "forward {}\nregister the tool {} and the commands {}",
        names("hooks"),
        names("tools"),
        names("commands")
    )
}

/// Returns the text of a JSON value.
pub(crate) fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or_default().trim_end().to_owned()
}
