//! Leaving a phase with the real binary: gates, trust and approval.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::connection::Process;
use crate::host::TestHost;

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

/// A host without dialogs, whose run waits for approval: the entries before it waits, and the answer to the agent.
fn waiting(project: &Path) -> (TestHost, Vec<Value>, Value) {
    let mut host = introduced(project, false);
    host.result("hook/session_start", &named(&[]));
    let branch = entries(&host.result("command/run", &run_it()));
    let call = next(&mut host);
    let asked = answer_to(&mut host, call);
    (host, branch, asked)
}

/// A host in a project, with a run whose commands the user is asked about at its start; and that question.
fn asked(project: &Path, trusts: Option<bool>) -> (TestHost, String) {
    let mut host = introduced(project, true);
    host.start_session();
    let (question, _) = host.start_without_trust(trusts);
    (host, question)
}

/// The parameters with which the session that is stored in a file starts over these entries.
fn named(branch: &[Value]) -> Value {
    json!({"context": {"sessionFile": "/sessions/one.jsonl", "branch": branch}})
}

fn run_it() -> Value {
    json!({"name": "workflow", "arguments": "w it"})
}

fn introduced(project: &Path, dialogs: bool) -> TestHost {
    introduced_over(TestHost::over_pipes(), project, dialogs)
}

