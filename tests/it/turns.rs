//! Turns and triggers, through the real binary: files that are written, requests that come in, code that goes back.

use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::connection::Process;
use crate::host::TestHost;
use crate::recordings::{recorded, recording};
use crate::transcripts::{replay, serving};

/// A directory whose user has these settings; its project has others, if any.
fn place(user: &Value, project: Option<&Value>) -> TempDir {
    let place = tempfile::tempdir().unwrap();
    let write = |directory: &str, settings: &Value| {
        let directory = place.path().join(directory);
        fs::create_dir_all(&directory).unwrap();
        fs::write(
            directory.join("workflow-sidecar.json5"),
            // The user's own settings name a whole path.
            settings
                .to_string()
                .replace("$PLACE", &place.path().display().to_string()),
        )
        .unwrap();
    };
    write("agent", user);
    if let Some(project) = project {
        write(".pi", project);
    }
    place
}

fn host(place: &TempDir) -> TestHost {
    host_with(place, |_| ())
}

fn host_with(place: &TempDir, change: impl FnOnce(&mut Command)) -> TestHost {
    let mut command = Process::command();
    command.arg("serve").env("TOKEN_OF_A_TEST", "sesame\n");
    change(&mut command);
    let mut host = TestHost::over(Process::spawn(&mut command));
    host.initialize(place.path(), &json!("system"));
    host
}

fn start(host: &mut TestHost) -> Vec<String> {
    told(&host.start_session())
}

