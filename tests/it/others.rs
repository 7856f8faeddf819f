//! What is wrong with workflows that no run reaches: told once they have been read.

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::host::TestHost;

fn write(project: &Path, key: &str, text: &str) {
    let workflow = project.join(".pi/workflows").join(key);
    fs::create_dir_all(&workflow).unwrap();
    fs::write(workflow.join("workflow.yaml"), text).unwrap();
}

/// A workflow of one phase that blocks `edit`.
fn sound(key: &str) -> String {
    format!(
        "name: W\ncommandName: {key}\ninitialMessage: Go\nphases:\n  - {{id: a, name: A, emoji: a, instructions: Do it., tools: {{blacklist: [edit]}}}}\n"
    )
}

/// A project with a workflow that is sound, one with an error, and one with a warning.
fn project() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path(), "w", &sound("w"));
    write(directory.path(), "broken", "phases: [");
    write(
        directory.path(),
        "odd",
        &format!("nam: x\n{}", sound("odd")),
    );
    directory
}

/// A host over pipes, whose time is the system's.
fn host_in(project: &Path) -> TestHost {
    let mut host = TestHost::over_pipes();
    host.initialize(project, &json!("system"));
    host
}

fn codes(told: &Value) -> Vec<&str> {
    let told = told.as_array().map(Vec::as_slice).unwrap_or_default();
    told.iter()
        .map(|found| found["code"].as_str().unwrap())
        .collect()
}

/// The codes of all that a session's start says where nothing is left for later.
fn all_at_once(project: &Path) -> Vec<String> {
    let mut host = TestHost::in_memory();
    host.initialize(project, &json!({"virtual": {"now": 0}}));
    let begun = host.start_session();
    codes(&begun["diagnostics"])
        .iter()
        .map(|&code| code.to_owned())
        .collect()
}

/// The parameters of what comes next, which is no answer.
fn applied(host: &mut TestHost) -> Value {
    let mut message = host.receive();
    assert_eq!(message["method"], "host/apply", "{message}");
    message["params"].take()
}

fn notes(actions: &Value) -> Vec<&str> {
    let actions = actions.as_array().unwrap().iter();
    let notes = actions.filter(|action| action["type"] == "notify");
    notes
        .map(|action| action["message"].as_str().unwrap())
        .collect()
}

#[test]
fn what_is_wrong_with_others_is_told_once_they_are_read_and_once_only() {
    let project = project();
    let mut host = host_in(project.path());
    let begun = host.start_session();
    assert_eq!(codes(&begun["diagnostics"]), [""; 0]);
    let later = applied(&mut host);
    assert_eq!(later["sessionId"], "");
    let all = all_at_once(project.path());
    assert_eq!(codes(&later["diagnostics"]), all);
    assert_eq!(all.len(), 2);
    let notes = notes(&later["actions"]);
    assert!(notes.len() == 1 && notes[0].contains("broken"), "{notes:?}");
    // The person was told; the host asks anew.
    host.start_session();
    let again = applied(&mut host);
    assert_eq!(again["actions"], json!([]));
    assert_eq!(codes(&again["diagnostics"]), all);
    assert_eq!(host.receive_within(Duration::from_millis(300)), None);
}

#[test]
fn what_is_wrong_with_what_the_run_reaches_and_with_settings_is_told_at_once() {
    let project = project();
    fs::write(
        project.path().join(".pi/workflow-sidecar.json5"),
        "{nam: 1}",
    )
    .unwrap();
    let mut host = host_in(project.path());
    assert_eq!(codes(&host.start_session()["diagnostics"]).len(), 1);
    applied(&mut host);
    let begun = host.result(
        "command/run",
        &json!({"name": "workflow", "arguments": "odd it"}),
    );
    let entries: Vec<&Value> = begun["actions"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|action| action["type"] == "appendEntry")
        .collect();
    let branch: Vec<Value> = entries
        .iter()
        .map(|entry| json!({"type": "custom", "customType": entry["customType"], "data": entry["data"]}))
        .collect();
    let restart = json!({"context": {"branch": branch}});
    let begun = host.result("hook/session_start", &restart);
    assert_eq!(codes(&begun["diagnostics"]).len(), 2, "{begun}");
    assert_eq!(codes(&applied(&mut host)["diagnostics"]).len(), 1);
    // Without its files the run goes on, and nothing is left for later.
    fs::remove_dir_all(project.path().join(".pi/workflows/odd")).unwrap();
    let begun = host.result("hook/session_start", &restart);
    assert!(codes(&begun["diagnostics"]).contains(&"WF103"), "{begun}");
    let blocked = host.result("hook/tool_call", &json!({"event": {"toolName": "edit"}}));
    assert_eq!(blocked["block"]["kind"], "policy");
    assert_eq!(host.receive_within(Duration::from_millis(300)), None);
}

#[test]
fn a_session_that_ends_at_once_waits_for_no_others() {
    let project = project();
    for end in ["hook/session_shutdown", "shutdown"] {
        let mut host = host_in(project.path());
        host.start_session();
        let ending = host.request(end, &json!({}));
        assert_eq!(host.receive()["id"], ending, "{end}");
        assert_eq!(host.receive_within(Duration::from_millis(300)), None);
    }
    let mut host = host_in(project.path());
    host.start_session();
    assert_eq!(host.close_and_hear(), [""; 0]);
}

#[test]
fn who_asks_for_all_has_all_before_they_are_read_for_what_is_wrong() {
    let project = project();
    let mut host = host_in(project.path());
    host.start_session();
    let listed = host.result("workflow/list", &json!({}));
    assert_eq!(listed["workflows"].as_array().unwrap().len(), 2);
    assert_eq!(codes(&listed["diagnostics"]).len(), 2);
    let completed = host.result(
        "command/complete",
        &json!({"name": "workflow", "prefix": "o"}),
    );
    assert_eq!(completed["items"].as_array().unwrap().len(), 1);
    host.result(
        "command/run",
        &json!({"name": "workflow", "arguments": "w it"}),
    );
    let blocked = host.result("hook/tool_call", &json!({"event": {"toolName": "edit"}}));
    assert_eq!(blocked["block"]["kind"], "policy");
    assert_eq!(codes(&applied(&mut host)["diagnostics"]).len(), 2);
}

#[test]
fn calls_are_answered_while_others_are_read() {
    let project = project();
    for at in 0..1000 {
        write(project.path(), &format!("w{at}"), &sound(&format!("w{at}")));
    }
    let mut host = host_in(project.path());
    host.start_session();
    // They are being read by now.
    assert_eq!(host.receive_within(Duration::from_millis(150)), None);
    for _ in 0..100 {
        host.result("hook/tool_call", &json!({"event": {"toolName": "edit"}}));
    }
    assert_eq!(codes(&applied(&mut host)["diagnostics"]).len(), 2);
}

#[test]
fn a_session_that_begins_anew_amid_it_is_told_once() {
    let project = project();
    let mut host = host_in(project.path());
    for _ in 0..5 {
        host.start_session();
    }
    assert_eq!(codes(&applied(&mut host)["diagnostics"]).len(), 2);
    assert_eq!(host.receive_within(Duration::from_millis(300)), None);
}

#[test]
fn nothing_follows_where_nothing_is_wrong() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path(), "w", &sound("w"));
    let mut host = host_in(directory.path());
    host.start_session();
    assert_eq!(host.receive_within(Duration::from_millis(400)), None);
}
