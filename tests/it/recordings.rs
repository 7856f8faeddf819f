//! Sessions that are recorded while they go on, and replayed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::connection::{Connection, Process};
use crate::host::TestHost;
use crate::questions::{project, start};
use crate::transcripts::replay;

/// A sidecar that records into a file, with further arguments.
pub(crate) fn recorded(file: &Path, more: &[&str]) -> Process {
    let file = file.display().to_string();
    let mut command = Process::command();
    command.args(["serve", "--record", &file]).args(more);
    // These hosts cause warnings on purpose.
    Process::spawn(command.env("WORKFLOW_SIDECAR_LOG", "error"))
}

/// Replays a recording.
fn replays(file: &Path) {
    replay(&[&file.display().to_string()]).unwrap_or_else(|output| panic!("{output}"));
}

pub(crate) fn recording() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("r.jsonl");
    (directory, file)
}

fn context(cwd: &TempDir) -> Value {
    json!({"cwd": cwd.path(), "branch": []})
}

#[test]
fn a_countdown_by_the_systems_clock_replays_at_once() {
    let ((_directory, file), project) = (recording(), project());
    let mut host = TestHost::over(recorded(&file, &[]));
    host.initialize(project.path(), &json!("system"));
    start(&mut host, "a");
    start(&mut host, "b");
    host.result("hook/agent_end", &json!({"sessionId": "a"}));
    // It counts down and then speaks, however late the machine is; nothing here is to be in time for a tick.
    let turn = json!({"jsonrpc": "2.0", "method": "hook/turn_start", "params": {"sessionId": "b"}});
    let mut applied = 1;
    while !host.receive().to_string().contains("sendUserMessage") {
        applied += 1;
        host.send(turn.to_string());
    }
    // A clock that is the system's is not moved by the host, in the replay neither.
    host.call("clock/advance", &json!({"ms": 3_600_000}));
    // A countdown ends with the host.
    host.result("hook/agent_end", &json!({"sessionId": "b"}));
    applied += host.close_and_hear().len();
    drop(host);
    let text = fs::read_to_string(&file).unwrap();
    assert_eq!(text.matches("host/apply").count(), applied, "{text}");
    replays(&file);
}

#[test]
fn a_recording_has_the_definitions_of_each_project_at_each_time() {
    let ((_directory, file), one, other) = (recording(), project(), project());
    let mut host = TestHost::over(recorded(&file, &[]));
    host.initialize(one.path(), &json!("system"));
    let list = |host: &mut TestHost, project: &TempDir| {
        host.result("workflow/list", &json!({"context": context(project)}))
    };
    start(&mut host, "one");
    host.result(
        "hook/session_start",
        &json!({"sessionId": "other", "context": context(&other)}),
    );
    let workflow = other.path().join(".pi/workflows/w");
    fs::write(
        workflow.join("a.md"),
        "---\nid: a\nname: Ä\nemoji: a\n---\nOtherwise.\n",
    )
    .unwrap();
    fs::create_dir(other.path().join(".pi/workflows/empty")).unwrap();
    fs::write(
        other.path().join(".pi/workflow-sidecar.json5"),
        b"{ nope: '\xff' }",
    )
    .unwrap();
    let changed = list(&mut host, &other);
    assert_eq!(changed["workflows"][0]["phases"][0]["name"], "Ä");
    fs::remove_dir_all(&workflow).unwrap();
    list(&mut host, &other);
    list(&mut host, &one);
    fs::write(other.path().join(".pi/workflow-sidecar.json5"), "{}").unwrap();
    list(&mut host, &other);
    fs::remove_dir_all(other.path()).unwrap();
    let gone = list(&mut host, &other);
    assert!(gone["diagnostics"].to_string().contains("not a directory"));
    fs::create_dir(other.path()).unwrap();
    list(&mut host, &other);
    drop(host);
    let definitions = |text: &str| {
        text.lines()
            .filter(|line| line.contains("\"definitions\":"))
            .count()
    };
    assert_eq!(definitions(&fs::read_to_string(&file).unwrap()), 7);
    drop((one, other));
    replays(&file);
}

