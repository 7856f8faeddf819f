//! `notify`: what the user is told of runs, over a server of this machine, from a real `serve` and real hooks.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Stdio;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::connection::Process;
use crate::host::TestHost;
use crate::mcp::hook;

const DEADLINE: Duration = Duration::from_secs(20);
/// The time in which a notice that should not come would.
const A_WHILE: Duration = Duration::from_millis(700);

const WAITING: &str = "
name: Bugfix
commandName: bugfix
initialMessage: Go
continue: wait
phases: [{ id: a, name: Analyze, emoji: A, instructions: Look. }]
";

/// A server, and the bodies of the requests that it gets.
struct Server {
    url: String,
    notices: Receiver<Value>,
}

/// A server that gives each request this answer, or none.
fn server(answer: Option<String>) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    let (send, notices) = channel();
    std::thread::spawn(move || {
        let mut kept = Vec::new();
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let notice = body(&stream);
            if let Some(answer) = &answer {
                let answer = format!("HTTP/1.1 {answer}\r\nContent-Length: 0\r\n\r\n");
                stream.write_all(answer.as_bytes()).unwrap();
            } else {
                kept.push(stream);
            }
            if send.send(notice).is_err() {
                return;
            }
        }
    });
    Server { url, notices }
}

fn body(stream: &TcpStream) -> Value {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if line.trim_end().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    serde_json::from_slice(&body).unwrap()
}

impl Server {
    fn next(&self) -> Value {
        self.notices.recv_timeout(DEADLINE).expect("a notice comes")
    }

    fn is_silent(&self) -> bool {
        self.notices.recv_timeout(A_WHILE).is_err()
    }
}

/// A home directory with this workflow and these settings of the user, and a project.
fn home(workflow: &str, notify: &Value) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir_all(root.path().join("project")).unwrap();
    let directory = root.path().join(".pi/agent/workflows/bugfix");
    fs::create_dir_all(&directory).unwrap();
    fs::write(directory.join("workflow.yaml"), workflow).unwrap();
    let settings = root.path().join(".pi/agent/workflow-sidecar.json5");
    fs::write(settings, json!({ "notify": notify }).to_string()).unwrap();
    root
}

fn prompt(root: &Path, text: &str) {
    hook(root, "UserPromptSubmit", &json!({ "prompt": text }));
}

#[test]
fn a_run_of_hooks_is_told_once_for_each_thing_that_happens_to_it() {
    let server = server(Some("204 No Content".to_owned()));
    let root = home(WAITING, &json!(server.url));
    prompt(root.path(), "workflow bugfix the secret task");
    let notice = server.next();
    let run = notice["run"].as_str().unwrap();
    assert!(run.starts_with("wf-"), "{notice}");
    let expected = json!({
        "event": "waits", "run": run, "workflow": "bugfix", "phase": "Analyze", "project": "project",
        "text": "bugfix > Analyze: waiting for you\n",
    });
    assert_eq!(notice, expected);
    hook(root.path(), "Stop", &json!({}));
    prompt(root.path(), "and then");
    assert!(server.is_silent(), "it waits as before");
    prompt(root.path(), "workflow pause");
    assert_eq!(server.next()["event"], "paused");
    prompt(root.path(), "workflow cancel");
    let notice = server.next();
    assert_eq!(notice["text"], "bugfix > Analyze: cancelled\n");
    assert!(server.is_silent());
}

#[test]
fn only_what_the_user_wants_to_know_is_told_and_the_task_if_it_may_be() {
    let server = server(Some("200 OK".to_owned()));
    let notify = json!({"url": server.url, "say": "task", "on": ["ends"], "link": "http://board"});
    let root = home(WAITING, &json!([notify, "bell"]));
    prompt(root.path(), "workflow bugfix the secret task");
    prompt(root.path(), "workflow cancel");
    let notice = server.next();
    assert_eq!(
        (&notice["event"], &notice["task"]),
        (&json!("ends"), &json!("the secret task"))
    );
    let run = notice["run"].as_str().unwrap();
    assert_eq!(notice["link"], format!("http://board/?run={run}"));
    assert!(server.is_silent());
}

#[test]
fn a_project_cannot_notify() {
    let server = server(Some("200 OK".to_owned()));
    let root = home(WAITING, &json!([]));
    let settings = root.path().join("project/.pi/workflow-sidecar.json5");
    fs::create_dir_all(settings.parent().unwrap()).unwrap();
    fs::write(&settings, json!({ "notify": server.url }).to_string()).unwrap();
    prompt(root.path(), "workflow bugfix it");
    assert!(server.is_silent());
}

