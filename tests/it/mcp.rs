//! The MCP server: tickets, gates, progress and cancellation.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::checkpoints::git;
use crate::connection::{Connection, Process};

const WORKFLOW: &str = "
name: Bugfix
commandName: bugfix
initialMessage: Go
phases:
  - { id: a, name: Analyze, emoji: A, instructions: Look., gate: [{ run: [sh, -c, 'until test -f go; do sleep 0.05; done'] }] }
  - { id: b, name: Build, emoji: B, instructions: Build it. }
";

pub(crate) const APPROVAL: &str = "
name: Bugfix
commandName: bugfix
initialMessage: Go
phases:
  - { id: a, name: Analyze, emoji: A, instructions: Look., approve: { ask: Is it clear?, choices: [approve, revise], show: plan.md } }
  - { id: b, name: Build, emoji: B, instructions: Build it. }
";

const PROJECT_GATE: &str = "
name: Bugfix
commandName: bugfix
initialMessage: Go
phases:
  - { id: a, name: Analyze, emoji: A, instructions: Look., gate: [{ run: [touch, ran] }] }
  - { id: b, name: Build, emoji: B, instructions: Build it. }
";

/// A project with a run in the session `s`, and a server.
pub(crate) struct World {
    pub(crate) root: tempfile::TempDir,
    server: Process,
}

impl World {
    /// The user's own workflow, whose commands need no trust.
    fn started() -> Self {
        Self::with(".pi/agent", WORKFLOW)
    }

    /// A run of this workflow, and a host that asks its user.
    fn asking(directory: &str, workflow: &str) -> Self {
        let mut world = Self::with(directory, workflow);
        world.initialize(&json!({ "elicitation": { "form": {}, "url": {} } }));
        world
    }

    fn with(directory: &str, text: &str) -> Self {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("project")).unwrap();
        Self::at(root, directory, text)
    }

    /// A run of this workflow in the project of a directory.
    pub(crate) fn at(root: tempfile::TempDir, directory: &str, text: &str) -> Self {
        let workflow = root.path().join(directory).join("workflows/bugfix");
        fs::create_dir_all(&workflow).unwrap();
        fs::write(workflow.join("workflow.yaml"), text).unwrap();
        let mut server = Process::command();
        server.arg("mcp").env("HOME", root.path());
        server.env("QWEN_CODE_LAUNCHER_PID", "4711");
        let server = Process::spawn(&mut server);
        hook(
            root.path(),
            "UserPromptSubmit",
            &json!({ "prompt": "workflow bugfix it" }),
        );
        Self { root, server }
    }

    /// The arguments of a call that its hook has seen.
    pub(crate) fn arguments(&self, action: &str) -> Value {
        let tool = "mcp__workflow__workflow_step";
        let call = json!({ "tool_name": tool, "tool_input": { "action": action } });
        let answer = hook(self.root.path(), "PreToolUse", &call);
        answer["hookSpecificOutput"]["updatedInput"].clone()
    }

    fn send(&mut self, message: &Value) {
        self.server.send(format!("{message}\n").as_bytes());
    }

    pub(crate) fn call(&mut self, id: u64, arguments: &Value, meta: &Value) {
        let params = json!({ "name": "workflow_step", "arguments": arguments, "_meta": meta });
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }));
    }

    fn initialize(&mut self, capabilities: &Value) -> Value {
        let info = json!({ "name": "host", "version": "1" });
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": info });
        self.send(&json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }));
        self.receive()
    }

    /// Calls `next`, and gives the question that the host is to ask.
    fn next(&mut self, id: u64) -> Value {
        let arguments = self.arguments("next");
        self.call(id, &arguments, &json!({}));
        let asked = self.receive();
        assert_eq!(asked["method"], "elicitation/create", "{asked}");
        asked
    }

    /// Answers a question of the server.
    fn reply(&mut self, asked: &Value, result: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": result }));
    }

    /// Cancels a call, as a host does that has waited long enough.
    fn cancel(&mut self, id: u64) {
        let cancelled = json!({ "requestId": id, "reason": "the user" });
        self.send(
            &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled }),
        );
    }

    /// The answer to a prompt of the user.
    pub(crate) fn prompt(&self, text: &str) -> String {
        hook(
            self.root.path(),
            "UserPromptSubmit",
            &json!({ "prompt": text }),
        )
        .to_string()
    }

    fn receive(&mut self) -> Value {
        serde_json::from_str(&self.server.receive()).unwrap()
    }

    /// The text of the answer to a call.
    pub(crate) fn answer(&mut self, id: u64) -> String {
        loop {
            let message = self.receive();
            if message["id"] == id {
                return message["result"]["content"][0]["text"]
                    .as_str()
                    .unwrap()
                    .to_owned();
            }
        }
    }
}

