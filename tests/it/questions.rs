//! Questions to the host whose answers come late, twice, or never.

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::host::TestHost;

/// A project with one workflow, `w`.
pub(crate) fn project() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let workflow = directory.path().join(".pi/workflows/w");
    std::fs::create_dir_all(&workflow).unwrap();
    let write = |name: &str, text: &str| std::fs::write(workflow.join(name), text).unwrap();
    write(
        "workflow.yaml",
        "name: W\ncommandName: w\ninitialMessage: Go\nphases: [a.md, b.md]\n",
    );
    write(
        "a.md",
        "---\nid: a\nname: A\nemoji: 🅰\ntools: { blacklist: [edit] }\n---\nDo a.\n",
    );
    write("b.md", "---\nid: b\nname: B\nemoji: 🅱\n---\nDo b.\n");
    directory
}

/// Starts `w` in a session.
pub(crate) fn start(host: &mut TestHost, session: &str) {
    let params = json!({"sessionId": session, "context": {"branch": []}});
    host.result("hook/session_start", &params);
    run(host, session, "w it");
}

fn run(host: &mut TestHost, session: &str, arguments: &str) -> Value {
    let params = json!({"sessionId": session, "name": "workflow", "arguments": arguments});
    host.result("command/run", &params)
}

/// Asks for a second start, gives the ids of the request that waits and of the question.
fn ask(host: &mut TestHost, session: &str) -> (u64, String) {
    let params = json!({"sessionId": session, "name": "workflow", "arguments": "w again"});
    let request = host.request("command/run", &params);
    let question = host.receive();
    assert_eq!(question["method"], "ui/confirm");
    (request, question["id"].as_str().unwrap().to_owned())
}

fn answer(host: &mut TestHost, id: &str, result: &Value) {
    host.send(json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string());
}

#[test]
fn everything_else_is_answered_while_a_person_thinks() {
    let directory = project();
    for mut host in [TestHost::over_pipes(), TestHost::in_memory()] {
        host.initialize(directory.path(), &json!({"virtual": {"now": 0}}));
        start(&mut host, "a");
        start(&mut host, "b");
        let (request, question) = ask(&mut host, "a");
        for session in ["a", "b"] {
            let params = json!({"sessionId": session, "event": {"toolName": "edit"}});
            let blocked = host.result("hook/tool_call", &params);
            assert_eq!(blocked["block"]["kind"], "policy");
        }
        host.result("workflow/list", &json!({}));
        answer(&mut host, &question, &json!(true));
        let answer = host.receive();
        assert_eq!(answer["id"], request);
        assert_eq!(
            answer["result"]["actions"][0]["data"]["taskDescription"],
            "again"
        );
    }
}

#[test]
fn two_questions_are_answered_in_any_order() {
    let directory = project();
    let mut host = TestHost::in_memory();
    host.initialize(directory.path(), &json!({"virtual": {"now": 0}}));
    start(&mut host, "a");
    start(&mut host, "b");
    let (first, first_question) = ask(&mut host, "a");
    let (second, second_question) = ask(&mut host, "b");
    let (third, third_question) = ask(&mut host, "a");
    for (question, request, confirmed) in [
        (second_question, second, true),
        (third_question, third, false),
        (first_question, first, true),
    ] {
        answer(&mut host, &question, &json!(confirmed));
        let answer = host.receive();
        assert_eq!(answer["id"], request);
        assert_eq!(answer["result"].get("actions").is_some(), confirmed);
    }
}

#[test]
fn late_and_second_answers_are_dropped_and_end_nothing() {
    let directory = project();
    for mut host in [TestHost::over_pipes(), TestHost::in_memory()] {
        host.initialize(directory.path(), &json!({"virtual": {"now": 0}}));
        start(&mut host, "a");
        let (request, question) = ask(&mut host, "a");
        answer(&mut host, &question, &json!(false));
        assert_eq!(host.receive()["id"], request);
        for late in [json!(true), json!(false), json!({"odd": 1}), Value::Null] {
            answer(&mut host, &question, &late);
        }
        host.send(r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"odd"}}"#);
        host.send(r#"{"jsonrpc":"2.0","id":"s99","result":true}"#);
        let state = host.result("session/state", &json!({"sessionId": "a"}));
        assert_eq!(state["taskDescription"], "it");
    }
}

#[test]
fn a_session_that_ends_lets_go_of_its_question() {
    let directory = project();
    let mut host = TestHost::in_memory();
    host.initialize(directory.path(), &json!({"virtual": {"now": 0}}));
    start(&mut host, "a");
    let (request, question) = ask(&mut host, "a");
    let end = host.request("hook/session_shutdown", &json!({"sessionId": "a"}));
    assert_eq!(host.receive()["id"], request);
    assert_eq!(host.receive()["id"], end);
    start(&mut host, "a");
    answer(&mut host, &question, &json!(true));
    let state = host.result("session/state", &json!({"sessionId": "a"}));
    assert_eq!(state["taskDescription"], "it");
}