#[test]
fn lines_that_are_none_are_recorded_too() {
    let ((_directory, file), project) = (recording(), project());
    let mut host = TestHost::over(recorded(&file, &["--max-line", "2000"]));
    for line in [
        &b"nope"[..],
        b"\"text\"",
        b"a\xff",
        b"[]",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2}",
        &[b'x'; 2001],
    ] {
        host.send(line);
        host.receive();
    }
    host.send("  ");
    host.initialize(project.path(), &json!({"virtual": {"now": 5}}));
    start(&mut host, "");
    host.result("hook/agent_end", &json!({}));
    assert!(host.result("clock/advance", &json!({"ms": 3000}))["actions"].is_array());
    host.send("{\"jsonrpc\":\"2.0\",\"method\":\"session/state\",\"id\":7}  \r");
    host.receive();
    drop(host);
    replays(&file);
}

#[test]
fn what_waits_when_the_host_goes_is_recorded_and_questions_are_matched_by_order() {
    let ((_directory, file), project) = (recording(), project());
    let mut host = TestHost::over(recorded(&file, &[]));
    host.initialize(project.path(), &json!("system"));
    start(&mut host, "");
    for answer in [Some(false), None] {
        host.request(
            "command/run",
            &json!({"name": "workflow", "arguments": "w again"}),
        );
        let question = host.receive();
        if let Some(answer) = answer {
            host.send(
                json!({"jsonrpc": "2.0", "id": question["id"], "result": answer}).to_string(),
            );
            host.receive();
        }
    }
    let mut text = fs::read_to_string(&file).unwrap();
    // The answer to what waits belongs to the end.
    host.close_and_hear();
    drop(host);
    replays(&file);
    text = text.replace("\"s1\"", "\"s11\"");
    fs::write(&file, text).unwrap();
    replays(&file);
}

#[test]
fn a_recording_is_good_up_to_where_its_sidecar_was_killed() {
    let ((_directory, file), project) = (recording(), project());
    for torn in [false, true] {
        let sidecar = recorded(&file, &[]);
        let id = sidecar.id().to_string();
        let mut host = TestHost::over(sidecar);
        host.initialize(project.path(), &json!("system"));
        start(&mut host, "a");
        host.result("hook/agent_end", &json!({"sessionId": "a"}));
        assert!(
            Command::new("kill")
                .args(["-9", &id])
                .status()
                .unwrap()
                .success()
        );
        host.lose();
        if torn {
            let mut text = fs::read_to_string(&file).unwrap();
            text.truncate(text.len() - 20);
            fs::write(&file, &text).unwrap();
        }
        replays(&file);
    }
    // The next one goes on behind the torn line.
    drop(recorded(&file, &[]));
    let mut host = TestHost::over(recorded(&file, &[]));
    host.initialize_bare();
    drop(host);
    replays(&file);
}

#[test]
fn secrets_of_tools_are_left_out_and_the_rest_replays() {
    const SECRET: &str = "hunter2-hunter2";
    let ((_directory, file), project) = (recording(), project());
    let mut host = TestHost::over(recorded(&file, &["--record-redact"]));
    host.initialize(project.path(), &json!("system"));
    let result = json!({"role": "toolResult", "toolName": "bash", "content": [{"type": "text", "text": SECRET}], "details": {"diff": [SECRET]}});
    let said = |text: &str| {
        json!({"role": "assistant", "stopReason": "stop", "content": [
            {"type": "toolCall", "id": "c", "name": "bash", "arguments": {"command": SECRET, "env": {"a": [SECRET]}}},
            {"type": "text", "text": text},
        ]})
    };
    let branch =
        json!([{"type": "message", "message": result}, {"type": "message", "message": said("")}]);
    host.result(
        "hook/session_start",
        &json!({"context": {"branch": branch}}),
    );
    host.result(
        "command/run",
        &json!({"name": "workflow", "arguments": "w it"}),
    );
    let call = json!({"event": {"toolName": "edit", "toolCallId": "c", "input": {"path": SECRET, "edits": [{"type": SECRET}]}}});
    assert!(host.result("hook/tool_call", &call)["block"].is_object());
    let given = json!({"event": {"toolName": "bash", "input": {"a": SECRET}, "content": [{"type": "text", "text": SECRET}], "details": SECRET, "isError": false}});
    host.result("hook/tool_result", &given);
    host.call(
        "tool/execute",
        &json!({"name": "workflow_step", "arguments": {"action": "status", "why": SECRET}}),
    );
    host.result(
        "hook/turn_end",
        &json!({"event": {"message": said("Well."), "toolResults": [result]}}),
    );
    let end = json!({"event": {"messages": [{"role": "user", "content": "Go"}, result, said("Shall I go on?")]}});
    // That it is paused because of the question must not hang on what is left out.
    assert!(
        host.result("hook/agent_end", &end)["actions"]
            .to_string()
            .contains("\"paused")
    );
    host.send(format!("{{\"jsonrpc\":\"2.0\",\"method\":\"hook/tool_call\",\"params\":{{\"event\":{{\"input\":\"{SECRET}"));
    host.receive();
    host.send(format!("[\"{SECRET}\"]"));
    host.receive();
    drop(host);
    let text = fs::read_to_string(&file).unwrap();
    assert!(!text.contains("hunter"), "{text}");
    assert!(text.contains("[redacted]"));
    replays(&file);
}

