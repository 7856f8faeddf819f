//! A host for tests and tools: calls out, actions and questions in.
//!
//! Owns ids, what the session stores, and the open question. Must not know workflows.

use std::collections::HashMap;
use std::fs::{File, Metadata};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use workflow_core::definition::{Trigger, TriggerOn};
use workflow_core::diagnostic::visible;
use workflow_core::event::{Entry, PlatformEvent};
use workflow_core::run::entry_type;
use workflow_core::session::StoredCheckpoint;

use super::command::{DryGateOutcome, PersonAnswer};
use super::dry_run::{DryGate, DryRunPlatform};
use super::reaction::{Cause, PossibleAnswers, Reaction, first_line, guard, text};
use crate::platform::{Platform, PlatformReport};
use crate::present::{BAD, DIMMED, NOTABLE, count, paint};
use crate::record::{DEFAULT_LIMIT, Payload, Recorder, RecordingOptions};
use crate::server::{self, ConnectionRecorder, HostLine, InMemoryServer, ServerConfig};

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

/// A host with one session.
pub(super) struct TestHost {
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
    /// The answers that were not taken yet, by the ids of their calls; each with the number of reactions before it.
    answers: HashMap<u64, (Value, usize)>,
    status: Option<String>,
    /// The last message to the agent that it has not started on.
    pub(super) prompt: Option<String>,
    /// True if the agent was sent a message since the reactions were taken last.
    pub(super) has_message: bool,
    /// The reactions since they were taken last.
    reactions: Vec<Reaction>,
}

impl TestHost {
    /// Starts a sidecar, and introduces the host: its directories, what it can do, the clock.
    pub(super) fn start(recorder: Option<Recorder>, cwd: &Path, agent_dir: &Path) -> Result<Self> {
        let dry_run = Arc::new(DryRunPlatform::default());
        let platform = Arc::clone(&dry_run) as Arc<dyn Platform>;
        let config = match &recorder {
            Some(recorder) => ServerConfig::with_loader(recorder.loader())
                .on_platform(recorder.platform(platform)),
            None => ServerConfig::default().on_platform(platform),
        };
        let mut host = Self {
            sidecar: InMemoryServer::with_config(config),
            platform: dry_run,
            recorder,
            now: NOW,
            calls: 0,
            branch: Vec::new(),
            question: None,
            gate: None,
            answers: HashMap::new(),
            status: None,
            prompt: None,
            has_message: false,
            reactions: Vec::new(),
        };
        host.call(
            "initialize",
            &json!({
                "protocolVersion": 1,
                "host": { "name": "simulate", "version": env!("CARGO_PKG_VERSION") },
                "cwd": cwd.to_string_lossy(),
                "agentDir": agent_dir.to_string_lossy(),
                "capabilities": { "dialogs": true, "widgets": true },
                "clock": { "virtual": { "now": NOW, "seed": SEED } },
            }),
        )?;
        host.start_session()?;
        Ok(host)
    }

    /// Starts the session with its current entries.
    pub(super) fn start_session(&mut self) -> Result<()> {
        self.question = None;
        self.gate = None;
        let context = json!({ "hasUI": true, "branch": self.branch });
        let event = json!({ "reason": if self.branch.is_empty() { "startup" } else { "reload" } });
        self.call(
            "hook/session_start",
            &json!({ "event": event, "context": context }),
        )?;
        Ok(())
    }

    /// Calls a method; `None` if it is answered when a question is, or a gate is over.
    pub(super) fn call(&mut self, method: &str, params: &Value) -> Result<Option<Value>> {
        let id = self.ask(method, params)?;
        Ok(self.answer_to(id).map(|(result, _)| result))
    }

    /// Calls a method, gives the id under which it is answered.
    pub(super) fn ask(&mut self, method: &str, params: &Value) -> Result<u64> {
        self.calls += 1;
        let id = self.calls;
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.send(&request.to_string())?;
        if !self.answers.contains_key(&id) && self.question.is_none() && self.gate.is_none() {
            bail!("the sidecar does not answer {method}");
        }
        Ok(id)
    }

    /// The answer to a call, if there is one, and the position of its reactions.
    pub(super) fn answer_to(&mut self, id: u64) -> Option<(Value, usize)> {
        self.answers.remove(&id)
    }

    /// Adds a reaction before what followed from it.
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

