//! Leaving a phase with the real binary: gates, trust and approval.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::connection::Process;
use crate::host::TestHost;
#[cfg(target_os = "linux")]
use crate::terminal::Terminal;

const DEADLINE: Duration = Duration::from_secs(20);

/// Writes a workflow of two phases, the first of which has these keys.
fn write_workflow(workflows: &Path, keys: &str) {
    let workflow = workflows.join("w");
    fs::create_dir_all(&workflow).unwrap();
    let write = |name: &str, text: &str| fs::write(workflow.join(name), text).unwrap();
    write(
        "workflow.yaml",
        "name: W\ncommandName: w\ninitialMessage: Go\nphases: [a.md, b.md]\n",
    );
    write(
        "a.md",
        &format!("---\nid: a\nname: A\nemoji: 🅰\n{keys}\n---\nDo a.\n"),
    );
    write("b.md", "---\nid: b\nname: B\nemoji: 🅱\n---\nDo b.\n");
}

fn project(keys: &str) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    write_workflow(&directory.path().join(".pi/workflows"), keys);
    directory
}

/// A host in a project, with a run of its workflow.
fn started(project: &Path, dialogs: bool) -> TestHost {
    let mut host = introduced(project, dialogs);
    host.start_session();
    host.result("command/run", &run_it());
    host
}

/// A host in a project, with a run whose commands the user is asked about at its start; and that question.
fn asked(project: &Path, trusts: Option<bool>) -> (TestHost, String) {
    let mut host = introduced(project, true);
    host.start_session();
    let (question, _) = host.start_without_trust(trusts);
    (host, question)
}

fn run_it() -> Value {
    json!({"name": "workflow", "arguments": "w it"})
}

fn introduced(project: &Path, dialogs: bool) -> TestHost {
    // A person's terminal is outside of the host's session.
    #[cfg(target_os = "linux")]
    let mut host = TestHost::over(crate::terminal::sidecar_of_a_host());
    #[cfg(not(target_os = "linux"))]
    let mut host = TestHost::over_pipes();
    let params = json!({
        "protocolVersion": 1,
        "host": {"name": "test", "version": "0"},
        "cwd": project,
        "agentDir": project.join("agent"),
        "capabilities": {"dialogs": dialogs},
    });
    host.result("initialize", &params);
    host
}

/// The entries that a result has the host append, as its session stores them.
fn entries(result: &Value) -> Vec<Value> {
    let actions = result["actions"].as_array().unwrap().iter();
    let entries = actions.filter(|action| action["type"] == "appendEntry");
    let stored = |entry: &Value| json!({"type": "custom", "customType": entry["customType"], "data": entry["data"]});
    entries.map(stored).collect()
}

/// The code that a person is shown, in a message to the host.
#[cfg(target_os = "linux")]
fn code_in(actions: &Value) -> String {
    let actions = actions.as_array().unwrap().iter();
    let messages = actions.filter(|action| action["type"] == "notify");
    let mut words =
        messages.flat_map(|action| action["message"].as_str().unwrap().split([' ', '.', ',']));
    let is_code = |word: &&str| word.len() == 14 && word.split('-').all(|group| group.len() == 4);
    words.find(is_code).expect("a code is shown").to_owned()
}

/// The agent wants to go on.
fn next(host: &mut TestHost) -> u64 {
    let params =
        json!({"name": "workflow_step", "toolCallId": "t1", "arguments": {"action": "next"}});
    host.request("tool/execute", &params)
}