pub(crate) fn hook(root: &Path, name: &str, members: &Value) -> Value {
    hook_of("codex", root, name, members)
}

fn hook_of(host: &str, root: &Path, name: &str, members: &Value) -> Value {
    let mut event =
        json!({ "hook_event_name": name, "session_id": "s", "cwd": root.join("project") });
    for (name, value) in members.as_object().unwrap() {
        event[name] = value.clone();
    }
    let mut hook = Process::command()
        .args(["hook", host])
        .env("HOME", root)
        .env("QWEN_CODE_LAUNCHER_PID", "4711")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = hook.stdin.take().unwrap();
    input.write_all(event.to_string().as_bytes()).unwrap();
    drop(input);
    let output = hook.wait_with_output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or_default()
}

#[test]
fn a_gate_reports_its_progress_and_its_result_moves_the_run() {
    let mut world = World::started();
    fs::write(world.root.path().join("project/go"), "").unwrap();
    let arguments = world.arguments("next");
    world.call(1, &arguments, &json!({ "progressToken": "p" }));
    let progress = world.receive();
    assert_eq!(progress["method"], "notifications/progress");
    assert_eq!(progress["params"]["progressToken"], "p");
    let answer = world.answer(1);
    assert!(answer.contains("Analyze → B Build"), "{answer}");
}

#[test]
fn a_small_change_skips_a_phase_and_a_large_one_enters_it() {
    let workflow = WORKFLOW.replace(
        ", gate: [{ run: [sh, -c, 'until test -f go; do sleep 0.05; done'] }]",
        "",
    ) + "  - { id: c, name: Review, emoji: C, instructions: Review it., when: { change.lines: { min: 3 } } }\n"
        + "  - { id: d, name: Ship, emoji: D, instructions: \"{change.lines} lines.\", when: { change.paths: { not: [x/**] } } }\n";
    for (lines, expected) in [
        ("1\n2\n", "Build → D Ship"),
        ("1\n2\n3\n", "Build → C Review"),
    ] {
        let root = tempfile::tempdir().unwrap();
        let project = root.path().join("project");
        fs::create_dir_all(&project).unwrap();
        git(&project, &["init", "--quiet"]);
        fs::write(project.join("before.txt"), "1\n2\n3\n4\n").unwrap();
        let mut world = World::at(root, ".pi/agent", &workflow);
        let arguments = world.arguments("next");
        world.call(1, &arguments, &json!({}));
        world.answer(1);
        fs::write(project.join("new.txt"), lines).unwrap();
        let arguments = world.arguments("next");
        world.call(2, &arguments, &json!({}));
        let answer = world.answer(2);
        assert!(answer.contains(expected), "{answer}");
        if expected.ends_with("Ship") {
            assert!(answer.contains("2 lines."), "{answer}");
        }
    }
}

#[test]
fn the_status_of_a_run_says_how_often_the_gate_of_its_phase_failed() {
    let gate = "gate: [{ run: [test, -f, ran] }]";
    let mut world = World::with(
        ".pi/agent",
        &APPROVAL.replace("approve: {", &format!("{gate}, approve: {{")),
    );
    let failed = ["gate failed once", "gate failed 2 times"];
    for (id, expected) in (1..).zip(failed.map(Some).into_iter().chain([None])) {
        if expected.is_none() {
            fs::write(world.root.path().join("project/ran"), "").unwrap();
        }
        let arguments = world.arguments("next");
        world.call(id, &arguments, &json!({}));
        world.answer(id);
        if expected.is_none() {
            world.prompt("workflow approve approve");
        }
        let runs = Process::command()
            .args(["runs", "--format", "json"])
            .env("HOME", world.root.path())
            .output();
        let runs: Value = serde_json::from_slice(&runs.unwrap().stdout).unwrap();
        let status = runs[0]["status"].as_str().unwrap();
        match expected {
            Some(expected) => assert!(status.ends_with(expected), "{status}"),
            None => assert!(!status.contains("failed"), "{status}"),
        }
    }
}

