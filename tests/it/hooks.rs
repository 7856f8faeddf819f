//! Hooks as processes: what happens when something is wrong.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::connection::Process;

const WORKFLOW: &str = "
name: Bugfix
commandName: bugfix
initialMessage: Go
phases: [{ id: a, name: Analyze, emoji: A, instructions: Look., tools: read-only }]
";

fn spawn(root: &Path) -> Child {
    spawn_hook(&mut Process::command(), root)
}

fn spawn_hook(command: &mut Command, root: &Path) -> Child {
    command
        .args(["hook", "codex"])
        .env("HOME", root)
        .current_dir(root)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn answer(root: &Path, event: &[u8]) -> Output {
    answer_of(spawn(root), event)
}

fn answer_of(mut child: Child, event: &[u8]) -> Output {
    child.stdin.take().unwrap().write_all(event).unwrap();
    child.wait_with_output().unwrap()
}

fn event(root: &Path, name: &str, members: &serde_json::Value) -> Vec<u8> {
    let mut event = json!({ "hook_event_name": name, "session_id": "s", "cwd": root });
    for (name, value) in members.as_object().unwrap() {
        event[name] = value.clone();
    }
    event.to_string().into_bytes()
}

fn writing(root: &Path) -> Vec<u8> {
    let input = json!({ "command": "echo x > a" });
    event(
        root,
        "PreToolUse",
        &json!({ "tool_name": "Bash", "tool_input": input }),
    )
}

fn store(root: &Path) -> PathBuf {
    root.join(".local/state/workflow-sidecar/store.sqlite3")
}

/// A project with a run in the session `s`; the home directory is the project.
fn started() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    let workflow = root.path().join(".pi/workflows/bugfix");
    fs::create_dir_all(&workflow).unwrap();
    fs::write(workflow.join("workflow.yaml"), WORKFLOW).unwrap();
    let prompt = json!({ "prompt": "workflow bugfix it" });
    let output = answer(
        root.path(),
        &event(root.path(), "UserPromptSubmit", &prompt),
    );
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("additionalContext"), "{text}");
    root
}

fn is_blocked(output: &Output) -> bool {
    output.status.code() == Some(2) && !output.stderr.is_empty()
}

fn is_silent(output: &Output) -> bool {
    output.status.success() && output.stdout.is_empty() && output.stderr.is_empty()
}

/// A call of another project goes on without a store, and so does one of this project without its marker.
fn assert_only_its_project_is_closed(root: &Path, state: &Path) {
    let elsewhere = tempfile::tempdir().unwrap();
    assert!(
        is_silent(&answer(root, &writing(elsewhere.path()))),
        "no run is there"
    );
    fs::remove_dir_all(state.join("running")).unwrap();
    assert!(is_silent(&answer(root, &writing(root))));
}

#[test]
fn half_an_event_is_blocked_while_a_run_is_active() {
    let root = started();
    let whole = writing(root.path());
    assert!(is_blocked(&answer(root.path(), &whole)));
    assert!(is_blocked(&answer(root.path(), &whole[..whole.len() / 2])));
    assert!(is_blocked(&answer(root.path(), b"")));
    let free = tempfile::tempdir().unwrap();
    assert!(is_silent(&answer(free.path(), &whole[..whole.len() / 2])));
}

#[cfg(target_os = "linux")]
#[test]
fn an_answer_that_cannot_be_written_blocks() {
    let root = started();
    let full = fs::OpenOptions::new().write(true).open("/dev/full");
    let mut child = Process::command()
        .args(["hook", "codex"])
        .env("HOME", root.path())
        .stdin(Stdio::piped())
        .stdout(full.unwrap())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let prompt = json!({ "prompt": "hello" });
    let event = event(root.path(), "UserPromptSubmit", &prompt);
    child.stdin.take().unwrap().write_all(&event).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(2));
}

#[test]
fn a_hook_that_gets_no_event_answers_in_time() {
    let root = started();
    let mut child = spawn(root.path());
    let stdin = child.stdin.take();
    let began = Instant::now();
    let output = child.wait_with_output().unwrap();
    drop(stdin);
    assert!(is_blocked(&output), "{output:?}");
    let took = began.elapsed();
    assert!(
        took > Duration::from_secs(2) && took < Duration::from_secs(20),
        "{took:?}"
    );
}

