//! A project, a store, and the recorded events of a host.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::hook_hosts::HookHost;
use crate::hook_hosts::answer::Printed;
use crate::hook_hosts::decide::EventHandler;
use crate::hook_hosts::event::{EventName, EventPayload};
use crate::store::{SessionKey, Store};

const WORKFLOW: &str = "
name: Bugfix
commandName: bugfix
initialMessage: 'Fix this: {description}'
continue: { max: unlimited }
phases:
  - { id: analyze, name: Analyze, emoji: A, instructions: Find the cause., tools: { blacklist: [edit, write] } }
  - { id: fix, name: Fix, emoji: F, instructions: Repair it. }
";

/// A project with a workflow, and a store.
pub(super) struct World {
    pub(super) host: &'static HookHost,
    pub(super) root: TempDir,
    pub(super) store: Store,
    /// The version that the host tells.
    pub(super) version: Option<String>,
    /// The process that the host names, if it does.
    pub(super) process: Option<String>,
}

impl World {
    pub(super) fn new(host: &'static HookHost) -> Self {
        let root = tempfile::tempdir().unwrap();
        let workflow = root.path().join("project/.pi/workflows/bugfix");
        fs::create_dir_all(&workflow).unwrap();
        fs::write(workflow.join("workflow.yaml"), WORKFLOW).unwrap();
        let store = workflow_store::open(root.path().join("state"), None).unwrap();
        let commands = root.path().join("project/.claude/commands");
        fs::create_dir_all(&commands).unwrap();
        fs::write(commands.join("workflow.md"), "/workflow").unwrap();
        Self {
            host,
            root,
            store,
            version: None,
            process: host.process_variable.map(|_| "4711".to_owned()),
        }
    }

    /// The word of a command in the project.
    pub(super) fn word(&self) -> &'static str {
        self.host.prompt_word(&self.root.path().join("project"))
    }

    /// Limits the workflow.
    pub(super) fn limit(&self, budget: &str) {
        self.write(&format!("{WORKFLOW}budget: {budget}\n"));
    }

    /// Gives the first phase a gate with a command that nobody trusts.
    pub(super) fn add_gate(&self) {
        let ungated = "instructions: Find the cause.";
        let gated = format!("{ungated}, gate: [{{ run: [cargo, test] }}]");
        self.write(&WORKFLOW.replace(ungated, &gated));
    }

    /// Gives the workflow an input that a start needs.
    pub(super) fn require_input(&self) {
        self.write(&format!(
            "{WORKFLOW}inputs: {{ ticket: {{ type: text }} }}\n"
        ));
    }

    /// Makes the first phase read-only.
    pub(super) fn make_read_only(&self) {
        self.write(&WORKFLOW.replace("{ blacklist: [edit, write] }", "read-only"));
    }

    /// Has a question of the agent pause the run.
    pub(super) fn pause_on_question(&self) {
        self.write(&WORKFLOW.replace("max: unlimited", "max: unlimited, onQuestion: pause"));
    }

    /// Gives the first phase a whitelist.
    pub(super) fn allow_only_reading(&self) {
        self.write(&WORKFLOW.replace("blacklist: [edit, write]", "whitelist: [read]"));
    }

    /// Has the project say what holds without a run; `start` is the workflow that is offered.
    pub(super) fn close_door(&self, start: &str) {
        let settings = format!("{{ withoutRun: {{ tools: 'read-only', start: {start} }} }}");
        let file = self.root.path().join("project/.pi/workflow-sidecar.json5");
        fs::write(file, settings).unwrap();
    }

    fn write(&self, workflow: &str) {
        let file = ".pi/workflows/bugfix/workflow.yaml";
        fs::write(self.root.path().join("project").join(file), workflow).unwrap();
    }

    /// Sends an event, and gives what is printed for it.
    pub(super) fn send(&self, event: &Value) -> Printed {
        self.send_from(event, &[])
    }

    /// Sends an event to a hook with these environment variables.
    pub(super) fn send_from(&self, event: &Value, variables: &[(&str, &str)]) -> Printed {
        let value = |name: &str| {
            let mut all = variables.iter();
            let (_, value) = all.find(|(known, _)| *known == name)?;
            Some((*value).to_owned())
        };
        let text = event.to_string();
        let text = text.replace("$ROOT", self.root.path().to_str().unwrap());
        let payload = EventPayload::parse(text.as_bytes()).unwrap();
        let name = payload.name(self.host.events);
        let event = payload.event(name);
        let mut surroundings = self.host.surroundings(&value);
        surroundings.version = self.version.clone().or(surroundings.version);
        let handler = EventHandler {
            host: self.host,
            store: &self.store,
            surroundings: &surroundings,
            process: self.process.clone(),
            on_loaded: &|_| {},
        };
        let answer = handler.decide(&event.unwrap()).unwrap();
        let result = payload.result();
        let result = result.and_then(|result| serde_json::from_str(result.get()).ok());
        let HookHost { form, events, .. } = self.host;
        form.print(name, events, &answer, result.as_ref())
    }

    /// Sends a recorded event with other members.
    pub(super) fn send_with(&self, event: EventName, members: &Value) -> Printed {
        let mut stdin = recorded(self.host, event);
        for (name, value) in members.as_object().unwrap() {
            stdin[name] = value.clone();
        }
        self.send(&stdin)
    }

    pub(super) fn prompt(&self, text: &str) -> Printed {
        static TURNS: AtomicU64 = AtomicU64::new(0);
        let turn = TURNS.fetch_add(1, Ordering::Relaxed).to_string();
        let mut members = json!({ "prompt": text, "turn_id": turn });
        if self.host.marks_prompts {
            members["submitted_prompt"] = json!(text);
        }
        self.send_with(EventName::Prompt, &members)
    }

    pub(super) fn start(&self) -> Printed {
        self.prompt("workflow bugfix the export is empty")
    }

    /// Sends a prompt that is a command, and gives the text that answers it.
    pub(super) fn command(&self, text: &str) -> String {
        json_of(&self.prompt(text)).to_string()
    }

    pub(super) fn entries(&self, session: &str) -> usize {
        let key = SessionKey {
            host: self.host.name.to_owned(),
            session: session.to_owned(),
        };
        self.store.load(&key).unwrap().entries.len()
    }
}