#[test]
fn a_ticket_counts_once_and_for_its_session() {
    let mut world = World::started();
    let arguments = world.arguments("status");
    world.call(1, &arguments, &json!({ "sessionId": "s" }));
    let answer = world.answer(1);
    assert!(answer.contains("Analyze"), "{answer}");
    world.call(2, &arguments, &json!({}));
    assert!(world.answer(2).contains("made before"));
    let arguments = world.arguments("status");
    world.call(3, &arguments, &json!({ "sessionId": "another" }));
    assert!(world.answer(3).contains("another session"));
    world.call(4, &json!({ "action": "status" }), &json!({}));
    assert!(world.answer(4).contains("do not run in this session"));
}

#[test]
fn a_host_that_ignores_changed_arguments_has_the_ticket_in_its_process() {
    let mut world = World::started();
    let root = world.root.path().to_path_buf();
    let typed = "workflow bugfix it";
    let prompt = json!({ "prompt": typed, "submitted_prompt": typed });
    hook_of("qwen", &root, "UserPromptSubmit", &prompt);
    let action = json!({ "action": "status" });
    let tool = "mcp__workflow__workflow_step";
    let call = json!({ "tool_name": tool, "tool_input": action });
    let answer = hook_of("qwen", &root, "PreToolUse", &call);
    assert_eq!(answer, Value::Null, "it goes on");
    world.call(1, &action, &json!({}));
    let answer = world.answer(1);
    assert!(answer.contains("Analyze"), "{answer}");
    world.call(2, &action, &json!({}));
    assert!(world.answer(2).contains("do not run in this session"));
}

#[test]
fn a_ticket_of_a_process_is_one_of_the_host_that_names_it() {
    let mut world = World::started();
    let state = world.root.path().join(".local/state/workflow-sidecar");
    let store = workflow_store::open(state, None).unwrap();
    for (number, (host, is_taken)) in [("codex", false), ("qwen", true)].into_iter().enumerate() {
        let ticket = workflow_store::Ticket {
            key: workflow_store::SessionKey {
                host: host.to_owned(),
                session: "s".to_owned(),
            },
            cwd: world.root.path().join("project"),
            expires: u64::MAX >> 12,
        };
        store.issue("4711", &ticket, 0).unwrap();
        let id = number as u64;
        world.call(id, &json!({ "action": "status" }), &json!({}));
        let answer = world.answer(id);
        let refused = answer.contains("do not run in this session");
        assert_eq!(refused, !is_taken, "{host}: {answer}");
    }
}

#[test]
fn a_cancelled_call_ends_its_gate_and_the_next_one_runs() {
    let mut world = World::started();
    let arguments = world.arguments("next");
    world.call(1, &arguments, &json!({ "progressToken": 1 }));
    assert_eq!(world.receive()["method"], "notifications/progress");
    // Meanwhile hooks are answered, and a second call waits for nothing.
    let status = hook(
        world.root.path(),
        "UserPromptSubmit",
        &json!({ "prompt": "workflow status" }),
    );
    assert!(status.to_string().contains("Analyze"), "{status}");
    let arguments = world.arguments("status");
    world.call(2, &arguments, &json!({}));
    assert!(world.answer(2).contains("in progress in this session"));
    world.cancel(1);
    fs::write(world.root.path().join("project/go"), "").unwrap();
    // The cancelled call is not answered; how soon its session is free is not said.
    let moved = (3..100).any(|id| {
        let arguments = world.arguments("next");
        world.call(id, &arguments, &json!({}));
        let answer = world.answer(id);
        answer.contains("Analyze → B Build")
    });
    assert!(moved);
}