/// A sidecar with a host without dialogs, which writes its log to a file.
fn serving(root: &Path) -> TestHost {
    let log = fs::File::create(root.join("log")).unwrap();
    let mut command = Process::command();
    command
        .arg("serve")
        .env("HOME", root)
        .stderr(Stdio::from(log));
    let mut host = TestHost::over(Process::spawn(&mut command));
    let params = json!({
        "protocolVersion": 1,
        "host": {"name": "test", "version": "0"},
        "cwd": root.join("project"),
        "agentDir": root.join(".pi/agent"),
        "capabilities": {},
    });
    host.result("initialize", &params);
    host.start_session();
    host.result(
        "command/run",
        &json!({"name": "workflow", "arguments": "bugfix it"}),
    );
    host
}

/// Has the agent finish a phase that needs approval. Gives the time that the answer took.
fn next(host: &mut TestHost) -> Duration {
    let before = Instant::now();
    let call =
        json!({"name": "workflow_step", "toolCallId": "t1", "arguments": {"action": "next"}});
    let id = host.request("tool/execute", &call);
    while host.receive()["id"] != id {}
    before.elapsed()
}

fn logged(root: &Path, text: &str) {
    let end = Instant::now() + DEADLINE;
    loop {
        let log = fs::read_to_string(root.join("log")).unwrap();
        if log.contains(text) {
            return;
        }
        assert!(Instant::now() < end, "no {text:?} in {log}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_sidecar_sends_the_code_once_and_says_in_its_log_what_fails() {
    let elsewhere = server(Some("200 OK".to_owned()));
    let redirects = server(Some(format!("302 Found\r\nLocation: {}", elsewhere.url)));
    let fails = server(Some("500 Internal Server Error".to_owned()));
    let notify = json!([redirects.url, fails.url, "http://127.0.0.1:1/"]);
    let root = home(crate::mcp::APPROVAL, &notify);
    let mut host = serving(root.path());
    next(&mut host);
    for server in [&redirects, &fails] {
        let notice = server.next();
        assert_eq!(notice["event"], "waits");
        assert_eq!(notice["code"].as_str().unwrap().len(), 14, "{notice}");
    }
    logged(root.path(), "(47)");
    logged(root.path(), "error: 500");
    logged(root.path(), "(7)");
    assert!(
        redirects.is_silent() && fails.is_silent(),
        "each is told once"
    );
    assert!(elsewhere.is_silent(), "a redirect is not followed");
    host.result(
        "command/run",
        &json!({"name": "cancel-workflow", "arguments": ""}),
    );
    assert_eq!(redirects.next()["event"], "ends");
}

#[test]
fn a_server_that_hangs_holds_nothing() {
    let hangs = server(None);
    let root = home(crate::mcp::APPROVAL, &json!(vec![hangs.url.clone(); 6]));
    let mut host = serving(root.path());
    let took = next(&mut host);
    assert!(took < Duration::from_secs(3), "{took:?}");
    for _ in 0..4 {
        hangs.next();
    }
    assert!(hangs.is_silent(), "no more are sent at once");
    logged(root.path(), "too many notices are under way");
    drop(host);

    let root = home(WAITING, &json!(hangs.url));
    let before = Instant::now();
    prompt(root.path(), "workflow bugfix it");
    let took = before.elapsed();
    hangs.next();
    assert!(took < Duration::from_secs(3), "{took:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_terminal_is_told_without_the_characters_of_a_text_that_act_on_it() {
    let workflow = WAITING.replace("Analyze", "\"A\\e]52;c;x\\a\"");
    let root = home(&workflow, &json!(["bell", "osc9"]));
    let event = json!({
        "hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": root.path().join("project"),
        "prompt": "workflow bugfix it",
    });
    fs::write(root.path().join("event"), event.to_string()).unwrap();
    let binary = env!("CARGO_BIN_EXE_workflow-sidecar");
    let line = format!("{binary} hook codex < event > answer");
    let mut terminal = std::process::Command::new("script");
    terminal
        .args(["-qec", &line, "/dev/null"])
        .env("HOME", root.path());
    let shown = terminal.current_dir(root.path()).output().unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    let notice = "\u{1b}]9;workflow-sidecar: bugfix > A\\u{1b}]52;c;x\\u{7}: waiting for you\u{7}";
    assert_eq!(shown, format!("\u{7}{notice}"));
}
