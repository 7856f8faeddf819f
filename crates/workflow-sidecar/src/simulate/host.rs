//! A host for tests and tools: calls out, actions and questions in.
//!
//! Owns ids, what the session stores, and the open question. Must not know workflows.

use std::collections::HashMap;
use std::fs::{File, Metadata};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use workflow_core::definition::{Loaded, Trigger, TriggerOn};
use workflow_core::diagnostic::visible;
use workflow_core::effect::GateRun;
use workflow_core::event::PlatformEvent;
use workflow_core::policy::gate_report::CheckVerdict;
use workflow_core::run::{RunState, entry_type};
use workflow_core::session::View;

use super::dry_run::{DryRunPlatform, checks, finished};
use super::guards;
use super::reaction::{PossibleAnswers, Reaction, first_line, guard, text};
use crate::platform::PlatformReport;
use crate::present::{BAD, DIMMED, NOTABLE, count, paint};
use crate::record::{DEFAULT_LIMIT, Recorder, Redaction};
use crate::server::{InMemoryServer, ServerConfig};

/// The time of every simulation.
const NOW: u64 = 1_767_225_600_000;
/// The seed of task ids.
const SEED: u64 = 7;

/// A question that waits for a person.
pub(super) struct ShownQuestion {
    id: Value,
    pub(super) answers: PossibleAnswers,
}

/// A host with one session.
pub(super) struct TestHost<'a> {
    pub(super) sidecar: InMemoryServer,
    /// The definitions at the start, which have the guards.
    pub(super) loaded: &'a Loaded,
    pub(super) platform: Arc<DryRunPlatform>,
    calls: u64,
    /// The session's entries, as hosts write them.
    branch: Vec<Value>,
    /// The question that is open.
    pub(super) question: Option<ShownQuestion>,
    /// The gate that would run.
    pub(super) gate: Option<GateRun>,
    /// The answers that were not taken yet, by the ids of their calls; each with the number of reactions before it.
    pub(super) answers: HashMap<u64, (Value, usize)>,
    status: Option<String>,
    /// The last message to the agent that it has not started on.
    pub(super) prompt: Option<String>,
    /// True if the agent was sent a message since the reactions were taken last.
    pub(super) has_message: bool,
    /// The reactions since they were taken last.
    reactions: Vec<Reaction>,
}

