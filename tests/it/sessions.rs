//! Many sessions in one process, each alone.

use serde_json::json;

use crate::host::{TestHost, kind_of};
use crate::questions::{project, start};

#[test]
fn each_of_many_sessions_is_where_its_own_calls_brought_it() {
    let directory = project();
    let mut host = TestHost::over_pipes();
    host.initialize(directory.path(), &json!({"virtual": {"now": 0}}));
    let sessions: Vec<String> = (0..50).map(|n| format!("session {n} é")).collect();
    for session in &sessions {
        start(&mut host, session);
    }
    let next = |session: &str| json!({"sessionId": session, "name": "workflow_step", "arguments": {"action": "next"}});
    for session in sessions.iter().step_by(2) {
        host.result("tool/execute", &next(session));
    }
    let mut tasks = std::collections::BTreeSet::new();
    for (at, session) in sessions.iter().enumerate() {
        let state = host.result("session/state", &json!({"sessionId": session}));
        assert_eq!(state["phase"]["id"], if at % 2 == 0 { "b" } else { "a" });
        tasks.insert(state["taskId"].as_str().unwrap().to_owned());
        let call = json!({"sessionId": session, "event": {"toolName": "edit"}});
        let blocked = host.result("hook/tool_call", &call).get("block").is_some();
        assert_eq!(blocked, at % 2 == 1);
    }
    assert_eq!(tasks.len(), sessions.len(), "task ids differ");
}

#[test]
fn a_session_has_the_workflows_of_its_own_directory() {
    let (directory, other) = (project(), tempfile::tempdir().unwrap());
    let mut host = TestHost::in_memory();
    host.initialize(other.path(), &json!({"virtual": {"now": 0}}));
    let here = json!({"sessionId": "here", "context": {"cwd": directory.path(), "branch": []}});
    host.result("hook/session_start", &here);
    host.result(
        "hook/session_start",
        &json!({"sessionId": "there", "context": {"branch": []}}),
    );
    for (session, count) in [("here", 1), ("there", 0), ("unknown", 0)] {
        let listed = host.result("workflow/list", &json!({"sessionId": session}));
        assert_eq!(
            listed["workflows"].as_array().unwrap().len(),
            count,
            "{session}"
        );
    }
}

#[test]
fn rules_on_paths_follow_a_session_to_another_directory() {
    let (directory, other) = (project(), tempfile::tempdir().unwrap());
    let agent = directory.path().join("agent");
    std::fs::create_dir_all(&agent).unwrap();
    let settings = r#"{tools: {rules: [{block: ["write"], path: "src/**"}]}}"#;
    std::fs::write(agent.join("workflow-sidecar.json5"), settings).unwrap();
    let mut host = TestHost::in_memory();
    host.initialize(directory.path(), &json!({"virtual": {"now": 0}}));
    start(&mut host, "s");
    let mut is_blocked = |cwd: &std::path::Path, path: &std::path::Path| {
        let event = json!({"toolName": "write", "input": {"path": path}});
        let call = json!({"sessionId": "s", "context": {"cwd": cwd}, "event": event});
        host.result("hook/tool_call", &call).get("block").is_some()
    };
    for cwd in [directory.path(), other.path(), directory.path()] {
        for root in [directory.path(), other.path()] {
            assert_eq!(is_blocked(cwd, &root.join("src/x")), cwd == root);
        }
        assert!(is_blocked(cwd, std::path::Path::new("src/x")));
    }
}

#[test]
fn so_many_sessions_are_open_and_one_that_ends_makes_room() {
    const MOST: usize = 4096;
    let mut host = TestHost::in_memory();
    host.initialize_bare();
    let session =
        |number: usize| json!({"sessionId": number.to_string(), "context": {"branch": []}});
    for number in 0..MOST {
        host.result("hook/session_start", &session(number));
    }
    let refused = host.call("hook/session_start", &session(MOST));
    assert_eq!(kind_of(&refused), "tooManySessions");
    let cure = refused["error"]["message"].as_str().unwrap();
    assert!(cure.contains("hook/session_shutdown"), "{cure}");
    // One that is open already may begin anew.
    host.result("hook/session_start", &session(0));
    host.result("hook/session_shutdown", &json!({"sessionId": "1"}));
    host.result("hook/session_start", &session(MOST));
}

#[test]
fn the_runs_of_a_host_are_listed_with_their_state() {
    let directory = project();
    let mut host = TestHost::over_pipes();
    host.initialize(directory.path(), &json!("system"));
    start(&mut host, "s");
    let next = json!({"sessionId": "s", "name": "workflow_step", "arguments": {"action": "next"}});
    host.result("tool/execute", &next);
    host.close_and_hear();
    let mut runs = crate::connection::Process::command();
    runs.args(["runs", "--format", "json", "--agent-dir"]);
    runs.arg(directory.path().join("agent"));
    let output = runs.output().unwrap();
    let listed: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(listed.as_array().unwrap().len(), 1, "{listed}");
    for (name, value) in [
        ("host", "test"),
        ("workflow", "w"),
        ("phase", "B"),
        ("state", "closed"),
        ("task", "it"),
    ] {
        assert_eq!(listed[0][name], value, "{listed}");
    }
}

#[test]
fn a_relative_directory_of_a_host_is_listed_absolutely() {
    let directory = project();
    let mut command = crate::connection::Process::command();
    command.arg("serve").current_dir(directory.path());
    let mut host = TestHost::over(crate::connection::Process::spawn(&mut command));
    let params = json!({
        "protocolVersion": 1,
        "host": {"name": "test", "version": "0"},
        "cwd": ".",
        "agentDir": directory.path().join("agent"),
        "capabilities": {},
    });
    host.result("initialize", &params);
    start(&mut host, "s");
    host.close_and_hear();
    let mut runs = crate::connection::Process::command();
    runs.args(["runs", "--format", "json", "--agent-dir"]);
    runs.arg(directory.path().join("agent"));
    let output = runs.output().unwrap();
    let listed: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let listed = std::path::Path::new(listed[0]["cwd"].as_str().unwrap());
    assert_eq!(listed, directory.path().canonicalize().unwrap());
}

#[test]
fn what_lifts_the_rules_without_a_run_goes_on_in_a_resumed_session_only() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir(directory.path().join(".pi")).unwrap();
    let settings = "{withoutRun: {tools: 'read-only'}}";
    std::fs::write(
        directory.path().join(".pi/workflow-sidecar.json5"),
        settings,
    )
    .unwrap();
    let lifted = json!({"type": "custom", "customType": "workflow:door", "data": {"version": 1, "offUntil": 9_000_000}});
    for (reason, is_lifted) in [
        ("reload", true),
        ("startup", false),
        ("resume", true),
        ("new", false),
        ("fork", false),
    ] {
        let mut host = TestHost::in_memory();
        let params = json!({
            "protocolVersion": 1, "host": {"name": "test", "version": "0"}, "cwd": directory.path(),
            "agentDir": directory.path().join("agent"), "capabilities": {}, "clock": {"virtual": {"now": 0}},
        });
        host.result("initialize", &params);
        let start = json!({"event": {"reason": reason}, "context": {"branch": [lifted]}});
        let started = host.result("hook/session_start", &start);
        assert_eq!(
            started["actions"].to_string().contains("workflow:door"),
            !is_lifted,
            "{reason}"
        );
        let call = json!({"event": {"toolName": "write", "toolCallId": "1", "input": {"path": "a", "content": "x"}}});
        let decided = host.result("hook/tool_call", &call);
        assert_eq!(decided["block"].is_null(), is_lifted, "{reason}: {decided}");
    }
}
