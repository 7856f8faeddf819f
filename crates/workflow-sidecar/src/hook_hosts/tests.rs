//! Hosts, played from what the real programs sent: `tests/hook_hosts`.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::answer::{Answer, Printed, Verdict};
use super::decide::Decider;
use super::event::{EventName, Kind, Payload, Source};
use super::{HOSTS, HookHost, TICKET_ARGUMENT, host};
use crate::store::{SessionKey, SqliteStore, Store, Ticket};

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
struct World {
    host: &'static HookHost,
    root: TempDir,
    store: SqliteStore,
}

impl World {
    fn new(host: &'static HookHost) -> Self {
        let root = tempfile::tempdir().unwrap();
        let workflow = root.path().join("project/.pi/workflows/bugfix");
        fs::create_dir_all(&workflow).unwrap();
        fs::write(workflow.join("workflow.yaml"), WORKFLOW).unwrap();
        let store = SqliteStore::new(root.path().join("state"));
        Self { host, root, store }
    }

    /// Sends an event, and gives what is printed for it.
    fn send(&self, event: &Value) -> Printed {
        self.send_from(event, false)
    }

    fn send_from(&self, event: &Value, is_from_shell: bool) -> Printed {
        let text = event.to_string();
        let text = text.replace("$ROOT", self.root.path().to_str().unwrap());
        let payload = parsed(&text, &self.root.path().join("project"));
        let name = payload.name(self.host.events);
        let event = payload.event(name, (self.host.event)(name, &payload));
        let decider = Decider {
            host: self.host,
            store: &self.store,
            is_from_shell,
            on_loaded: &|_| {},
        };
        let answer = decider.decide(&event.unwrap()).unwrap();
        (self.host.answer)(name, &answer)
    }

    /// Sends a recorded event with other members.
    fn send_with(&self, event: EventName, members: &Value) -> Printed {
        let mut stdin = recorded(self.host, event);
        for (name, value) in members.as_object().unwrap() {
            stdin[name] = value.clone();
        }
        self.send(&stdin)
    }

    fn prompt(&self, text: &str) -> Printed {
        let name = if self.host.name == "goose" {
            "message"
        } else {
            "prompt"
        };
        self.send_with(EventName::Prompt, &json!({ name: text }))
    }

    fn start(&self) -> Printed {
        self.ask("workflow bugfix the export is empty")
    }

    /// Sends a prompt, and gives the answer with the text for the model: where nothing can be added to a prompt, that to the
    /// next call.
    fn ask(&self, text: &str) -> Printed {
        let printed = self.prompt(text);
        if self.host.injects {
            return printed;
        }
        assert!(!printed.stdout.contains("Find the cause."), "{printed:?}");
        self.send(&call_of(self.host, "bash"))
    }

    /// Sends a prompt that is a command, and gives the text that answers it.
    fn command(&self, text: &str) -> String {
        let printed = self.prompt(text);
        if self.host.answers_prompts {
            return json_of(&printed).to_string();
        }
        // The agent reads it when it stops, and passes it on.
        assert_eq!(printed, Printed::default());
        let stopped = self.send_with(EventName::Stop, &json!({}));
        json_of(&stopped)["reason"].to_string()
    }

    fn entries(&self, session: &str) -> usize {
        let key = SessionKey {
            host: self.host.name.to_owned(),
            session: session.to_owned(),
        };
        self.store.load(&key).unwrap().entries.len()
    }
}

/// Reads an event. goose names the directory in events of tools only.
fn parsed<'a>(text: &'a str, project: &Path) -> Payload<'a> {
    let mut payload = Payload::parse(text.as_bytes()).unwrap();
    if payload.hook_event_name.is_none() {
        payload.working_dir = Some(project.to_path_buf());
    }
    payload
}