pub(super) fn fixture(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/hook_hosts");
    let text = fs::read_to_string(path.join(name)).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// The events of a host's recorded session. Some of Copilot's have names of their own, and no hook is registered for them.
pub(super) fn session_of(host: &HookHost) -> Vec<Value> {
    let fixture = fixture(&format!("{}.session.json", host.name));
    let hooks = fixture["hooks"].as_array().unwrap().iter();
    let events = hooks.map(|hook| hook["stdin"].clone());
    events
        .filter(|stdin| stdin["hook_event_name"].is_string())
        .collect()
}

/// The first recorded event of the main agent with this meaning.
pub(super) fn recorded(host: &HookHost, event: EventName) -> Value {
    let is_it = |stdin: &Value| {
        let text = stdin.to_string();
        let payload = EventPayload::parse(text.as_bytes()).unwrap();
        payload.name(host.events) == event && payload.agent_id.is_none()
    };
    session_of(host).into_iter().find(is_it).unwrap()
}

/// The recorded call of a tool that the engine knows under this name.
pub(super) fn call_of(host: &HookHost, tool: &str) -> Value {
    let is_it = |stdin: &Value| {
        let name = stdin["tool_name"].as_str();
        let text = stdin.to_string();
        let event = EventPayload::parse(text.as_bytes())
            .unwrap()
            .name(host.events);
        event == EventName::ToolCall
            && name.is_some_and(|name| {
                let calls = host.engine_calls(name, None);
                calls.iter().any(|call| call.tool == tool)
            })
    };
    session_of(host).into_iter().find(is_it).unwrap()
}

/// The tool with which a host writes a file.
pub(super) fn writing_call(host: &HookHost) -> Value {
    call_of(
        host,
        if host.name == "codex" {
            "edit"
        } else {
            "write"
        },
    )
}

pub(super) fn json_of(printed: &Printed) -> Value {
    serde_json::from_str(&printed.stdout).unwrap_or(Value::Null)
}

/// The text for the model, wherever the host has it.
pub(super) fn context_of(printed: &Printed) -> String {
    let json = json_of(printed);
    let context = json.pointer("/hookSpecificOutput/additionalContext");
    let context = context.or_else(|| json.get("additionalContext"));
    let context = context.or_else(|| json.get("reason"));
    context
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned()
}

/// Returns whether a call is denied, in the form of the host.
pub(super) fn is_denied(printed: &Printed) -> bool {
    let json = json_of(printed);
    let of_event = json.pointer("/hookSpecificOutput/permissionDecision");
    let decision = of_event.or(json.get("permissionDecision"));
    decision.or(json.get("decision")) == Some(&json!("deny"))
}

pub(super) fn is_blocked_prompt(printed: &Printed) -> bool {
    let json = json_of(printed);
    matches!(json["decision"].as_str(), Some("block" | "deny")) || json["continue"] == false
}