/// The texts of notifications and user messages among the actions of an answer.
fn told(result: &Value) -> Vec<String> {
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

/// What comes by itself next.
fn comes(host: &mut TestHost) -> Vec<String> {
    let line = host.receive();
    assert_eq!(line["method"], "host/apply", "{line}");
    told(&line["params"])
}

fn answer(host: &mut TestHost, question: &Value, answer: &Value) {
    host.send(json!({"jsonrpc": "2.0", "id": question["id"], "result": answer}).to_string());
}

fn shut_down(host: &mut TestHost) {
    let request = host.request("shutdown", &json!({}));
    // What triggers had for nobody is told before.
    while host.receive()["id"] != request {}
}

/// What stands in a file, once that is it or some time has passed.
fn becomes(file: &Path, expected: &str) -> String {
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
fn what_is_written_into_a_file_wakes_the_agent_and_the_file_is_emptied() {
    let place = place(&file_trigger("$PLACE/trigger.txt"), None);
    let file = place.path().join("trigger.txt");
    let mut host = host(&place);
    let watching = format!("[workflow] Watching file {}", file.display());
    assert_eq!(start(&mut host), [watching]);
    for text in ["Run the tests\n", "and \u{1b}[2Jagain"] {
        fs::write(&file, text).unwrap();
        let plain = text.trim().replace('\u{1b}', "");
        assert_eq!(comes(&mut host), [format!("External trigger: {plain}")]);
        assert_eq!(becomes(&file, ""), "");
        host.result("hook/agent_start", &json!({}));
        host.result("hook/agent_end", &json!({}));
    }
    // An editor puts another file in its place.
    fs::write(place.path().join("new"), "renamed").unwrap();
    fs::rename(place.path().join("new"), &file).unwrap();
    assert_eq!(comes(&mut host), ["External trigger: renamed"]);
    shut_down(&mut host);
}

#[test]
fn a_path_of_the_users_settings_is_not_looked_for_in_each_project() {
    let place = place(&file_trigger("trigger.txt"), None);
    let file = place.path().join("trigger.txt");
    fs::write(&file, "of somebody else's").unwrap();
    let mut host = host(&place);
    let told = start(&mut host);
    assert!(told.concat().contains("`file` starts nowhere"), "{told:?}");
    assert!(host.receive_within(Duration::from_secs(2)).is_none());
    assert_eq!(fs::read_to_string(&file).unwrap(), "of somebody else's");
    shut_down(&mut host);
}

#[test]
fn what_is_added_while_it_is_handed_over_comes_next() {
    let place = place(&file_trigger("$PLACE/trigger.txt"), None);
    let file = place.path().join("trigger.txt");
    let mut host = host(&place);
    start(&mut host);
    fs::write(&file, "1\n").unwrap();
    let mut said = String::new();
    let mut append = fs::File::options().append(true).open(&file).unwrap();
    for number in 2..=40 {
        thread::sleep(Duration::from_millis(60));
        writeln!(append, "{number}").unwrap();
        // The agent is never busy: everything is told at once.
        while let Some(line) = host.receive_within(Duration::ZERO) {
            said += &told(&line["params"])
                .concat()
                .replace("External trigger: ", "\n");
            host.result("hook/agent_start", &json!({}));
            host.result("hook/agent_end", &json!({}));
        }
    }
    while let Some(line) = host.receive_within(Duration::from_millis(2500)) {
        said += &told(&line["params"])
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
fn what_waits_in_the_file_and_is_too_long_is_cut() {
    let place = place(&file_trigger("$PLACE/trigger.txt"), None);
    fs::write(place.path().join("trigger.txt"), "x".repeat(70_000)).unwrap();
    let mut host = host(&place);
    start(&mut host);
    let said = comes(&mut host).concat();
    assert!(
        said.ends_with("(… 4464 more bytes are left out)"),
        "{}",
        said.len()
    );
    shut_down(&mut host);
}

#[cfg(unix)]
#[test]
fn what_is_no_plain_file_is_told_and_left_alone() {
    let place = place(&file_trigger("$PLACE/trigger.txt"), None);
    let precious = place.path().join("precious");
    fs::write(&precious, "do not empty").unwrap();
    let link = place.path().join("trigger.txt");
    std::os::unix::fs::symlink(&precious, &link).unwrap();
    let mut host = host(&place);
    start(&mut host);
    assert!(comes(&mut host).concat().contains("no plain file"));
    fs::remove_file(&link).unwrap();
    let made = Command::new("mkfifo").arg(&link).status().unwrap();
    assert!(made.success());
    thread::sleep(Duration::from_millis(1500));
    shut_down(&mut host);
    assert_eq!(fs::read_to_string(&precious).unwrap(), "do not empty");
}

#[test]
fn texts_wait_while_the_agent_works_and_nothing_comes_after_the_end() {
    let place = place(&file_trigger("$PLACE/trigger.txt"), None);
    let file = place.path().join("trigger.txt");
    let mut host = host(&place);
    start(&mut host);
    host.result("hook/agent_start", &json!({}));
    fs::write(&file, "later").unwrap();
    assert!(host.receive_within(Duration::from_secs(2)).is_none());
    host.result("hook/agent_end", &json!({}));
    assert_eq!(comes(&mut host), ["External trigger: later"]);
    host.result("hook/session_shutdown", &json!({}));
    fs::write(&file, "nobody").unwrap();
    assert!(host.receive_within(Duration::from_secs(2)).is_none());
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
    // Who is refused early may be cut off in the middle of it.
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
    let place = place(&http_trigger(port), None);
    let mut host = host(&place);
    assert_eq!(
        start(&mut host),
        [format!("[workflow] Watching http port {port}")]
    );
    assert_eq!(send(port, &post("sesame", "CI build failed")), 200);
    assert_eq!(comes(&mut host), ["The build says: CI build failed"]);
    assert_eq!(
        send(port, &post("sesame", "again")),
        202,
        "it was just spoken to"
    );
    host.result("hook/agent_start", &json!({}));
    host.result("hook/agent_end", &json!({}));
    assert_eq!(comes(&mut host), ["The build says: again"]);
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
fn whoever_is_not_to_be_heard_is_told_so() {
    let port = free_port();
    let place = place(&http_trigger(port), None);
    let mut host = host(&place);
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
            413,
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
            400,
        ),
    ] {
        let shown = String::from_utf8_lossy(&request[..request.len().min(80)]).into_owned();
        assert_eq!(send(port, &request), expected, "{shown}");
    }
    assert_eq!(send(port, &post("sesame", &"x".repeat(65_536))), 200);
    assert_eq!(
        comes(&mut host).concat().len(),
        65_536 + "The build says: ".len()
    );
    shut_down(&mut host);
}

#[test]
fn the_slow_are_dismissed_and_hold_nobody_up() {
    let port = free_port();
    let place = place(&http_trigger(port), None);
    let mut host = host(&place);
    start(&mut host);
    let began = Instant::now();
    let mut slow = connect(port);
    slow.write_all(b"POST / HTTP/1.1\r\nHost: localhost\r\n")
        .unwrap();
    assert_eq!(send(port, &post("sesame", "quick")), 200);
    assert!(began.elapsed() < Duration::from_secs(4));
    assert_eq!(comes(&mut host), ["The build says: quick"]);
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
fn too_many_at_once_are_turned_away() {
    let port = free_port();
    let place = place(&http_trigger(port), None);
    let mut host = host(&place);
    start(&mut host);
    let idle: Vec<TcpStream> = (0..8).map(|_| connect(port)).collect();
    thread::sleep(Duration::from_millis(300));
    assert_eq!(status(connect(port)), 503);
    drop(idle);
    thread::sleep(Duration::from_millis(300));
    assert_eq!(send(port, &post("sesame", "x")), 200);
    comes(&mut host);
    shut_down(&mut host);
}

#[test]
fn two_requests_at_once_are_answered_each() {
    let port = free_port();
    let place = place(&http_trigger(port), None);
    let mut host = host(&place);
    start(&mut host);
    let requests = ["a", "b"].map(|body| thread::spawn(move || send(port, &post("sesame", body))));
    let mut answers = requests.map(|request| request.join().unwrap());
    answers.sort_unstable();
    assert_eq!(answers, [200, 202]);
    comes(&mut host);
    shut_down(&mut host);
}

#[test]
fn a_port_that_is_taken_and_a_token_that_is_not_set_are_told() {
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = taken.local_addr().unwrap().port();
    let settings = json!({"triggers": [
        {"http": {"port": port, "token": "t"}, "prompt": "x"},
        {"http": {"port": free_port(), "tokenEnv": "NOT_SET_IN_A_TEST"}, "prompt": "x"},
    ]});
    let place = place(&settings, None);
    let mut host = host(&place);
    let told = start(&mut host);
    assert!(
        told[0].contains("another program has it") && told[0].contains("`port`"),
        "{told:?}"
    );
    assert!(told[1].contains("\"NOT_SET_IN_A_TEST\""), "{told:?}");
    shut_down(&mut host);
}

#[test]
fn a_session_that_moves_keeps_its_triggers_and_one_that_ends_gives_the_port_free() {
    let port = free_port();
    let place = place(&http_trigger(port), None);
    let mut host = host(&place);
    start(&mut host);
    assert!(start(&mut host).is_empty(), "it is watched already");
    assert_eq!(send(port, &post("sesame", "x")), 200);
    comes(&mut host);
    host.result("hook/session_shutdown", &json!({}));
    assert!(TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err());
    assert_eq!(
        start(&mut host),
        [format!("[workflow] Watching http port {port}")]
    );
    shut_down(&mut host);
}

#[test]
fn a_projects_triggers_are_watched_after_the_users_word() {
    let place = place(&json!({}), Some(&file_trigger("trigger.txt")));
    let file = place.path().join("trigger.txt");
    fs::write(&file, "first").unwrap();
    let mut first = host(&place);
    let request = first.request("hook/session_start", &json!({"context": {"branch": []}}));
    let question = first.receive();
    assert_eq!(question["method"], "ui/confirm");
    let message = question["params"]["message"].as_str().unwrap();
    assert!(
        message.contains("file trigger.txt: \"External trigger: {content}\""),
        "{message}"
    );
    assert_eq!(first.receive()["id"], request);
    assert!(first.receive_within(Duration::from_secs(2)).is_none());
    answer(&mut first, &question, &json!(true));
    assert_eq!(comes(&mut first), ["[workflow] Watching file trigger.txt"]);
    assert_eq!(comes(&mut first), ["External trigger: first"]);
    shut_down(&mut first);
    let mut second = host(&place);
    assert_eq!(start(&mut second), ["[workflow] Watching file trigger.txt"]);
    shut_down(&mut second);
    // Another prompt is another matter.
    let other = json!({"triggers": [{"file": "trigger.txt", "prompt": "Delete all of {content}"}]});
    fs::write(
        place.path().join(".pi/workflow-sidecar.json5"),
        other.to_string(),
    )
    .unwrap();
    let mut third = host(&place);
    let request = third.request("hook/session_start", &json!({"context": {"branch": []}}));
    let question = third.receive();
    assert_eq!(third.receive()["id"], request);
    answer(&mut third, &question, &json!(false));
    assert!(
        comes(&mut third)
            .concat()
            .contains("`workflow-sidecar trust`")
    );
    shut_down(&mut third);
}

#[test]
fn a_host_without_an_interface_watches_nothing() {
    let port = free_port();
    let place = place(&http_trigger(port), None);
    let mut host = host(&place);
    let params = json!({"context": {"branch": [], "hasUI": false}});
    let told = told(&host.result("hook/session_start", &params));
    assert!(told[0].contains("No trigger is watched"), "{told:?}");
    assert!(TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err());
    shut_down(&mut host);
}

// The code.

fn git(directory: &Path, arguments: &[&str]) {
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
fn the_code_goes_back_with_the_conversation_if_a_person_says_so() {
    let place = place(&json!({"checkpoint": "git"}), None);
    let file = place.path().join("file.txt");
    fs::write(&file, "one").unwrap();
    git(place.path(), &["init", "--quiet"]);
    git(place.path(), &["add", "file.txt"]);
    git(place.path(), &["commit", "--quiet", "--message", "one"]);
    let mut host = host(&place);
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
        let answered = host.receive();
        assert_eq!(answered["id"], request);
        assert_eq!(told(&answered["result"]).len(), usize::from(says_yes));
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "two");
    // As it stands the conversation goes back past nothing.
    let here = json!({"context": {"branch": branch}});
    assert_eq!(host.result("hook/branch", &here), json!({}));
    shut_down(&mut host);
}

/// A place whose code is kept as it was at its first turn, and has been changed since.
#[cfg(unix)]
fn changed_since(place: &TempDir, host: &mut TestHost) {
    let file = place.path().join("file.txt");
    fs::write(&file, "one").unwrap();
    git(place.path(), &["init", "--quiet"]);
    git(place.path(), &["add", "file.txt"]);
    git(place.path(), &["commit", "--quiet", "--message", "one"]);
    start(host);
    fs::write(&file, "two").unwrap();
    let result = host.result("hook/turn_start", &json!({"event": {"turnIndex": 0}}));
    assert_eq!(result["actions"][0]["customType"], "workflow:checkpoint");
    fs::write(&file, "three").unwrap();
}

#[cfg(unix)]
fn says_yes_to_going_back(host: &mut TestHost) -> Value {
    let params = json!({"event": {"targetTurnIndex": 0}});
    let request = host.request("hook/branch", &params);
    let question = host.receive();
    let option = question["params"]["options"][0].clone();
    answer(host, &question, &option);
    json!(request)
}

/// A git that takes its time to change files.
#[cfg(unix)]
fn with_slow_git(place: &TempDir) -> impl FnOnce(&mut Command) {
    use std::os::unix::fs::PermissionsExt;
    let bin = place.path().join("bin");
    let path = std::env::var("PATH").unwrap();
    fs::create_dir(&bin).unwrap();
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in *'reset --hard'*) sleep 5;; esac\nPATH='{path}' exec git \"$@\"\n"
    );
    fs::write(bin.join("git"), script).unwrap();
    fs::set_permissions(bin.join("git"), fs::Permissions::from_mode(0o755)).unwrap();
    move |command| {
        command.env("PATH", format!("{}:{path}", bin.display()));
    }
}

#[cfg(unix)]
#[test]
fn a_slow_way_back_holds_nothing_up_and_is_told_when_it_is_done() {
    let place = place(&json!({"checkpoint": "git"}), None);
    let slow = with_slow_git(&place);
    let mut host = host_with(&place, slow);
    changed_since(&place, &mut host);
    let began = Instant::now();
    let request = says_yes_to_going_back(&mut host);
    host.result("session/state", &json!({}));
    assert!(began.elapsed() < Duration::from_secs(2));
    let mut answered = None;
    let mut last = Vec::new();
    while answered.is_none() || last.is_empty() {
        let line = host.receive();
        if line["id"] == request {
            answered = Some((began.elapsed(), told(&line["result"])));
        } else {
            last = told(&line["params"]);
        }
    }
    let (after, said) = answered.unwrap();
    assert!(after < Duration::from_secs(5), "{after:?}");
    assert!(
        said.concat().contains("still being brought back"),
        "{said:?}"
    );
    assert!(
        last.concat().contains("Code restored to checkpoint"),
        "{last:?}"
    );
    let text = fs::read_to_string(place.path().join("file.txt")).unwrap();
    assert_eq!(text, "two");
    shut_down(&mut host);
}

#[cfg(unix)]
#[test]
fn a_sidecar_that_is_to_end_brings_the_code_back_first() {
    let place = place(&json!({"checkpoint": "git"}), None);
    let slow = with_slow_git(&place);
    let mut host = host_with(&place, slow);
    changed_since(&place, &mut host);
    says_yes_to_going_back(&mut host);
    host.close_and_hear();
    let text = fs::read_to_string(place.path().join("file.txt")).unwrap();
    assert_eq!(text, "two");
}

#[cfg(unix)]
#[test]
fn the_environment_of_another_git_is_not_listened_to() {
    let place = place(&json!({"checkpoint": "git"}), None);
    let mut host = host_with(&place, |command| {
        command
            .env("GIT_DIR", "/nowhere")
            .env("GIT_INDEX_FILE", "/nowhere/index");
    });
    changed_since(&place, &mut host);
    says_yes_to_going_back(&mut host);
    assert!(
        told(&host.receive()["result"])
            .concat()
            .contains("Code restored")
    );
    shut_down(&mut host);
}

#[test]
fn without_a_repository_that_is_told_once() {
    let place = place(&json!({"checkpoint": "git"}), None);
    let mut host = host(&place);
    start(&mut host);
    let turns = [0, 1].map(|turn| {
        let params = json!({"event": {"turnIndex": turn}});
        told(&host.result("hook/turn_start", &params))
    });
    assert!(turns[0].concat().contains("no git repository"));
    assert!(turns[1].is_empty());
    shut_down(&mut host);
}

#[test]
fn what_triggers_had_and_code_that_was_kept_is_recorded_and_replays_without_them() {
    let settings = json!({
        "checkpoint": "git",
        "triggers": [{"file": "$PLACE/trigger.txt", "prompt": "External trigger: {content}"}],
    });
    let place = place(&settings, None);
    let (_directory, recorded_to) = recording();
    git(place.path(), &["init", "--quiet"]);
    git(
        place.path(),
        &["commit", "--quiet", "--allow-empty", "--message", "one"],
    );
    let mut host = TestHost::over(recorded(&recorded_to, &[]));
    host.initialize(place.path(), &json!("system"));
    start(&mut host);
    fs::write(place.path().join("trigger.txt"), "Run the tests").unwrap();
    assert_eq!(comes(&mut host), ["External trigger: Run the tests"]);
    host.result("hook/turn_start", &json!({"event": {"turnIndex": 0}}));
    shut_down(&mut host);
    drop(host);
    drop(place);
    let text = fs::read_to_string(&recorded_to).unwrap();
    for kind in [
        "\"result\":{\"triggersWatched\"",
        "\"event\":{\"triggered\"",
        "\"result\":{\"checkpointRecorded\"",
    ] {
        assert!(text.contains(kind), "{kind}\n{text}");
    }
    let name = recorded_to.display().to_string();
    let told = replay(&[&name]).unwrap_or_else(|told| panic!("{told}\n{text}"));
    assert_eq!(told, "1 transcript replayed, no differences\n");
    let against = replay(&[&name, "--against", &serving()]).unwrap();
    assert!(against.contains("1 skipped"), "{against}");
}

#[test]
fn a_recording_without_secrets_has_neither_the_texts_nor_the_token() {
    let port = free_port();
    let settings = json!({"triggers": [
        {"http": {"port": port, "token": "sesame"}, "prompt": "The build says: {body}"},
    ]});
    let place = place(&settings, None);
    let (_directory, recorded_to) = recording();
    let mut host = TestHost::over(recorded(&recorded_to, &["--record-redact"]));
    host.initialize(place.path(), &json!("system"));
    start(&mut host);
    assert_eq!(send(port, &post("sesame", "hunter2")), 200);
    let said = comes(&mut host).concat();
    host.result(
        "hook/before_agent_start",
        &json!({"event": {"prompt": said}}),
    );
    host.result("hook/agent_start", &json!({}));
    assert_eq!(send(port, &post("sesame", "hunter3")), 202);
    host.result("hook/agent_end", &json!({}));
    comes(&mut host);
    host.result("hook/agent_start", &json!({}));
    assert_eq!(send(port, &post("sesame", "hunter4")), 202);
    shut_down(&mut host);
    drop(host);
    let text = fs::read_to_string(&recorded_to).unwrap();
    assert!(
        !text.contains("hunter") && !text.contains("sesame"),
        "{text}"
    );
    let told = replay(&[&recorded_to.display().to_string()]);
    let told = told.unwrap_or_else(|told| panic!("{told}\n{text}"));
    assert_eq!(told, "1 transcript replayed, no differences\n");
}

#[cfg(unix)]
#[test]
fn a_way_back_is_recorded_and_replays_without_git() {
    let place = place(&json!({"checkpoint": "git"}), None);
    let (_directory, recorded_to) = recording();
    let mut host = TestHost::over(recorded(&recorded_to, &[]));
    host.initialize(place.path(), &json!("system"));
    changed_since(&place, &mut host);
    says_yes_to_going_back(&mut host);
    assert!(
        told(&host.receive()["result"])
            .concat()
            .contains("Code restored")
    );
    shut_down(&mut host);
    drop(host);
    drop(place);
    let text = fs::read_to_string(&recorded_to).unwrap();
    assert!(text.contains("\"outcome\":{\"came\":\"back\""), "{text}");
    let told = replay(&[&recorded_to.display().to_string()]);
    let told = told.unwrap_or_else(|told| panic!("{told}\n{text}"));
    assert_eq!(told, "1 transcript replayed, no differences\n");
}