    /// The state of the session, which is no part of the conversation.
    pub(super) fn state(&self) -> Result<Value> {
        let request = json!({ "jsonrpc": "2.0", "id": "look", "method": "session/state" });
        let received = self.sidecar.send(request.to_string());
        let answer: Value = serde_json::from_str(received.last().map_or("null", String::as_str))?;
        Ok(answer["result"].clone())
    }

    /// Answers the open question.
    pub(super) fn answer(&mut self, answer: &PersonAnswer) -> Result<()> {
        let Some(question) = &self.question else {
            self.add(Reaction::nothing("no question is open"));
            return Ok(());
        };
        let result = match (answer, &question.answers) {
            (PersonAnswer::Dismissed, _) => Value::Null,
            (PersonAnswer::Chosen(text), PossibleAnswers::Text) => text.as_str().into(),
            (PersonAnswer::Chosen(word), PossibleAnswers::OneOf(choices))
                if choices.contains(word) =>
            {
                word.as_str().into()
            }
            (PersonAnswer::Yes, PossibleAnswers::YesOrNo) => true.into(),
            (PersonAnswer::No, PossibleAnswers::YesOrNo) => false.into(),
            (PersonAnswer::Yes | PersonAnswer::No | PersonAnswer::Chosen(_), answers) => {
                let reaction = Reaction::not_an_answer(answers);
                self.add(reaction);
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
            self.add(Reaction::nothing("no gate would run now"));
            return Ok(());
        };
        self.report(&gate.finished(outcome)).map(drop)
    }

    /// Lets the trigger of a file or a port send a message to the agent; returns true if it has to wait.
    pub(super) fn come_in(&mut self, name: &str, text: &str) -> Result<bool> {
        let triggers = self.platform.triggers();
        let Some(trigger) = triggers.iter().find(|trigger| called(trigger) == name) else {
            let names: Vec<String> = triggers.iter().map(called).collect();
            self.add(Reaction::nothing(&match &*names {
                [] => "the settings have no triggers".to_owned(),
                names => format!(
                    "there is no such trigger: there are {}",
                    visible(&names.join(", "))
                ),
            }));
            return Ok(false);
        };
        let what = format!("trigger {}", trigger.describe());
        self.add(Reaction::guard(&what, &trigger.source));
        let is_delivered = self.report(&PlatformReport {
            session: String::new(),
            event: PlatformEvent::Triggered {
                text: trigger.message(text),
            },
            trigger: None,
        })?;
        if !is_delivered {
            self.add(Reaction::new("it waits until the agent has stopped"));
        }
        Ok(!is_delivered)
    }

    /// The checkpoints of the code, in order.
    pub(super) fn checkpoints(&self) -> Vec<StoredCheckpoint> {
        let entries = self.branch.iter();
        entries.filter_map(checkpoint).collect()
    }

    /// The session's entries up to a checkpoint, as hosts send them.
    pub(super) fn branch_before_checkpoint(&self, number: u64) -> Value {
        let is_before =
            |entry: &&HostEntry| checkpoint(entry).is_none_or(|kept| kept.number < number);
        let before = self.branch.iter().filter(is_before);
        json!(before.collect::<Vec<_>>())
    }

    /// Lets the platform report an event; returns false if nothing follows.
    fn report(&mut self, report: &PlatformReport) -> Result<bool> {
        let received = self.sidecar.report(report.clone());
        self.receive(server::Cause::Platform(report), &received)
    }

    /// Sends a line and takes the lines that follow.
    fn send(&mut self, line: &str) -> Result<()> {
        let received = self.sidecar.send(line);
        let cause = server::Cause::Host {
            line: HostLine::Line(line.as_bytes()),
            depends_on_payload: true,
        };
        self.receive(cause, &received).map(drop)
    }

    /// Records lines of the sidecar and acts on them; returns false if there are none.
    fn receive(&mut self, cause: server::Cause<'_>, received: &[String]) -> Result<bool> {
        if let Some(recorder) = &mut self.recorder {
            recorder.write(self.now, cause, received.join("\n").as_bytes());
        }
        for line in received {
            let message: Value =
                serde_json::from_str(line).context("the sidecar wrote a line that is not JSON")?;
            match message["method"].as_str() {
                Some("host/apply") => self.apply(&message["params"]["actions"]),
                Some(method @ ("ui/confirm" | "ui/select" | "ui/input")) => {
                    self.open_question(method, &message);
                }
                Some(_) => {}
                None => {
                    if let Some(error) = message.get("error") {
                        bail!("the sidecar refuses: {}", text(&error["message"]));
                    }
                    let at = self.reactions.len();
                    self.apply(&message["result"]["actions"]);
                    if let Some(id) = message["id"].as_u64() {
                        self.answers.insert(id, (message["result"].clone(), at));
                    }
                }
            }
        }
        if let Some(gate) = self.platform.started() {
            let mut reaction = Reaction::new(paint(NOTABLE, "the gate would check"));
            for (what, source) in gate.checks() {
                reaction = reaction.with_line(&format!("│ {}", guard(&what, &source)));
            }
            self.add(reaction);
            self.gate = Some(gate);
        }
        Ok(!received.is_empty())
    }

    fn open_question(&mut self, method: &str, message: &Value) {
        let params = &message["params"];
        let options = params["options"].as_array().into_iter().flatten();
        let answers = match method {
            "ui/input" => PossibleAnswers::Text,
            "ui/select" => PossibleAnswers::OneOf(options.map(text).collect()),
            _ => PossibleAnswers::YesOrNo,
        };
        let title = text(&params["title"]);
        let (first, more) = title.split_once('\n').unwrap_or((&title, ""));
        let mut reaction = Reaction::new(format!(
            "{}: {} ({})",
            paint(NOTABLE, "asked"),
            visible(first),
            answers.commands()
        ));
        for text in [more.trim(), &text(&params["message"])] {
            if !text.is_empty() {
                reaction = reaction.with(text);
            }
        }
        if matches!(answers, PossibleAnswers::OneOf(_)) {
            reaction = reaction.by(Cause::Approval(title.clone()));
        }
        self.add(reaction);
        let id = message["id"].clone();
        self.question = Some(ShownQuestion { id, answers });
    }

    fn apply(&mut self, actions: &Value) {
        for action in actions.as_array().into_iter().flatten() {
            let dimmed = |name, text: &str| {
                Reaction::new(format!("{} {}", paint(DIMMED, name), first_line(text)))
            };
            let reaction = match action["type"].as_str().unwrap_or_default() {
                "appendEntry" => {
                    let entry = HostEntry {
                        kind: "custom",
                        custom_type: text(&action["customType"]),
                        data: to_raw_value(&action["data"]).expect("a JSON value is JSON"),
                    };
                    let kept = checkpoint(&entry);
                    self.branch.push(entry);
                    let Some(StoredCheckpoint { number, .. }) = kept else {
                        continue;
                    };
                    Reaction::new(format!("checkpoint {number}: git would keep the code"))
                        .by(Cause::Checkpoint)
                }
                "setStatus" => {
                    let status = action["text"].as_str().map(str::to_owned);
                    if status == self.status {
                        continue;
                    }
                    self.status = status;
                    dimmed("status", self.status.as_deref().unwrap_or("(none)"))
                }
                "setWidget" => match action["lines"].as_array() {
                    Some(lines) => {
                        let lines: Vec<String> = lines.iter().map(text).collect();
                        dimmed("widget", &lines.join(" "))
                    }
                    None => continue,
                },
                "setSessionName" => dimmed("session", &text(&action["name"])),
                "sendMessage" => {
                    Reaction::new("shown to the user").with(&text(&action["message"]["content"]))
                }
                "sendUserMessage" => {
                    let text = text(&action["content"]);
                    let characters = count(text.chars().count(), "character");
                    let sent = paint(NOTABLE, "sent to the agent");
                    let reaction = Reaction::new(format!("{sent}, {characters}")).with(&text);
                    self.prompt = Some(text);
                    self.has_message = true;
                    reaction
                }
                "notify" => {
                    let style = match action["level"].as_str() {
                        Some("error") => BAD,
                        Some("warning") => NOTABLE,
                        _ => DIMMED,
                    };
                    Reaction::new(paint(style, "notice")).with(&text(&action["message"]))
                }
                _ => continue,
            };
            self.add(reaction);
        }
    }

    pub(super) fn add(&mut self, reaction: Reaction) {
        self.reactions.push(reaction);
    }

    /// Takes the reactions since the last call.
    pub(super) fn take_reactions(&mut self) -> Vec<Reaction> {
        self.has_message = false;
        std::mem::take(&mut self.reactions)
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

/// The checkpoint of an entry, if it is one.
fn checkpoint(entry: &HostEntry) -> Option<StoredCheckpoint> {
    let is_checkpoint = entry.custom_type == entry_type::CHECKPOINT;
    let data = Some(entry.data.get()).filter(|_| is_checkpoint)?;
    serde_json::from_str(data).ok()
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