fn fixture(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/hook_hosts");
    let text = fs::read_to_string(path.join(name)).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// The events of a host's recorded session. Some of Copilot's have names of their own, and no hook is registered for them.
fn session_of(host: &HookHost) -> Vec<Value> {
    let fixture = fixture(&format!("{}.session.json", host.name));
    let hooks = fixture["hooks"].as_array().unwrap().iter();
    let events = hooks.map(|hook| hook["stdin"].clone());
    events
        .filter(|stdin| stdin["hook_event_name"].is_string() || stdin["event"].is_string())
        .collect()
}

/// The first recorded event of the main agent with this meaning.
fn recorded(host: &HookHost, event: EventName) -> Value {
    let is_it = |stdin: &Value| {
        let text = stdin.to_string();
        let payload = Payload::parse(text.as_bytes()).unwrap();
        payload.name(host.events) == event && payload.agent_id.is_none()
    };
    session_of(host).into_iter().find(is_it).unwrap()
}

/// The recorded call of a tool that the engine knows under this name.
fn call_of(host: &HookHost, tool: &str) -> Value {
    let is_it = |stdin: &Value| {
        let name = stdin["tool_name"].as_str();
        let text = stdin.to_string();
        let event = Payload::parse(text.as_bytes()).unwrap().name(host.events);
        event == EventName::ToolCall
            && name.is_some_and(|name| {
                let calls = host.engine_calls(name, None);
                calls.iter().any(|call| call.tool == tool)
            })
    };
    session_of(host).into_iter().find(is_it).unwrap()
}

/// The tool with which a host writes a file.
fn writing_call(host: &HookHost) -> Value {
    call_of(
        host,
        if host.name == "codex" {
            "edit"
        } else {
            "write"
        },
    )
}

fn json_of(printed: &Printed) -> Value {
    serde_json::from_str(&printed.stdout).unwrap_or(Value::Null)
}

/// The text for the model, wherever the host has it.
fn context_of(printed: &Printed) -> String {
    let json = json_of(printed);
    let context = json.pointer("/hookSpecificOutput/additionalContext");
    let context = context.or_else(|| json.get("additionalContext"));
    let context = context.or_else(|| json.get("agent_message"));
    let context = context.or_else(|| json.get("reason"));
    context
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned()
}

fn is_blocked_prompt(printed: &Printed) -> bool {
    let json = json_of(printed);
    matches!(json["decision"].as_str(), Some("block" | "deny"))
        || json["continue"] == false
        || json["followup_message"].is_string()
}

#[test]
fn every_recorded_event_of_a_session_is_read() {
    for host in HOSTS {
        let mut seen = Vec::new();
        for stdin in session_of(host) {
            let text = stdin.to_string().replace("$ROOT", "/somewhere");
            let payload = parsed(&text, Path::new("/somewhere/project"));
            let name = payload.name(host.events);
            if name == EventName::Unused {
                continue;
            }
            let event = payload.event(name, (host.event)(name, &payload)).unwrap();
            assert!(!event.session.is_empty() && event.cwd.ends_with("project"));
            seen.push(name);
        }
        for (known, name) in host.events {
            // Nobody interrupted the recorded session.
            let is_recorded = seen.contains(name) || *name == EventName::Interrupt;
            assert!(is_recorded, "{}: {known}", host.name);
        }
    }
}

#[test]
fn a_run_starts_by_prompt_and_its_context_reaches_the_model() {
    for host in HOSTS {
        let world = World::new(host);
        let context = context_of(&world.start());
        assert!(
            context.contains("Find the cause."),
            "{}: {context}",
            host.name
        );
        assert!(
            context.contains("Fix this: the export is empty"),
            "{context}"
        );
        let again = context_of(&world.ask("go on"));
        assert!(again.contains("unchanged"), "{}: {again}", host.name);
    }
}

#[test]
fn a_call_that_the_phase_forbids_is_denied_in_the_closed_form_of_the_host() {
    for host in HOSTS {
        let world = World::new(host);
        let call = writing_call(host);
        assert_eq!(
            world.send(&call),
            Printed::default(),
            "{}: no run",
            host.name
        );
        world.start();
        let denied = world.send(&call);
        let json = json_of(&denied);
        let (decision, code) = match host.name {
            "gemini" => (json["decision"].clone(), 0),
            "copilot" => (json["permissionDecision"].clone(), 2),
            "cursor" => (json["permission"].clone(), 0),
            "goose" => (json["decision"].clone(), 2),
            _ => (json["hookSpecificOutput"]["permissionDecision"].clone(), 2),
        };
        let deny = if host.name == "goose" {
            "block"
        } else {
            "deny"
        };
        assert_eq!(
            (decision, denied.code),
            (json!(deny), code),
            "{}",
            host.name
        );
        assert!(denied.stdout.contains("blocked during the Analyze phase"));
        assert_eq!(denied.stderr.is_empty(), code == 0);
        let shell = call_of(host, "bash");
        assert_eq!(world.send(&shell), Printed::default(), "{}", host.name);
    }
}

#[test]
fn a_patch_in_a_shell_line_is_judged_as_a_patch() {
    let world = World::new(host("codex").unwrap());
    world.start();
    let patches = session_of(world.host).into_iter().filter(|stdin| {
        stdin["hook_event_name"] == "PreToolUse"
            && stdin["tool_name"] == "Bash"
            && stdin.to_string().contains("Begin Patch")
    });
    let patches: Vec<Value> = patches.collect();
    assert!(!patches.is_empty());
    assert!(patches.iter().all(|call| world.send(call).code == 2));
}

#[test]
fn an_early_stop_is_answered_with_a_reminder_that_is_no_persons_word() {
    for host in HOSTS {
        let world = World::new(host);
        world.start();
        let stopped = world.send_with(EventName::Stop, &json!({}));
        let json = json_of(&stopped);
        assert!(is_blocked_prompt(&stopped), "{}: {json}", host.name);
        assert_eq!(stopped.code, 0);
        let reminder = json["reason"].as_str();
        let reminder = reminder.or(json["followup_message"].as_str()).unwrap();
        assert!(reminder.contains("You must NOT stop yet"), "{reminder}");
        // Gemini, Copilot and Cursor bring it back as a prompt.
        world.prompt(reminder);
        let status = world.command("workflow status");
        assert!(status.contains("Reminders: 1"), "{}: {status}", host.name);
        world.prompt("I am a person");
        let status = world.command("workflow status");
        assert!(!status.contains("Reminders: 1"), "{}: {status}", host.name);
    }
}

#[test]
fn reminders_end_before_the_host_ends_the_work_itself() {
    for (name, most) in [("copilot", 7), ("claude", 7), ("goose", 7), ("cursor", 4)] {
        let world = World::new(host(name).unwrap());
        world.start();
        let mut reminders = 0;
        while is_blocked_prompt(&world.send_with(EventName::Stop, &json!({}))) {
            reminders += 1;
            assert!(reminders < 8, "{name}");
            let call = call_of(world.host, "bash");
            world.send(&call);
        }
        assert_eq!(reminders, most, "{name}");
        if world.host.answers_prompts {
            let status = world.command("workflow status");
            assert!(status.contains("paused"), "{status}");
        }
    }
}

#[test]
fn the_step_tool_gets_a_ticket_and_a_sub_agent_gets_none() {
    for host in HOSTS {
        let world = World::new(host);
        let call = call_of(host, "workflow_step");
        let printed = json_of(&world.send(&call));
        let session = call["session_id"].as_str();
        let session = session.or(call["conversation_id"].as_str()).unwrap();
        let ticket = if host.changes_arguments {
            let input = printed
                .pointer("/hookSpecificOutput/updatedInput")
                .or_else(|| printed.pointer("/hookSpecificOutput/tool_input"))
                .or_else(|| printed.get("modifiedArgs"))
                .or_else(|| printed.get("updated_input"))
                .unwrap_or_else(|| panic!("{}: {printed}", host.name));
            assert_eq!(input["action"], "next");
            input[TICKET_ARGUMENT].as_str().unwrap().to_owned()
        } else {
            // A second hook of the session replaces the ticket of the first.
            assert_eq!(printed, Value::Null);
            assert_eq!(world.send(&call), Printed::default());
            super::session_ticket(host.name, session)
        };
        let taken = world.store.take(&ticket, super::now()).unwrap().unwrap();
        assert_eq!(taken.key.session, session);
        let mut of_subagent = call.clone();
        of_subagent["agent_id"] = json!("a1");
        let denied = world.send(&of_subagent);
        assert!(
            denied.stdout.contains("Only the main agent"),
            "{}",
            host.name
        );
    }
}

#[test]
fn a_ticket_that_expired_or_was_never_issued_is_not_taken() {
    let world = World::new(host("codex").unwrap());
    let ticket = Ticket {
        key: SessionKey {
            host: "codex".to_owned(),
            session: "s".to_owned(),
        },
        cwd: world.root.path().to_path_buf(),
        expires: 100,
    };
    for (id, now, is_taken) in [("a", 100, true), ("b", 101, false)] {
        world.store.issue(id, &ticket, 50).unwrap();
        assert_eq!(
            world.store.take(id, now).unwrap().is_some(),
            is_taken,
            "{id}"
        );
        assert_eq!(world.store.take(id, now).unwrap(), None, "{id} is used");
    }
    assert_eq!(world.store.take("never", 60).unwrap(), None);
}

#[test]
fn a_sub_agent_works_under_the_rules_of_the_session_that_started_it() {
    for name in ["codex", "copilot", "claude"] {
        let world = World::new(host(name).unwrap());
        world.start();
        let mut call = writing_call(world.host);
        call["agent_id"] = json!("a1");
        if name == "copilot" {
            call["parent_agent_id"] = call["session_id"].clone();
            call["session_id"] = json!("of-the-sub-agent");
        }
        assert_eq!(world.send(&call).code, 2, "{name}");
        let mut stop = recorded(world.host, EventName::Stop);
        stop["agent_id"] = json!("a1");
        stop["parent_agent_id"] = stop["session_id"].clone();
        assert_eq!(world.send(&stop), Printed::default(), "{name}");
    }
}

#[test]
fn commands_are_answered_without_the_model() {
    for host in HOSTS {
        let world = World::new(host);
        for (prompt, expected) in [
            ("workflow status", "No workflow is active"),
            ("workflow bugfix", "Usage: workflow bugfix"),
        ] {
            if host.answers_prompts {
                let printed = world.prompt(prompt);
                assert!(is_blocked_prompt(&printed), "{}: {prompt}", host.name);
                assert!(printed.stdout.contains(expected), "{}", printed.stdout);
            } else {
                let text = world.command(prompt);
                assert!(text.contains(expected), "{}: {text}", host.name);
            }
        }
        world.start();
        for (prompt, expected) in [
            ("workflow pause", "is paused"),
            ("workflow resume", "You must NOT stop"),
            ("/workflow status", "Analyze"),
            ("workflow bugfix another", "workflow confirm bugfix another"),
            ("workflow goto nowhere", "There is no phase"),
            ("workflow skip", "Repair it."),
            ("workflow confirm bugfix another", "Find the cause."),
            ("workflow cancel", "Workflow cancelled"),
        ] {
            // Texts for the model come with the next call, texts for the person at once or through the agent.
            let is_for_model = matches!(
                prompt,
                "workflow resume" | "workflow skip" | "workflow confirm bugfix another"
            );
            let text = match (is_for_model, host.injects) {
                (true, false) => context_of(&world.ask(prompt)),
                _ => world.command(prompt),
            };
            assert!(text.contains(expected), "{}: {prompt}: {text}", host.name);
        }
        let call = writing_call(host);
        assert_eq!(
            world.send(&call),
            Printed::default(),
            "{}: cancelled",
            host.name
        );
    }
}

#[test]
fn sentences_are_no_commands() {
    let world = World::new(host("codex").unwrap());
    for prompt in [
        "workflow engines are fun",
        "workflow",
        "workflow status reports are late",
        "Workflow bugfix the export",
        "please workflow bugfix the export",
    ] {
        assert_eq!(world.prompt(prompt), Printed::default(), "{prompt}");
    }
}

#[test]
fn a_command_from_the_shell_of_an_agent_is_refused() {
    let world = World::new(host("codex").unwrap());
    world.start();
    let mut prompt = recorded(world.host, EventName::Prompt);
    prompt["prompt"] = json!("workflow skip");
    let printed = world.send_from(&prompt, true);
    assert!(printed.stdout.contains("only a person may give it"));
    assert!(
        json_of(&world.prompt("workflow status"))
            .to_string()
            .contains("Analyze")
    );
}

#[test]
fn a_shortened_conversation_gets_the_whole_context_again() {
    let world = World::new(host("codex").unwrap());
    world.start();
    world.send_with(EventName::Stop, &json!({}));
    let printed = world.send_with(EventName::SessionStart, &json!({ "source": "compact" }));
    assert!(context_of(&printed).contains("Find the cause."));
    let status = json_of(&world.prompt("workflow status")).to_string();
    assert!(status.contains("Reminders: 1"), "{status}");
}

#[test]
fn a_fork_goes_on_with_the_run_of_its_parent() {
    let world = World::new(host("codex").unwrap());
    world.start();
    let parent = recorded(world.host, EventName::Prompt)["session_id"].clone();
    let transcript = world.root.path().join("fork.jsonl");
    let first = json!({ "type": "session_meta", "payload": { "forked_from_id": parent } });
    fs::write(&transcript, format!("{first}\n{{}}\n")).unwrap();
    let fork = json!({ "session_id": "fork", "source": "fork", "transcript_path": transcript });
    world.send_with(EventName::SessionStart, &fork);
    assert_eq!(
        world.entries("fork"),
        world.entries(parent.as_str().unwrap())
    );
    let mut call = writing_call(world.host);
    call["session_id"] = json!("fork");
    assert_eq!(world.send(&call).code, 2);
    call["session_id"] = json!("another");
    assert_eq!(world.send(&call), Printed::default());
}

#[test]
fn a_session_without_a_run_leaves_no_trace() {
    for host in HOSTS {
        let world = World::new(host);
        for stdin in session_of(host) {
            let is_step = stdin.to_string().contains("workflow_step");
            if !is_step {
                world.send(&stdin);
            }
        }
        assert!(!world.root.path().join("state").exists(), "{}", host.name);
    }
}

#[test]
fn recorded_sessions_of_sub_agents_compaction_and_resume_are_played() {
    for name in ["codex", "copilot"] {
        let more = fixture(&format!("{name}.more.json"));
        for events in more.as_object().unwrap().values() {
            let world = World::new(host(name).unwrap());
            for hook in events.as_array().unwrap() {
                let printed = world.send(&hook["stdin"]);
                assert_eq!(printed, Printed::default(), "{name}: {}", hook["event"]);
            }
        }
    }
}

#[test]
fn answers_have_only_the_keys_that_codex_accepts() {
    let host = host("codex").unwrap();
    let notice = Some("N".to_owned());
    let context = Some("C".to_owned());
    let stop = Answer {
        notice: notice.clone(),
        ..Answer::of(Verdict::Continue("R".to_owned()))
    };
    let prompt = Answer {
        context,
        notice,
        ..Answer::default()
    };
    let printed = |event, answer: &Answer| json_of(&(host.answer)(event, answer));
    assert_eq!(
        printed(EventName::Stop, &stop),
        json!({ "decision": "block", "reason": "R", "systemMessage": "N" })
    );
    assert_eq!(
        printed(EventName::Prompt, &prompt),
        json!({
            "hookSpecificOutput": { "hookEventName": "UserPromptSubmit", "additionalContext": "C" },
            "systemMessage": "N",
        })
    );
    let replaced = Answer::of(Verdict::Replace("T".to_owned()));
    assert_eq!(
        printed(EventName::ToolResult, &replaced),
        json!({ "decision": "block", "reason": "T" })
    );
}

#[test]
fn an_event_that_cannot_be_read_is_blocked_in_every_host() {
    for host in HOSTS {
        let closed = (host.answer)(
            EventName::Unknown,
            &Answer::closed(EventName::Unknown, "why"),
        );
        assert!(
            closed.code == 2 && !closed.stderr.is_empty() || host.name == "gemini",
            "{closed:?}"
        );
        assert_eq!(
            host.name == "gemini",
            closed.stdout.contains(r#""decision":"deny""#)
        );
    }
}

#[test]
fn a_clear_or_compaction_shortens_and_a_fork_copies() {
    let source = |source: &str| {
        let text = json!({ "hook_event_name": "SessionStart", "source": source }).to_string();
        let payload = Payload::parse(text.as_bytes()).unwrap();
        match payload.kind(EventName::SessionStart) {
            Kind::SessionStart(source) => source,
            kind => panic!("{kind:?}"),
        }
    };
    assert_eq!(source("compact"), Source::Shortened);
    assert_eq!(source("clear"), Source::Shortened);
    assert_eq!(source("fork"), Source::Fork);
    assert_eq!(source("resume"), Source::Startup);
}
