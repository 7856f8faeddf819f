//! No message of the sidecar acts on a terminal or deceives its reader: hidden characters arrive as visible escapes.
//!
//! The check runs over every message that any test of this suite receives, and over all transcripts.

use std::fs;

use serde_json::{Value, json};
use workflow_core::diagnostic::visible_lines;

use crate::host::TestHost;
use crate::transcripts::transcripts;

/// Fails if a string of a message contains a hidden character, except where programs read it.
#[track_caller]
pub(crate) fn check(message: &Value) {
    let mut path = Vec::new();
    check_value(message, &mut path);
}

#[track_caller]
fn check_value<'v>(value: &'v Value, path: &mut Vec<&'v str>) {
    let as_it_is = [
        &["id"][..],
        &["params", "sessionId"],
        &["result", "actions", "*", "data"],
        &["params", "actions", "*", "data"],
        &["result", "mutation", "content"],
    ];
    if as_it_is.contains(&&**path) {
        return;
    }
    match value {
        Value::String(text) => assert_eq!(visible_lines(text), *text, "{path:?}"),
        Value::Array(items) => {
            path.push("*");
            for item in items {
                check_value(item, path);
            }
            path.pop();
        }
        Value::Object(members) => {
            for (name, member) in members {
                path.push(name);
                check_value(member, path);
                path.pop();
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[test]
fn no_transcript_has_hidden_characters_in_a_message() {
    for path in transcripts() {
        for line in fs::read_to_string(&path).unwrap().lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            check(&line["out"]);
        }
    }
}

/// Clears the screen, rings, sets the clipboard, turns the text around, hides tags.
const HOSTILE: &str =
    "\u{1b}[2J\u{7}\u{1b}]52;c;eA==\u{7}\u{9b}1m\u{202e}\u{2066}\u{200b}\u{e0041}";
const SHOWN: &str = r"\u{1b}[2J\u{7}\u{1b}]52;c;eA==\u{7}\u{9b}1m\u{202e}\u{2066}\u{200b}\u{e0041}";

/// The same without the signs that no name of a tool has.
const HOSTILE_NAME: &str = "\u{1b}\u{7}\u{9b}1m\u{202e}\u{2066}\u{200b}\u{e0041}";

/// Receives messages until the answer of a request, and answers questions: the last option, or no.
fn finish(host: &mut TestHost, id: u64, received: &mut Vec<Value>) -> Value {
    loop {
        let message = host.receive();
        received.push(message.clone());
        if message["id"] == id {
            return message;
        }
        if message.get("method").is_some() && message.get("id").is_some() {
            let options = message["params"]["options"].as_array();
            let answer = options.map_or(json!(false), |options| options[options.len() - 1].clone());
            host.send(json!({"jsonrpc": "2.0", "id": message["id"], "result": answer}).to_string());
        }
    }
}

/// A workflow with hidden characters in every text.
fn hostile_workflow() -> Value {
    json!({
        "name": format!("N{HOSTILE}"),
        "commandName": "f",
        "initialMessage": format!("Go {{description}}{HOSTILE}"),
        "sessionNamePrefix": format!("P{HOSTILE}"),
        "completionMessage": format!("C{HOSTILE}"),
        "notDoneReminder": format!("R{HOSTILE}"),
        "blockReasonTemplate": format!("B{HOSTILE}"),
        "phases": [
            {
                "id": "a", "name": format!("A{HOSTILE}"), "emoji": format!("E{HOSTILE}"), "instructions": format!("I{HOSTILE}"),
                "tools": {"rules": [{"ask": "write", "reason": format!("W{HOSTILE}")}, {"block": "edit", "reason": HOSTILE}], "blacklist": [HOSTILE_NAME]},
                "approve": {"ask": format!("Q{HOSTILE}"), "choices": [format!("yes{HOSTILE}"), format!("no{HOSTILE}")], "show": "plan.md"},
                "gate": [{"file": format!("x{HOSTILE}")}],
            },
            {"id": "b", "name": format!("B{HOSTILE}"), "emoji": "b", "instructions": "I",
             "approve": {"ask": format!("Q{HOSTILE}"), "choices": [format!("yes{HOSTILE}"), format!("no{HOSTILE}")], "show": "plan.md"}},
        ],
    })
}

#[test]
fn a_hostile_definition_prints_nothing_raw_anywhere() {
    let root = tempfile::tempdir().unwrap();
    let project = root.path();
    let key = format!("f{}", "\u{202e}");
    let directory = project.join(".pi/workflows").join(&key);
    fs::create_dir_all(&directory).unwrap();
    let workflow = hostile_workflow();
    fs::write(directory.join("workflow.json5"), workflow.to_string()).unwrap();
    let settings =
        json!({"triggers": [{"file": format!("in{HOSTILE}.txt")}], "unknown\u{1b}key": 1});
    fs::write(
        project.join(".pi/workflow-sidecar.json5"),
        settings.to_string(),
    )
    .unwrap();
    fs::write(project.join("plan.md"), HOSTILE).unwrap();

    let mut host = TestHost::over_pipes();
    host.initialize(project, &json!({"virtual": {"now": 0, "seed": 7}}));
    let mut received = Vec::new();
    let tool = |name: &str, input: Value| json!({"event": {"type": "tool_call", "toolName": name, "toolCallId": "c", "input": input}});
    let step = |action: &str| json!({"name": "workflow_step", "toolCallId": "t", "arguments": {"action": action}});
    let loosened = workflow.to_string().replace("\"gate\"", "\"available\"");
    let calls = [
        (
            "hook/session_start",
            json!({"context": {"branch": [], "hasUI": true}}),
        ),
        (
            "command/complete",
            json!({"name": "workflow", "prefix": ""}),
        ),
        ("workflow/list", json!({})),
        (
            "command/run",
            json!({"name": "workflow", "arguments": format!("nothing{HOSTILE}")}),
        ),
        (
            "command/run",
            json!({"name": "workflow", "arguments": format!("f the task{HOSTILE}")}),
        ),
        (
            "command/run",
            json!({"name": "workflow", "arguments": "f another"}),
        ),
        (
            "hook/before_agent_start",
            json!({"event": {"prompt": "go"}}),
        ),
        (
            "hook/tool_call",
            tool("write", json!({"path": format!("x{HOSTILE}")})),
        ),
        ("hook/tool_call", tool("edit", json!({"path": "x"}))),
        ("hook/tool_call", tool(HOSTILE_NAME, json!({}))),
        ("tool/execute", step("status")),
        ("tool/execute", step("next")),
        ("tool/execute", step(HOSTILE)),
        ("session/state", json!({})),
        ("hook/agent_end", json!({"event": {"messages": []}})),
        (HOSTILE, json!({})),
    ];
    for (method, params) in calls {
        let id = host.request(method, &params);
        finish(&mut host, id, &mut received);
    }
    fs::write(directory.join("workflow.json5"), loosened).unwrap();
    for _ in 0..4 {
        let id = host.request("clock/advance", &json!({"ms": 4000}));
        finish(&mut host, id, &mut received);
    }
    let id = host.request(
        "command/run",
        &json!({"name": "cancel-workflow", "arguments": ""}),
    );
    finish(&mut host, id, &mut received);
    for message in &received {
        check(message);
    }
    // The text is shown, not removed.
    let all = Value::Array(received).to_string();
    for shown in ["N", "A", "E", "W", "P", "I", "R", "Go the task"] {
        let expected = Value::String(format!("{shown}{SHOWN}")).to_string();
        assert!(
            all.contains(expected.trim_matches('"')),
            "{shown} is not shown"
        );
    }
    host.close_and_hear();
}

#[test]
fn an_option_with_hidden_characters_can_be_chosen_as_it_is_shown() {
    let root = tempfile::tempdir().unwrap();
    let directory = root.path().join(".pi/workflows/f");
    fs::create_dir_all(&directory).unwrap();
    let workflow = json!({
        "name": "F", "commandName": "f", "initialMessage": "Go",
        "phases": [
            {"id": "a", "name": "A", "emoji": "a", "instructions": "I",
             "approve": {"ask": "Sure?", "choices": ["yes\u{1b}", "no"], "show": "plan.md"}},
            {"id": "b", "name": "B", "emoji": "b", "instructions": "I"},
        ],
    });
    fs::write(directory.join("workflow.json5"), workflow.to_string()).unwrap();
    fs::write(root.path().join("plan.md"), "a\u{1b}[2Jb").unwrap();
    let mut host = TestHost::in_memory();
    host.initialize(root.path(), &json!({"virtual": {"now": 0, "seed": 7}}));
    host.start_session();
    host.result(
        "command/run",
        &json!({"name": "workflow", "arguments": "f x"}),
    );
    let step = json!({"name": "workflow_step", "toolCallId": "t", "arguments": {"action": "next"}});
    let id = host.request("tool/execute", &step);
    let question = loop {
        let message = host.receive();
        if message["method"] == "ui/select" {
            break message;
        }
    };
    assert_eq!(question["params"]["options"][0], r"yes\u{1b}");
    let title = question["params"]["title"].as_str().unwrap();
    assert!(
        title.contains(r"a\u{1b}[2Jb"),
        "what an approval shows is shown, not cut: {title}"
    );
    host.send(json!({"jsonrpc": "2.0", "id": question["id"], "result": r"yes\u{1b}"}).to_string());
    let answer = loop {
        let message = host.receive();
        if message["id"] == id {
            break message;
        }
    };
    assert_eq!(answer["result"]["details"]["advanced"], true, "{answer}");
    host.close_and_hear();
}
