//! The MCP server: tickets, gates, progress and cancellation.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::connection::Process;

const WORKFLOW: &str = "
name: Bugfix
commandName: bugfix
initialMessage: Go
phases:
  - { id: a, name: Analyze, emoji: A, instructions: Look., gate: [{ run: [sh, -c, 'until test -f go; do sleep 0.05; done'] }] }
  - { id: b, name: Build, emoji: B, instructions: Build it. }
";

/// A project with a run in the session `s`, and a server.
struct World {
    root: tempfile::TempDir,
    server: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl World {
    fn started() -> Self {
        // The user's own workflow, whose commands need no trust.
        Self::started_in(".pi/agent/workflows/bugfix")
    }

    fn started_in(workflow: &str) -> Self {
        let root = tempfile::tempdir().unwrap();
        let workflow = root.path().join(workflow);
        fs::create_dir_all(&workflow).unwrap();
        fs::write(workflow.join("workflow.yaml"), WORKFLOW).unwrap();
        fs::create_dir_all(root.path().join("project")).unwrap();
        let mut server = Process::command()
            .arg("mcp")
            .env("HOME", root.path())
            .env("QWEN_CODE_LAUNCHER_PID", "4711")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = server.stdin.take().unwrap();
        let output = BufReader::new(server.stdout.take().unwrap());
        hook(
            root.path(),
            "UserPromptSubmit",
            &json!({ "prompt": "workflow bugfix it" }),
        );
        Self {
            root,
            server,
            input,
            output,
        }
    }

    /// The arguments of a call that its hook has seen.
    fn arguments(&self, action: &str) -> Value {
        let tool = "mcp__workflow__workflow_step";
        let call = json!({ "tool_name": tool, "tool_input": { "action": action } });
        let answer = hook(self.root.path(), "PreToolUse", &call);
        answer["hookSpecificOutput"]["updatedInput"].clone()
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input, "{message}").unwrap();
    }

    fn call(&mut self, id: u64, arguments: &Value, meta: &Value) {
        let params = json!({ "name": "workflow_step", "arguments": arguments, "_meta": meta });
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }));
    }

    fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// The text of the answer to a call.
    fn answer(&mut self, id: u64) -> String {
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

impl Drop for World {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn hook(root: &Path, name: &str, members: &Value) -> Value {
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
    let cancelled = json!({ "requestId": 1, "reason": "the user" });
    world.send(
        &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled }),
    );
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
    let mut world = World::started_in("project/.pi/workflows/bugfix");
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