/// A run in which the user and the agent say and choose all that they can.
fn said(host: &mut TestHost, project: &TempDir, secret: &str) {
    let workflow = project.path().join(".pi/workflows/w/workflow.yaml");
    let text = "name: W\ncommandName: w\ninitialMessage: 'Go: {description}'\n\
         inputs: {size: {type: {oneOf: [small, large]}, required: true}, ticket: {type: text}}\ncontinue: {countdown: 0}\nphases:\n  \
         - {id: a, name: A, emoji: a, instructions: 'Do {inputs.ticket}.', outcomes: {found: next, none: done}, \
         outputs: {cause: {type: text}, kind: {type: {oneOf: [bug, wish]}}}, approve: {ask: Right?, choices: [publish, revise]}}\n  \
         - {id: b, name: B, emoji: b, instructions: 'Fix {outputs.a.cause}.', when: {outputs.a.kind: bug}}\n";
    fs::write(workflow, text).unwrap();
    fs::write(
        project.path().join(".pi/workflow-sidecar.json5"),
        format!(
            "{{ results: [{{append: 'Mind.'}}] }} // {}",
            if secret.contains('_') { secret } else { "" }
        ),
    )
    .unwrap();
    host.initialize(project.path(), &json!("system"));
    let state = json!({"workflowKey": "gone", "taskDescription": secret});
    let branch = json!([
        {"type": "custom", "customType": "workflow:state", "data": state},
        {"type": "custom", "customType": "other", "data": {"x": secret}},
        {"type": "message", "message": {"role": "user", "content": [{"type": "text", "text": secret}]}},
    ]);
    host.result(
        "hook/session_start",
        &json!({"context": {"branch": branch}}),
    );
    let event = json!({"source": "interactive", "text": secret});
    host.result("hook/input", &json!({ "event": event }));
    let start = json!({"name": "workflow", "arguments": format!("w --size large ticket=\"{secret}\" the {secret} is empty")});
    host.result("command/run", &start);
    let prompt = json!({"prompt": secret, "systemPrompt": format!("You know {secret}.")});
    assert!(
        host.result("hook/before_agent_start", &json!({ "event": prompt }))["inject"].is_object()
    );
    let given = json!({"event": {"toolName": "bash", "input": {"command": secret}, "content": [{"type": "text", "text": secret}], "isError": false}});
    host.result("hook/tool_result", &given);
    let message = json!({"role": "assistant", "stopReason": "stop", "content": [{"type": "text", "text": secret}]});
    host.request("hook/agent_end", &json!({"event": {"messages": [message]}}));
    let mut reminder = String::new();
    while reminder.is_empty() {
        let line = host.receive();
        let actions = [&line["result"]["actions"], &line["params"]["actions"]];
        let actions = actions.into_iter().filter_map(Value::as_array).flatten();
        reminder.extend(actions.filter_map(|action| action["content"].as_str()));
    }
    host.result(
        "hook/before_agent_start",
        &json!({"event": {"prompt": reminder}}),
    );
    let step = json!({"action": "next", "outcome": "found", "summary": secret, "outputs": {"cause": secret, "kind": "bug"}});
    let call = host.request(
        "tool/execute",
        &json!({"name": "workflow_step", "toolCallId": "c", "arguments": step}),
    );
    while host.receive()["method"] != "ui/select" {}
    let answer = json!({"name": "workflow-approve", "arguments": format!("revise {secret}")});
    host.request("command/run", &answer);
    while host.receive()["id"] != call {}
    host.request("session/state", &json!({}));
    host.request(
        "command/complete",
        &json!({"name": "workflow", "prefix": format!("w ticket=\"{secret}\" --si")}),
    );
    host.close_and_hear();
}

