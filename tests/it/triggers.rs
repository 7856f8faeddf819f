//! Triggers of the real binary: files that are written, and HTTP requests.

use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::checkpoints::git;
use crate::connection::Process;
use crate::host::TestHost;
use crate::recordings::{recorded, recording};
use crate::transcripts::replay;

/// A project with these settings of its user, and perhaps others of its own.
pub(crate) fn project(user: &Value, settings: Option<&Value>) -> TempDir {
    let project = tempfile::tempdir().unwrap();
    let write = |directory: &str, settings: &Value| {
        let directory = project.path().join(directory);
        fs::create_dir_all(&directory).unwrap();
        fs::write(
            directory.join("workflow-sidecar.json5"),
            // The user's own settings name a whole path.
            settings
                .to_string()
                .replace("$PROJECT", &project.path().display().to_string()),
        )
        .unwrap();
    };
    write("agent", user);
    if let Some(settings) = settings {
        write(".pi", settings);
    }
    project
}

pub(crate) fn host(project: &TempDir) -> TestHost {
    host_with(project, |_| ())
}

pub(crate) fn host_with(project: &TempDir, change: impl FnOnce(&mut Command)) -> TestHost {
    let mut command = Process::command();
    command.arg("serve").env("TOKEN_OF_A_TEST", "sesame\n");
    change(&mut command);
    let mut host = TestHost::over(Process::spawn(&mut command));
    host.initialize(project.path(), &json!("system"));
    host
}

pub(crate) fn start(host: &mut TestHost) -> Vec<String> {
    texts(&host.start_session())
}

/// The texts of notifications and user messages among the actions of an answer.
pub(crate) fn texts(result: &Value) -> Vec<String> {
    let actions = result["actions"].as_array().cloned().unwrap_or_default();
    let said = actions
        .iter()
        .filter_map(|action| match action["type"].as_str() {
            Some("notify") => action["message"].as_str(),
            Some("sendUserMessage") => action["content"].as_str(),
            _ => None,
        });
    said.map(str::to_owned).collect()
}

/// The texts of the next `host/apply`.
pub(crate) fn next_texts(host: &mut TestHost) -> Vec<String> {
    let line = host.receive();
    assert_eq!(line["method"], "host/apply", "{line}");
    texts(&line["params"])
}

pub(crate) fn answer(host: &mut TestHost, question: &Value, answer: &Value) {
    host.send(json!({"jsonrpc": "2.0", "id": question["id"], "result": answer}).to_string());
}

pub(crate) fn shut_down(host: &mut TestHost) {
    let request = host.request("shutdown", &json!({}));
    // Notifications about undelivered texts come first.
    while host.receive()["id"] != request {}
}

/// Long enough for one look at a file, which there is every second.
const BEYOND_A_LOOK: Duration = Duration::from_millis(1300);

/// The text of a file, once it is the expected one or some time has passed.
fn text_once(file: &Path, expected: &str) -> String {
    let end = Instant::now() + Duration::from_secs(3);
    loop {
        let text = fs::read_to_string(file).unwrap();
        if text == expected || Instant::now() > end {
            return text;
        }
        thread::sleep(Duration::from_millis(10));
    }
}

fn file_trigger(path: &str) -> Value {
    json!({"triggers": [{"file": path, "prompt": "External trigger: {content}"}]})
}

#[test]
fn a_text_in_a_file_wakes_the_agent_and_the_file_is_emptied() {
    let project = project(&file_trigger("$PROJECT/trigger.txt"), None);
    let file = project.path().join("trigger.txt");
    let mut host = host(&project);
    let watching = format!("[workflow] Watching file {}", file.display());
    assert_eq!(start(&mut host), [watching]);
    for text in ["Run the tests\n", "and \u{1b}[2Jagain"] {
        fs::write(&file, text).unwrap();
        let plain = text.trim().replace('\u{1b}', "");
        assert_eq!(
            next_texts(&mut host),
            [format!("External trigger: {plain}")]
        );
        assert_eq!(text_once(&file, ""), "");
        host.result("hook/agent_start", &json!({}));
        host.result("hook/agent_end", &json!({}));
    }
    // An editor replaces the file.
    fs::write(project.path().join("new"), "renamed").unwrap();
    fs::rename(project.path().join("new"), &file).unwrap();
    assert_eq!(next_texts(&mut host), ["External trigger: renamed"]);
    shut_down(&mut host);
}

