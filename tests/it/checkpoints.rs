//! Checkpoints of the real binary: code is recorded at a turn, and restored with the conversation.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::host::TestHost;
use crate::recordings::{recorded, recording};
use crate::transcripts::replay;
use crate::triggers::{answer, host, host_with, project, shut_down, start, texts};

pub(crate) fn git(directory: &Path, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.current_dir(directory).args(arguments);
    git.env("GIT_CONFIG_GLOBAL", "/dev/null");
    for who in ["AUTHOR", "COMMITTER"] {
        git.env(format!("GIT_{who}_NAME"), "Somebody");
        git.env(format!("GIT_{who}_EMAIL"), "somebody@example.com");
    }
    let output = git.output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
}

#[test]
fn code_is_restored_with_the_conversation_if_a_person_agrees() {
    let project = project(&json!({"checkpoint": "git"}), None);
    let file = project.path().join("file.txt");
    fs::write(&file, "one").unwrap();
    git(project.path(), &["init", "--quiet"]);
    git(project.path(), &["add", "file.txt"]);
    git(project.path(), &["commit", "--quiet", "--message", "one"]);
    let mut host = host(&project);
    start(&mut host);
    let mut branch = Vec::new();
    for (turn, text) in ["two", "three"].into_iter().enumerate() {
        fs::write(&file, text).unwrap();
        let result = host.result("hook/turn_start", &json!({"event": {"turnIndex": turn}}));
        let entry = result["actions"][0].clone();
        assert_eq!(entry["customType"], "workflow:checkpoint");
        assert_eq!(entry["data"]["turnIndex"], turn);
        branch.push(
            json!({"type": "custom", "customType": entry["customType"], "data": entry["data"]}),
        );
    }
    fs::write(&file, "four").unwrap();
    // By the host's count of turns, and by the entries up to there.
    for (params, says_yes) in [
        (json!({"event": {"targetTurnIndex": 0}}), false),
        (json!({"context": {"branch": []}}), true),
    ] {
        let request = host.request("hook/branch", &params);
        let question = host.receive();
        assert_eq!(question["method"], "ui/select");
        assert_eq!(question["params"]["title"], "Restore code state?");
        assert_eq!(
            fs::read_to_string(&file).unwrap(),
            "four",
            "not before a word is said"
        );
        let option = &question["params"]["options"][usize::from(!says_yes)];
        answer(&mut host, &question, option);
        if says_yes {
            wait_until_restored(&mut host);
        } else {
            let answered = host.receive();
            assert_eq!(answered["id"], request);
            assert!(texts(&answered["result"]).is_empty(), "{answered}");
        }
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "two");
    // The conversation does not go back past a checkpoint.
    let here = json!({"context": {"branch": branch}});
    let request = host.request("hook/branch", &here);
    // What the restore changed may be applied after its report, if git is slow.
    let answered = std::iter::repeat_with(|| host.receive()).find(|line| line["id"] == request);
    assert_eq!(answered.unwrap()["result"], json!({}));
    shut_down(&mut host);
}

/// A project with a checkpoint of its first turn, and changes since.
#[cfg(unix)]
fn changed_since(project: &TempDir, host: &mut TestHost) {
    let file = project.path().join("file.txt");
    fs::write(&file, "one").unwrap();
    git(project.path(), &["init", "--quiet"]);
    git(project.path(), &["add", "file.txt"]);
    git(project.path(), &["commit", "--quiet", "--message", "one"]);
    start(host);
    fs::write(&file, "two").unwrap();
    let result = host.result("hook/turn_start", &json!({"event": {"turnIndex": 0}}));
    assert_eq!(result["actions"][0]["customType"], "workflow:checkpoint");
    fs::write(&file, "three").unwrap();
}

#[cfg(unix)]
fn accept_restore(host: &mut TestHost) -> Value {
    let params = json!({"event": {"targetTurnIndex": 0}});
    let request = host.request("hook/branch", &params);
    let question = host.receive();
    let option = question["params"]["options"][0].clone();
    answer(host, &question, &option);
    json!(request)
}

/// Waits for the report of a restore, which follows the answer if git is slow.
fn wait_until_restored(host: &mut TestHost) {
    let mut said = String::new();
    while !said.contains("Code restored") {
        let line = host.receive();
        said += &texts(&line["result"]).concat();
        said += &texts(&line["params"]).concat();
        assert!(!said.contains("could not"), "{said}");
    }
}

/// A file that a slow git waits for.
#[cfg(unix)]
const GO: &str = "bin/go";

