//! `runs --wait`: how a program waits for a person, with runs of Codex in a store.

use std::fs;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::connection::Process;
use crate::mcp::{APPROVAL, World, hook};

const DEADLINE: Duration = Duration::from_secs(20);

/// A run of Codex, which is in an approval if its workflow has one. The user's `notify` command writes a file.
pub(crate) fn run_of(workflow: &str) -> World {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir_all(root.path().join("project")).unwrap();
    fs::create_dir_all(root.path().join(".pi/agent")).unwrap();
    let shown = root.path().join("shown").display().to_string();
    let tell = json!([
        "sh",
        "-c",
        format!("cat > {shown}.part; mv {shown}.part {shown}")
    ]);
    let settings = root.path().join(".pi/agent/workflow-sidecar.json5");
    fs::write(settings, json!({ "notify": tell }).to_string()).unwrap();
    let mut world = World::at(root, ".pi/agent", workflow);
    if workflow == APPROVAL {
        let arguments = world.arguments("next");
        world.call(1, &arguments, &json!({}));
        let answer = world.answer(1);
        assert!(answer.contains("Waiting for approval"), "{answer}");
    }
    world
}

pub(crate) fn command(world: &World, arguments: &[&str]) -> Child {
    Process::command()
        .args(arguments)
        .env("HOME", world.root.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Waits for the end: gives the exit code, the listed run, and the errors.
pub(crate) fn ended(waiting: Child) -> (Option<i32>, Value, String) {
    let output = waiting.wait_with_output().unwrap();
    let runs: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let errors = String::from_utf8(output.stderr).unwrap();
    (output.status.code(), runs[0].clone(), errors)
}

/// A wait for the run of the world.
fn begun(world: &World, timeout: &str) -> Child {
    let arguments = ["runs", "--wait", "wf-", "--format", "json", "--timeout"];
    command(world, &[&arguments[..], &[timeout]].concat())
}

fn waited(world: &World, timeout: &str) -> (Option<i32>, Value) {
    let (code, run, errors) = ended(begun(world, timeout));
    assert_eq!(errors, "");
    (code, run["state"].clone())
}

#[test]
fn a_wait_ends_with_3_at_its_time_and_with_0_once_the_user_has_answered() {
    let world = run_of(APPROVAL);
    let before = Instant::now();
    assert_eq!(waited(&world, "1s"), (Some(3), json!("waits")));
    assert!(before.elapsed() >= Duration::from_secs(1));
    let mut waiting = begun(&world, "10m");
    let shown = world.root.path().join("shown");
    while !shown.exists() {
        assert!(before.elapsed() < DEADLINE);
        std::thread::sleep(Duration::from_millis(5));
    }
    let shown = fs::read_to_string(shown).unwrap();
    let code = shown.trim_end().rsplit(' ').next().unwrap();
    assert_eq!(waiting.try_wait().unwrap(), None, "nobody has answered");
    let answered = ended(command(&world, &["approve", code, "--choice", "approve"]));
    assert_eq!(answered.0, Some(0), "{}", answered.2);
    // Its session has not taken the answer up yet.
    let (code, run, errors) = ended(waiting);
    assert_eq!((code, &*errors), (Some(0), ""));
    assert_eq!(run["state"], "active");
    assert_eq!(run["waiting"], "answered: ask the agent to continue");
    assert_eq!(run["phase"], "Analyze");
}

#[test]
fn a_run_that_went_on_in_its_session_is_0_too_and_nothing_is_waited_for() {
    let world = run_of(APPROVAL);
    world.prompt("workflow approve approve");
    assert_eq!(waited(&world, "10m"), (Some(0), json!("active")));
}

#[test]
fn a_run_at_a_limit_is_4_and_one_that_is_over_1() {
    let phases = "phases: [{id: a, name: A, emoji: A, instructions: Go.}]";
    let workflow = |rule: &str| {
        format!("name: W\ncommandName: bugfix\ninitialMessage: Go\ncontinue: {rule}\n{phases}\n")
    };
    let world = run_of(&workflow("{max: 0}"));
    hook(world.root.path(), "Stop", &json!({}));
    assert_eq!(waited(&world, "10m"), (Some(4), json!("stopped")));

    let world = run_of(&workflow("wait"));
    hook(world.root.path(), "Stop", &json!({}));
    assert_eq!(waited(&world, "0s"), (Some(3), json!("waits")));
    let waiting = begun(&world, "10m");
    world.prompt("workflow cancel");
    let (code, run, _) = ended(waiting);
    assert_eq!((code, &run["state"]), (Some(1), &json!("cancelled")));

    let world = run_of(APPROVAL);
    let mut waiting = begun(&world, "10m");
    // It knows the run after this.
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(waiting.try_wait().unwrap(), None);
    let pruned = ended(command(&world, &["runs", "--prune", "0"]));
    assert_eq!(pruned.0, Some(0), "{}", pruned.2);
    let (code, run, _) = ended(waiting);
    assert_eq!((code, &run["state"]), (Some(1), &json!("gone")));
}

/// A workflow whose calls of the shell need consent, which `codex exec` asks nobody for.
const ASKS: &str = "
name: Bugfix
commandName: bugfix
initialMessage: Go
phases:
  - { id: a, name: Analyze, emoji: A, instructions: Look., tools: { rules: [{ ask: [bash], command: ['make *'] }] } }
  - { id: b, name: Build, emoji: B, instructions: Build it. }
";

/// Calls the shell; gives true if that is blocked, with the exit code of the hook.
fn shell(world: &World, line: &str) -> (bool, Option<i32>) {
    let event = json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "cwd": world.root.path().join("project"),
        "tool_name": "Bash", "tool_input": { "command": line },
    });
    let mut hook = Process::command()
        .args(["hook", "codex"])
        .env("HOME", world.root.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = hook.stdin.take().unwrap();
    std::io::Write::write_all(&mut input, event.to_string().as_bytes()).unwrap();
    drop(input);
    let output = hook.wait_with_output().unwrap();
    let answer = String::from_utf8(output.stdout).unwrap();
    (answer.contains("consent of the user"), output.status.code())
}

#[test]
fn a_call_that_nobody_could_be_asked_about_makes_its_run_wait() {
    let world = run_of(ASKS);
    let state = |world: &World| {
        let (status, ..) = ended(command(world, &["status", "wf-", "--format", "json"]));
        let (wait, run, _) = ended(begun(world, "0s"));
        assert_eq!(wait, status, "{run}");
        (
            status,
            run["waiting"].as_str().unwrap_or_default().to_owned(),
        )
    };
    let waits = "waiting for your consent: bash, the Analyze phase";
    let is_waiting = |world: &World| {
        let (code, waiting) = state(world);
        assert_eq!(code == Some(3), waiting.starts_with(waits), "{waiting}");
        code == Some(3)
    };
    assert_eq!(shell(&world, "ls"), (false, Some(0)));
    assert!(!is_waiting(&world));
    assert_eq!(shell(&world, "make it"), (true, Some(2)));
    assert!(is_waiting(&world));
    assert_eq!(shell(&world, "ls"), (false, Some(0)));
    assert!(is_waiting(&world), "that was another call");

    // The agent is not sent on, and stops.
    let stopped = hook(world.root.path(), "Stop", &json!({}));
    assert_eq!(stopped["decision"], Value::Null, "{stopped}");
    assert!(is_waiting(&world));
    world.prompt("do without it");
    assert!(!is_waiting(&world), "the user has spoken");

    assert_eq!(shell(&world, "make it"), (true, Some(2)));
    assert!(is_waiting(&world));
    world.prompt("workflow next");
    assert!(!is_waiting(&world), "another phase has begun");
}

#[test]
fn no_such_run_is_2_and_so_is_a_store_that_does_not_come_back_in_time() {
    let world = run_of(APPROVAL);
    let unknown = ended(command(&world, &["runs", "--wait", "wf-unknown"]));
    assert_eq!(unknown.0, Some(2));
    assert!(unknown.2.contains("no run `wf-unknown`"), "{}", unknown.2);
    let wrong = ended(begun(&world, "soon"));
    assert_eq!(wrong.0, Some(2));

    let state = world.root.path().join(".local/state/workflow-sidecar");
    let (store, away) = (state.join("store.sqlite3"), state.join("away"));
    for is_back in [true, false] {
        let mut waiting = begun(&world, "4s");
        std::thread::sleep(Duration::from_millis(500));
        fs::rename(&store, &away).unwrap();
        fs::create_dir(&store).unwrap();
        std::thread::sleep(Duration::from_millis(1500));
        assert_eq!(waiting.try_wait().unwrap(), None, "it is tried again");
        if is_back {
            fs::remove_dir(&store).unwrap();
            fs::rename(&away, &store).unwrap();
        }
        let (code, run, errors) = ended(waiting);
        assert!(errors.contains("tried again"), "{errors}");
        if is_back {
            assert_eq!((code, &run["state"]), (Some(3), &json!("waits")));
        } else {
            assert_eq!((code, run), (Some(2), Value::Null), "{errors}");
        }
    }
}