#[test]
fn a_path_of_the_users_settings_is_not_looked_for_in_each_project() {
    let project = project(&file_trigger("trigger.txt"), None);
    let file = project.path().join("trigger.txt");
    fs::write(&file, "of somebody else's").unwrap();
    let mut host = host(&project);
    let notices = start(&mut host);
    assert!(
        notices.concat().contains("`file` is a relative path"),
        "{notices:?}"
    );
    assert!(host.receive_within(BEYOND_A_LOOK).is_none());
    assert_eq!(fs::read_to_string(&file).unwrap(), "of somebody else's");
    shut_down(&mut host);
}

#[test]
fn text_added_during_the_handover_comes_next() {
    let project = project(&file_trigger("$PROJECT/trigger.txt"), None);
    let file = project.path().join("trigger.txt");
    let mut host = host(&project);
    start(&mut host);
    fs::write(&file, "1\n").unwrap();
    let mut said = String::new();
    let mut append = fs::File::options().append(true).open(&file).unwrap();
    for number in 2..=40 {
        thread::sleep(Duration::from_millis(60));
        writeln!(append, "{number}").unwrap();
        // The agent is never busy: every text is sent at once.
        while let Some(line) = host.receive_within(Duration::ZERO) {
            said += &texts(&line["params"])
                .concat()
                .replace("External trigger: ", "\n");
            host.result("hook/agent_start", &json!({}));
            host.result("hook/agent_end", &json!({}));
        }
    }
    while said.split_whitespace().count() < 40 {
        said += &next_texts(&mut host)
            .concat()
            .replace("External trigger: ", "\n");
        host.result("hook/agent_start", &json!({}));
        host.result("hook/agent_end", &json!({}));
    }
    let numbers: Vec<u32> = said
        .split_whitespace()
        .map(|n| n.parse().unwrap())
        .collect();
    assert_eq!(numbers, (1..=40).collect::<Vec<_>>());
    shut_down(&mut host);
}

#[test]
fn a_text_in_the_file_that_is_too_long_is_cut() {
    let project = project(&file_trigger("$PROJECT/trigger.txt"), None);
    fs::write(project.path().join("trigger.txt"), "x".repeat(70_000)).unwrap();
    let mut host = host(&project);
    start(&mut host);
    let said = next_texts(&mut host).concat();
    assert!(
        said.ends_with("(… 4464 more bytes are left out)"),
        "{}",
        said.len()
    );
    shut_down(&mut host);
}

#[cfg(unix)]
#[test]
fn a_file_that_is_not_regular_is_reported_and_left_alone() {
    let project = project(&file_trigger("$PROJECT/trigger.txt"), None);
    let precious = project.path().join("precious");
    fs::write(&precious, "do not empty").unwrap();
    let link = project.path().join("trigger.txt");
    std::os::unix::fs::symlink(&precious, &link).unwrap();
    let mut host = host(&project);
    start(&mut host);
    assert!(next_texts(&mut host).concat().contains("no plain file"));
    fs::remove_file(&link).unwrap();
    fs::hard_link(&precious, &link).unwrap();
    assert!(next_texts(&mut host).concat().contains("a hard link"));
    fs::remove_file(&link).unwrap();
    let made = Command::new("mkfifo").arg(&link).status().unwrap();
    assert!(made.success());
    thread::sleep(BEYOND_A_LOOK);
    shut_down(&mut host);
    assert_eq!(fs::read_to_string(&precious).unwrap(), "do not empty");
}