#[test]
fn a_redacted_recording_has_nothing_that_people_or_models_say_and_replays() {
    const SECRET: &str = "hunter2-hunter2";
    let ((_directory, file), project) = (recording(), project());
    let mut host = TestHost::over(recorded(&file, &["--record-redact"]));
    said(&mut host, &project, SECRET);
    drop(host);
    let text = fs::read_to_string(&file).unwrap();
    assert!(!text.contains("hunter"), "{text}");
    // The way of the run is there.
    for name in [
        "w --size large ticket=[redacted]",
        "\"outcome\":\"found\"",
        "revise [redacted]",
        "\"kind\":\"bug\"",
    ] {
        assert!(text.contains(name), "{name}\n{text}");
    }
    replays(&file);
}

#[test]
fn no_recording_has_a_secret_with_a_known_shape() {
    let part = "a1B2".repeat(12);
    for secret in [
        "AKIAIOSFODNN7EXAMPLE".to_owned(),
        format!("ghp_{part}"),
        format!("sk-{part}"),
        format!("sk-ant-api03-{part}"),
        format!("xoxb-{part}"),
        format!("AIza{}", &part[..35]),
        format!("sk_live_{part}"),
        format!("npm_{part}"),
        format!("eyJ{part}.eyJ{part}.{part}"),
        format!("-----BEGIN PRIVATE KEY-----\n{part}\n-----END PRIVATE KEY-----"),
        format!("postgres://app:{part}@localhost/db"),
    ] {
        let ((_directory, file), project) = (recording(), project());
        let mut host = TestHost::over(recorded(&file, &[]));
        for line in [
            &*format!("nope {secret}"),
            &format!("[\"{secret}\"]"),
            &format!("{secret}\u{fffd}"),
        ] {
            host.send(line.replace('\n', " "));
            host.receive();
        }
        host.send([secret.replace('\n', " ").as_bytes(), b"\xff"].concat());
        host.receive();
        said(&mut host, &project, &secret);
        drop(host);
        let text = fs::read_to_string(&file).unwrap();
        let known = secret.trim_start_matches("postgres");
        let known = known
            .split(['\n', '/'])
            .max_by_key(|part| part.len())
            .unwrap();
        let known = known.split('@').next().unwrap();
        assert!(!text.contains(known), "{secret}\n{text}");
        assert!(text.contains("[redacted]"));
        replays(&file);
    }
}

#[test]
fn a_replay_compares_what_a_rule_redacted() {
    for more in [&["--record-redact"][..], &[]] {
        let ((_directory, file), project) = (recording(), project());
        let settings = project.path().join(".pi/workflow-sidecar.json5");
        fs::write(settings, "{ results: [{redact: ['hunter[0-9]+']}] }").unwrap();
        let mut host = TestHost::over(recorded(&file, more));
        host.initialize(project.path(), &json!("system"));
        start(&mut host, "");
        let content = json!([{"type": "text", "text": "before hunter2 after"}]);
        let event = json!({"toolName": "bash", "input": {}, "content": content, "isError": false});
        host.result("hook/tool_result", &json!({ "event": event }));
        drop(host);
        replays(&file);
        let text = fs::read_to_string(&file).unwrap();
        let other = text.replace("before [redacted] after", "anything [redacted] at all");
        assert_eq!(text == other, !more.is_empty(), "{text}");
        fs::write(&file, &other).unwrap();
        let replayed = replay(&[&file.display().to_string()]);
        assert_eq!(replayed.is_ok(), text == other, "{replayed:?}");
        // Without the mark in its first line, a redacted recording is compared as any other.
        let unmarked = text.replace(",\"redacted\":true", "");
        fs::write(&file, &unmarked).unwrap();
        let replayed = replay(&[&file.display().to_string()]);
        assert_eq!(replayed.is_ok(), text == unmarked, "{replayed:?}");
    }
}

#[test]
fn a_call_that_would_remove_the_store_is_asked_about_and_replays() {
    let ((_directory, file), project) = (recording(), project());
    let mut host = TestHost::over(recorded(&file, &[]));
    host.initialize(project.path(), &json!("system"));
    start(&mut host, "");
    let input = json!({"command": "rm -rf ~/.local/state"});
    let call = json!({"event": {"toolName": "bash", "toolCallId": "c", "input": input}});
    let asked = host.request("hook/tool_call", &call);
    let question = host.receive();
    assert!(
        question
            .to_string()
            .contains("its store decide which rules"),
        "{question}"
    );
    host.send(json!({"jsonrpc": "2.0", "id": question["id"], "result": false}).to_string());
    while host.receive()["id"] != asked {}
    host.close_and_hear();
    drop(host);
    replays(&file);
}

