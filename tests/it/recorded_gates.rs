//! Sessions with guards, recorded while gates really run and replayed where none does.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::host::TestHost;
use crate::questions::start;
use crate::recordings::{recorded, recording};
use crate::transcripts::replay;

/// A secret that a redacted recording must not contain.
const SECRET: &str = "hunter2-hunter2";

/// A project with guards of every kind.
fn project() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    let workflow = root.join(".pi/workflows/w");
    fs::create_dir_all(&workflow).unwrap();
    fs::create_dir(root.join("agent")).unwrap();
    fs::create_dir(root.join("real")).unwrap();
    std::os::unix::fs::symlink("real", root.join("link")).unwrap();
    fs::write(root.join("plan.md"), format!("Plan: {SECRET}\n")).unwrap();
    let write = |name: &str, text: &str| fs::write(workflow.join(name), text).unwrap();
    write(
        "workflow.yaml",
        "name: W\ncommandName: w\ninitialMessage: Go\nphases: [a.md, b.md]\n",
    );
    write(
        "a.md",
        "---\nid: a\nname: A\nemoji: a\ntools:\n  rules:\n    - {block: write, path: 'real/**'}\n    - {ask: bash, command: 'make *'}\n\
         results:\n  - {tool: bash, append: 'Mind the phase.'}\n\
         gate:\n  - {file: plan.md, changed: false}\n  - run: [cat, plan.md, missing.md]\n\
         approve: {ask: Plan OK?, show: plan.md}\n---\nDo a.\n",
    );
    write("b.md", "---\nid: b\nname: B\nemoji: b\n---\nDo b.\n");
    directory
}

fn initialize(host: &mut TestHost, root: &Path) {
    host.result(
        "initialize",
        &json!({
            "protocolVersion": 1,
            "host": {"name": "test", "version": "1"},
            "cwd": root,
            "agentDir": root.join("agent"),
            "capabilities": {"dialogs": true, "widgets": true},
        }),
    );
    host.result(
        "hook/session_start",
        &json!({"context": {"hasUI": true, "branch": []}}),
    );
    host.start_without_trust(None);
}

fn answer(host: &mut TestHost, question: &Value, result: &Value) {
    host.send(json!({"jsonrpc": "2.0", "id": question["id"], "result": result}).to_string());
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

fn next(host: &mut TestHost) -> u64 {
    host.request(
        "tool/execute",
        &json!({"name": "workflow_step", "toolCallId": "c", "arguments": {"action": "next"}}),
    )
}

/// Lets everything happen that a guard may do.
fn live(host: &mut TestHost, root: &Path) {
    initialize(host, root);
    let call = |tool: &str, input: Value| json!({"event": {"toolName": tool, "input": input}});
    let written = call("write", json!({"path": "link/x", "content": SECRET}));
    let blocked = host.result("hook/tool_call", &written);
    assert!(
        blocked["block"]["reason"]
            .as_str()
            .unwrap()
            .contains("a.md:7")
    );
    let made = call("bash", json!({"command": format!("make {SECRET}")}));
    let asked = host.request("hook/tool_call", &made);
    let question = until(host, |line| line["method"] == "ui/confirm");
    answer(host, &question, &json!(true));
    until(host, |line| line["id"] == asked);
    // The status line says no longer that the call waits.
    assert_eq!(host.receive()["method"], "host/apply");
    let result = json!({"event": {"toolName": "bash", "input": {}, "content": [{"type": "text", "text": SECRET}]}});
    let read = host.result("hook/tool_result", &result);
    assert!(read.to_string().contains("Mind the phase."), "{read}");
    // The commands are not trusted yet, then fail, then pass.
    let first = next(host);
    let question = until(host, |line| line["method"] == "ui/confirm");
    answer(host, &question, &json!(true));
    let failed = until(host, |line| line["id"] == first);
    assert!(
        failed["result"]["content"][0]["text"]
            .as_str()
            .unwrap()
            .contains(SECRET)
    );
    fs::write(root.join("missing.md"), "").unwrap();
    let second = next(host);
    let question = until(host, |line| line["method"] == "ui/select");
    assert!(question.to_string().contains(SECRET), "{question}");
    answer(host, &question, &json!("approve"));
    until(host, |line| line["id"] == second);
    assert_eq!(
        host.result("session/state", &json!({}))["phase"]["name"],
        "B"
    );
}

fn text_of(file: &Path) -> String {
    fs::read_to_string(file).unwrap()
}

fn replays(file: &Path) {
    is_as_the_schema_says(&text_of(file));
    let output = replay(&[&file.display().to_string()]);
    let output = output.unwrap_or_else(|output| panic!("{output}\n{}", text_of(file)));
    assert_eq!(output, "1 transcript replayed, no differences\n");
}

fn is_as_the_schema_says(text: &str) {
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/transcript.schema.json");
    let schema: Value = serde_json::from_str(&text_of(&schema)).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    for line in text.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        assert!(schema.is_valid(&line), "{line}");
    }
}

