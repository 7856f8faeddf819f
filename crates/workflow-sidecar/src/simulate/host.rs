//! The host's side of a simulation: calls out, actions and questions in.
//!
//! Owns ids, what the session stores, and the open question. Must not know workflows.

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use workflow_core::input::Entry;
use workflow_core::run::entry_type;

use super::record::Recorder;
use super::told::{Level, Told};
use crate::serve::{Memory, Surroundings};

/// The moment at which every simulation takes place.
pub(crate) const NOW: u64 = 1_767_225_600_000;
/// What task ids follow from.
pub(crate) const SEED: u64 = 7;

/// An entry of the session, as hosts write it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StoredEntry {
    #[serde(rename = "type")]
    kind: &'static str,
    custom_type: String,
    data: Option<Box<RawValue>>,
}

/// A host with one session.
pub(super) struct Host {
    sidecar: Memory,
    recorder: Option<Recorder>,
    now: u64,
    calls: u64,
    /// The session's entries, as a host keeps them.
    branch: Vec<StoredEntry>,
    /// The id of the question that is open.
    pub(super) question: Option<Value>,
    status: Option<String>,
    /// What was last said to the agent in the user's place, and not answered yet.
    pub(super) prompt: Option<String>,
    /// What followed since it was taken last.
    told: Vec<Told>,
}

impl Host {
    pub(super) fn new(recorder: Option<Recorder>) -> Self {
        Self {
            sidecar: match &recorder {
                Some(recorder) => Memory::within(Surroundings::of(recorder.loader())),
                None => Memory::new(),
            },
            recorder,
            now: NOW,
            calls: 0,
            branch: Vec::new(),
            question: None,
            status: None,
            prompt: None,
            told: Vec::new(),
        }
    }

    /// Introduces the host: its directories, what it can do, the clock.
    pub(super) fn initialize(&mut self, cwd: &str, agent_dir: &str) -> Result<()> {
        self.call(
            "initialize",
            &json!({
                "protocolVersion": 1,
                "host": { "name": "simulate", "version": env!("CARGO_PKG_VERSION") },
                "cwd": cwd,
                "agentDir": agent_dir,
                "capabilities": { "dialogs": true, "widgets": true },
                "clock": { "virtual": { "now": NOW, "seed": SEED } },
            }),
        )?;
        Ok(())
    }

    /// Hands over the session as it stands.
    pub(super) fn start_session(&mut self) -> Result<()> {
        let context = json!({ "hasUI": true, "branch": self.branch });
        let event = json!({ "reason": if self.branch.is_empty() { "startup" } else { "reload" } });
        self.call(
            "hook/session_start",
            &json!({ "event": event, "context": context }),
        )?;
        Ok(())
    }

    /// Calls a method; `None` if it is answered when a question is.
    pub(super) fn call(&mut self, method: &str, params: &impl Serialize) -> Result<Option<Value>> {
        self.calls += 1;
        let id = self.calls;
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let result = self.send(&request.to_string(), Some(id))?;
        if result.is_none() && self.question.is_none() {
            bail!("the sidecar does not answer {method}");
        }
        Ok(result)
    }

    /// Calls a method that is answered at once; what the answer says is told before what follows from it.
    pub(super) fn call_telling(
        &mut self,
        method: &str,
        params: &impl Serialize,
        tell: impl FnOnce(&Value) -> Told,
    ) -> Result<Value> {
        let at = self.told.len();
        let answer = self.call(method, params)?.unwrap_or_default();
        self.told.insert(at, tell(&answer));
        Ok(answer)
    }

    /// Lets time pass.
    pub(super) fn wait(&mut self, ms: u64) -> Result<()> {
        self.now = self.now.saturating_add(ms);
        self.call("clock/advance", &json!({ "ms": ms }))?;
        Ok(())
    }

    /// Asks for what is no part of the conversation, and changes nothing.
    pub(super) fn look(&mut self, method: &str) -> Result<Value> {
        let request = json!({ "jsonrpc": "2.0", "id": "look", "method": method });
        let heard = self.sidecar.send(request.to_string());
        let answer: Value = serde_json::from_str(heard.last().map_or("null", String::as_str))?;
        Ok(answer["result"].clone())
    }