/// A git that changes files only when there is a file [`GO`].
#[cfg(unix)]
fn with_slow_git(project: &TempDir) -> impl FnOnce(&mut Command) {
    use std::os::unix::fs::PermissionsExt;
    let bin = project.path().join("bin");
    let path = std::env::var("PATH").unwrap();
    fs::create_dir(&bin).unwrap();
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in *'reset --hard'*) until [ -e '{}' ]; do sleep 0.02; done;; esac\n\
         PATH='{path}' exec git \"$@\"\n",
        project.path().join(GO).display()
    );
    fs::write(bin.join("git"), script).unwrap();
    fs::set_permissions(bin.join("git"), fs::Permissions::from_mode(0o755)).unwrap();
    move |command| {
        command.env("PATH", format!("{}:{path}", bin.display()));
    }
}

#[cfg(unix)]
#[test]
fn a_slow_restore_delays_no_answer_and_its_end_is_reported() {
    let project = project(&json!({"checkpoint": "git"}), None);
    let slow = with_slow_git(&project);
    let mut host = host_with(&project, slow);
    changed_since(&project, &mut host);
    let began = Instant::now();
    let request = accept_restore(&mut host);
    host.result("session/state", &json!({}));
    assert!(began.elapsed() < Duration::from_secs(2));
    let mut answered = None;
    let mut last = Vec::new();
    while answered.is_none() || last.is_empty() {
        let line = host.receive();
        if line["id"] == request {
            answered = Some(texts(&line["result"]));
            fs::write(project.path().join(GO), "").unwrap();
        } else {
            last = texts(&line["params"]);
        }
    }
    let said = answered.unwrap();
    assert!(said.concat().contains("still being restored"), "{said:?}");
    assert!(
        last.concat().contains("Code restored to checkpoint"),
        "{last:?}"
    );
    let text = fs::read_to_string(project.path().join("file.txt")).unwrap();
    assert_eq!(text, "two");
    shut_down(&mut host);
}

#[cfg(unix)]
#[test]
fn a_slow_restore_is_reported_to_the_session_that_a_fork_begins() {
    let project = project(&json!({"checkpoint": "git"}), None);
    let slow = with_slow_git(&project);
    let mut host = host_with(&project, slow);
    changed_since(&project, &mut host);
    accept_restore(&mut host);
    // The session ends, and another process has the new one, as with pi.
    let ended = host.request("hook/session_shutdown", &json!({}));
    while host.receive()["id"] != ended {}
    let mut forked = crate::triggers::host(&project);
    start(&mut forked);
    fs::write(project.path().join(GO), "").unwrap();
    let said = crate::triggers::next_texts(&mut forked).concat();
    assert!(said.contains("Code restored to checkpoint"), "{said}");
    assert!(said.contains("git stash apply"), "{said}");
    shut_down(&mut forked);
    shut_down(&mut host);
}

#[cfg(unix)]
#[test]
fn a_sidecar_restores_code_before_it_ends() {
    let project = project(&json!({"checkpoint": "git"}), None);
    let slow = with_slow_git(&project);
    let mut host = host_with(&project, slow);
    changed_since(&project, &mut host);
    accept_restore(&mut host);
    let go = project.path().join(GO);
    let later = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        fs::write(go, "").unwrap();
    });
    host.close_and_hear();
    later.join().unwrap();
    let text = fs::read_to_string(project.path().join("file.txt")).unwrap();
    assert_eq!(text, "two");
}

#[cfg(unix)]
#[test]
fn the_environment_of_another_git_is_not_listened_to() {
    let project = project(&json!({"checkpoint": "git"}), None);
    let mut host = host_with(&project, |command| {
        command
            .env("GIT_DIR", "/nowhere")
            .env("GIT_INDEX_FILE", "/nowhere/index");
    });
    changed_since(&project, &mut host);
    accept_restore(&mut host);
    wait_until_restored(&mut host);
    shut_down(&mut host);
}

#[test]
fn a_missing_repository_is_reported_once() {
    let project = project(&json!({"checkpoint": "git"}), None);
    let mut host = host(&project);
    start(&mut host);
    let turns = [0, 1].map(|turn| {
        let params = json!({"event": {"turnIndex": turn}});
        texts(&host.result("hook/turn_start", &params))
    });
    assert!(turns[0].concat().contains("no git repository"));
    assert!(turns[1].is_empty());
    shut_down(&mut host);
}

#[cfg(unix)]
#[test]
fn a_restore_is_recorded_and_replays_without_git() {
    let project = project(&json!({"checkpoint": "git"}), None);
    let (_directory, recorded_to) = recording();
    let mut host = TestHost::over(recorded(&recorded_to, &[]));
    host.initialize(project.path(), &json!("system"));
    changed_since(&project, &mut host);
    accept_restore(&mut host);
    wait_until_restored(&mut host);
    shut_down(&mut host);
    drop(host);
    drop(project);
    let text = fs::read_to_string(&recorded_to).unwrap();
    assert!(
        text.contains("\"outcome\":{\"files\":\"restored\""),
        "{text}"
    );
    let output = replay(&[&recorded_to.display().to_string()]);
    let output = output.unwrap_or_else(|output| panic!("{output}\n{text}"));
    assert_eq!(output, "1 transcript replayed, no differences\n");
}
