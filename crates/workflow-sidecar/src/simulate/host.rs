//! The host's side of a simulation: calls out, actions and questions in.
//!
//! Owns ids, what the session stores, and the open question. Must not know workflows.

use std::fs::{File, Metadata};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use workflow_core::definition::{Trigger, TriggerOn};
use workflow_core::event::{Entry, PlatformEvent};
use workflow_core::run::entry_type;
use workflow_core::session::StoredCheckpoint;

use super::command::{DryGateOutcome, PersonAnswer};
use super::dry_run::{DryGate, DryRunPlatform};
use super::reaction::{NoticeLevel, PossibleAnswers, Reaction};
use crate::platform::{Platform, PlatformReport};
use crate::record::{DEFAULT_LIMIT, Payload, Recorder, RecordingOptions};
use crate::server::{Cause, ConnectionRecorder, HostLine, InMemoryServer, ServerConfig};

/// The time of every simulation.
const NOW: u64 = 1_767_225_600_000;
/// The seed of task ids.
const SEED: u64 = 7;

/// An entry of the session, as hosts write it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct HostEntry {
    #[serde(rename = "type")]
    kind: &'static str,
    custom_type: String,
    data: Box<RawValue>,
}

/// A question that waits for a person.
pub(super) struct ShownQuestion {
    id: Value,
    pub(super) answers: PossibleAnswers,
}

/// An answer that came later than its call.
struct Late {
    id: u64,
    result: Value,
    /// The number of reactions before it.
    at: usize,
}

/// A host with one session.
pub(super) struct SimulatedHost {
    sidecar: InMemoryServer,
    platform: Arc<DryRunPlatform>,
    recorder: Option<Recorder>,
    now: u64,
    calls: u64,
    /// The session's entries, as a host keeps them.
    branch: Vec<HostEntry>,
    /// The question that is open.
    pub(super) question: Option<ShownQuestion>,
    /// The gate that would run.
    pub(super) gate: Option<DryGate>,
    /// The answers that came later than their calls.
    late: Vec<Late>,
    status: Option<String>,
    /// The last message to the agent that it has not started on.
    pub(super) prompt: Option<String>,
    /// The reactions since they were taken last.
    reactions: Vec<Reaction>,
}

