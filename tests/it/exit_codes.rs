//! Exit codes: each of the table in the help, as a shell sees it.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::connection::Process;

/// The value of `$?` in a shell.
fn as_a_shell_sees_it(status: ExitStatus) -> i32 {
    status
        .code()
        .unwrap_or_else(|| 128 + status.signal().unwrap())
}

fn code(arguments: &[&str], project: &TempDir, input: &str) -> i32 {
    let mut child = Process::command()
        .args(arguments)
        .args(["--agent-dir", "none"])
        .current_dir(project.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // A process that ends early does not read it.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    as_a_shell_sees_it(child.wait().unwrap())
}

/// A project with a workflow of one phase that says this under `continue`.
fn project(continue_rule: &str) -> TempDir {
    let project = tempfile::tempdir().unwrap();
    let directory = project.path().join(".pi/workflows/w");
    std::fs::create_dir_all(&directory).unwrap();
    let workflow = format!(
        "name: W\ncommandName: w\ninitialMessage: Go.\ncontinue: {continue_rule}\n\
         phases: [{{id: p, name: P, emoji: p, instructions: Go.}}]\n"
    );
    std::fs::write(directory.join("workflow.yaml"), workflow).unwrap();
    project
}

#[test]
fn what_is_well_is_0_what_is_found_1_and_what_cannot_be_done_2() {
    let sound = project("{}");
    assert_eq!(code(&["check"], &sound, ""), 0);
    assert_eq!(code(&["check"], &project("never"), ""), 1);
    assert_eq!(code(&["check", "nowhere"], &sound, ""), 2);
    assert_eq!(code(&["chek"], &sound, ""), 2);
}

#[test]
fn a_run_that_waits_for_the_user_is_3_and_one_at_a_limit_4() {
    let simulate = ["simulate", "w"];
    assert_eq!(code(&simulate, &project("{}"), "status\n"), 0);
    assert_eq!(code(&simulate, &project("wait"), "stop\n"), 3);
    assert_eq!(code(&simulate, &project("{max: 0}"), "stop\n"), 4);
    // The agent need not stop for that.
    let budget = project("{}\nbudget: {toolCalls: 1}");
    assert_eq!(code(&simulate, &budget, "tool read\ntool read\n"), 4);
}

#[cfg(target_os = "linux")]
#[test]
fn what_cannot_be_printed_is_2() {
    for arguments in [
        &["--help"][..],
        &["--version"],
        &["help", "check"],
        &["schema"],
    ] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
        let output = Process::command()
            .args(arguments)
            .stdout(full.unwrap())
            .output()
            .unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
        assert!(errors.starts_with("error: "), "{arguments:?}: {errors}");
    }
}

/// With `set -o pipefail`, `check | head -1` fails too.
#[test]
fn findings_that_cannot_be_written_are_no_success() {
    let project = project("{}");
    for number in 0..250 {
        let directory = format!(".pi/workflows/{number}-{}", "x".repeat(100));
        let directory = project.path().join(directory);
        std::fs::create_dir(&directory).unwrap();
        std::fs::write(directory.join("workflow.yaml"), "name: 1\n").unwrap();
    }
    for format in ["human", "json", "github"] {
        let mut child = started(&["check", "--format", format], &project, "");
        let mut line = String::new();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut line).unwrap();
        drop(stdout);
        let code = as_a_shell_sees_it(child.wait().unwrap());
        assert_eq!(code, 141, "{format}: {line}");
    }
}

/// The others of `runs --wait` are in `waits.rs`, where runs are in a store.
#[test]
fn a_run_that_cannot_be_waited_for_is_2() {
    let sound = project("{}");
    for arguments in [
        &["runs", "--wait", "wf-1"][..],
        &["runs", "--wait", "wf-1", "--timeout", "long"],
        &["runs", "--timeout", "1h"],
        &["runs", "--wait", "wf-1", "--watch"],
    ] {
        assert_eq!(code(arguments, &sound, ""), 2, "{arguments:?}");
    }
}

/// Those that are tested here.
#[test]
fn the_help_tells_every_code() {
    let output = Process::command().arg("--help").output().unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    let (_, table) = help.split_once("Exit codes:\n").unwrap();
    let codes: Vec<&str> = table
        .lines()
        .flat_map(str::split_whitespace)
        .filter(|word| word.bytes().all(|byte| byte.is_ascii_digit()))
        .collect();
    assert_eq!(codes, ["0", "1", "2", "3", "4", "130", "141", "143"]);
}

/// Waits for a text on a stream, so that the process is at work, and signals it.
fn signalled(mut child: Child, signal: &str) -> i32 {
    let mut line = String::new();
    let stdout = child.stdout.take().unwrap();
    let mut stdout = BufReader::new(stdout);
    stdout.read_line(&mut line).unwrap();
    assert!(!line.is_empty(), "it says something first");
    let id = child.id().to_string();
    let kill = Command::new("kill").args([signal, &id]).status();
    assert!(kill.unwrap().success());
    let deadline = Instant::now() + Duration::from_secs(20);
    while Instant::now() < deadline {
        if let Some(status) = child.try_wait().unwrap() {
            return as_a_shell_sees_it(status);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    panic!("it goes on after {signal}");
}

/// True where the shell that started these tests has its children ignore Ctrl-C.
fn interrupts_are_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask & 0b10 != 0)
}

/// A process that goes on for as long as its input does.
fn started(arguments: &[&str], project: &TempDir, input: &str) -> Child {
    let mut child = Process::command()
        .args(arguments)
        .current_dir(project.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    if let Some(stdin) = &mut child.stdin {
        stdin.write_all(input.as_bytes()).unwrap();
    }
    child
}

#[test]
fn a_signal_ends_what_serves_and_what_runs() {
    let project = project("{}");
    for (arguments, input) in [
        (&["serve"][..], "no message\n"),
        (&["simulate", "w"], "status\n"),
    ] {
        for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
            if signal == "-INT" && interrupts_are_ignored() {
                continue;
            }
            let child = started(arguments, &project, input);
            assert_eq!(signalled(child, signal), code, "{arguments:?}");
        }
    }
}
