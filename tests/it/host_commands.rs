//! Gates whose commands the host runs: its answers, its silence, and the end of what it runs.

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::host::TestHost;
use crate::recordings::{recorded, recording};
use crate::transcripts::replay;

/// A phase whose gate has a file between two commands, and a phase after it.
fn project(in_agent_dir: bool) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    let tier = if in_agent_dir { "agent" } else { ".pi" };
    let workflow = root.join(tier).join("workflows/w");
    fs::create_dir_all(&workflow).unwrap();
    fs::create_dir_all(root.join("agent")).unwrap();
    fs::create_dir(root.join("api")).unwrap();
    fs::write(root.join("plan.md"), "Plan\n").unwrap();
    let write = |name: &str, text: &str| fs::write(workflow.join(name), text).unwrap();
    write(
        "workflow.yaml",
        "name: W\ncommandName: w\ninitialMessage: Go\nphases: [a.md, b.md]\n",
    );
    write(
        "a.md",
        "---\nid: a\nname: A\nemoji: a\ngate:\n  - {run: [make, test], cwd: api, env: {CI: '1'}, timeout: 10}\n  \
         - {file: plan.md, changed: false}\n  - {run: 'make lint', shell: true, expect: {stdout: 'no problems'}}\n---\nDo a.\n",
    );
    write("b.md", "---\nid: b\nname: B\nemoji: b\n---\nDo b.\n");
    directory
}

fn initialize(host: &mut TestHost, root: &Path, clock: &Value) {
    let mut params = json!({
        "protocolVersion": 1,
        "host": {"name": "test", "version": "1"},
        "cwd": root,
        "agentDir": root.join("agent"),
        "capabilities": {"dialogs": true, "exec": true},
    });
    if !clock.is_null() {
        params["clock"] = clock.clone();
    }
    host.result("initialize", &params);
    host.result("hook/session_start", &json!({"context": {"branch": []}}));
}

fn start(host: &mut TestHost) {
    host.result(
        "command/run",
        &json!({"name": "workflow", "arguments": "w it"}),
    );
}

fn next(host: &mut TestHost) -> u64 {
    host.request(
        "tool/execute",
        &json!({"name": "workflow_step", "toolCallId": "c", "arguments": {"action": "next"}}),
    )
}

/// Reads lines up to one that matches, and gives it.
fn until(host: &mut TestHost, is_meant: impl Fn(&Value) -> bool) -> Value {
    loop {
        let line = host.receive();
        if is_meant(&line) {
            return line;
        }
    }
}

/// The next command for the host.
fn command(host: &mut TestHost) -> Value {
    until(host, |line| line["method"] == "host/exec")
}

fn answer(host: &mut TestHost, request: &Value, result: &Value) {
    host.send(json!({"jsonrpc": "2.0", "id": request["id"], "result": result}).to_string());
}

fn ended(code: i32, stdout: &str) -> Value {
    json!({"stdout": stdout, "stderr": "", "code": code})
}