#[test]
fn texts_wait_while_the_agent_works_and_none_come_after_the_end() {
    let project = project(&file_trigger("$PROJECT/trigger.txt"), None);
    let file = project.path().join("trigger.txt");
    let mut host = host(&project);
    start(&mut host);
    host.result("hook/agent_start", &json!({}));
    fs::write(&file, "later").unwrap();
    // The file is emptied when its text is queued.
    assert_eq!(text_once(&file, ""), "");
    assert!(host.receive_within(Duration::ZERO).is_none());
    host.result("hook/agent_end", &json!({}));
    assert_eq!(next_texts(&mut host), ["External trigger: later"]);
    host.result("hook/session_shutdown", &json!({}));
    fs::write(&file, "nobody").unwrap();
    assert!(host.receive_within(BEYOND_A_LOOK).is_none());
    assert_eq!(fs::read_to_string(&file).unwrap(), "nobody");
    shut_down(&mut host);
}

// Requests.

fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.local_addr().unwrap().port()
}

fn http_trigger(port: u16) -> Value {
    json!({"triggers": [{"http": {"port": port, "tokenEnv": "TOKEN_OF_A_TEST"}, "prompt": "The build says: {body}"}]})
}

fn connect(port: u16) -> TcpStream {
    let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(15)))
        .unwrap();
    stream
}

/// The status of the answer to these bytes.
fn send(port: u16, request: &[u8]) -> u16 {
    let mut stream = connect(port);
    // A request that is refused early may be cut off.
    let _ = stream.write_all(request);
    status(stream)
}

fn status(mut stream: TcpStream) -> u16 {
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let mut words = answer.split(' ');
    assert_eq!(words.next(), Some("HTTP/1.1"), "{answer:?}");
    words.next().unwrap().parse().unwrap()
}

fn post(token: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("POST / HTTP/1.1\r\nHost: localhost\r\nauthorization: Bearer {token}\r\nContent-Length: {length}\r\n\r\n{body}").into_bytes()
}