impl<'a> TestHost<'a> {
    /// Starts a sidecar, and introduces the host: its directories, what it can do, the clock.
    pub(super) fn start(
        recorder: Option<Recorder>,
        cwd: &Path,
        agent_dir: &Path,
        loaded: &'a Loaded,
    ) -> Result<Self> {
        let dry_run = Arc::new(DryRunPlatform::default());
        let config = ServerConfig {
            platform: Arc::clone(&dry_run) as _,
            recorder: recorder.map(|recorder| Box::new(recorder) as _),
            ..ServerConfig::default()
        };
        let mut host = Self {
            sidecar: InMemoryServer::with_config(config),
            loaded,
            platform: dry_run,
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
        let context = json!({ "hasUI": true, "projectTrusted": true, "branch": self.branch });
        let event = json!({ "reason": if self.branch.is_empty() { "startup" } else { "reload" } });
        let params = json!({ "event": event, "context": context });
        self.call("hook/session_start", &params).map(drop)
    }

    /// Calls a method; `None` if it is answered when a question is, or a gate is over.
    pub(super) fn call(&mut self, method: &str, params: &Value) -> Result<Option<Value>> {
        let id = self.ask(method, params)?;
        Ok(self.answers.remove(&id).map(|(result, _)| result))
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

    /// Adds a reaction before what followed from it.
    pub(super) fn add_at(&mut self, at: usize, reaction: Reaction) {
        let at = at.min(self.reactions.len());
        self.reactions.insert(at, reaction);
    }

    /// The state of the run, if there is one.
    pub(super) fn run(&self) -> Option<RunState> {
        let state = |view: Option<View<'_>>| Some(view?.state.clone());
        self.sidecar.look(state)
    }

    /// Answers the open question.
    pub(super) fn answer(&mut self, answer: &Value) -> Result<()> {
        let Some(question) = &self.question else {
            return self.nothing("no question is open");
        };
        let Some(answer) = question.answers.read(answer) else {
            let why = question.answers.only();
            return self.nothing(&why);
        };
        let response = json!({ "jsonrpc": "2.0", "id": question.id, "result": answer });
        self.question = None;
        self.send(&response.to_string())
    }

    /// Closes the gate and the question of a phase that is left.
    pub(super) fn close_phase_exit(&mut self) {
        self.gate = None;
        self.question
            .take_if(|question| question.answers != PossibleAnswers::YesOrNo);
    }

    /// Ends the gate.
    pub(super) fn end_gate(&mut self, verdict: CheckVerdict, said: &str) -> Result<()> {
        let Some(gate) = self.gate.take() else {
            return self.nothing("no gate would run now");
        };
        self.report(finished(&gate, verdict, said)).map(drop)
    }

    /// Lets the trigger of a file or a port send a message to the agent; returns true if it has to wait.
    pub(super) fn come_in(&mut self, name: &str, text: &str) -> Result<bool> {
        let triggers = self.platform.triggers();
        let Some(trigger) = triggers.iter().find(|trigger| called(trigger) == name) else {
            let names: Vec<String> = triggers.iter().map(called).collect();
            self.nothing(&match &*names {
                [] => "the settings have no triggers".to_owned(),
                names => format!(
                    "there is no such trigger: there are {}",
                    visible(&names.join(", "))
                ),
            })?;
            return Ok(false);
        };
        let what = format!("trigger {}", trigger.describe());
        self.add(Reaction::new(guard(&what, &trigger.source)));
        let text = trigger.message(text);
        let is_delivered = self.report(PlatformEvent::Triggered { text })?;
        if !is_delivered {
            self.add(Reaction::new("it waits until the agent has stopped"));
        }
        Ok(!is_delivered)
    }

    /// The numbers of the checkpoints of the code, in order.
    pub(super) fn checkpoints(&self) -> Vec<u64> {
        self.branch.iter().filter_map(checkpoint).collect()
    }

    /// The session's entries up to a checkpoint, as hosts send them.
    pub(super) fn branch_before_checkpoint(&self, number: u64) -> Value {
        let is_before = |entry: &&Value| checkpoint(entry).is_none_or(|kept| kept < number);
        let before = self.branch.iter().filter(is_before);
        json!(before.collect::<Vec<_>>())
    }

    /// Lets the platform report an event; returns false if nothing follows.
    fn report(&mut self, event: PlatformEvent) -> Result<bool> {
        let received = self.sidecar.report(&PlatformReport {
            session: String::new(),
            event,
            trigger: None,
        });
        self.receive(&received)
    }

    /// Sends a line and takes the lines that follow.
    fn send(&mut self, line: &str) -> Result<()> {
        let received = self.sidecar.send(line);
        self.receive(&received).map(drop)
    }

    /// Acts on lines of the sidecar; returns false if there are none.
    fn receive(&mut self, received: &[String]) -> Result<bool> {
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
            for (what, source) in checks(&gate) {
                reaction = reaction.with_line(format_args!("│ {}", guard(&what, &source)));
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
        let asked = paint(NOTABLE, "asked");
        let (first, commands) = (visible(first), answers.commands());
        let run = self
            .run()
            .filter(|_| matches!(answers, PossibleAnswers::OneOf(_)));
        let source = run.and_then(|run| guards::approval(self.loaded, &run, &title));
        let mut reaction = Reaction::by(format_args!("{asked}: {first} ({commands})"), source);
        for text in [more.trim(), &text(&params["message"])] {
            if !text.is_empty() {
                reaction = reaction.with(text);
            }
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
                    let mut entry = action.clone();
                    entry["type"] = "custom".into();
                    let kept = checkpoint(&entry);
                    self.branch.push(entry);
                    let Some(number) = kept else {
                        continue;
                    };
                    let source = guards::checkpoint(self.loaded, self.run().as_ref());
                    let line = format!("checkpoint {number}: git would keep the code");
                    Reaction::by(line, Some(source.unwrap_or_default()))
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

    /// Adds a reaction of minor importance, with which a command ends.
    #[expect(clippy::unnecessary_wraps, reason = "a command ends with a result")]
    pub(super) fn nothing(&mut self, why: &str) -> Result<()> {
        self.add(Reaction::new(paint(DIMMED, why)));
        Ok(())
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
        let mut entries = self.branch.iter().rev();
        let state = entries.find(|entry| entry["customType"] == entry_type::STATE);
        state.is_some_and(|state| state["data"]["cancelled"] == true)
    }
}

/// The number of the checkpoint in an entry, if it is one.
fn checkpoint(entry: &Value) -> Option<u64> {
    let is_checkpoint = entry["customType"] == entry_type::CHECKPOINT;
    entry["data"]["number"].as_u64().filter(|_| is_checkpoint)
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
    Recorder::begin_at(NOW, SEED, path, Redaction::new(false), DEFAULT_LIMIT).with_context(cannot)
}

/// The name of a trigger in a script: its file or its port.
fn called(trigger: &Trigger) -> String {
    match &trigger.on {
        TriggerOn::File(path) => path.clone(),
        TriggerOn::Http { port, .. } => port.to_string(),
    }
}
