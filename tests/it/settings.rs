//! Settings that break, are mended, or are another project's, in the middle of a session.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::host::TestHost;
use crate::recordings::{recorded, recording};
use crate::transcripts::replay;

const SETTINGS: &str = ".pi/workflow-sidecar.json5";

/// A project with these settings and a workflow `w`.
fn project(settings: Option<&str>) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let workflow = directory.path().join(".pi/workflows/w");
    fs::create_dir_all(&workflow).unwrap();
    let text = json!({
        "name": "W", "commandName": "w", "initialMessage": "Go",
        "phases": [{"id": "a", "name": "A", "emoji": "a", "instructions": "Do a."}],
    });
    fs::write(workflow.join("workflow.json5"), text.to_string()).unwrap();
    if let Some(settings) = settings {
        write(directory.path(), settings);
    }
    directory
}

fn write(project: &Path, settings: &str) {
    fs::write(project.join(SETTINGS), settings).unwrap();
}

/// A host with dialogs in a project, and what its session's start was answered with.
fn begun(project: &Path) -> (TestHost, Value) {
    let mut host = TestHost::in_memory();
    host.initialize(project, &json!({"virtual": {"now": 0, "seed": 0}}));
    let begun = host.start_session();
    (host, begun)
}

/// The reason why a call is blocked, if it is.
fn blocked(host: &mut TestHost, tool: &str) -> Option<String> {
    host.request(
        "hook/tool_call",
        &json!({"event": {"toolName": tool, "input": {"path": "src/main.rs"}}}),
    );
    let mut line = host.receive();
    if line["method"] == "host/apply" {
        line = host.receive();
    }
    let reason = line["result"]["block"]["reason"].as_str()?;
    Some(reason.to_owned())
}

fn start(host: &mut TestHost) -> Value {
    let params = json!({"name": "workflow", "arguments": "w it"});
    host.result("command/run", &params)
}

#[test]
fn settings_that_were_never_read_let_nothing_run_until_they_are_corrected() {
    let project = project(Some("{tools: {"));
    let (mut host, begun) = begun(project.path());
    assert_eq!(begun["guarded"], true);
    assert!(
        begun.to_string().contains("could restrict is blocked"),
        "{begun}"
    );
    let reason = blocked(&mut host, "read").expect("it is blocked");
    assert!(reason.contains(".pi/workflow-sidecar.json5:1"), "{reason}");
    write(project.path(), "{tools: {blacklist: ['bash']}}");
    assert_eq!(blocked(&mut host, "read"), None);
    assert!(blocked(&mut host, "bash").is_some());
}

#[test]
fn the_last_settings_apply_while_the_file_cannot_be_read() {
    let project = project(Some("{tools: {blacklist: ['bash']}}"));
    let (mut host, _) = begun(project.path());
    write(project.path(), "{tools: {");
    let again = host.start_session();
    assert_eq!(again["guarded"], true);
    assert!(
        again
            .to_string()
            .contains("its last readable version applies"),
        "{again}"
    );
    assert!(blocked(&mut host, "bash").is_some());
    assert_eq!(blocked(&mut host, "read"), None);
    start(&mut host);
    assert!(blocked(&mut host, "bash").is_some());
    assert_eq!(blocked(&mut host, "read"), None);
}

#[test]
fn settings_that_are_no_file_are_closed_and_absent_ones_are_absent() {
    let directory = project(None);
    fs::create_dir(directory.path().join(SETTINGS)).unwrap();
    let (mut host, _) = begun(directory.path());
    assert!(blocked(&mut host, "read").unwrap().contains("regular file"));
    let linked = project(None);
    std::os::unix::fs::symlink("nowhere", linked.path().join(SETTINGS)).unwrap();
    let (mut host, _) = begun(linked.path());
    assert!(
        blocked(&mut host, "read")
            .unwrap()
            .contains("leads nowhere")
    );
    let without = project(None);
    let (mut host, begun) = begun(without.path());
    assert_eq!(begun["guarded"], Value::Null);
    assert_eq!(blocked(&mut host, "read"), None);
}

#[test]
fn the_answer_to_a_command_says_when_the_settings_guard_and_when_no_more() {
    let project = project(None);
    let (mut host, _) = begun(project.path());
    assert_eq!(start(&mut host)["guarded"], Value::Null);
    write(project.path(), "{tools: {blacklist: ['bash']}}");
    // The second start asks first.
    host.request(
        "command/run",
        &json!({"name": "workflow", "arguments": "w it"}),
    );
    let question = host.receive();
    host.send(json!({"jsonrpc": "2.0", "id": question["id"], "result": true}).to_string());
    assert_eq!(host.receive()["result"]["guarded"], true);
    fs::remove_file(project.path().join(SETTINGS)).unwrap();
    host.result("command/run", &json!({"name": "cancel-workflow"}));
    assert_eq!(start(&mut host)["guarded"], false);
}

#[test]
fn trust_that_comes_or_goes_changes_what_is_read() {
    let project = project(Some("{tools: {blacklist: ['bash']}}"));
    let (mut host, _) = begun(project.path());
    for (trusted, expected) in [(false, false), (true, true)] {
        let params = json!({"context": {"projectTrusted": trusted}});
        assert_eq!(
            host.result("hook/agent_start", &params)["guarded"],
            expected
        );
        assert_eq!(blocked(&mut host, "bash").is_some(), expected, "{trusted}");
    }
}

#[test]
fn a_start_watches_the_triggers_as_the_settings_name_them_now() {
    let project = project(None);
    let (mut host, _) = begun(project.path());
    write(
        project.path(),
        "{triggers: [{file: 'in.txt', prompt: 'It says {content}'}]}",
    );
    host.request(
        "command/run",
        &json!({"name": "workflow", "arguments": "w it"}),
    );
    let first = host.receive();
    assert_eq!(
        first["params"]["title"], "Watch the triggers of this project?",
        "{first}"
    );
    let answer = json!({"jsonrpc": "2.0", "id": first["id"], "result": false});
    host.receive();
    host.send(answer.to_string());
    host.receive();
}

#[test]
fn settings_that_are_corrected_between_two_calls_are_so_in_a_recording() {
    let ((_directory, file), project) = (recording(), project(Some("{tools: {")));
    let mut host = TestHost::over(recorded(&file, &[]));
    host.initialize(project.path(), &json!("system"));
    host.start_session();
    assert!(blocked(&mut host, "read").is_some());
    write(project.path(), "{tools: {blacklist: ['bash']}}");
    assert_eq!(blocked(&mut host, "read"), None);
    assert!(blocked(&mut host, "bash").is_some());
    drop(host);
    let output = replay(&[&file.display().to_string()]);
    assert_eq!(
        output.as_deref(),
        Ok("1 transcript replayed, no differences\n")
    );
}
