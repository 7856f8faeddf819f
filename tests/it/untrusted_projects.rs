//! Projects that the host does not trust: their files are not read, and their commands never run.

use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::host::TestHost;

/// A project with a gate that runs a command in workflow `w`, and settings that block a tool.
fn project() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let pi = directory.path().join(".pi");
    std::fs::create_dir_all(pi.join("workflows/w")).unwrap();
    let workflow = json!({
        "name": "W", "commandName": "w", "initialMessage": "Go",
        "phases": [{"id": "a", "name": "A", "emoji": "a", "gate": [{"run": ["touch", "ran"]}], "instructions": "Do a."}],
    });
    std::fs::write(pi.join("workflows/w/workflow.json5"), workflow.to_string()).unwrap();
    let settings = r#"{tools: {rules: [{block: "edit"}]}}"#;
    std::fs::write(pi.join("workflow-sidecar.json5"), settings).unwrap();
    directory
}

/// A host that can or cannot ask.
fn host(cwd: &Path, dialogs: bool) -> TestHost {
    let mut host = TestHost::in_memory();
    let params = json!({
        "protocolVersion": 1, "host": {"name": "test", "version": "0"}, "cwd": cwd, "agentDir": cwd.join("agent"),
        "capabilities": {"dialogs": dialogs}, "clock": {"virtual": {"now": 0}},
    });
    host.result("initialize", &params);
    host
}

fn session(host: &mut TestHost, branch: &Value, trusted: Option<bool>) -> Value {
    let context = json!({"branch": branch, "projectTrusted": trusted});
    host.result("hook/session_start", &json!({"context": context}))
}

fn next(host: &mut TestHost) -> Value {
    let params =
        json!({"name": "workflow_step", "toolCallId": "1", "arguments": {"action": "next"}});
    host.result("tool/execute", &params)
}

/// The entries that a start of `w` leaves.
fn entries_of(result: &Value) -> Value {
    let actions = result["actions"].as_array().unwrap().iter();
    actions
        .filter(|action| action["type"] == "appendEntry")
        .map(|action| json!({"type": "custom", "customType": action["customType"], "data": action["data"]}))
        .collect()
}

#[test]
fn a_command_that_needs_consent_is_answered_at_once_without_dialogs() {
    let directory = project();
    let mut host = host(directory.path(), false);
    session(&mut host, &json!([]), None);
    let start = json!({"name": "workflow", "arguments": "w it"});
    let started = host.result("command/run", &start);
    let notice = started["actions"].to_string();
    assert!(notice.contains("trust them with `workflow-sidecar trust` in a terminal"));
    let answer = next(&mut host);
    let text = answer["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("not trusted"), "{text}");
    assert!(!directory.path().join("ran").exists());
}

#[test]
fn a_project_that_is_not_trusted_has_no_workflows_and_no_rules() {
    let directory = project();
    for (trusted, expected) in [(None, 1), (Some(true), 1), (Some(false), 0)] {
        let mut host = host(directory.path(), true);
        let begun = session(&mut host, &json!([]), trusted);
        assert_eq!(begun["guarded"] == true, expected == 1, "{trusted:?}");
        let listed = host.result("workflow/list", &json!({}));
        assert_eq!(
            listed["workflows"].as_array().unwrap().len(),
            expected,
            "{trusted:?}"
        );
    }
}

#[test]
fn the_commands_of_a_run_from_a_project_that_is_not_trusted_any_more_are_not_even_asked_about() {
    let directory = project();
    let mut host = host(directory.path(), true);
    session(&mut host, &json!([]), Some(true));
    let (_, started) = host.start_without_trust(Some(true));
    let branch = entries_of(&started);
    session(&mut host, &branch, Some(false));
    let answer = next(&mut host);
    let text = answer["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("does not trust"), "{text}");
    assert!(!directory.path().join("ran").exists());
}