#[test]
fn a_request_with_the_token_wakes_the_agent() {
    let port = free_port();
    let project = project(&http_trigger(port), None);
    let mut host = host(&project);
    assert_eq!(
        start(&mut host),
        [format!("[workflow] Watching http port {port}")]
    );
    assert_eq!(send(port, &post("sesame", "CI build failed")), 200);
    assert_eq!(next_texts(&mut host), ["The build says: CI build failed"]);
    assert_eq!(
        send(port, &post("sesame", "again")),
        202,
        "it was just spoken to"
    );
    host.result("hook/agent_start", &json!({}));
    host.result("hook/agent_end", &json!({}));
    assert_eq!(next_texts(&mut host), ["The build says: again"]);
    // In pieces, and by the other address where there is one.
    let mut stream = TcpStream::connect(("localhost", port)).unwrap();
    for piece in post("sesame", "third").chunks(7) {
        stream.write_all(piece).unwrap();
        thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(status(stream), 202);
    shut_down(&mut host);
}

#[test]
fn a_request_without_a_body_has_a_default_text() {
    let port = free_port();
    let project = project(&http_trigger(port), None);
    let mut host = host(&project);
    start(&mut host);
    let without_length =
        "POST / HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer sesame\r\n\r\n";
    let blank = post("sesame", " \n");
    for request in [post("sesame", ""), without_length.into(), blank] {
        assert_eq!(send(port, &request), 200);
        assert_eq!(next_texts(&mut host), ["The build says: Webhook triggered"]);
        host.result("hook/agent_start", &json!({}));
        host.result("hook/agent_end", &json!({}));
    }
    shut_down(&mut host);
}

#[test]
fn a_request_that_is_not_accepted_gets_its_status() {
    let port = free_port();
    let project = project(&http_trigger(port), None);
    let mut host = host(&project);
    start(&mut host);
    let head = "POST / HTTP/1.1\r\nHost: localhost\r\n";
    let known = "Authorization: Bearer sesame\r\n";
    for (request, expected) in [
        (post("sesam", "x"), 401),
        (post("", "x"), 401),
        (
            format!("{head}Content-Length: 1\r\n\r\nx").into_bytes(),
            401,
        ),
        (
            b"GET / HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer sesame\r\n\r\n".to_vec(),
            405,
        ),
        (
            format!("POST / HTTP/1.1\r\nHost: evil.example\r\n{known}Content-Length: 1\r\n\r\nx")
                .into_bytes(),
            403,
        ),
        (
            format!("{head}{known}Host: evil.example\r\nContent-Length: 1\r\n\r\nx").into_bytes(),
            403,
        ),
        (
            format!("{head}{known}Origin: null\r\nContent-Length: 1\r\n\r\nx").into_bytes(),
            403,
        ),
        (
            b"OPTIONS / HTTP/1.1\r\nHost: localhost\r\n\r\n".to_vec(),
            405,
        ),
        (post("sesame", &"x".repeat(65_537)), 413),
        (
            format!("{head}{known}Content-Length: 99999999999999999999999\r\n\r\n").into_bytes(),
            400,
        ),
        (
            format!("{head}{known}Content-Length: -1\r\n\r\n").into_bytes(),
            400,
        ),
        (
            format!("{head}{known}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n").into_bytes(),
            411,
        ),
        (b"\x16\x03\x01 this is no request\r\n\r\n".to_vec(), 400),
        (
            format!("{head}X: {}\r\n\r\n", "x".repeat(40_000)).into_bytes(),
            431,
        ),
    ] {
        let shown = String::from_utf8_lossy(&request[..request.len().min(80)]).into_owned();
        assert_eq!(send(port, &request), expected, "{shown}");
    }
    assert_eq!(send(port, &post("sesame", &"x".repeat(65_536))), 200);
    assert_eq!(
        next_texts(&mut host).concat().len(),
        65_536 + "The build says: ".len()
    );
    shut_down(&mut host);
}

#[test]
fn slow_clients_are_dismissed_and_delay_no_others() {
    let port = free_port();
    let project = project(&http_trigger(port), None);
    let mut host = host(&project);
    start(&mut host);
    let began = Instant::now();
    let mut slow = connect(port);
    slow.write_all(b"POST / HTTP/1.1\r\nHost: localhost\r\n")
        .unwrap();
    assert_eq!(send(port, &post("sesame", "quick")), 200);
    assert!(began.elapsed() < Duration::from_secs(4));
    assert_eq!(next_texts(&mut host), ["The build says: quick"]);
    // A byte now and then buys no time.
    let mut drip = slow.try_clone().unwrap();
    let dripping = thread::spawn(move || {
        while drip.write_all(b"X").is_ok() {
            thread::sleep(Duration::from_millis(200));
        }
    });
    assert_eq!(status(slow), 408);
    assert!(began.elapsed() < Duration::from_secs(9));
    dripping.join().unwrap();
    shut_down(&mut host);
}

#[test]
fn clients_without_the_token_make_room_for_new_ones() {
    let port = free_port();
    let project = project(&http_trigger(port), None);
    let mut host = host(&project);
    start(&mut host);
    let mut first = connect(port);
    thread::sleep(Duration::from_millis(200));
    let others: Vec<TcpStream> = (0..80).map(|_| connect(port)).collect();
    // The oldest one is closed without an answer, and long before its time is over.
    let began = Instant::now();
    let mut answer = Vec::new();
    let _ = first.read_to_end(&mut answer);
    assert!(answer.is_empty() && began.elapsed() < Duration::from_secs(1));
    assert_eq!(send(port, &post("sesame", "x")), 200);
    next_texts(&mut host);
    drop(others);
    shut_down(&mut host);
}

#[test]
fn clients_without_the_token_keep_no_request_with_it_out() {
    let port = free_port();
    let project = project(&http_trigger(port), None);
    let mut host = host(&project);
    start(&mut host);
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..12 {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    let Ok(mut stream) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)) else {
                        continue;
                    };
                    // Half a head, and no token.
                    let _ = stream.write_all(b"POST / HTTP/1.1\r\nHost: localhost\r\n");
                    let pause = Some(Duration::from_millis(20));
                    stream.set_read_timeout(pause).unwrap();
                    let _ = stream.read(&mut [0; 64]);
                }
            });
        }
        let statuses: Vec<u16> = (0..120).map(|_| send(port, &post("sesame", "x"))).collect();
        is_over.store(true, Ordering::Relaxed);
        // The agent is busy after the first one, and the queue is full after some more.
        let are_answered = statuses
            .iter()
            .all(|status| matches!(status, 200 | 202 | 429));
        assert!(are_answered, "{statuses:?}");
    });
    next_texts(&mut host);
    shut_down(&mut host);
}

