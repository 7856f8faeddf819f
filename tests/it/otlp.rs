//! Counters and spans, sent to a collector on loopback.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Stdio;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::connection::Process;
use crate::host::TestHost;

const WORKFLOW: &str = "
name: Bugfix
commandName: bugfix
initialMessage: Go
phases:
  - { id: analyze, name: Analyze, emoji: A, instructions: Look., tools: { blacklist: [edit, write] } }
  - { id: build, name: Build, emoji: B, instructions: Build it. }
";

/// A workflow that is gated, approved, and left by steps of the agent.
const GATED: &str = "
name: Gated
commandName: gated
initialMessage: Go
phases:
  - id: plan
    name: Plan
    emoji: P
    instructions: Plan it.
    tools: { rules: [{ block: edit, path: '*.lock' }] }
    gate: [{ file: plan.md }]
    approve: { ask: 'Good?' }
  - { id: build, name: Build, emoji: B, instructions: Build it. }
";

/// A request to a collector: a path and a body.
type Received = (String, Vec<u8>);

/// A collector. It gives its address, and what it receives.
fn collector() -> (String, Receiver<Received>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (sender, received) = channel();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let sender = sender.clone();
            thread::spawn(move || sender.send(receive(stream.unwrap())));
        }
    });
    (address, received)
}

fn receive(mut stream: TcpStream) -> Received {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let path = line.split(' ').nth(1).unwrap().to_owned();
    let mut length = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).unwrap();
        let header = header.trim().to_ascii_lowercase();
        if header.is_empty() {
            break;
        }
        if let Some(value) = header.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    stream
        .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
        .unwrap();
    (path, body)
}

/// A home directory with a workflow, and a project.
fn world() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    let workflow = root.path().join(".pi/agent/workflows/bugfix");
    fs::create_dir_all(&workflow).unwrap();
    fs::write(workflow.join("workflow.yaml"), WORKFLOW).unwrap();
    fs::create_dir(root.path().join("project")).unwrap();
    root
}

fn hook(root: &Path, collector: &str, name: &str, members: &Value) -> String {
    let mut event =
        json!({ "hook_event_name": name, "session_id": "s", "cwd": root.join("project") });
    for (name, value) in members.as_object().unwrap() {
        event[name] = value.clone();
    }
    let mut hook = Process::command()
        .args(["hook", "codex", "--otlp", collector])
        .env("HOME", root)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    hook.stdin
        .take()
        .unwrap()
        .write_all(event.to_string().as_bytes())
        .unwrap();
    String::from_utf8(hook.wait_with_output().unwrap().stdout).unwrap()
}

fn patch() -> Value {
    let patch = "*** Begin Patch\n*** Add File: a.txt\n+a\n*** End Patch\n";
    json!({ "tool_name": "apply_patch", "tool_input": { "command": patch } })
}

fn contains(body: &[u8], text: &str) -> bool {
    body.windows(text.len()).any(|part| part == text.as_bytes())
}

/// Does something until a body with these texts arrives on a path: a hook on a busy machine may have no time to send.
fn until_sent(received: &Receiver<Received>, path: &str, texts: &[&str], act: impl Fn()) {
    for _ in 0..20 {
        act();
        while let Ok((at, body)) = received.recv_timeout(Duration::from_secs(1)) {
            if at == path && texts.iter().all(|text| contains(&body, text)) {
                return;
            }
        }
    }
    panic!("{path} with {texts:?} was never sent");
}

#[test]
fn a_denied_call_and_an_ended_phase_reach_the_collector() {
    let root = world();
    let (address, received) = collector();
    let hook = |name: &str, members: &Value| hook(root.path(), &address, name, members);
    hook(
        "UserPromptSubmit",
        &json!({ "prompt": "workflow bugfix it" }),
    );
    let expected = ["workflow.denials", "workflow.rule", "analyze"];
    until_sent(&received, "/v1/metrics", &expected, || {
        let denied = hook("PreToolUse", &patch());
        assert!(denied.contains("deny"), "{denied}");
    });
    until_sent(
        &received,
        "/v1/traces",
        &["workflow.phase", "analyze"],
        || {
            hook("UserPromptSubmit", &json!({ "prompt": "workflow cancel" }));
            hook(
                "UserPromptSubmit",
                &json!({ "prompt": "workflow bugfix it" }),
            );
        },
    );
}