#[test]
fn a_move_while_the_gate_runs_makes_the_call_void() {
    let mut world = World::started();
    let arguments = world.arguments("next");
    world.call(1, &arguments, &json!({ "progressToken": 1 }));
    assert_eq!(world.receive()["method"], "notifications/progress");
    for prompt in ["workflow cancel", "workflow bugfix another"] {
        hook(
            world.root.path(),
            "UserPromptSubmit",
            &json!({ "prompt": prompt }),
        );
    }
    fs::write(world.root.path().join("project/go"), "").unwrap();
    let answer = world.answer(1);
    assert!(answer.contains("was moved while this call ran"), "{answer}");
    let prompt = json!({ "prompt": "workflow status" });
    let status = hook(world.root.path(), "UserPromptSubmit", &prompt);
    assert!(
        status
            .to_string()
            .contains("Bugfix: another\\nPhase: Bugfix > A Analyze"),
        "{status}"
    );
}

#[test]
fn a_gate_without_trust_is_shown_as_what_the_run_waits_for() {
    let mut world = World::with("project/.pi", WORKFLOW);
    let arguments = world.arguments("next");
    world.call(1, &arguments, &json!({}));
    let answer = world.answer(1);
    assert!(answer.contains("not trusted"), "{answer}");
    let mut status = Process::command();
    status.arg("status").env("HOME", world.root.path());
    status.current_dir(world.root.path().join("project"));
    let status = status.output().unwrap();
    let printed = String::from_utf8_lossy(&status.stdout);
    assert!(
        printed.contains("waiting for your trust in the gate's commands"),
        "{printed}"
    );
    assert_eq!(status.status.code(), Some(3));
    let asked = hook(
        world.root.path(),
        "UserPromptSubmit",
        &json!({ "prompt": "workflow status" }),
    );
    assert!(
        asked.to_string().contains("waiting for your trust"),
        "{asked}"
    );
}

fn accepted(choice: &str) -> Value {
    json!({ "action": "accept", "content": { "choice": choice } })
}

#[test]
fn an_approval_is_asked_in_the_hosts_dialog_and_its_answer_is_that_of_the_call() {
    let mut world = World::asking(".pi/agent", APPROVAL);
    fs::write(world.root.path().join("project/plan.md"), "Rewrite it.").unwrap();
    let asked = world.next(1);
    let message = asked["params"]["message"].as_str().unwrap();
    let first: Vec<&str> = message.lines().take(2).collect();
    let choices =
        "approve: goes to B Build · revise: stays in Analyze, and the agent reads the answer";
    assert_eq!(first, ["Is it clear?", choices], "{message}");
    for expected in ["Bugfix > Analyze: it", "Rewrite it.", "stays in Analyze"] {
        assert!(message.contains(expected), "{message}");
    }
    let schema = &asked["params"]["requestedSchema"];
    let choices = json!(["approve", "revise"]);
    assert_eq!(schema["properties"]["choice"]["enum"], choices);
    assert_eq!(schema["required"], json!(["choice"]));
    let comment = json!({ "choice": "revise", "comment": " name the risks " });
    world.reply(&asked, &json!({ "action": "accept", "content": comment }));
    let answer = world.answer(1);
    assert!(answer.contains("Not approved"), "{answer}");
    assert!(answer.contains("name the risks"), "{answer}");
    let asked = world.next(2);
    world.reply(&asked, &accepted("approve"));
    let answer = world.answer(2);
    assert!(answer.contains("Analyze → B Build"), "{answer}");
    assert!(!world.prompt("go on").contains("waits for your approval"));
}

#[test]
fn a_check_is_counted_once_whatever_is_asked_after_it() {
    let gate = "gate: [{ run: [touch, ran] }], approve:";
    let mut world = World::asking(".pi/agent", &APPROVAL.replace("approve:", gate));
    for (id, choice) in [(1, "revise"), (2, "approve")] {
        let asked = world.next(id);
        world.reply(&asked, &accepted(choice));
        world.answer(id);
    }
    let arguments = world.arguments("next");
    world.call(3, &arguments, &json!({}));
    world.answer(3);
    let stop = hook(world.root.path(), "Stop", &json!({})).to_string();
    assert!(stop.contains("checks: 2 passed"), "{stop}");
}