    /// Answers the open question.
    pub(super) fn answer(&mut self, yes: bool) -> Result<()> {
        let Some(id) = self.question.take() else {
            self.told.push(Told::Nothing("nobody asked"));
            return Ok(());
        };
        let response = json!({ "jsonrpc": "2.0", "id": id, "result": yes });
        self.send(&response.to_string(), None)?;
        Ok(())
    }

    /// Sends a line and takes what follows; gives the result of the call with this id.
    fn send(&mut self, line: &str, wanted: Option<u64>) -> Result<Option<Value>> {
        let heard = self.sidecar.send(line);
        if let Some(recorder) = &mut self.recorder {
            recorder.conversation(self.now, line, &heard);
        }
        let mut found = None;
        for line in heard {
            let message: Value = serde_json::from_str(&line)
                .context("the sidecar says something that is no JSON")?;
            match message["method"].as_str() {
                Some("host/apply") => self.apply(&message["params"]["actions"]),
                Some("ui/confirm") => {
                    let params = &message["params"];
                    self.told.push(Told::Asked {
                        title: text(&params["title"]),
                        message: text(&params["message"]),
                    });
                    self.question = Some(message["id"].clone());
                }
                Some(_) => {}
                None => {
                    if let Some(error) = message.get("error") {
                        bail!("the sidecar refuses: {}", text(&error["message"]));
                    }
                    self.apply(&message["result"]["actions"]);
                    if wanted.is_some_and(|id| message["id"] == id) {
                        found = Some(message["result"].clone());
                    }
                }
            }
        }
        Ok(found)
    }

    fn apply(&mut self, actions: &Value) {
        for action in actions.as_array().into_iter().flatten() {
            let told = match action["type"].as_str().unwrap_or_default() {
                "appendEntry" => {
                    self.branch.push(StoredEntry {
                        kind: "custom",
                        custom_type: text(&action["customType"]),
                        data: to_raw_value(&action["data"]).ok(),
                    });
                    continue;
                }
                "setStatus" => {
                    let status = action["text"].as_str().map(str::to_owned);
                    if status == self.status {
                        continue;
                    }
                    self.status.clone_from(&status);
                    Told::Status(status)
                }
                "setWidget" => match action["lines"].as_array() {
                    Some(lines) => Told::Widget(lines.iter().map(text).collect()),
                    None => continue,
                },
                "setSessionName" => Told::Named(text(&action["name"])),
                "sendMessage" => Told::Shown {
                    text: text(&action["message"]["content"]),
                },
                "sendUserMessage" => {
                    let text = text(&action["content"]);
                    self.prompt = Some(text.clone());
                    Told::ToAgent { text }
                }
                "notify" => Told::Notice {
                    text: text(&action["message"]),
                    level: match action["level"].as_str() {
                        Some("error") => Level::Error,
                        Some("warning") => Level::Warning,
                        _ => Level::Info,
                    },
                },
                _ => continue,
            };
            self.told.push(told);
        }
    }

    pub(super) fn tell(&mut self, told: Told) {
        self.told.push(told);
    }

    /// What followed since it was taken last.
    pub(super) fn take_told(&mut self) -> Vec<Told> {
        std::mem::take(&mut self.told)
    }

    /// Whether something of this kind followed since it was taken last.
    pub(super) fn has_told(&self, is: impl Fn(&Told) -> bool) -> bool {
        self.told.iter().any(is)
    }

    /// Whether the newest run was cancelled.
    pub(super) fn was_cancelled(&self) -> bool {
        #[derive(Deserialize)]
        struct State {
            cancelled: bool,
        }
        let mut states = self.branch.iter().rev();
        let state = states.find(|entry| entry.custom_type == entry_type::STATE);
        let data = state.and_then(|entry| entry.data.as_ref());
        let state = data.and_then(|data| serde_json::from_str::<State>(data.get()).ok());
        state.is_some_and(|state| state.cancelled)
    }

    /// The session's entries, for the engine.
    pub(super) fn entries(&self) -> Vec<Entry<'_>> {
        let entries = self.branch.iter();
        entries
            .map(|entry| Entry {
                custom_type: &entry.custom_type,
                data: entry.data.as_deref(),
            })
            .collect()
    }
}

/// A JSON text as text.
pub(super) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
