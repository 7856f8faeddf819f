//! The process: its start, its end, its output streams.

use std::io::{Read, Write};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::connection::{Connection, Process};
use crate::host::TestHost;

/// A session with all that makes the sidecar say something: entries, warnings, errors, questions.
const SESSION: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"host":{"name":"t","version":"1"},"cwd":"/nowhere","agentDir":"/dev/null/nowhere","capabilities":{}}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","id":2,"method":"hook/session_start","params":{"context":{"branch":[{"type":"custom","customType":"workflow:state","data":7}]}}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","id":"late","result":true}"#,
    "\n",
    r#"{"jsonrpc":"2.0","method":"hook/unknown"}"#,
    "\nnot json\n",
    r#"{"jsonrpc":"2.0","id":3,"method":"hook/tool_call","params":{"event":{"toolName":"edit","input":{"secret":"hunter2"}}}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","id":4,"method":"shutdown"}"#,
);

/// The result of a run of the binary.
struct Ran {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

fn run(arguments: &[&str], log: &str, input: &str) -> Ran {
    let mut child = Process::command()
        .args(arguments)
        .env("WORKFLOW_SIDECAR_LOG", log)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // A process that ends early does not read all of it.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    Ran {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn the_end_of_input_ends_it_after_the_last_answer() {
    let ran = run(
        &["serve"],
        "warn",
        SESSION.split_inclusive('\n').next().unwrap(),
    );
    assert_eq!(ran.code, Some(0));
    assert_eq!(ran.stdout.lines().count(), 1);
    let without_end = run(
        &["serve"],
        "warn",
        r#"{"jsonrpc":"2.0","id":1,"method":"x"}"#,
    );
    assert_eq!(without_end.code, Some(0));
    assert_eq!(without_end.stdout.lines().count(), 1);
    assert_eq!(run(&["serve"], "warn", "").code, Some(0));
}

#[test]
fn without_a_command_it_serves_whoever_pipes() {
    let ran = run(&[], "warn", SESSION);
    assert_eq!(ran.code, Some(0));
    assert!(
        ran.stdout
            .ends_with("{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":null}\n")
    );
}

#[test]
fn shutdown_ends_it_though_input_goes_on() {
    let mut process = Process::start(&[]);
    process.send(SESSION.as_bytes());
    process.send(b"\n{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"x\"}\n");
    assert_eq!(process.wait().code(), Some(0));
    let said = process.finish();
    assert_eq!(
        said.last().unwrap(),
        r#"{"jsonrpc":"2.0","id":4,"result":null}"#
    );
}

#[test]
fn stdout_carries_protocol_lines_only_however_much_is_logged() {
    let ran = run(&["serve"], "trace", SESSION);
    for line in ran.stdout.lines() {
        let message: Value = serde_json::from_str(line).unwrap();
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
    }
    assert_eq!(ran.stdout.lines().count(), 5);
    assert!(
        ran.stderr.contains("WARN"),
        "something was logged: {}",
        ran.stderr
    );
    assert!(
        !ran.stderr.contains("hunter2"),
        "an input was logged: {}",
        ran.stderr
    );
}

#[test]
fn a_log_for_machines_is_an_object_a_line_with_how_long_each_request_and_session_took() {
    let ran = run(&["serve", "--log-format", "json"], "debug", SESSION);
    let logged = |name: &str, field: &str, value: &str| {
        let mut lines = ran.stderr.lines().map(|line| {
            let line: Value = serde_json::from_str(line).expect(line);
            line
        });
        let found = lines.find(|line| {
            let span = &line["span"];
            span["name"] == name && span[field] == value && line["fields"]["message"] == "close"
        });
        let found = found.unwrap_or_else(|| panic!("{name} {field} {value} in {}", ran.stderr));
        assert!(found["fields"]["time.busy"].is_string(), "{found}");
    };
    logged("message", "method", "hook/tool_call");
    logged("message", "id", "2");
    logged("session", "id", "");
}

#[test]
fn what_tools_are_given_is_logged_only_where_lines_are_asked_for_by_name() {
    let ran = run(&["serve"], "lines=trace", SESSION);
    assert!(ran.stderr.contains("hunter2"), "{}", ran.stderr);
}

#[test]
fn a_host_that_stops_listening_ends_it_quietly() {
    let mut child = Process::command()
        .arg("serve")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(SESSION.as_bytes()).unwrap();
    stdin.write_all(b"\n").unwrap();
    let mut stderr = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut stderr)
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(!stderr.contains("pipe"), "{stderr}");
}

#[test]
fn a_wrong_command_line_has_another_exit_code_than_a_failure() {
    for arguments in [
        &["sevre"][..],
        &["serve", "--max-lines", "1"],
        &["serve", "--max-line", "x"],
    ] {
        let ran = run(arguments, "warn", "");
        assert_eq!(ran.code, Some(2), "{arguments:?}");
        assert!(ran.stdout.is_empty() && !ran.stderr.is_empty());
    }
}

#[test]
fn help_and_version_are_there() {
    let help = run(&["--help"], "warn", "");
    assert_eq!(help.code, Some(0));
    assert!(help.stdout.contains("Examples:") && help.stdout.contains("serve"));
    let version = run(&["--version"], "warn", "");
    assert_eq!(
        version.stdout,
        format!("workflow-sidecar {}\n", env!("CARGO_PKG_VERSION"))
    );
}

#[test]
fn every_method_of_the_contract_is_answered() {
    let mut host = TestHost::in_memory();
    host.initialize_bare();
    host.start_session();
    for method in workflow_protocol::METHODS {
        // `shutdown` would be the last answer.
        if *method != "shutdown" {
            let answer = host.call(method, &json!({}));
            assert_ne!(
                answer["error"]["data"]["kind"], "methodNotFound",
                "{method}"
            );
        }
    }
    host.result("shutdown", &json!({}));
}

#[cfg(target_os = "linux")]
#[test]
fn other_processes_of_the_user_cannot_look_into_it() {
    use std::fs::metadata;
    use std::os::unix::fs::MetadataExt;
    use std::os::unix::process::CommandExt;

    let mut command = Process::command();
    if metadata("/proc/self").unwrap().uid() == 0 {
        // Nothing is closed to root.
        command.uid(65_534).gid(65_534).env("HOME", "/nowhere");
    }
    let mut sidecar = Process::spawn(command.arg("serve").current_dir("/"));
    sidecar.send(SESSION.split_inclusive('\n').next().unwrap().as_bytes());
    sidecar.receive();
    let process = format!("/proc/{}", sidecar.id());
    for file in ["environ", "mem", "fd"] {
        let owner = metadata(format!("{process}/{file}")).unwrap().uid();
        assert_eq!(owner, 0, "{file} is the system's, not the user's");
    }
}