/// The text of a call for the agent.
fn text_of(host: &mut TestHost, call: u64) -> String {
    let line = until(host, |line| line["id"] == call);
    line["result"]["content"][0]["text"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[test]
fn commands_run_at_the_host_and_files_are_checked_between_them() {
    let directory = project(true);
    let mut host = TestHost::over_pipes();
    initialize(&mut host, directory.path(), &Value::Null);
    start(&mut host);
    let call = next(&mut host);
    let first = command(&mut host);
    assert_eq!(
        first["params"],
        json!({
            "command": "make", "args": ["test"], "cwd": directory.path().join("api"), "timeoutMs": 10_000,
            "env": {"CI": "1"}, "maxOutput": 65_536,
        })
    );
    answer(&mut host, &first, &ended(0, "ok"));
    let lint = command(&mut host);
    assert_eq!(lint["params"]["command"], "sh");
    assert_eq!(lint["params"]["args"], json!(["-c", "make lint"]));
    answer(&mut host, &lint, &ended(0, "there are no problems"));
    let text = text_of(&mut host, call);
    assert!(text.contains("Advanced: A → b B"), "{text}");
    for check in [
        "✓ cd api && CI=1 make test",
        "✓ file plan.md",
        "✓ make lint",
    ] {
        assert!(text.contains(check), "{text}");
    }
}

#[test]
fn a_command_that_fails_at_the_host_keeps_the_phase() {
    let directory = project(true);
    let clock = json!({"virtual": {"now": 0, "seed": 0}});
    let cases = [
        (
            json!({"result": ended(2, "the error")}),
            "exit code 2, expected 0",
        ),
        (
            json!({"error": {"code": -32603, "message": "no connection"}}),
            "the host could not run it",
        ),
        (
            json!({"result": {"stdout": 7}}),
            "the host could not run it",
        ),
        (json!({"result": ended(127, "")}), "did not find a program"),
    ];
    for (said, expected) in cases {
        let mut host = TestHost::over_pipes();
        initialize(&mut host, directory.path(), &clock);
        start(&mut host);
        let call = next(&mut host);
        let first = command(&mut host);
        let mut line = said.clone();
        line["jsonrpc"] = json!("2.0");
        line["id"] = first["id"].clone();
        host.send(line.to_string());
        let text = text_of(&mut host, call);
        assert!(text.contains("You are still in A"), "{text}");
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn a_host_that_does_not_answer_in_time_is_asked_to_end_the_command() {
    let directory = project(true);
    let mut host = TestHost::in_memory();
    initialize(
        &mut host,
        directory.path(),
        &json!({"virtual": {"now": 0, "seed": 0}}),
    );
    start(&mut host);
    let call = next(&mut host);
    let first = command(&mut host);
    let advance = host.request("clock/advance", &json!({"ms": 14_999}));
    until(&mut host, |line| line["id"] == advance);
    host.request("clock/advance", &json!({"ms": 1}));
    let cancelled = until(&mut host, |line| line["method"] == "host/cancel");
    assert_eq!(cancelled["params"], json!({"id": first["id"]}));
    let text = text_of(&mut host, call);
    assert!(text.contains("it did not end within 10 s"), "{text}");
    // What comes later counts for nothing.
    answer(&mut host, &first, &ended(0, ""));
    let state = host.request("session/state", &json!({}));
    let state = until(&mut host, |line| line["id"] == state);
    assert_eq!(state["result"]["phase"]["id"], "a", "{state}");
}

#[test]
fn a_gate_that_is_called_off_ends_its_command_at_the_host() {
    let directory = project(true);
    let ends = [
        ("hook/agent_end", json!({"event": {"messages": []}})),
        ("tool/cancel", json!({"toolCallId": "c"})),
        (
            "command/run",
            json!({"name": "cancel-workflow", "arguments": ""}),
        ),
        ("hook/session_shutdown", json!({})),
    ];
    for (method, params) in ends {
        let mut host = TestHost::over_pipes();
        initialize(&mut host, directory.path(), &Value::Null);
        start(&mut host);
        next(&mut host);
        let first = command(&mut host);
        host.request(method, &params);
        let cancelled = until(&mut host, |line| line["method"] == "host/cancel");
        assert_eq!(cancelled["params"]["id"], first["id"], "{method}");
        while host.receive_within(Duration::from_millis(300)).is_some() {}
    }
}

#[test]
fn commands_of_the_project_run_at_the_host_only_if_they_are_trusted() {
    let directory = project(false);
    let mut host = TestHost::over_pipes();
    initialize(&mut host, directory.path(), &Value::Null);
    let (question, _) = host.start_without_trust(Some(true));
    assert!(question.contains("make test"), "{question}");
    let call = next(&mut host);
    let first = command(&mut host);
    answer(&mut host, &first, &ended(1, ""));
    assert!(text_of(&mut host, call).contains("You are still in A"));
}

#[test]
fn a_redacted_recording_has_nothing_that_a_command_at_the_host_printed() {
    for result in [
        json!({"stdout": "SECRET", "stderr": "SECRET", "code": 1}),
        json!("SECRET"),
        json!(["SECRET"]),
    ] {
        let ((_directory, file), directory) = (recording(), project(true));
        let mut host = TestHost::over(recorded(&file, &["--record-redact"]));
        initialize(&mut host, directory.path(), &Value::Null);
        start(&mut host);
        let call = next(&mut host);
        let first = command(&mut host);
        answer(&mut host, &first, &result);
        text_of(&mut host, call);
        host.close_and_hear();
        drop(host);
        let text = fs::read_to_string(&file).unwrap();
        assert!(!text.contains("SECRET"), "{text}");
        let replayed = replay(&[&file.display().to_string()]);
        assert!(replayed.is_ok(), "{replayed:?}");
    }
}

#[test]
fn a_recording_of_a_gate_at_the_host_replays() {
    let ((_directory, file), directory) = (recording(), project(true));
    let mut host = TestHost::over(recorded(&file, &[]));
    initialize(&mut host, directory.path(), &Value::Null);
    start(&mut host);
    let call = next(&mut host);
    let first = command(&mut host);
    answer(&mut host, &first, &ended(0, "ok"));
    let lint = command(&mut host);
    answer(&mut host, &lint, &ended(0, "no problems"));
    text_of(&mut host, call);
    host.close_and_hear();
    drop(host);
    let replayed = replay(&[&file.display().to_string()]);
    assert!(replayed.is_ok(), "{replayed:?}");
}