fn introduced_over(mut host: TestHost, project: &Path, dialogs: bool) -> TestHost {
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

/// The code that the user is shown, in a message to the host.
fn code_in(actions: &Value) -> String {
    let actions = actions.as_array().unwrap().iter();
    let messages = actions.filter(|action| action["type"] == "notify");
    let mut words = messages.flat_map(|action| {
        action["message"]
            .as_str()
            .unwrap()
            .split([' ', '.', ',', '`'])
    });
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
    let state = host.request("session/state", &json!({}));
    assert_eq!(answer_to(&mut host, state)["phase"]["id"], "a");
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

/// Runs a command of the binary in a project, with what is typed then. Returns what it prints, and its exit code.
fn run(project: &Path, arguments: &[&str], typed: &str) -> (String, Option<i32>) {
    let mut command = Process::command()
        .args(arguments)
        .arg("--agent-dir")
        .arg(project.join("agent"))
        .current_dir(project)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = command.stdin.take().unwrap();
    // It may end without reading.
    let _ = input.write_all(typed.as_bytes());
    drop(input);
    let output = command.wait_with_output().unwrap();
    let printed = [output.stdout, output.stderr].concat();
    (String::from_utf8(printed).unwrap(), output.status.code())
}

/// The actions that the host is sent by themselves, up to those with a code; and the code.
fn shown_code(host: &mut TestHost) -> String {
    loop {
        let said = host.receive();
        let actions = &said["params"]["actions"];
        if actions.to_string().contains("workflow-sidecar approve ") {
            return code_in(actions);
        }
    }
}

#[test]
fn an_approval_with_the_code_counts_while_the_dialog_is_open() {
    let project = project("approve: {ask: \"OK?\"}");
    let mut host = started(project.path(), true);
    let call = next(&mut host);
    let code = shown_code(&mut host);
    let (shown, status) = run(
        project.path(),
        &["approve", &code, "--choice", "approve"],
        "",
    );
    assert_eq!(status, Some(0), "{shown}");
    let answer = answer_to(&mut host, call);
    assert!(text(&answer).contains("moved: A"), "{answer}");
    assert!(
        !answer.to_string().contains(&code),
        "the model does not see it"
    );
    let notice = host.receive().to_string();
    assert!(
        notice.contains("Answered elsewhere: approve. Close the dialog"),
        "{notice}"
    );
}

#[test]
fn an_approval_with_the_code_counts_only_for_the_file_shown() {
    let project = project("approve: {ask: \"OK?\", show: plan.md}");
    let plan = project.path().join("plan.md");
    fs::write(&plan, "Do this.").unwrap();
    let (host, mut branch, answered) = waiting(project.path());
    branch.extend(entries(&answered));
    drop(host);
    let code = code_in(&answered["actions"]);
    let approve = || {
        run(
            project.path(),
            &["approve", &code, "--choice", "approve"],
            "",
        )
    };
    fs::write(&plan, "Do it quickly.").unwrap();
    let (shown, status) = approve();
    assert!(
        status == Some(2) && shown.contains("plan.md has changed since the run asked"),
        "{shown}"
    );
    fs::write(&plan, "Do this.").unwrap();
    let (shown, status) = approve();
    assert_eq!(status, Some(0), "{shown}");
    fs::write(&plan, "Do that.").unwrap();
    let mut host = introduced(project.path(), true);
    host.result("hook/session_start", &named(&branch));
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

#[test]
fn an_approval_with_the_code_moves_a_waiting_run_so_that_a_reload_keeps_it() {
    let project = project("approve: {ask: \"OK?\"}");
    let (mut host, mut branch, asked) = waiting(project.path());
    branch.extend(entries(&asked));
    let code = code_in(&asked["actions"]);
    let (shown, status) = run(project.path(), &["approve", &code], "approve\n");
    assert_eq!(status, Some(0), "{shown}");
    let moved = host.receive();
    let actions = &moved["params"]["actions"];
    assert!(
        actions.to_string().contains("✓ A → 🅱 B, by you."),
        "{moved}"
    );
    branch.extend(entries(&moved["params"]));
    drop(host);
    let mut host = introduced(project.path(), false);
    host.result("hook/session_start", &named(&branch));
    let state = host.result("session/state", &json!({}));
    assert_eq!(state["phase"]["id"], "b", "{state}");
}

#[test]
fn an_approval_survives_the_process_that_waits_for_it() {
    let project = project("approve: {ask: \"OK?\"}");
    let (host, before, answered) = waiting(project.path());
    let branch = [before.clone(), entries(&answered)].concat();
    drop(host);
    let approve = |code: &str| {
        run(
            project.path(),
            &["approve", "--choice", "approve", code],
            "",
        )
    };
    let (shown, status) = approve("2222-2222-2222");
    assert!(
        status == Some(2) && shown.contains("nothing that waits has this code"),
        "{shown}"
    );
    let code = code_in(&answered["actions"]);
    let (shown, status) = approve(&code.to_lowercase());
    assert_eq!(status, Some(0), "{shown}");
    let go_on = |branch: &[Value]| {
        let mut host = introduced(project.path(), false);
        host.result("hook/session_start", &named(branch));
        let call = next(&mut host);
        answer_to(&mut host, call)
    };
    assert!(text(&go_on(&branch)).contains("moved: A"));
    // It is used up.
    let again = go_on(&branch);
    assert!(text(&again).contains("Waiting for approval"), "{again}");
    let (shown, status) = approve(&code);
    assert_eq!(status, Some(2), "{shown}");
    let (shown, status) = approve(&code_in(&again["actions"]));
    assert_eq!(status, Some(0), "{shown}");
    // A branch without an approval request is not concerned.
    assert!(text(&go_on(&before)).contains("Waiting for approval"));
}

/// The rows of the store about runs that wait, with their answers.
fn rows(database: &rusqlite::Connection) -> Vec<[String; 4]> {
    let query = "SELECT r.task_id, r.id, r.request, a.answer FROM requests r JOIN answers a USING (task_id)";
    let mut rows = database.prepare(query).unwrap();
    let rows = rows.query_map([], |row| {
        Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?])
    });
    rows.unwrap().map(Result::unwrap).collect()
}

/// Stores an answer again, as a process of the agent could that copied it.
fn restore(database: &rusqlite::Connection, rows: &[[String; 4]]) {
    for [task, id, request, answer] in rows {
        let put = |sql, more: &[&str]| database.execute(sql, rusqlite::params_from_iter(more));
        let sql = "INSERT OR REPLACE INTO requests VALUES (?, ?, ?, 9000000000000)";
        put(sql, &[task, id, request]).unwrap();
        let sql = "INSERT OR REPLACE INTO answers VALUES (?, ?, ?)";
        put(sql, &[task, id, answer]).unwrap();
    }
}

#[test]
fn an_answer_that_was_used_does_not_count_where_the_user_goes_back() {
    let project = project("approve: {ask: \"OK?\"}");
    let (mut host, mut branch, asked) = waiting(project.path());
    branch.extend(entries(&asked));
    let database = project.path().join("agent/workflow-sidecar/store.sqlite3");
    let database = rusqlite::Connection::open(database).unwrap();
    let (shown, status) = run(
        project.path(),
        &[
            "approve",
            &code_in(&asked["actions"]),
            "--choice",
            "approve",
        ],
        "",
    );
    assert_eq!(status, Some(0), "{shown}");
    let copied = rows(&database);
    assert_eq!(copied.len(), 1);
    assert!(host.receive().to_string().contains("✓ A → 🅱 B, by you."));
    let back = host.result("hook/session_tree", &named(&branch));
    restore(&database, &copied);
    let call = next(&mut host);
    let answer = answer_to(&mut host, call);
    assert!(text(&answer).contains("Waiting for approval"), "{answer}");
    assert_ne!(code_in(&back["actions"]), code_in(&asked["actions"]));
}

#[test]
fn an_answer_counts_in_the_session_that_asked_and_not_in_a_fork() {
    let project = project("approve: {ask: \"OK?\"}");
    let (host, mut branch, asked) = waiting(project.path());
    branch.extend(entries(&asked));
    drop(host);
    let (shown, status) = run(
        project.path(),
        &[
            "approve",
            &code_in(&asked["actions"]),
            "--choice",
            "approve",
        ],
        "",
    );
    assert_eq!(status, Some(0), "{shown}");
    let fork = |file: Option<&str>| {
        let mut host = introduced(project.path(), false);
        let context = json!({"context": {"sessionFile": file, "branch": branch}});
        host.result("hook/session_start", &context);
        let call = next(&mut host);
        let answer = answer_to(&mut host, call);
        assert!(text(&answer).contains("Waiting for approval"), "{answer}");
    };
    fork(Some("/sessions/two.jsonl"));
    fork(None);
}

#[test]
fn programs_that_appear_earlier_on_the_path_are_not_shown_the_code() {
    let project = project("approve: {ask: \"OK?\"}");
    let outer = tempfile::tempdir().unwrap();
    let [earlier, later] = ["earlier", "later"].map(|name| outer.path().join(name));
    let settings = project.path().join("agent/workflow-sidecar.json5");
    let write = |path: &Path, text: &str| {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let script = |directory: &Path, shown: &str| {
        let shown = outer.path().join(shown).display().to_string();
        let text = format!("#!/bin/sh\ncat > '{shown}.part'; mv '{shown}.part' '{shown}'\n");
        let script = directory.join("tell");
        write(&script, &text);
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    };
    write(&settings, "{notify: ['tell']}");
    script(&later, "shown");
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{}:{path}", earlier.display(), later.display());
    let process = Process::spawn(Process::command().arg("serve").env("PATH", path));
    let mut host = introduced_over(TestHost::over(process), project.path(), false);
    host.start_session();
    host.result("command/run", &run_it());
    script(&earlier, "stolen");
    let call = next(&mut host);
    let code = code_in(&answer_to(&mut host, call)["actions"]);
    let end = Instant::now() + DEADLINE;
    while !outer.path().join("shown").exists() {
        assert!(Instant::now() < end);
        std::thread::sleep(Duration::from_millis(5));
    }
    let shown = fs::read_to_string(outer.path().join("shown")).unwrap();
    assert!(shown.contains(&code), "{shown}");
    assert!(!outer.path().join("stolen").exists());
    fs::remove_file(earlier.join("tell")).unwrap();
    let mut is_held = |directory: &Path, name: &str| {
        let line = format!("cp x {}/{name}", directory.display());
        let event = json!({"toolName": "bash", "toolCallId": "t2", "input": {"command": line}});
        let result = host.result("hook/tool_call", &json!({ "event": event }));
        !result["block"].is_null()
    };
    assert!(is_held(&later, "tell"));
    assert!(is_held(&earlier, "tell"));
    assert!(is_held(&earlier, "workflow-sidecar"));
    assert!(!is_held(&earlier, "other"));
}

#[test]
fn the_status_shows_the_code_again_and_a_new_one_after_a_restart() {
    let project = project("approve: {ask: \"OK?\"}");
    let (mut host, mut branch, asked) = waiting(project.path());
    branch.extend(entries(&asked));
    let first = code_in(&asked["actions"]);
    let status = json!({"name": "workflow-status", "arguments": ""});
    let again = host.result("command/run", &status);
    assert_eq!(code_in(&again["actions"]), first);
    drop(host);
    let mut host = introduced(project.path(), false);
    host.result("hook/session_start", &named(&branch));
    let anew = code_in(&host.result("command/run", &status)["actions"]);
    assert_ne!(anew, first);
    let approve = |code: &str| {
        run(
            project.path(),
            &["approve", code, "--choice", "approve"],
            "",
        )
    };
    assert_eq!(approve(&first).1, Some(2));
    let (shown, code) = approve(&anew);
    assert_eq!(code, Some(0), "{shown}");
    let said = host.receive().to_string();
    assert!(said.contains("✓ A → 🅱 B, by you."), "{said}");
}

#[test]
fn the_user_answers_with_the_code_what_a_host_cannot_ask() {
    let project = project(
        "approve: {ask: \"Is it\\e[2J right?\", choices: [approve, revise], show: plan.md}",
    );
    fs::write(project.path().join("plan.md"), "Do it.\u{1b}[2J\n").unwrap();
    let mut host = started(project.path(), false);
    let step = |host: &mut TestHost| {
        let call = next(host);
        let answer = answer_to(host, call);
        assert!(
            text(&answer).contains("this host has no dialogs"),
            "{answer}"
        );
        code_in(&answer["actions"])
    };
    let code = step(&mut host);
    let (shown, status) = run(project.path(), &["approve", &code], "\n");
    assert_eq!(status, Some(3), "{shown}");
    for expected in [
        "W > A",
        "Do it.",
        "right?",
        "1 approve · 2 revise",
        "Nothing was answered",
    ] {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
    assert!(!shown.contains("\u{1b}[2J"), "nothing raw is shown");
    let (shown, status) = run(project.path(), &["approve", &code, "--choice", "maybe"], "");
    assert_eq!(status, Some(2), "{shown}");
    let (shown, status) = run(
        project.path(),
        &["approve", "--comment", "name the risks"],
        &format!("{code}\n2\n"),
    );
    assert_eq!(status, Some(0), "{shown}");
    let said = host.receive().to_string();
    assert!(said.contains("chose \\\"revise\\\""), "{said}");
    assert!(said.contains("name the risks"), "{said}");
    let (shown, status) = run(project.path(), &["approve", "--list"], "");
    assert!(
        status == Some(0) && shown.contains("Nothing waits"),
        "{shown}"
    );
    let code = step(&mut host);
    let (shown, status) = run(
        project.path(),
        &["approve", &code, "--choice", "approve"],
        "",
    );
    assert_eq!(status, Some(0), "{shown}");
    let said = host.receive().to_string();
    assert!(said.contains("✓ A → 🅱 B, by you."), "{said}");
    let (shown, status) = run(project.path(), &["approve"], "");
    assert!(
        status == Some(0) && shown.contains("Nothing waits"),
        "{shown}"
    );
}

/// Runs `trust` in a terminal that is made for it.
#[cfg(target_os = "linux")]
fn trust_in_a_terminal(project: &Path, answer: &str) -> (String, Option<i32>) {
    let binary = env!("CARGO_BIN_EXE_workflow-sidecar");
    let line = format!("printf '%s\\n' {answer} | script -qec '{binary} trust' /dev/null");
    let output = Command::new("sh")
        .args(["-c", &line])
        .env("PI_CODING_AGENT_DIR", project.join("agent"))
        .env("SHELL", "/bin/sh")
        .current_dir(project)
        .output()
        .unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    (shown, output.status.code())
}

#[cfg(target_os = "linux")]
#[test]
fn the_user_trusts_in_a_terminal_while_no_session_is_open() {
    let project = project("gate: [{run: [\"true\"]}]");
    let step = |host: &mut TestHost, expected: &str| {
        let call = next(host);
        let answer = answer_to(host, call);
        assert!(text(&answer).contains(expected), "{answer}");
    };
    let mut host = started(project.path(), false);
    step(&mut host, "workflow-sidecar trust");
    let (shown, status) = trust_in_a_terminal(project.path(), "y");
    assert_eq!(status, Some(2), "{shown}");
    assert!(
        shown.contains("a session of this project is open"),
        "{shown}"
    );
    drop(host);
    let (shown, status) = trust_in_a_terminal(project.path(), "no");
    assert!(status == Some(3) && shown.contains("a.md:5"), "{shown}");
    let (shown, status) = trust_in_a_terminal(project.path(), "y");
    assert_eq!(status, Some(0), "{shown}");
    let mut host = started(project.path(), false);
    step(&mut host, "Advanced: A");
    let (shown, _) = run(project.path(), &["trust", "--revoke"], "");
    assert!(shown.contains("Nothing of this project"), "{shown}");
    let (_, status) = run(project.path(), &["trust", "--list"], "");
    assert_eq!(status, Some(3));
}

#[test]
fn without_a_terminal_there_is_no_trust() {
    let project = project("gate: [{run: [\"true\"]}]");
    let (shown, status) = run(project.path(), &["trust"], "y\n");
    assert_eq!(status, Some(2), "{shown}");
    assert!(shown.contains("only the user can"), "{shown}");
    assert!(!project.path().join("agent").exists());
}