#[test]
fn nothing_but_an_accepted_choice_is_an_answer() {
    let mut world = World::asking(".pi/agent", APPROVAL);
    let answers = [
        json!({ "action": "decline" }),
        json!({ "action": "cancel" }),
        json!({ "action": "decline", "content": { "choice": "approve" } }),
        json!({ "action": "accept" }),
        json!({ "action": "accept", "content": "approve" }),
        json!({ "action": "accept", "content": { "choice": 0 } }),
        json!({ "action": "perhaps", "content": { "choice": "approve" } }),
        json!({}),
        accepted("APPROVE"),
        accepted("publish"),
    ];
    for (id, answer) in (1..).zip(&answers) {
        let asked = world.next(id);
        world.reply(&asked, answer);
        let text = world.answer(id);
        assert!(text.contains("Waiting for approval"), "{answer}: {text}");
        let is_declined = answer["action"] == "decline";
        assert_eq!(
            text.contains("the user did not agree"),
            is_declined,
            "{answer}: {text}"
        );
        let is_open = text.contains("nobody answered the dialog, and the request stays open");
        assert_eq!(is_open, !is_declined, "{answer}: {text}");
        assert!(text.contains("`workflow approve`"), "{answer}: {text}");
    }
    let asked = world.next(20);
    let error = json!({ "code": -32601, "message": "no" });
    world.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "error": error }));
    assert!(world.answer(20).contains("Waiting for approval"));
    let stop = hook(world.root.path(), "Stop", &json!({}));
    assert_eq!(stop["decision"], Value::Null, "{stop}");
    let approved = world.prompt("workflow approve approve");
    assert!(approved.contains("Build it."), "{approved}");
}

#[test]
fn an_open_dialog_stops_nothing_else_and_the_first_answer_counts() {
    let mut world = World::asking(".pi/agent", APPROVAL);
    let asked = world.next(1);
    world.send(&json!({ "jsonrpc": "2.0", "id": "list", "method": "tools/list" }));
    assert_eq!(world.receive()["id"], "list");
    let status = world.prompt("workflow status");
    assert!(status.contains("Is it clear?"), "{status}");
    let revised = world.prompt("workflow approve revise");
    assert!(revised.contains("Not approved"), "{revised}");
    world.reply(&asked, &accepted("approve"));
    let answer = world.answer(1);
    assert!(answer.contains("does not count"), "{answer}");
    let status = world.prompt("workflow status");
    assert!(status.contains("Bugfix > A Analyze"), "{status}");
    let asked = world.next(2);
    assert!(
        world
            .prompt("workflow approve approve")
            .contains("Build it.")
    );
    world.reply(&asked, &accepted("revise"));
    let answer = world.answer(2);
    assert!(answer.contains("does not count"), "{answer}");
}

#[test]
fn an_answer_that_comes_after_its_call_counts_for_the_same_question_alone() {
    let mut world = World::asking(".pi/agent", APPROVAL);
    let asked = world.next(1);
    world.cancel(1);
    // The dialog is open, so no other one opens.
    let text = (2..100).find_map(|id| {
        let arguments = world.arguments("next");
        world.call(id, &arguments, &json!({}));
        if id == 2 {
            world.reply(&asked, &accepted("approve"));
        }
        let text = world.answer(id);
        (!text.contains("in progress")).then_some(text)
    });
    let text = text.unwrap();
    assert!(text.contains("Analyze → B Build"), "{text}");
}

#[test]
fn an_answer_about_a_file_that_has_changed_is_asked_again() {
    let mut world = World::asking(".pi/agent", APPROVAL);
    let plan = world.root.path().join("project/plan.md");
    fs::write(&plan, "Rewrite it.").unwrap();
    let asked = world.next(1);
    fs::write(&plan, "Delete it.").unwrap();
    world.reply(&asked, &accepted("approve"));
    let asked = world.receive();
    let message = asked["params"]["message"].as_str().unwrap();
    assert!(message.contains("Delete it."), "{asked}");
    world.reply(&asked, &accepted("approve"));
    assert!(world.answer(1).contains("Analyze → B Build"));
}