impl SimulatedHost {
    pub(super) fn new(recorder: Option<Recorder>) -> Self {
        let dry_run = Arc::new(DryRunPlatform::default());
        let platform = Arc::clone(&dry_run) as Arc<dyn Platform>;
        let config = match &recorder {
            Some(recorder) => ServerConfig::with_loader(recorder.loader())
                .on_platform(recorder.platform(platform)),
            None => ServerConfig::default().on_platform(platform),
        };
        Self {
            sidecar: InMemoryServer::with_config(config),
            platform: dry_run,
            recorder,
            now: NOW,
            calls: 0,
            branch: Vec::new(),
            question: None,
            gate: None,
            late: Vec::new(),
            status: None,
            prompt: None,
            reactions: Vec::new(),
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

    /// Starts the session with its current entries.
    pub(super) fn start_session(&mut self) -> Result<()> {
        let context = json!({ "hasUI": true, "branch": self.branch });
        let event = json!({ "reason": if self.branch.is_empty() { "startup" } else { "reload" } });
        self.call(
            "hook/session_start",
            &json!({ "event": event, "context": context }),
        )?;
        Ok(())
    }

    /// Calls a method; `None` if it is answered when a question is, or a gate is over.
    pub(super) fn call(&mut self, method: &str, params: &impl Serialize) -> Result<Option<Value>> {
        let id = self.ask(method, params)?;
        let answer = self.answer_to(id);
        Ok(answer.map(|(result, _)| result))
    }

    /// Calls a method, gives the id under which it is answered.
    pub(super) fn ask(&mut self, method: &str, params: &impl Serialize) -> Result<u64> {
        self.calls += 1;
        let id = self.calls;
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.send(&request.to_string())?;
        let is_answered = self.late.iter().any(|late| late.id == id);
        if !is_answered && self.question.is_none() && self.gate.is_none() {
            bail!("the sidecar does not answer {method}");
        }
        Ok(id)
    }

    /// The answer to a call, if there is one, and the position of its reactions.
    pub(super) fn answer_to(&mut self, id: u64) -> Option<(Value, usize)> {
        let at = self.late.iter().position(|late| late.id == id)?;
        let late = self.late.remove(at);
        Some((late.result, late.at))
    }

    /// Tells something before what followed from it.
    pub(super) fn add_at(&mut self, at: usize, reaction: Reaction) {
        let at = at.min(self.reactions.len());
        self.reactions.insert(at, reaction);
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
        let received = self.sidecar.send(request.to_string());
        let answer: Value = serde_json::from_str(received.last().map_or("null", String::as_str))?;
        Ok(answer["result"].clone())
    }

    /// Answers the open question.
    pub(super) fn answer(&mut self, answer: &PersonAnswer) -> Result<()> {
        let Some(question) = &self.question else {
            self.reactions
                .push(Reaction::Nothing("no question is open"));
            return Ok(());
        };
        let result = match (answer, &question.answers) {
            (PersonAnswer::Dismissed, _) => Value::Null,
            (PersonAnswer::Chosen(text), PossibleAnswers::Text) => text.as_str().into(),
            (PersonAnswer::Yes | PersonAnswer::No, PossibleAnswers::YesOrNo) => {
                Value::Bool(*answer == PersonAnswer::Yes)
            }
            (PersonAnswer::Chosen(word), PossibleAnswers::OneOf(choices))
                if choices.contains(word) =>
            {
                word.as_str().into()
            }
            (PersonAnswer::Yes | PersonAnswer::No | PersonAnswer::Chosen(_), answers) => {
                let answers = answers.clone();
                self.reactions.push(Reaction::NotAnAnswer(answers));
                return Ok(());
            }
        };
        let response = json!({ "jsonrpc": "2.0", "id": question.id, "result": result });
        self.question = None;
        self.send(&response.to_string())
    }

    /// Closes the gate and the question of a phase that is left.
    pub(super) fn close_phase_exit(&mut self) {
        self.gate = None;
        self.question
            .take_if(|question| question.answers != PossibleAnswers::YesOrNo);
    }

    /// Ends the gate with an outcome.
    pub(super) fn end_gate(&mut self, outcome: &DryGateOutcome) -> Result<()> {
        let Some(gate) = self.gate.take() else {
            self.reactions
                .push(Reaction::Nothing("no gate would run now"));
            return Ok(());
        };
        let received = self.report(&gate.finished(outcome));
        self.receive(received)
    }

    /// Lets the trigger of a file or a port send a message to the agent. It may have to wait.
    pub(super) fn come_in(&mut self, name: &str, text: &str) -> Result<()> {
        let triggers = self.platform.triggers();
        let Some(trigger) = triggers.iter().find(|trigger| called(trigger) == name) else {
            let names = triggers.iter().map(called).collect();
            self.reactions.push(Reaction::NoTrigger(names));
            return Ok(());
        };
        self.add(Reaction::Guard {
            what: format!("trigger {}", trigger.describe()),
            source: trigger.source.clone(),
        });
        let received = self.report(&PlatformReport {
            session: String::new(),
            event: PlatformEvent::Triggered {
                text: trigger.message(text),
            },
            trigger: None,
        });
        let is_delivered = !received.is_empty();
        self.receive(received)?;
        if !is_delivered {
            self.add(Reaction::Queued);
        }
        Ok(())
    }

    /// The checkpoints of the code, in order.
    pub(super) fn checkpoints(&self) -> Vec<StoredCheckpoint> {
        let entries = self.branch.iter();
        let kept = entries.filter(|entry| entry.custom_type == entry_type::CHECKPOINT);
        kept.filter_map(|entry| serde_json::from_str(entry.data.get()).ok())
            .collect()
    }

    /// The session's entries up to a checkpoint, as hosts send them.
    pub(super) fn branch_before_checkpoint(&self, number: u64) -> serde_json::Value {
        let is_before = |entry: &&HostEntry| {
            let checkpoint = serde_json::from_str::<StoredCheckpoint>(entry.data.get());
            entry.custom_type != entry_type::CHECKPOINT
                || checkpoint.is_ok_and(|checkpoint| checkpoint.number < number)
        };
        let before = self.branch.iter().filter(is_before);
        serde_json::json!(before.collect::<Vec<_>>())
    }

    /// Lets the platform report an event, gives the lines that follow.
    fn report(&mut self, report: &PlatformReport) -> Vec<String> {
        let received = self.sidecar.report(report.clone());
        if let Some(recorder) = &mut self.recorder {
            let cause = Cause::Platform(report);
            recorder.write(self.now, cause, received.join("\n").as_bytes());
        }
        received
    }

    /// Sends a line and takes the lines that follow.
    fn send(&mut self, line: &str) -> Result<()> {
        let received = self.sidecar.send(line);
        if let Some(recorder) = &mut self.recorder {
            let cause = Cause::Host {
                line: HostLine::Line(line.as_bytes()),
                depends_on_payload: true,
            };
            recorder.write(self.now, cause, received.join("\n").as_bytes());
        }
        self.receive(received)
    }

    fn receive(&mut self, received: Vec<String>) -> Result<()> {
        for line in received {
            let message: Value =
                serde_json::from_str(&line).context("the sidecar wrote a line that is not JSON")?;
            match message["method"].as_str() {
                Some("host/apply") => self.apply(&message["params"]["actions"]),
                Some(method @ ("ui/confirm" | "ui/select" | "ui/input")) => {
                    let params = &message["params"];
                    let options = params["options"].as_array().into_iter().flatten();
                    let answers = match method {
                        "ui/input" => PossibleAnswers::Text,
                        "ui/select" => PossibleAnswers::OneOf(options.map(text).collect()),
                        _ => PossibleAnswers::YesOrNo,
                    };
                    self.reactions.push(Reaction::Asked {
                        title: text(&params["title"]),
                        message: text(&params["message"]),
                        answers: answers.clone(),
                    });
                    let id = message["id"].clone();
                    self.question = Some(ShownQuestion { id, answers });
                }
                Some(_) => {}
                None => {
                    if let Some(error) = message.get("error") {
                        bail!("the sidecar refuses: {}", text(&error["message"]));
                    }
                    let at = self.reactions.len();
                    self.apply(&message["result"]["actions"]);
                    if let Some(id) = message["id"].as_u64() {
                        let result = message["result"].clone();
                        self.late.push(Late { id, result, at });
                    }
                }
            }
        }
        if let Some(gate) = self.platform.started() {
            self.reactions.push(Reaction::Gate {
                checks: gate.checks(),
            });
            self.gate = Some(gate);
        }
        Ok(())
    }

    fn apply(&mut self, actions: &Value) {
        for action in actions.as_array().into_iter().flatten() {
            let reaction = match action["type"].as_str().unwrap_or_default() {
                "appendEntry" => {
                    self.branch.push(HostEntry {
                        kind: "custom",
                        custom_type: text(&action["customType"]),
                        data: to_raw_value(&action["data"]).expect("a JSON value is JSON"),
                    });
                    let number = action["data"]["number"].as_u64();
                    match number.filter(|_| action["customType"] == entry_type::CHECKPOINT) {
                        Some(number) => Reaction::Kept { number },
                        None => continue,
                    }
                }
                "setStatus" => {
                    let status = action["text"].as_str().map(str::to_owned);
                    if status == self.status {
                        continue;
                    }
                    self.status.clone_from(&status);
                    Reaction::Status(status)
                }
                "setWidget" => match action["lines"].as_array() {
                    Some(lines) => Reaction::Widget(lines.iter().map(text).collect()),
                    None => continue,
                },
                "setSessionName" => Reaction::Named(text(&action["name"])),
                "sendMessage" => Reaction::Shown {
                    text: text(&action["message"]["content"]),
                },
                "sendUserMessage" => {
                    let text = text(&action["content"]);
                    self.prompt = Some(text.clone());
                    Reaction::ToAgent { text }
                }
                "notify" => Reaction::Notice {
                    text: text(&action["message"]),
                    level: match action["level"].as_str() {
                        Some("error") => NoticeLevel::Error,
                        Some("warning") => NoticeLevel::Warning,
                        _ => NoticeLevel::Info,
                    },
                },
                _ => continue,
            };
            self.reactions.push(reaction);
        }
    }

    pub(super) fn add(&mut self, reaction: Reaction) {
        self.reactions.push(reaction);
    }

    /// Takes the reactions since the last call.
    pub(super) fn take_reactions(&mut self) -> Vec<Reaction> {
        std::mem::take(&mut self.reactions)
    }

    /// True if there is such a reaction since they were taken last.
    pub(super) fn has_reaction(&self, is: impl Fn(&Reaction) -> bool) -> bool {
        self.reactions.iter().any(is)
    }

    /// True if the newest run was cancelled.
    pub(super) fn was_cancelled(&self) -> bool {
        #[derive(Deserialize)]
        struct State {
            cancelled: bool,
        }
        let mut states = self.branch.iter().rev();
        let state = states.find(|entry| entry.custom_type == entry_type::STATE);
        let state = state.and_then(|entry| serde_json::from_str::<State>(entry.data.get()).ok());
        state.is_some_and(|state| state.cancelled)
    }

    /// The session's entries, for the engine.
    pub(super) fn entries(&self) -> Vec<Entry<'_>> {
        let entries = self.branch.iter();
        entries
            .map(|entry| Entry {
                custom_type: &entry.custom_type,
                data: Some(&*entry.data),
            })
            .collect()
    }
}

/// Begins the recording of a simulation, in a file that is empty or does not exist.
pub(crate) fn begin_recording(path: &Path) -> Result<Recorder> {
    let cannot = || format!("{} cannot be written", path.display());
    // Another recording, or the script if two names were mixed up.
    let has_content = |found: Metadata| found.is_file() && found.len() > 0;
    ensure!(
        !path.metadata().is_ok_and(has_content),
        "{} exists already: remove it, or name another file with `--record`",
        path.display()
    );
    File::create(path).with_context(cannot)?;
    let options = RecordingOptions {
        payload: Payload::Kept,
        limit: DEFAULT_LIMIT,
    };
    Recorder::begin_at(NOW, SEED, path, options).with_context(cannot)
}

/// The name of a trigger in a script: its file or its port.
fn called(trigger: &Trigger) -> String {
    match &trigger.on {
        TriggerOn::File(path) => path.clone(),
        TriggerOn::Http { port, .. } => port.to_string(),
    }
}

/// A JSON text as text.
pub(super) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