#[test]
fn two_requests_at_once_are_answered_each() {
    let port = free_port();
    let project = project(&http_trigger(port), None);
    let mut host = host(&project);
    start(&mut host);
    let requests = ["a", "b"].map(|body| thread::spawn(move || send(port, &post("sesame", body))));
    let mut answers = requests.map(|request| request.join().unwrap());
    answers.sort_unstable();
    assert_eq!(answers, [200, 202]);
    next_texts(&mut host);
    shut_down(&mut host);
}

#[test]
fn a_port_in_use_and_a_token_that_is_not_set_are_reported() {
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = taken.local_addr().unwrap().port();
    let settings = json!({"triggers": [
        {"http": {"port": port, "token": "t"}, "prompt": "x"},
        {"http": {"port": free_port(), "tokenEnv": "NOT_SET_IN_A_TEST"}, "prompt": "x"},
    ]});
    let project = project(&settings, None);
    let mut host = host(&project);
    let notices = start(&mut host);
    assert!(
        notices[0].contains("another program has it") && notices[0].contains("`port`"),
        "{notices:?}"
    );
    assert!(notices[1].contains("\"NOT_SET_IN_A_TEST\""), "{notices:?}");
    shut_down(&mut host);
}

#[test]
fn a_session_that_moves_keeps_its_triggers_and_one_that_ends_gives_the_port_free() {
    let port = free_port();
    let project = project(&http_trigger(port), None);
    let mut host = host(&project);
    start(&mut host);
    assert!(start(&mut host).is_empty(), "it is watched already");
    assert_eq!(send(port, &post("sesame", "x")), 200);
    next_texts(&mut host);
    host.result("hook/session_shutdown", &json!({}));
    assert!(TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err());
    assert_eq!(
        start(&mut host),
        [format!("[workflow] Watching http port {port}")]
    );
    shut_down(&mut host);
}

#[test]
fn triggers_of_a_project_are_watched_after_the_users_consent() {
    let project = project(&json!({}), Some(&file_trigger("trigger.txt")));
    let file = project.path().join("trigger.txt");
    fs::write(&file, "first").unwrap();
    let mut first = host(&project);
    let request = first.request("hook/session_start", &json!({"context": {"branch": []}}));
    let question = first.receive();
    assert_eq!(question["method"], "ui/confirm");
    let message = question["params"]["message"].as_str().unwrap();
    assert!(
        message.contains("file trigger.txt: \"External trigger: {content}\""),
        "{message}"
    );
    assert_eq!(first.receive()["id"], request);
    assert!(first.receive_within(BEYOND_A_LOOK).is_none());
    answer(&mut first, &question, &json!(true));
    assert_eq!(
        next_texts(&mut first),
        ["[workflow] Watching file trigger.txt"]
    );
    assert_eq!(next_texts(&mut first), ["External trigger: first"]);
    shut_down(&mut first);
    let mut second = host(&project);
    assert_eq!(start(&mut second), ["[workflow] Watching file trigger.txt"]);
    shut_down(&mut second);
    // Another prompt is another matter.
    let other = json!({"triggers": [{"file": "trigger.txt", "prompt": "Delete all of {content}"}]});
    fs::write(
        project.path().join(".pi/workflow-sidecar.json5"),
        other.to_string(),
    )
    .unwrap();
    let mut third = host(&project);
    let request = third.request("hook/session_start", &json!({"context": {"branch": []}}));
    let question = third.receive();
    assert_eq!(third.receive()["id"], request);
    answer(&mut third, &question, &json!(false));
    assert!(
        next_texts(&mut third)
            .concat()
            .contains("`workflow-sidecar trust`")
    );
    shut_down(&mut third);
}