#[test]
fn a_server_whose_host_ends_during_a_dialog_ends_too() {
    let mut world = World::asking(".pi/agent", APPROVAL);
    world.next(1);
    world.server.close();
    world.server.wait();
    let approved = world.prompt("workflow approve approve");
    assert!(approved.contains("Build it."), "{approved}");
}

#[test]
fn a_host_that_does_not_say_that_it_asks_is_not_asked() {
    for capabilities in [json!({}), json!({ "elicitation": { "url": {} } })] {
        let mut world = World::with(".pi/agent", APPROVAL);
        world.initialize(&capabilities);
        let arguments = world.arguments("next");
        world.call(1, &arguments, &json!({}));
        let answer = world.answer(1);
        assert!(answer.contains("Waiting for approval"), "{answer}");
    }
}

#[test]
fn no_version_of_the_protocol_is_offered_in_which_a_server_cannot_ask() {
    let mut world = World::started();
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "host", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {} } },
    });
    let params = json!({ "_meta": meta });
    world
        .send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": params }));
    let answer = world.receive();
    let supported = answer["error"]["data"]["supported"].to_string();
    assert!(supported.contains("2025-11-25"), "{answer}");
    assert!(!supported.contains("2026-07-28"), "{answer}");
}

#[test]
fn trust_in_the_projects_commands_is_asked_in_the_hosts_dialog() {
    let mut world = World::asking("project/.pi", PROJECT_GATE);
    let ran = world.root.path().join("project/ran");
    let asked = world.next(1);
    let message = asked["params"]["message"].as_str().unwrap();
    let second = message.lines().nth(1).unwrap();
    assert!(second.starts_with("touch ran"), "{message}");
    world.reply(&asked, &accepted("no"));
    let answer = world.answer(1);
    assert!(answer.contains("the prompt `workflow trust`"), "{answer}");
    assert!(answer.contains("say what waits"), "{answer}");
    assert!(answer.contains("the user did not agree"), "{answer}");
    assert!(!ran.exists());
    let stop = hook(world.root.path(), "Stop", &json!({}));
    assert_eq!(stop["decision"], Value::Null, "{stop}");
    let asked = world.next(2);
    world.reply(&asked, &accepted("yes"));
    let answer = world.answer(2);
    assert!(answer.contains("Analyze → B Build"), "{answer}");
    assert!(ran.exists());
}

#[test]
fn an_open_dialog_for_trust_notices_that_trust_is_given_elsewhere() {
    let mut world = World::asking("project/.pi", PROJECT_GATE);
    let asked = world.next(1);
    assert!(world.prompt("workflow trust").contains("touch ran"));
    world.prompt("workflow confirm trust");
    let answer = world.answer(1);
    assert!(answer.contains("Analyze → B Build"), "{answer}");
    assert!(world.root.path().join("project/ran").exists());
    world.reply(&asked, &accepted("no"));
}

#[test]
fn trust_is_given_by_a_prompt_that_is_confirmed_after_it_has_listed_the_commands() {
    let mut world = World::with("project/.pi", PROJECT_GATE);
    let shown = world.prompt("workflow confirm trust");
    assert!(shown.contains("touch ran"), "{shown}");
    assert!(shown.contains("workflow confirm trust"), "{shown}");
    let arguments = world.arguments("next");
    world.call(1, &arguments, &json!({}));
    assert!(world.answer(1).contains("not trusted"));
    assert!(world.prompt("workflow trust").contains("touch ran"));
    let trusted = world.prompt("workflow confirm trust");
    assert!(trusted.contains("call workflow_step"), "{trusted}");
    assert!(trusted.contains("✓ trusted: touch ran"), "{trusted}");
    let stop = hook(world.root.path(), "Stop", &json!({}));
    assert!(
        stop.to_string().contains("is still in this phase"),
        "{stop}"
    );
    let arguments = world.arguments("next");
    world.call(2, &arguments, &json!({}));
    let answer = world.answer(2);
    assert!(answer.contains("Analyze → B Build"), "{answer}");
}