#[test]
fn a_store_that_cannot_be_read_blocks_while_a_run_is_active() {
    let root = started();
    let state = root.path().join(".local/state/workflow-sidecar");
    fs::write(
        state.join("store.sqlite3"),
        "not a database at all, but long enough",
    )
    .unwrap();
    let blocked = answer(root.path(), &writing(root.path()));
    assert!(is_blocked(&blocked), "{blocked:?}");
    let reason = String::from_utf8(blocked.stderr).unwrap();
    assert!(reason.contains("store.sqlite3"), "{reason}");
    let prompt = event(
        root.path(),
        "UserPromptSubmit",
        &json!({ "prompt": "hello" }),
    );
    assert!(answer(root.path(), &prompt).status.success());
    assert_only_its_project_is_closed(root.path(), &state);
}

/// Sends an event to the hook of Claude Code, from a hook of Copilot CLI or another host.
fn answer_of_claude(root: &Path, event: &[u8], is_in_copilot: bool) -> Output {
    let mut command = Process::command();
    if is_in_copilot {
        command.env("COPILOT_CLI", "1");
    }
    command.args(["hook", "claude"]).env("HOME", root);
    command.current_dir(root).stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    answer_of(command.spawn().unwrap(), event)
}

/// What the status line of Claude Code prints for what it is given.
fn status_line(root: &Path, given: &[u8]) -> String {
    let mut command = Process::command();
    let line = command.args(["status", "--line"]).env("HOME", root);
    let piped = line.stdin(Stdio::piped()).stdout(Stdio::piped());
    let output = answer_of(piped.spawn().unwrap(), given);
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_status_line_of_claude_code_is_that_of_the_run_of_its_session() {
    let root = started();
    let root = root.path();
    let of = |session: &str| json!({ "session_id": session, "cwd": root }).to_string();
    assert_eq!(status_line(root, of("s").as_bytes()), "", "a run of Codex");
    let prompt = |text: &str| {
        let prompt = event(root, "UserPromptSubmit", &json!({ "prompt": text }));
        answer_of_claude(root, &prompt, false);
    };
    prompt("workflow bugfix it");
    assert_eq!(
        status_line(root, of("s").as_bytes()),
        "Bugfix > A Analyze [1/1]\n"
    );
    prompt("workflow pause");
    assert_eq!(
        status_line(root, of("s").as_bytes()),
        "⏸ paused by you · Bugfix > A Analyze [1/1]\n"
    );
    assert_eq!(status_line(root, of("other").as_bytes()), "");
    prompt("workflow cancel");
    assert_eq!(status_line(root, of("s").as_bytes()), "");
}

#[test]
fn the_status_line_of_claude_code_is_empty_where_something_is_wrong_and_never_waits() {
    let root = started();
    let root = root.path();
    for given in ["", "garbage", "[]", "{}", r#"{"session_id": 1}"#] {
        assert_eq!(status_line(root, given.as_bytes()), "", "{given}");
    }
    let mut command = Process::command();
    let open = command.args(["status", "--line"]).env("HOME", root);
    let open = open.stdin(Stdio::piped()).stdout(Stdio::piped());
    let (began, mut child) = (Instant::now(), open.spawn().unwrap());
    let input = child.stdin.take();
    assert!(child.wait().unwrap().success());
    assert!(began.elapsed() < Duration::from_secs(5));
    drop(input);
    fs::write(store(root), "no database").unwrap();
    assert_eq!(status_line(root, br#"{"session_id": "s"}"#), "");
}

#[test]
fn an_event_of_another_host_starts_no_workflow_and_is_blocked_where_a_run_is_active() {
    let root = started();
    let free = tempfile::tempdir().unwrap();
    let grok = |cwd: &Path, name: &str, mut members: serde_json::Value| {
        members["hookEventName"] = json!("of another host");
        answer_of_claude(root.path(), &event(cwd, name, &members), false)
    };
    let call = json!({ "tool_name": "run_terminal_command", "tool_input": { "command": "x" } });
    let denied = grok(root.path(), "PreToolUse", call.clone());
    let denied = String::from_utf8(denied.stdout).unwrap();
    assert!(
        denied.contains(r#""permissionDecision":"deny""#),
        "{denied}"
    );
    assert!(is_blocked(&grok(root.path(), "pre_tool_use", call.clone())));
    assert!(is_silent(&grok(free.path(), "PreToolUse", call)));
    let refused = grok(
        root.path(),
        "UserPromptSubmit",
        json!({ "prompt": "workflow bugfix it" }),
    );
    let text = String::from_utf8(refused.stdout).unwrap();
    assert!(
        text.contains(r#""decision":"block""#) && text.contains("Grok"),
        "{text}"
    );
    let prompt = json!({ "prompt": "hello" });
    assert!(is_silent(&grok(root.path(), "UserPromptSubmit", prompt)));
}

#[test]
fn an_event_of_copilot_at_the_hook_of_claude_code_is_decided_once() {
    let root = started();
    let of_copilot =
        json!({ "timestamp": "2026-11-28T11:40:23.278Z", "prompt": "workflow bugfix it" });
    let prompt = event(root.path(), "UserPromptSubmit", &of_copilot);
    let text = |output: Output| String::from_utf8(output.stdout).unwrap();
    let as_copilot = text(answer_of_claude(root.path(), &prompt, true));
    assert!(
        as_copilot.starts_with(r#"{"additionalContext""#),
        "{as_copilot}"
    );
    // What a Claude Code that Copilot's agent starts sends.
    let nested = event(
        root.path(),
        "UserPromptSubmit",
        &json!({ "prompt": "workflow status" }),
    );
    let nested = text(answer_of_claude(root.path(), &nested, true));
    assert!(nested.contains("only the user may give it"), "{nested}");
    let installed = Process::command()
        .args(["install", "copilot"])
        .env("HOME", root.path())
        .output();
    assert!(installed.unwrap().status.success());
    assert!(is_silent(&answer_of_claude(root.path(), &prompt, true)));
    let as_claude = text(answer_of_claude(root.path(), &prompt, false));
    assert!(
        as_claude.contains("hookSpecificOutput"),
        "without the variable it is not Copilot's: {as_claude}"
    );
}

#[test]
fn a_run_whose_agent_left_the_project_counts_where_it_went() {
    let root = started();
    let elsewhere = tempfile::tempdir().unwrap();
    let call = writing(elsewhere.path());
    assert!(is_blocked(&answer(root.path(), &call)));
    fs::write(store(root.path()), "not a database at all").unwrap();
    assert!(
        is_blocked(&answer(root.path(), &call)),
        "and without its store"
    );
}

#[test]
fn what_cannot_be_judged_is_blocked_where_the_settings_have_rules() {
    let root = tempfile::tempdir().unwrap();
    let settings = root.path().join(".pi/agent");
    fs::create_dir_all(&settings).unwrap();
    let rules = r#"{ tools: { rules: [{ block: "bash", command: ["rm *"] }] } }"#;
    fs::write(settings.join("workflow-sidecar.json5"), rules).unwrap();
    let call = writing(root.path());
    assert!(is_silent(&answer(root.path(), &call)));
    assert!(is_blocked(&answer(root.path(), &call[..call.len() / 2])));
    let half_a_character = String::from_utf8(call.clone()).unwrap();
    let half_a_character = half_a_character.replace(r#""s""#, r#""s\ud83d""#);
    assert!(is_blocked(&answer(
        root.path(),
        half_a_character.as_bytes()
    )));
    let store = store(root.path());
    fs::create_dir_all(store.parent().unwrap()).unwrap();
    let damaged = "not a database at all, but long enough";
    fs::write(store, damaged).unwrap();
    assert!(is_blocked(&answer(root.path(), &call)));
    fs::remove_file(settings.join("workflow-sidecar.json5")).unwrap();
    assert!(is_silent(&answer(root.path(), &call)));
    // The rules of a project hold in its directories too, where the store cannot say which project it is.
    fs::write(root.path().join(".pi/workflow-sidecar.json5"), rules).unwrap();
    let inner = root.path().join("src/inner");
    fs::create_dir_all(&inner).unwrap();
    assert!(is_blocked(&answer(root.path(), &writing(&inner))));
}

#[test]
fn hooks_at_once_lose_no_reminder_and_no_denial() {
    let root = started();
    let stop = event(
        root.path(),
        "Stop",
        &json!({ "last_assistant_message": "done" }),
    );
    std::thread::scope(|scope| {
        let calls: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| answer(root.path(), &writing(root.path()))))
            .collect();
        let stopped = answer(root.path(), &stop);
        assert!(
            String::from_utf8(stopped.stdout)
                .unwrap()
                .contains("is still in")
        );
        for call in calls {
            let output = call.join().unwrap();
            assert!(is_blocked(&output), "{output:?}");
        }
    });
    let status = json!({ "prompt": "workflow status" });
    let status = answer(
        root.path(),
        &event(root.path(), "UserPromptSubmit", &status),
    );
    let text = String::from_utf8(status.stdout).unwrap();
    assert!(text.contains("Reminders: 1"), "{text}");
}

#[test]
fn a_large_event_is_judged_like_any_other() {
    let root = started();
    let command = format!("echo {} > a", "x".repeat(8 << 20));
    let input = json!({ "tool_name": "Bash", "tool_input": { "command": command } });
    let output = answer(root.path(), &event(root.path(), "PreToolUse", &input));
    assert!(is_blocked(&output));
}

#[test]
fn a_very_large_event_is_blocked_while_a_run_is_active() {
    let root = started();
    let text = "x".repeat(50 << 20);
    let input =
        json!({ "tool_name": "Bash", "tool_input": { "command": format!("echo {text} > a") } });
    let blocked = answer(root.path(), &event(root.path(), "PreToolUse", &input));
    assert!(is_blocked(&blocked), "{:?}", blocked.status);
}

#[test]
fn fields_that_are_unknown_or_of_another_type_are_ignored() {
    let root = started();
    let mut members = json!({
        "tool_name": "Bash",
        "tool_input": { "command": "echo x > a", "new": [{}] },
        "tool_use_id": 7,
        "turn": { "id": null },
    });
    // Other hosts have fields of these names, with texts.
    for name in [
        "event",
        "conversation_id",
        "workspace_roots",
        "working_dir",
        "message",
        "tool_output",
        "status",
    ] {
        members[name] = json!({ "a": [1] });
    }
    assert!(is_blocked(&answer(
        root.path(),
        &event(root.path(), "PreToolUse", &members)
    )));
    members["tool_input"] = json!({ "command": "cat a" });
    assert!(is_silent(&answer(
        root.path(),
        &event(root.path(), "PreToolUse", &members)
    )));
}

#[test]
fn a_call_without_a_session_or_a_directory_is_blocked_while_any_run_is_active() {
    let root = started();
    let free = tempfile::tempdir().unwrap();
    for missing in [
        json!({ "session_id": null }),
        json!({ "session_id": "" }),
        json!({ "cwd": null }),
        json!({ "cwd": "a" }),
    ] {
        let mut members = missing.clone();
        members["tool_name"] = json!("Bash");
        members["tool_input"] = json!({ "command": "cat a" });
        let call = event(root.path(), "PreToolUse", &members);
        assert!(is_blocked(&answer(root.path(), &call)), "{missing}");
        assert!(is_silent(&answer(free.path(), &call)), "{missing}");
    }
}

#[test]
fn a_session_of_another_host_with_the_same_id_has_no_run() {
    let root = started();
    let mut child = Process::command()
        .args(["hook", "claude"])
        .env("HOME", root.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(&writing(root.path())).unwrap();
    drop(stdin);
    assert!(is_silent(&child.wait_with_output().unwrap()));
}

#[test]
fn a_server_that_cannot_be_reached_blocks_only_while_a_run_is_active() {
    let root = started();
    let settings = root.path().join(".pi/agent");
    fs::create_dir_all(&settings).unwrap();
    // Nothing listens at this port of the machine.
    let store = json!({ "store": "postgres://agent:secret@127.0.0.1:1/w" });
    fs::write(settings.join("workflow-sidecar.json5"), store.to_string()).unwrap();
    let blocked = answer(root.path(), &writing(root.path()));
    assert!(is_blocked(&blocked), "{blocked:?}");
    let reason = String::from_utf8(blocked.stderr).unwrap();
    assert!(reason.contains("PostgreSQL at agent@127.0.0.1"), "{reason}");
    assert!(!reason.contains("secret"), "{reason}");
    let state = root.path().join(".local/state/workflow-sidecar");
    assert_only_its_project_is_closed(root.path(), &state);
}

#[test]
fn a_locked_or_newer_store_blocks_while_a_run_is_active_and_loses_nothing() {
    let root = started();
    let database = rusqlite::Connection::open(store(root.path())).unwrap();
    let reason = || {
        let blocked = answer(root.path(), &writing(root.path()));
        assert!(is_blocked(&blocked), "{blocked:?}");
        String::from_utf8(blocked.stderr).unwrap()
    };
    database.execute_batch("BEGIN IMMEDIATE").unwrap();
    // The denial is to be counted, and cannot be.
    let locked = reason();
    assert!(locked.contains("locked"), "{locked}");
    database.execute_batch("ROLLBACK").unwrap();
    let version: i64 = database
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .unwrap();
    database
        .pragma_update(None, "user_version", version + 1)
        .unwrap();
    let newer = reason();
    assert!(newer.contains("newer workflow-sidecar"), "{newer}");
    database
        .pragma_update(None, "user_version", version)
        .unwrap();
    let usual = reason();
    assert!(!usual.contains("store"), "{usual}");
}

/// Another build of the sidecar: the same program in another file, with other bytes.
fn other_build(root: &Path) -> PathBuf {
    let path = root.join("other-build");
    let mut program = fs::read(Process::command().get_program()).unwrap();
    program.extend_from_slice(b"another build");
    fs::write(&path, program).unwrap();
    let mut permissions = fs::metadata(&path).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o755);
    fs::set_permissions(&path, permissions).unwrap();
    path
}

#[test]
fn two_builds_open_one_store_in_mid_run() {
    let root = started();
    let root = root.path();
    let this = || Process::command();
    let path = other_build(root);
    let other = || Command::new(&path);
    let send = |mut build: Command, event: &[u8]| answer_of(spawn_hook(&mut build, root), event);
    let command = |build: Command, text: &str| {
        let prompt = event(root, "UserPromptSubmit", &json!({ "prompt": text }));
        String::from_utf8(send(build, &prompt).stdout).unwrap()
    };
    // Each continues what the other has stored.
    assert!(is_blocked(&send(other(), &writing(root))));
    let status = command(other(), "workflow status");
    assert!(status.contains("Analyze"), "{status}");
    command(other(), "workflow pause");
    let status = command(this(), "workflow status");
    assert!(status.contains("paused by you"), "{status}");
    command(this(), "workflow resume");
    let status = command(other(), "workflow status");
    assert!(!status.contains("paused"), "{status}");
    assert!(is_blocked(&send(this(), &writing(root))));
    // A later build stores entries of another version: the run is paused with the reason, and its guards hold.
    let database = rusqlite::Connection::open(store(root)).unwrap();
    let later = r#"UPDATE entries SET data = replace(data, '"version":1', '"version":99') WHERE type = 'workflow:run'"#;
    assert!(database.execute(later, []).unwrap() > 0);
    let status = command(this(), "workflow status");
    assert!(status.contains("stored by a later version"), "{status}");
    assert!(is_blocked(&send(this(), &writing(root))));
    // The user decides to go on without what it stored, and both builds do.
    command(this(), "workflow resume");
    let status = command(other(), "workflow status");
    assert!(!status.contains("paused"), "{status}");
    assert!(is_blocked(&send(other(), &writing(root))));
}

#[test]
fn a_run_is_listed_and_shown_by_the_beginning_of_its_id() {
    let root = started();
    let run = |arguments: &[&str]| {
        let output = Process::command()
            .args(arguments)
            .current_dir(root.path())
            .env("HOME", root.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let listed = run(&["runs", "--active", "--format", "json"]);
    let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
    let listed = &listed[0];
    assert_eq!(
        (&listed["host"], &listed["state"], &listed["phase"]),
        (&json!("codex"), &json!("active"), &json!("Analyze"))
    );
    assert!(listed["since"].is_string(), "{listed}");
    let id = listed["taskId"].as_str().unwrap();
    assert!(run(&["status", &id[..10]]).contains("Bugfix"));
    assert!(run(&["show", id]).contains("started"));
    assert!(run(&["runs"]).contains(id));
}

#[test]
fn hooks_that_are_killed_leave_the_store_whole() {
    let root = started();
    for delay in 0..16 {
        let mut child = spawn(root.path());
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(&writing(root.path())).unwrap();
        drop(stdin);
        std::thread::sleep(Duration::from_millis(delay));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert!(is_blocked(&answer(root.path(), &writing(root.path()))));
    let database = rusqlite::Connection::open(store(root.path())).unwrap();
    let whole: String = database
        .pragma_query_value(None, "integrity_check", |row| row.get(0))
        .unwrap();
    assert_eq!(whole, "ok");
}

#[test]
fn sixteen_hooks_at_once_lose_nothing() {
    let root = started();
    let step = event(
        root.path(),
        "PreToolUse",
        &json!({ "tool_name": "mcp__workflow__workflow_step", "tool_input": { "action": "next" } }),
    );
    let prompt = json!({ "prompt": "workflow bugfix it", "session_id": "other" });
    std::thread::scope(|scope| {
        for number in 0..16 {
            let (root, step, prompt) = (root.path(), &step, &prompt);
            scope.spawn(move || {
                let mut start = prompt.clone();
                start["session_id"] = json!(format!("session {number}"));
                let started = answer(root, &event(root, "UserPromptSubmit", &start));
                assert!(started.status.success(), "{started:?}");
                let ticket = answer(root, step);
                assert!(ticket.status.success(), "{ticket:?}");
            });
        }
    });
    let database = rusqlite::Connection::open(store(root.path())).unwrap();
    let count = |query: &str| -> i64 { database.query_row(query, [], |row| row.get(0)).unwrap() };
    assert_eq!(count("SELECT count(*) FROM tickets"), 16);
    assert_eq!(count("SELECT count(*) FROM sessions WHERE active = 1"), 17);
}

/// Runs a hook by a line of a shell, in which `$0` is the program.
fn answer_in_shell(root: &Path, line: &str, event: &[u8]) -> Output {
    let child = Command::new("sh")
        .args(["-c", line, env!("CARGO_BIN_EXE_workflow-sidecar")])
        .env("HOME", root)
        .env_remove("PI_CODING_AGENT_DIR")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    answer_of(child.unwrap(), event)
}

#[test]
fn a_command_that_cannot_be_carried_out_is_answered_with_the_reason() {
    let root = started();
    let state = root.path().join(".local/state/workflow-sidecar");
    let damaged = "not a database at all, but long enough";
    fs::write(state.join("store.sqlite3"), damaged).unwrap();
    let prompt = |text: &str| {
        let prompt = json!({ "prompt": text });
        answer(
            root.path(),
            &event(root.path(), "UserPromptSubmit", &prompt),
        )
    };
    for is_active in [true, false] {
        for command in ["workflow bugfix it", "workflow status"] {
            let output = prompt(command);
            let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(answer["decision"], "block", "{is_active}");
            let reason = answer["reason"].as_str().unwrap();
            assert!(reason.starts_with("Nothing was done: "), "{reason}");
            assert!(reason.contains("store.sqlite3"), "{reason}");
        }
        assert!(is_silent(&prompt("workflow engines are late")));
        if is_active {
            let elsewhere = tempfile::tempdir().unwrap();
            let call = event(
                elsewhere.path(),
                "PreToolUse",
                &json!({ "tool_name": "Bash", "tool_input": { "command": "echo x > a" } }),
            );
            assert!(is_silent(&answer(root.path(), &call)), "no run is there");
            fs::remove_dir_all(state.join("running")).unwrap();
        }
    }
}

#[cfg(unix)]
#[test]
fn a_full_store_blocks_while_a_run_is_active_and_loses_nothing() {
    let root = started();
    // No file may grow, as on a full disk.
    let full = r#"trap "" XFSZ; ulimit -f 0; exec "$0" hook codex"#;
    let blocked = answer_in_shell(root.path(), full, &writing(root.path()));
    assert!(is_blocked(&blocked), "{blocked:?}");
    let reason = String::from_utf8(blocked.stderr).unwrap();
    assert!(reason.contains("store.sqlite3"), "{reason}");
    let start = json!({ "prompt": "workflow bugfix it", "session_id": "other" });
    let start = event(root.path(), "UserPromptSubmit", &start);
    let start = answer_in_shell(root.path(), full, &start);
    let text = String::from_utf8(start.stdout).unwrap();
    assert!(text.contains("Nothing was done"), "{text}");
    let usual = answer(root.path(), &writing(root.path()));
    let usual = String::from_utf8(usual.stderr).unwrap();
    assert!(
        usual.contains("Analyze") && !usual.contains("store"),
        "{usual}"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_read_only_store_blocks_while_a_run_is_active_and_loses_nothing() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let root = started();
    let state = root.path().join(".local/state/workflow-sidecar");
    let set = |directory: u32, file: u32| {
        fs::set_permissions(&state, fs::Permissions::from_mode(0o700)).unwrap();
        for entry in fs::read_dir(&state).unwrap().map(Result::unwrap) {
            let mode = if entry.file_type().unwrap().is_dir() {
                directory
            } else {
                file
            };
            fs::set_permissions(entry.path(), fs::Permissions::from_mode(mode)).unwrap();
        }
        fs::set_permissions(&state, fs::Permissions::from_mode(directory)).unwrap();
    };
    // Root writes everywhere, unless it gives up its capabilities.
    let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
    let line = if is_root {
        r#"exec setpriv --bounding-set=-all --inh-caps=-all "$0" hook codex"#
    } else {
        r#"exec "$0" hook codex"#
    };
    set(0o500, 0o400);
    let blocked = answer_in_shell(root.path(), line, &writing(root.path()));
    let start = json!({ "prompt": "workflow bugfix it", "session_id": "other" });
    let start = event(root.path(), "UserPromptSubmit", &start);
    let start = answer_in_shell(root.path(), line, &start);
    set(0o700, 0o600);
    assert!(is_blocked(&blocked), "{blocked:?}");
    let reason = String::from_utf8(blocked.stderr).unwrap();
    assert!(reason.contains("store.sqlite3"), "{reason}");
    let text = String::from_utf8(start.stdout).unwrap();
    assert!(text.contains("Nothing was done"), "{text}");
    let usual = answer(root.path(), &writing(root.path()));
    let usual = String::from_utf8(usual.stderr).unwrap();
    assert!(
        usual.contains("Analyze") && !usual.contains("store"),
        "{usual}"
    );
}

#[test]
fn sixteen_hooks_of_one_session_are_answered_in_turn() {
    let root = started();
    let database = rusqlite::Connection::open(store(root.path())).unwrap();
    let version = || -> i64 {
        let query = "SELECT version FROM sessions WHERE session = 's'";
        database.query_row(query, [], |row| row.get(0)).unwrap()
    };
    let before = version();
    std::thread::scope(|scope| {
        for _ in 0..16 {
            let root = root.path();
            scope.spawn(move || {
                let output = answer(root, &writing(root));
                assert!(is_blocked(&output), "{output:?}");
                // A denial by the phase, and not one because nothing could be decided.
                let reason = String::from_utf8(output.stderr).unwrap();
                assert!(reason.contains("Analyze"), "{reason}");
            });
        }
    });
    // Each denial is counted.
    assert_eq!(version(), before + 16);
}

#[test]
fn an_answer_that_codex_exec_would_not_print_goes_to_the_model_to_repeat() {
    let root = started();
    let transcript = root.path().join("rollout.jsonl");
    let status = |turn: Option<&str>| {
        let mut members = json!({ "prompt": "workflow status", "transcript_path": transcript });
        if let Some(turn) = turn {
            members["turn_id"] = json!(turn);
        }
        let output = answer(
            root.path(),
            &event(root.path(), "UserPromptSubmit", &members),
        );
        String::from_utf8(output.stdout).unwrap()
    };
    let turn = |id: &str, trigger: &str| {
        let attribution = json!({ "turn_id": id, "turn_trigger": trigger });
        json!({ "payload": { "type": "task_started", "turn_attribution": attribution } })
    };
    let begun_in = |source: &str| json!({ "payload": { "id": "s", "source": source } });
    let write = |lines: &[serde_json::Value]| {
        let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
        fs::write(&transcript, lines.join("\n")).unwrap();
    };
    // No transcript, another host, and the interface with a screen. A turn gives its command once.
    assert!(status(Some("a")).contains("\"block\""));
    write(&[begun_in("exec"), turn("a", "exec"), turn("b", "user")]);
    assert!(status(None).contains("\"block\""));
    assert!(status(Some("b")).contains("\"block\""));
    // A session of the interface that `exec` resumed, and a turn that is not written yet.
    write(&[begun_in("cli"), turn("b", "user"), turn("c", "exec")]);
    let repeated = status(Some("c"));
    assert!(!repeated.contains("\"block\""), "{repeated}");
    assert!(repeated.contains("word for word"), "{repeated}");
    assert!(repeated.contains("Bugfix"), "{repeated}");
    assert!(status(Some("d")).contains("\"block\""));
    write(&[begun_in("exec"), turn("c", "exec")]);
    assert!(status(Some("e")).contains("word for word"));
}

/// A home directory with a project and a `withoutRun` that starts its workflow without asking; each file is the user's or the
/// project's.
fn starting_by_itself(workflow_of: &str, settings_of: &str) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for directory in [workflow_of, settings_of, "project"] {
        fs::create_dir_all(root.path().join(directory).join("workflows/bugfix")).unwrap();
    }
    let workflow = WORKFLOW
        .replace("initialMessage: Go", "initialMessage: 'Fix: {description}'")
        .replace("tools:", "gate: [{ run: ['true'] }], tools:");
    let file = root.path().join(workflow_of);
    fs::write(file.join("workflows/bugfix/workflow.yaml"), workflow).unwrap();
    let settings = root.path().join(settings_of).join("workflow-sidecar.json5");
    let start = "{ workflow: 'bugfix', ask: false }";
    let door = format!("{{ withoutRun: {{ tools: 'read-only', start: {start} }} }}");
    fs::write(settings, door).unwrap();
    root
}

/// What the hook of Claude Code prints for an event in the project of a home directory.
fn printed_for_claude(home: &Path, name: &str, members: &serde_json::Value) -> String {
    let event = event(&home.join("project"), name, members);
    let output = answer_of_claude(home, &event, false);
    String::from_utf8(output.stdout).unwrap()
}

/// What a hook prints for an event in the project of a home directory.
fn printed(home: &Path, name: &str, members: &serde_json::Value) -> String {
    let event = event(&home.join("project"), name, members);
    let output = answer(home, &event);
    String::from_utf8(output.stdout).unwrap()
}

fn says(home: &Path, prompt: &str) -> String {
    printed(home, "UserPromptSubmit", &json!({ "prompt": prompt }))
}

fn writes(home: &Path) -> String {
    let input = json!({ "command": "echo x > a" });
    let call = json!({ "tool_name": "Bash", "tool_input": input });
    printed(home, "PreToolUse", &call)
}

const OF_USER: &str = ".pi/agent";
const OF_PROJECT: &str = "project/.pi";

#[test]
fn a_workflow_that_starts_by_itself_gives_its_context_with_the_call() {
    let root = starting_by_itself(OF_USER, OF_USER);
    let home = root.path();
    says(home, "the export is empty");
    let blocked = writes(home);
    for part in ["Analyze", "Fix: the export is empty"] {
        assert!(blocked.contains(part), "{part}: {blocked}");
    }
    let result =
        json!({ "tool_name": "Bash", "tool_input": { "command": "ls" }, "tool_response": "a" });
    let result = printed(home, "PostToolUse", &result);
    assert!(result.contains("Look."), "{result}");
}

#[test]
fn what_is_a_projects_starts_by_itself_only_where_its_commands_are_trusted() {
    for (workflow, settings) in [
        (OF_PROJECT, OF_PROJECT),
        (OF_PROJECT, OF_USER),
        (OF_USER, OF_PROJECT),
    ] {
        let root = starting_by_itself(workflow, settings);
        let home = root.path();
        says(home, "the export is empty");
        let blocked = writes(home);
        assert!(blocked.contains("not trusted"), "{blocked}");
        assert!(!says(home, "workflow status").contains("Analyze"));
    }
    let root = starting_by_itself(OF_PROJECT, OF_PROJECT);
    let home = root.path();
    for prompt in [
        "workflow bugfix it",
        "workflow trust",
        "workflow confirm trust",
        "/cancel-workflow",
        "the export is empty",
    ] {
        says(home, prompt);
    }
    let blocked = writes(home);
    assert!(blocked.contains("Analyze"), "{blocked}");
}

#[test]
fn the_user_reads_of_a_workflow_that_starts_by_itself_with_the_call() {
    let root = starting_by_itself(OF_USER, OF_USER);
    let home = root.path();
    let prompt = json!({ "prompt": "the export is empty" });
    printed_for_claude(home, "UserPromptSubmit", &prompt);
    let send = |name: &str, members| printed_for_claude(home, name, &members);
    let input = json!({ "file_path": "a", "content": "x" });
    let call = json!({ "tool_name": "Write", "tool_input": input });
    let blocked: serde_json::Value = serde_json::from_str(&send("PreToolUse", call)).unwrap();
    let told = blocked["systemMessage"].as_str().unwrap();
    assert!(told.contains("was started, as the settings say."), "{told}");
}

#[test]
fn the_main_agent_reads_the_first_message_of_a_run_that_a_call_of_a_sub_agent_starts() {
    let root = starting_by_itself(OF_USER, OF_USER);
    let home = root.path();
    let prompt = json!({ "prompt": "the export is empty" });
    printed_for_claude(home, "UserPromptSubmit", &prompt);
    let send = |name: &str, members| printed_for_claude(home, name, &members);
    let input = json!({ "file_path": "a", "content": "x" });
    let mut call = json!({ "tool_name": "Write", "tool_input": input, "agent_id": "a1" });
    let blocked = send("PreToolUse", call.clone());
    assert!(
        blocked.contains("Analyze") && !blocked.contains("Fix:"),
        "{blocked}"
    );
    call["agent_id"].take();
    let blocked = send("PreToolUse", call.clone());
    assert!(blocked.contains("Fix: the export is empty"), "{blocked}");
    assert!(!send("PreToolUse", call).contains("Fix:"));
}