#[test]
fn what_is_blocked_without_any_rule_replays_without_its_arguments() {
    for more in [&["--record-redact"][..], &[]] {
        let ((_directory, file), project) = (recording(), project());
        let mut host = TestHost::over(recorded(&file, more));
        host.initialize(project.path(), &json!("system"));
        host.result("hook/session_start", &json!({"context": {}}));
        let line = format!("true {}; workflow-sidecar approve", "x".repeat(5000));
        for (line, is_blocked) in [(&*line, true), ("ls", false), (&*line, true)] {
            let call = json!({"event": {"toolName": "bash", "toolCallId": "c", "input": {"command": line}}});
            let answer = host.result("hook/tool_call", &call);
            assert_eq!(answer["block"].is_object(), is_blocked, "{answer}");
        }
        drop(host);
        let text = fs::read_to_string(&file).unwrap();
        assert_eq!(text.contains("xxxx"), more.is_empty(), "{text}");
        replays(&file);
    }
}

#[test]
fn secrets_in_unexpected_fields_are_left_out_and_the_rest_replays() {
    const SECRET: &str = "hunter2-hunter2";
    let ((_directory, file), project) = (recording(), project());
    let mut host = TestHost::over(recorded(&file, &["--record-redact"]));
    host.initialize(project.path(), &json!("system"));
    start(&mut host, "");
    for (method, params) in [
        ("hook/tool_call", json!({"event": SECRET})),
        ("hook/tool_call", json!([SECRET])),
        (
            "hook/tool_result",
            json!({"event": {"toolName": "bash", "isError": SECRET}}),
        ),
        ("hook/tool_result", json!({"event": {"toolName": [SECRET]}})),
        ("hook/agent_end", json!({"event": SECRET})),
        ("hook/agent_end", json!({"event": {"messages": [SECRET]}})),
        ("hook/later", json!({"event": {"input": SECRET}})),
        (
            "hook/session_start",
            json!({"context": {"branch": [SECRET]}}),
        ),
        ("hook/session_start", json!({"context": {"branch": SECRET}})),
        ("hook/session_start", json!({"context": SECRET})),
    ] {
        host.call(method, &params);
    }
    drop(host);
    let text = fs::read_to_string(&file).unwrap();
    assert!(!text.contains("hunter"), "{text}");
    assert!(text.contains("\"out\":\"*\"") && text.contains("methodNotFound"));
    replays(&file);
}

#[test]
fn the_environment_records_any_host_and_what_cannot_be_recorded_costs_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let files = || -> Vec<PathBuf> {
        let entries = fs::read_dir(directory.path()).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    };
    let gone = directory.path().join("gone/r.jsonl");
    for (place, arguments, expected) in [
        (directory.path(), &["serve"][..], 1),
        (directory.path(), &[], 2),
        (Path::new(""), &["serve"], 2),
        (Path::new(""), &[], 2),
        (&gone, &[], 2),
    ] {
        let mut command = Process::command();
        command
            .args(arguments)
            .env("WORKFLOW_SIDECAR_RECORD", place);
        command.env("WORKFLOW_SIDECAR_LOG", "off");
        let mut host = TestHost::over(Process::spawn(&mut command));
        host.initialize_bare();
        drop(host);
        assert_eq!(files().len(), expected, "{}", place.display());
    }
    for file in files() {
        replays(&file);
    }
}

/// Numbers that are the same for the same seed.
fn drawing(seed: u64) -> impl FnMut(usize) -> usize {
    let mut random = seed;
    move |below| {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(random >> 33).unwrap() % below
    }
}

/// The transcript of a simulation replays, and its output has every block.
#[test]
fn what_is_simulated_replays() {
    const COMMANDS: [&str; 20] = [
        "tool edit",
        "tool read {\"path\": \"a\"}",
        "tool workflow_step {\"action\": 7}",
        "next",
        "loop",
        "status",
        "cancel",
        "stop",
        "stop error",
        "stop question",
        "stop aborted",
        "start",
        "say Go on.",
        "wait 2",
        "yes",
        "/workflow w again",
        "/workflow-quick a trifle",
        "/workflow-off 1m",
        "compact",
        "reload",
    ];
    let mut blocks = 0;
    for seed in 1..=6_u64 {
        let ((_directory, file), project) = (recording(), project());
        let mut draw = drawing(seed);
        let script: Vec<&str> = (0..60).map(|_| COMMANDS[draw(COMMANDS.len())]).collect();
        let steps = file.with_extension("steps");
        fs::write(&steps, script.join("\n")).unwrap();
        let settings = "{ withoutRun: { tools: 'read-only', start: 'w' } }";
        fs::write(project.path().join(".pi/workflow-sidecar.json5"), settings).unwrap();
        // Every other one begins without a run.
        let workflow = ["w"].into_iter().take(usize::from(seed % 2 == 0));
        let output = Process::command()
            .arg("simulate")
            .args(workflow)
            .args(["--agent-dir", "none"])
            .arg("--project")
            .arg(project.path())
            .arg("--script")
            .arg(steps)
            .arg("--record")
            .arg(&file)
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert_ne!(output.status.code(), Some(2), "seed {seed}\n{text}");
        drop(project);
        replays(&file);
        let blocked = fs::read_to_string(&file)
            .unwrap()
            .matches("\"block\":")
            .count();
        assert_eq!(text.matches("\n  blocked").count(), blocked, "{text}");
        blocks += blocked;
    }
    assert!(blocks > 0);
}