/// The answer to a request, after all lines before it.
fn answer_to(host: &mut TestHost, id: u64) -> Value {
    loop {
        let mut said = host.receive();
        if said["id"] == id {
            assert!(said.get("error").is_none(), "{said}");
            return said["result"].take();
        }
        let is_progress = said["method"] == "host/apply";
        assert!(is_progress, "{said}");
    }
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

/// Answers the question whether commands may run.
fn trust(host: &mut TestHost, agrees: bool) -> String {
    let question = host.receive();
    assert_eq!(question["method"], "ui/confirm", "{question}");
    let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": agrees});
    host.send(answer.to_string());
    question["params"]["message"].as_str().unwrap().to_owned()
}

/// A duration of sleep that identifies a process, because no other process has it.
fn mark(number: u32) -> String {
    format!("{}.{:05}", 800 + number, std::process::id() % 100_000)
}

fn sleeps(mark: &str) -> bool {
    let pattern = format!("^sleep {mark}");
    let mut pgrep = Command::new("pgrep");
    let found = pgrep
        .args(["-f", "--", &pattern])
        .stdout(Stdio::null())
        .status();
    found.unwrap().success()
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + DEADLINE;
    while !is_so() {
        assert!(Instant::now() < end, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn commands_of_a_project_are_trusted_once_and_for_all_processes() {
    let long = "x".repeat(200);
    let project = project(&format!(
        "gate: [{{run: [echo, {long}]}}, {{run: [\"true\"]}}]"
    ));
    let (mut host, question) = asked(project.path(), Some(true));
    assert!(question.contains(&long), "all of a command is shown");
    let call = next(&mut host);
    let answer = answer_to(&mut host, call);
    assert!(text(&answer).contains("Advanced: A"), "{answer}");
    drop(host);
    let mut host = started(project.path(), true);
    let call = next(&mut host);
    assert!(text(&answer_to(&mut host, call)).contains("Advanced: A"));
    drop(host);
    // Another command is another question.
    let workflows = project.path().join(".pi/workflows");
    write_workflow(&workflows, "gate: [{run: \"true && true\", shell: true}]");
    let (mut host, question) = asked(project.path(), None);
    assert!(question.contains("true && true"), "{question}");
    // The gate asks again.
    let call = next(&mut host);
    assert!(trust(&mut host, false).contains("true && true"));
    let answer = answer_to(&mut host, call);
    assert!(text(&answer).contains("not trusted"), "{answer}");
}

#[test]
fn commands_of_the_users_own_workflows_need_no_trust() {
    let directory = tempfile::tempdir().unwrap();
    let keys = "gate: [{run: echo broken; exit 3, shell: true}]";
    write_workflow(&directory.path().join("agent/workflows"), keys);
    let mut host = started(directory.path(), true);
    let call = next(&mut host);
    let answer = answer_to(&mut host, call);
    let said = text(&answer);
    assert!(said.contains("✗") && said.contains("broken"), "{said}");
    assert!(said.contains("exit code 3"), "{said}");
    assert_eq!(answer["isError"], true);
    let state = host.result("session/state", &json!({}));
    assert_eq!(state["phase"]["id"], "a");
}

#[test]
fn a_command_that_hangs_is_ended_in_time() {
    let mark = mark(1);
    let project = project(&format!("gate: [{{run: [sleep, \"{mark}\"], timeout: 1}}]"));
    let (mut host, _) = asked(project.path(), Some(true));
    let call = next(&mut host);
    let answer = answer_to(&mut host, call);
    assert!(text(&answer).contains("could not be checked"), "{answer}");
    wait_until("it has ended", || !sleeps(&mark));
}

#[test]
fn a_call_that_the_host_takes_back_ends_its_command() {
    let mark = mark(2);
    let project = project(&format!("gate: [{{run: sleep {mark}, shell: true}}]"));
    let (mut host, _) = asked(project.path(), Some(true));
    let call = next(&mut host);
    wait_until("it sleeps", || sleeps(&mark));
    let cancel = host.request("tool/cancel", &json!({"toolCallId": "t1"}));
    let answer = answer_to(&mut host, call);
    assert!(
        text(&answer).contains("Leaving the phase was cancelled"),
        "{answer}"
    );
    answer_to(&mut host, cancel);
    wait_until("it has ended", || !sleeps(&mark));
}

#[test]
fn a_session_that_ends_takes_its_command_along() {
    let mark = mark(3);
    let project = project(&format!("gate: [{{run: [sleep, \"{mark}\"]}}]"));
    let (mut host, _) = asked(project.path(), Some(true));
    let call = next(&mut host);
    wait_until("it sleeps", || sleeps(&mark));
    let end = host.request("hook/session_shutdown", &json!({}));
    let answer = answer_to(&mut host, call);
    assert!(text(&answer).contains("the session ended"), "{answer}");
    answer_to(&mut host, end);
    wait_until("it has ended", || !sleeps(&mark));
}

#[test]
fn no_tool_writes_where_answers_are_kept() {
    let project = project("approve: {ask: \"OK?\"}");
    let mut host = started(project.path(), false);
    let agent = project.path().join("agent/workflow-sidecar");
    for input in [
        json!({"path": agent.join("store.sqlite3"), "content": "{}"}),
        json!({"path": "agent/workflow-sidecar/queue/database", "content": "{}"}),
    ] {
        let event = json!({"event": {"toolName": "write", "input": input}});
        let blocked = host.result("hook/tool_call", &event);
        assert_eq!(blocked["block"]["kind"], "policy", "{input}");
    }
}

/// The question that the host is asked: its id, and what it shows.
fn question(host: &mut TestHost) -> (Value, String) {
    loop {
        let said = host.receive();
        if said["method"] == "host/apply" {
            continue;
        }
        assert_eq!(said["method"], "ui/select", "{said}");
        let shown = said["params"]["title"].as_str().unwrap();
        return (said["id"].clone(), shown.to_owned());
    }
}

fn answer(host: &mut TestHost, question: &Value, result: &str) {
    let answer = json!({"jsonrpc": "2.0", "id": question, "result": result});
    host.send(answer.to_string());
}

#[test]
fn a_plan_that_changes_under_the_dialog_is_shown_again() {
    let project = project("approve: {ask: \"OK?\", show: plan.md}");
    let plan = project.path().join("plan.md");
    fs::write(&plan, "Do this.").unwrap();
    let mut host = started(project.path(), true);
    let call = next(&mut host);
    let (first, shown) = question(&mut host);
    assert!(shown.ends_with("Do this."), "{shown}");
    fs::write(&plan, "Do that.").unwrap();
    answer(&mut host, &first, "approve");
    let (second, shown) = question(&mut host);
    assert!(
        shown.contains("Your earlier answer does not count") && shown.ends_with("Do that."),
        "{shown}"
    );
    let state = host.result("session/state", &json!({}));
    assert_eq!(state["phase"]["id"], "a");
    answer(&mut host, &second, "approve");
    let answer = answer_to(&mut host, call);
    assert!(text(&answer).contains("moved: A"), "{answer}");
}

#[test]
fn what_lies_outside_of_the_project_is_not_shown() {
    let outer = tempfile::tempdir().unwrap();
    fs::write(outer.path().join("secret"), "hidden").unwrap();
    let project = outer.path().join("project");
    let keys = "approve: {ask: \"OK?\", show: ../secret}";
    write_workflow(&project.join(".pi/workflows"), keys);
    let mut host = started(&project, true);
    let call = next(&mut host);
    let (asked, shown) = question(&mut host);
    answer(&mut host, &asked, "revise");
    answer_to(&mut host, call);
    assert!(shown.contains("outside of the project"), "{shown}");
    assert!(!shown.contains("hidden"), "{shown}");
}

#[test]
fn a_late_answer_to_a_cancelled_dialog_is_reported() {
    let project = project("approve: {ask: \"OK?\"}");
    let mut host = started(project.path(), true);
    let call = next(&mut host);
    let (late, _) = question(&mut host);
    let cancel = host.request("tool/cancel", &json!({"toolCallId": "t1"}));
    assert!(text(&answer_to(&mut host, call)).contains("Leaving the phase was cancelled"));
    answer_to(&mut host, cancel);
    answer(&mut host, &late, "approve");
    let said = host.receive();
    assert_eq!(said["method"], "host/apply", "{said}");
    let said = said["params"]["actions"][0]["message"].as_str().unwrap();
    assert!(said.contains("\"OK?\" came too late"), "{said}");
}

/// Reads the notification that follows an answer in a terminal.
#[cfg(target_os = "linux")]
fn answered_notice(host: &mut TestHost) -> String {
    let said = host.receive();
    assert_eq!(said["method"], "host/apply", "{said}");
    let message = &said["params"]["actions"][0]["message"];
    message.as_str().unwrap().to_owned()
}

#[cfg(target_os = "linux")]
#[test]
fn an_approval_in_a_terminal_counts_while_the_dialog_is_open() {
    let project = project("approve: {ask: \"OK?\"}");
    let mut terminal = Terminal::open(project.path());
    let mut host = started(project.path(), true);
    let call = next(&mut host);
    let (asked, _) = question(&mut host);
    let (shown, code) = terminal.run("approve --choice approve", "");
    assert_eq!(code, Some(0), "{shown}");
    let answer = answer_to(&mut host, call);
    assert!(text(&answer).contains("moved: A"), "{answer}");
    let notice = answered_notice(&mut host);
    assert!(
        notice.contains("Answered in a terminal: approve. Close the dialog"),
        "{notice}"
    );
    host.send(json!({"jsonrpc": "2.0", "id": asked, "result": null}).to_string());
}

#[cfg(target_os = "linux")]
#[test]
fn an_approval_in_a_terminal_counts_only_for_the_file_shown() {
    let project = project("approve: {ask: \"OK?\", show: plan.md}");
    let plan = project.path().join("plan.md");
    fs::write(&plan, "Do this.").unwrap();
    let mut terminal = Terminal::open(project.path());
    let mut host = introduced(project.path(), false);
    host.start_session();
    let mut branch = entries(&host.result("command/run", &run_it()));
    let call = next(&mut host);
    let answered = answer_to(&mut host, call);
    branch.extend(entries(&answered));
    drop(host);
    let code = code_in(&answered["actions"]);
    let (shown, status) = terminal.run("approve --choice approve", &format!("{code}\n"));
    assert_eq!(status, Some(0), "{shown}");
    assert!(
        shown.contains("No sidecar runs for this session"),
        "{shown}"
    );
    fs::write(&plan, "Do that.").unwrap();
    let mut host = introduced(project.path(), true);
    host.result(
        "hook/session_start",
        &json!({"context": {"branch": branch}}),
    );
    let call = next(&mut host);
    let (asked, shown) = question(&mut host);
    assert!(
        shown.contains("Your earlier answer does not count") && shown.ends_with("Do that."),
        "{shown}"
    );
    answer(&mut host, &asked, "approve");
    let answer = answer_to(&mut host, call);
    assert!(text(&answer).contains("moved: A"), "{answer}");
}

#[cfg(target_os = "linux")]
#[test]
fn an_approval_in_a_terminal_moves_a_waiting_run_so_that_a_reload_keeps_it() {
    let project = project("approve: {ask: \"OK?\"}");
    let mut terminal = Terminal::open(project.path());
    let mut host = introduced(project.path(), false);
    host.start_session();
    let mut branch = entries(&host.result("command/run", &run_it()));
    let call = next(&mut host);
    branch.extend(entries(&answer_to(&mut host, call)));
    let (shown, status) = terminal.run("approve --choice approve", "");
    assert_eq!(status, Some(0), "{shown}");
    assert!(shown.contains("sent to the session"), "{shown}");
    let moved = host.receive();
    let actions = &moved["params"]["actions"];
    assert!(
        actions.to_string().contains("✓ A → 🅱 B, by you."),
        "{moved}"
    );
    branch.extend(entries(&moved["params"]));
    drop(host);
    let mut host = introduced(project.path(), false);
    host.result(
        "hook/session_start",
        &json!({"context": {"branch": branch}}),
    );
    let state = host.result("session/state", &json!({}));
    assert_eq!(state["phase"]["id"], "b", "{state}");
}

#[cfg(target_os = "linux")]
#[test]
fn an_approval_survives_the_process_that_waits_for_it() {
    let project = project("approve: {ask: \"OK?\"}");
    let mut terminal = Terminal::open(project.path());
    let mut host = introduced(project.path(), false);
    host.start_session();
    let mut branch = entries(&host.result("command/run", &run_it()));
    let before = branch.clone();
    let call = next(&mut host);
    let answered = answer_to(&mut host, call);
    branch.extend(entries(&answered));
    drop(host);
    let (shown, code) = terminal.run("approve --choice approve", "2222-2222-2222\n");
    assert!(code == Some(2) && shown.contains("not the code"), "{shown}");
    let code = code_in(&answered["actions"]);
    let (shown, code) = terminal.run("approve --choice approve", &format!("{code}\n"));
    assert_eq!(code, Some(0), "{shown}");
    let go_on = |branch: &[Value]| {
        let mut host = introduced(project.path(), false);
        let context = json!({"context": {"branch": branch}});
        host.result("hook/session_start", &context);
        let call = next(&mut host);
        answer_to(&mut host, call)
    };
    assert!(text(&go_on(&branch)).contains("moved: A"));
    // It is used up.
    let again = go_on(&branch);
    assert!(text(&again).contains("Waiting for approval"), "{again}");
    // Without a terminal the code is enough.
    let code = code_in(&again["actions"]);
    let output = Process::command()
        .args([
            "approve",
            "--choice",
            "approve",
            "--code",
            &code,
            "--agent-dir",
        ])
        .arg(project.path().join("agent"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    // A branch without an approval request is not concerned.
    assert!(text(&go_on(&before)).contains("Waiting for approval"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_person_answers_in_a_terminal_what_a_host_cannot_ask() {
    let project = project(
        "approve: {ask: \"Is it\\e[2J right?\", choices: [approve, revise], show: plan.md}",
    );
    fs::write(project.path().join("plan.md"), "Do it.\u{1b}[2J\n").unwrap();
    let mut terminal = Terminal::open(project.path());
    let mut host = started(project.path(), false);
    let step = |host: &mut TestHost, expected: &str| {
        let call = next(host);
        let answer = answer_to(host, call);
        assert!(text(&answer).contains(expected), "{answer}");
    };
    step(&mut host, "this host has no dialogs");
    let (shown, code) = terminal.run("approve", "\n");
    assert_eq!(code, Some(3), "{shown}");
    for expected in [
        "W > A",
        "Do it.",
        "right?",
        "1 approve · 2 revise",
        "Nothing was answered",
    ] {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
    assert!(
        !shown.contains("\u{1b}[2J"),
        "nothing raw reaches a terminal"
    );
    let (shown, code) = terminal.run("approve --choice maybe", "");
    assert_eq!(code, Some(2), "{shown}");
    let (shown, code) = terminal.run("approve", "2\n");
    assert_eq!(code, Some(0), "{shown}");
    let said = host.receive().to_string();
    assert!(said.contains("chose \\\"revise\\\""), "{said}");
    let (shown, code) = terminal.run("approve --list", "");
    assert!(
        code == Some(0) && shown.contains("Nothing waits"),
        "{shown}"
    );
    step(&mut host, "this host has no dialogs");
    let (shown, code) = terminal.run("approve --choice approve", "");
    assert_eq!(code, Some(0), "{shown}");
    let said = host.receive().to_string();
    assert!(said.contains("✓ A → 🅱 B, by you."), "{said}");
    let (shown, code) = terminal.run("approve", "");
    assert!(
        code == Some(0) && shown.contains("Nothing waits"),
        "{shown}"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_terminal_that_is_opened_later_needs_the_code_that_the_host_shows() {
    let project = project("approve: {ask: \"OK?\"}\ngate: [{run: [\"true\"]}]");
    let (mut host, _) = asked(project.path(), None);
    let shown_code = |host: &mut TestHost| {
        loop {
            let said = host.receive();
            assert_eq!(said["method"], "host/apply", "{said}");
            let actions = &said["params"]["actions"];
            if actions.to_string().contains("the code is") {
                return code_in(actions);
            }
        }
    };
    std::thread::sleep(Duration::from_millis(50));
    let mut terminal = Terminal::open(project.path());
    terminal.type_line(concat!(env!("CARGO_BIN_EXE_workflow-sidecar"), " trust"));
    let shown = terminal.read_until("Code:");
    assert!(shown.contains("opened after the agent"), "{shown}");
    let code = shown_code(&mut host);
    terminal.type_line(&code);
    terminal.type_line("y");
    let (shown, status) = terminal.read_to_end();
    assert_eq!(status, Some(0), "{shown}");
    let call = next(&mut host);
    let (asked, _) = question(&mut host);
    terminal.type_line(concat!(
        env!("CARGO_BIN_EXE_workflow-sidecar"),
        " approve --choice approve"
    ));
    terminal.read_until("Code:");
    let code = shown_code(&mut host);
    terminal.type_line(&code.to_lowercase());
    let (shown, status) = terminal.read_to_end();
    assert_eq!(status, Some(0), "{shown}");
    let answer = answer_to(&mut host, call);
    assert!(text(&answer).contains("moved: A"), "{answer}");
    answered_notice(&mut host);
    host.send(json!({"jsonrpc": "2.0", "id": asked, "result": null}).to_string());
    assert!(
        !answer.to_string().contains(&code),
        "the model does not see it"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_person_trusts_in_a_terminal_what_a_host_cannot_ask() {
    let project = project("gate: [{run: [\"true\"]}]");
    let mut terminal = Terminal::open(project.path());
    let mut host = started(project.path(), false);
    let mut step = |expected: &str| {
        let call = next(&mut host);
        let answer = answer_to(&mut host, call);
        assert!(text(&answer).contains(expected), "{answer}");
    };
    step("workflow-sidecar trust");
    let (shown, code) = terminal.run("trust", "no\n");
    assert!(code == Some(3) && shown.contains("a.md:5"), "{shown}");
    step("workflow-sidecar trust");
    let (shown, code) = terminal.run("trust", "y\n");
    assert_eq!(code, Some(0), "{shown}");
    step("Advanced: A");
    let (shown, _) = terminal.run("trust --revoke", "");
    assert!(shown.contains("Nothing of this project"), "{shown}");
    let (_, code) = terminal.run("trust --list", "");
    assert_eq!(code, Some(3));
}

#[test]
fn without_a_terminal_there_is_no_approval() {
    let project = project("approve: {ask: \"OK?\"}\ngate: [{run: [\"true\"]}]");
    for command in [&["approve", "--choice", "approve"][..], &["trust"]] {
        let output = Process::command()
            .args(command)
            .arg("--agent-dir")
            .arg(project.path().join("agent"))
            .current_dir(project.path())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{command:?}");
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(errors.contains("only the user can"), "{errors}");
    }
    assert!(!project.path().join("agent").exists());
}