#[test]
fn results_of_the_platform_are_recorded_and_replay_without_it() {
    let ((_directory, file), project) = (recording(), project());
    let mut host = TestHost::over(recorded(&file, &[]));
    live(&mut host, project.path());
    drop(host);
    drop(project);
    let text = text_of(&file);
    for kind in [
        "\"result\":{\"baselineTaken\"",
        "\"result\":\"commandsNotTrusted\"",
        "\"result\":{\"gateNotTrusted\"",
        "\"result\":{\"excerpt\"",
        "\"result\":{\"path\":{\"written\":\"link/x\"",
        "\"event\":{\"gateProgress\":{\"gate\":2",
        "\"event\":{\"gateFinished\":{\"gate\":3",
    ] {
        assert!(text.contains(kind), "{kind}\n{text}");
    }
    replays(&file);
}

#[test]
fn a_redacted_recording_hides_what_guards_saw_and_replays() {
    let ((_directory, file), project) = (recording(), project());
    let mut host = TestHost::over(recorded(&file, &["--record-redact"]));
    live(&mut host, project.path());
    drop(host);
    let text = text_of(&file);
    assert!(!text.contains("hunter"), "{text}");
    assert_eq!(text.matches("\"out\":\"?\"").count(), 4, "{text}");
    replays(&file);
}

#[test]
fn a_gate_that_is_replayed_runs_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let seen = directory.path().join("seen");
    let phase = format!(
        "---\nid: a\nname: A\nemoji: a\ngate: [{{run: [touch, {}]}}]\n---\nDo a.\n",
        seen.display()
    );
    let workflow = "name: W\ncommandName: w\ninitialMessage: Go\nphases: [a.md]\n";
    let definitions =
        json!({"$CWD/.pi": {"workflows/w/workflow.yaml": workflow, "workflows/w/a.md": phase}});
    let call = |id: u32, method: &str, params: Value| json!({"in": {"jsonrpc": "2.0", "id": id, "method": method, "params": params}});
    let step = json!({"name": "workflow_step", "toolCallId": "c", "arguments": {"action": "next"}});
    let lines = [
        json!({"definitions": definitions}),
        call(
            1,
            "initialize",
            json!({"protocolVersion": 1, "host": {"name": "t", "version": "1"}, "cwd": "$CWD", "agentDir": "$AGENT", "clock": {"virtual": {"now": 0}}}),
        ),
        json!({"out": "*"}),
        call(2, "hook/session_start", json!({"context": {"branch": []}})),
        json!({"out": "*"}),
        call(
            3,
            "command/run",
            json!({"name": "workflow", "arguments": "w it"}),
        ),
        json!({"out": "*"}),
        call(4, "tool/execute", step),
        // The status line: the gate is running.
        json!({"out": "*"}),
        json!({"event": {"gateFinished": {"gate": 1, "reports": [{"what": "touch", "verdict": "passed", "durationMs": 5}]}}}),
        json!({"out": "*"}),
    ];
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    let file = directory.path().join("t.jsonl");
    for (cut, expected) in [(11, "no differences"), (9, "no differences")] {
        fs::write(&file, lines[..cut].join("\n")).unwrap();
        let name = file.display().to_string();
        assert!(replay(&[&name]).unwrap().contains(expected));
    }
    assert!(!seen.exists());
}