#[test]
fn a_simulated_baseline_is_recorded_and_replays() {
    let ((_directory, file), project) = (recording(), project());
    fs::write(
        project.path().join(".pi/workflows/w/a.md"),
        "---\nid: a\nname: A\nemoji: a\ngate: [{ file: plan.md, changed: true }]\n---\nDo a.\n",
    )
    .unwrap();
    let script = file.with_extension("steps");
    fs::write(&script, "status\n").unwrap();
    let status = Process::command()
        .args(["simulate", "w", "--agent-dir", "none"])
        .arg("--project")
        .arg(project.path())
        .arg("--script")
        .arg(script)
        .arg("--record")
        .arg(&file)
        .output()
        .unwrap()
        .status;
    assert_eq!(status.code(), Some(0));
    let recorded = fs::read_to_string(&file).unwrap();
    assert!(
        recorded.contains(r#""result":{"baselineTaken":{"baseline":null}}"#),
        "{recorded}"
    );
    replays(&file);
}

/// Sessions of lines drawn at random, with a countdown of no time and one that is waited for.
#[test]
fn whatever_is_said_replays() {
    for seed in 1..=6_u64 {
        let ((_directory, file), project) = (recording(), project());
        fs::write(
            project.path().join(".pi/workflow-sidecar.json5"),
            "{ defaults: { continue: { countdown: 0, max: 'unlimited' } } }",
        )
        .unwrap();
        let more = ["--record-redact"];
        let mut sidecar = recorded(&file, &more[..usize::from(seed % 2 == 0)]);
        let mut draw = drawing(seed);
        let introduction = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1, "host": {"name": "h", "version": "1"}, "cwd": project.path(), "agentDir": "~/nowhere", "capabilities": {"dialogs": true, "widgets": true}}});
        sidecar.send(format!("{introduction}\n").as_bytes());
        for id in 1..120 {
            let session = ["", "a", "b"][draw(3)];
            let (method, params) = match draw(12) {
                0 | 1 => ("hook/session_start", json!({"context": {"branch": []}})),
                2 | 3 => (
                    "command/run",
                    json!({"name": "workflow", "arguments": "w it"}),
                ),
                4 => (
                    "command/run",
                    json!({"name": "cancel-workflow", "arguments": ""}),
                ),
                5 | 6 => (
                    "hook/agent_end",
                    json!({"event": {"messages": [{"role": "assistant", "stopReason": (["stop", "aborted"][draw(2)])}]}}),
                ),
                7 => ("hook/agent_start", json!({})),
                8 => (
                    "tool/execute",
                    json!({"name": "workflow_step", "arguments": {"action": (["next", "status", "cancel"][draw(3)])}}),
                ),
                9 => ("hook/tool_call", json!({"event": {"toolName": "edit"}})),
                10 => ("hook/session_shutdown", json!({})),
                _ => (
                    "command/complete",
                    json!({"name": "workflow", "prefix": ""}),
                ),
            };
            let mut params = params;
            params["sessionId"] = session.into();
            let call = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
            let mut line = format!("{call}\n");
            if draw(4) == 0 {
                let id = format!("s{}", draw(9));
                let answer = json!({"jsonrpc": "2.0", "id": id, "result": draw(2) == 0});
                line = format!("{line}{answer}\n");
            }
            sidecar.send(line.as_bytes());
            if draw(6) == 0 {
                std::thread::sleep(Duration::from_millis(3));
            }
        }
        sidecar.finish();
        let file = file.display().to_string();
        replay(&[&file]).unwrap_or_else(|output| panic!("seed {seed}\n{output}"));
    }
}