/// Plays a run of `serve` to its end: a blocked call, an early stop, a gate that fails and passes, an approval, two phases.
fn play_gated_run(root: &Path, collector: &str) {
    let project = root.join("project");
    let workflow = project.join("agent/workflows/gated");
    fs::create_dir_all(&workflow).unwrap();
    fs::write(workflow.join("workflow.yaml"), GATED).unwrap();
    let mut host = TestHost::over(Process::start(&["--otlp", collector]));
    host.initialize(&project, &json!("system"));
    host.start_session();
    let start = json!({ "name": "workflow", "arguments": "gated it" });
    host.result("command/run", &start);
    let edit = json!({ "event": { "toolName": "edit", "input": { "path": "a.lock" } } });
    let blocked = host.result("hook/tool_call", &edit);
    assert_eq!(blocked["block"]["kind"], "policy", "{blocked}");
    let stop = json!({ "event": { "messages": [{ "role": "assistant", "stopReason": "stop" }] } });
    host.result("hook/agent_end", &stop);
    let is_reminder = |said: &Value| said.to_string().contains("sendUserMessage");
    while !is_reminder(&host.receive()) {}
    host.result("hook/agent_start", &json!({}));
    let failed = step(&mut host, "next");
    assert!(failed.contains("plan.md"), "{failed}");
    fs::write(project.join("plan.md"), "x").unwrap();
    let approved = step(&mut host, "next");
    assert!(approved.contains("moved: Plan"), "{approved}");
    step(&mut host, "next");
    host.close_and_hear();
}

/// Has the agent call `workflow_step`, and a person approve what is asked. Returns what the agent reads.
fn step(host: &mut TestHost, action: &str) -> String {
    let arguments = json!({ "action": action });
    let params = json!({ "name": "workflow_step", "toolCallId": "t", "arguments": arguments });
    let id = host.request("tool/execute", &params);
    loop {
        let said = host.receive();
        if said["method"] == "ui/select" {
            let answer = json!({ "jsonrpc": "2.0", "id": said["id"], "result": "approve" });
            host.send(answer.to_string());
        } else if said["id"] == id {
            return said["result"]["content"][0]["text"].to_string();
        }
    }
}

#[test]
fn what_lifts_the_rules_without_a_run_is_counted() {
    let root = world();
    let settings = root.path().join(".pi/agent/workflow-sidecar.json5");
    fs::write(settings, "{ withoutRun: { tools: 'read-only' } }").unwrap();
    let (address, received) = collector();
    until_sent(&received, "/v1/metrics", &["workflow.lifts"], || {
        let lift = json!({ "prompt": "workflow off 30m" });
        hook(root.path(), &address, "UserPromptSubmit", &lift);
    });
}

#[test]
fn everything_that_is_measured_in_a_run_reaches_the_collector() {
    let root = tempfile::tempdir().unwrap();
    let (address, received) = collector();
    play_gated_run(root.path(), &address);
    let mut bodies: Vec<Received> = Vec::new();
    let (metrics, traces) = ("/v1/metrics", "/v1/traces");
    let mut missing = vec![
        (metrics, ["workflow.denials", "workflow.yaml:10"]),
        (metrics, ["workflow.gates", "failed"]),
        (metrics, ["workflow.gates", "passed"]),
        (metrics, ["workflow.gate.duration", "plan"]),
        (metrics, ["workflow.reminders", "plan"]),
        (metrics, ["workflow.approvals", "plan"]),
        (metrics, ["workflow.approval.wait", "plan"]),
        (metrics, ["workflow.phase.duration", "plan"]),
        (metrics, ["workflow.phase.duration", "build"]),
        (traces, ["workflow.gate", "failed"]),
        (traces, ["workflow.gate", "passed"]),
        (traces, ["workflow.approval", "workflow.run"]),
        (traces, ["workflow.phase", "plan"]),
        (traces, ["workflow.phase", "build"]),
    ];
    // The sidecar has ended, so all of it was sent.
    while let Ok(body) = received.recv_timeout(Duration::from_secs(2)) {
        bodies.push(body);
    }
    missing.retain(|(path, texts)| {
        let mut on_path = bodies.iter().filter(|(at, _)| at == path);
        !on_path.any(|(_, body)| texts.iter().all(|text| contains(body, text)))
    });
    assert_eq!(missing, [], "{} bodies arrived", bodies.len());
}

#[test]
fn a_collector_that_never_answers_delays_no_answer() {
    let root = world();
    // Connections wait in the queue of the socket.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", silent.local_addr().unwrap());
    let hook = |name: &str, members: &Value| hook(root.path(), &address, name, members);
    hook(
        "UserPromptSubmit",
        &json!({ "prompt": "workflow bugfix it" }),
    );
    let began = Instant::now();
    let denied = hook("PreToolUse", &patch());
    assert!(denied.contains("deny"), "{denied}");
    // Less than the exporter's own limit, on a machine with much else to do.
    assert!(began.elapsed() < Duration::from_secs(4));
}

#[test]
fn an_address_that_cannot_be_used_is_refused_with_what_to_write() {
    let output = Process::command()
        .args(["mcp", "--otlp", "https://collector:4318"])
        .output()
        .unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success());
    assert!(error.contains("http://localhost:4318"), "{error}");
}