/// A project with a phase that is left with this, and another one.
fn guarded_project(leave: &str, second: &str) -> TempDir {
    let project = tempfile::tempdir().unwrap();
    write_guarded(&project, leave, second);
    project
}

fn write_guarded(project: &TempDir, leave: &str, second: &str) {
    let workflow = project.path().join(".pi/workflows/w");
    fs::create_dir_all(&workflow).unwrap();
    let phases = format!(
        "phases:\n  - {{id: a, name: A, emoji: a, instructions: Do a., {leave}}}\n  - {{id: b, name: B, emoji: b, instructions: Do b., {second}}}\n"
    );
    let text = format!("name: W\ncommandName: w\ninitialMessage: Go\n{phases}");
    fs::write(workflow.join("workflow.yaml"), text).unwrap();
}

#[test]
fn an_approval_that_waits_or_was_dismissed_replays() {
    for dialogs in [false, true] {
        let (_directory, file) = recording();
        let project = guarded_project("approve: {ask: Right?}", "");
        let mut host = TestHost::over(recorded(&file, &[]));
        let params = json!({
            "protocolVersion": 1, "host": {"name": "test", "version": "0"}, "cwd": project.path(),
            "agentDir": project.path().join("agent"), "capabilities": {"dialogs": dialogs},
        });
        host.result("initialize", &params);
        start(&mut host, "");
        let call = next(&mut host);
        if dialogs {
            let question = until(&mut host, |line| line["method"] == "ui/select");
            answer(&mut host, &question, &Value::Null);
        }
        let waits = until(&mut host, |line| line["id"] == call);
        assert_eq!(waits["result"]["details"]["waiting"], "approval");
        host.close_and_hear();
        drop(host);
        let text = fs::read_to_string(&file).unwrap();
        assert!(
            text.contains(r#""result":{"approvalRequested":"#) && text.contains("[code]"),
            "{text}"
        );
        replay(&[&file.display().to_string()]).unwrap_or_else(|output| panic!("{output}"));
    }
}

#[test]
fn other_definitions_are_compared_behind_a_gate_and_an_approval() {
    for leave in [
        "gate: [{run: [\"true\"]}]",
        "approve: {ask: Right?, choices: [\"yes\", \"no\"]}",
    ] {
        let (_directory, file) = recording();
        let project = guarded_project(leave, "tools: {blacklist: [edit, write]}");
        let mut host = TestHost::over(recorded(&file, &[]));
        host.initialize(project.path(), &json!("system"));
        if leave.starts_with("gate") {
            host.start_session();
            host.start_without_trust(Some(true));
        } else {
            start(&mut host, "");
        }
        let call = next(&mut host);
        if leave.starts_with("approve") {
            let question = until(&mut host, |line| line["method"] == "ui/select");
            answer(&mut host, &question, &json!("yes"));
        }
        until(&mut host, |line| line["id"] == call);
        host.close_and_hear();
        drop(host);
        let (file, directory) = (
            file.display().to_string(),
            project.path().display().to_string(),
        );
        let replayed = || replay(&[&file, "--definitions", &directory]);
        replayed().unwrap_or_else(|output| panic!("{output}"));
        write_guarded(&project, leave, "tools: {blacklist: [edit]}");
        let output = replayed().unwrap_err();
        assert!(
            output.contains("the answer to the agent differs"),
            "{output}"
        );
    }
}