#[test]
fn a_host_without_an_interface_watches_nothing() {
    let port = free_port();
    let project = project(&http_trigger(port), None);
    let mut host = host(&project);
    let params = json!({"context": {"branch": [], "hasUI": false}});
    let notices = texts(&host.result("hook/session_start", &params));
    assert!(
        notices[0].contains("Triggers are not watched"),
        "{notices:?}"
    );
    assert!(TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err());
    shut_down(&mut host);
}

#[test]
fn texts_of_triggers_and_checkpoints_are_recorded_and_replay_without_them() {
    let settings = json!({
        "checkpoint": "git",
        "triggers": [{"file": "$PROJECT/trigger.txt", "prompt": "External trigger: {content}"}],
    });
    let project = project(&settings, None);
    let (_directory, recorded_to) = recording();
    git(project.path(), &["init", "--quiet"]);
    git(
        project.path(),
        &["commit", "--quiet", "--allow-empty", "--message", "one"],
    );
    let mut host = TestHost::over(recorded(&recorded_to, &[]));
    host.initialize(project.path(), &json!("system"));
    start(&mut host);
    fs::write(project.path().join("trigger.txt"), "Run the tests").unwrap();
    assert_eq!(next_texts(&mut host), ["External trigger: Run the tests"]);
    host.result("hook/turn_start", &json!({"event": {"turnIndex": 0}}));
    shut_down(&mut host);
    drop(host);
    drop(project);
    let text = fs::read_to_string(&recorded_to).unwrap();
    for kind in [
        "\"result\":{\"triggersWatched\"",
        "\"event\":{\"triggered\"",
        "\"result\":{\"checkpointRecorded\"",
    ] {
        assert!(text.contains(kind), "{kind}\n{text}");
    }
    let name = recorded_to.display().to_string();
    let output = replay(&[&name]).unwrap_or_else(|output| panic!("{output}\n{text}"));
    assert_eq!(output, "1 transcript replayed, no differences\n");
}

#[test]
fn a_recording_without_secrets_has_neither_the_texts_nor_the_token() {
    let port = free_port();
    let settings = json!({"triggers": [
        {"http": {"port": port, "token": "sesame"}, "prompt": "The build says: {body}"},
    ]});
    let project = project(&settings, None);
    let (_directory, recorded_to) = recording();
    let mut host = TestHost::over(recorded(&recorded_to, &["--record-redact"]));
    host.initialize(project.path(), &json!("system"));
    start(&mut host);
    assert_eq!(send(port, &post("sesame", "hunter2")), 200);
    let said = next_texts(&mut host).concat();
    host.result(
        "hook/before_agent_start",
        &json!({"event": {"prompt": said}}),
    );
    host.result("hook/agent_start", &json!({}));
    assert_eq!(send(port, &post("sesame", "hunter3")), 202);
    host.result("hook/agent_end", &json!({}));
    next_texts(&mut host);
    host.result("hook/agent_start", &json!({}));
    assert_eq!(send(port, &post("sesame", "hunter4")), 202);
    shut_down(&mut host);
    drop(host);
    let text = fs::read_to_string(&recorded_to).unwrap();
    assert!(
        !text.contains("hunter") && !text.contains("sesame"),
        "{text}"
    );
    let output = replay(&[&recorded_to.display().to_string()]);
    let output = output.unwrap_or_else(|output| panic!("{output}\n{text}"));
    assert_eq!(output, "1 transcript replayed, no differences\n");
}
