//! `board`: the real process, with a run of Codex that waits.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::connection::Process;
use crate::mcp::{APPROVAL, World};
use crate::waits::{command, ended, run_of};

const DEADLINE: Duration = Duration::from_secs(20);

/// A board, which ends with its test.
struct Board {
    process: Child,
    place: String,
    cookie: String,
}

impl Drop for Board {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

impl Board {
    /// Starts a board, and takes the token of its address.
    fn start(world: &World) -> Self {
        let mut process = Process::command()
            .args(["board", "--no-open", "--listen", "127.0.0.1:0"])
            .env("HOME", world.root.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut address = String::new();
        let mut lines = BufReader::new(process.stdout.take().unwrap());
        lines.read_line(&mut address).unwrap();
        let (place, path) = address.trim_end()["http://".len()..]
            .split_once('/')
            .unwrap();
        let mut board = Self {
            process,
            place: place.to_owned(),
            cookie: String::new(),
        };
        let entered = board.whole(&format!("GET /{path} HTTP/1.1"), "");
        let cookie = entered.split("set-cookie: ").nth(1).unwrap();
        cookie
            .split(';')
            .next()
            .unwrap()
            .clone_into(&mut board.cookie);
        board
    }

    fn send(&self, line: &str, body: &str) -> BufReader<TcpStream> {
        let mut stream = TcpStream::connect(&self.place).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        let (place, cookie, length) = (&self.place, &self.cookie, body.len());
        write!(
            stream,
            "{line}\r\nHost: {place}\r\nOrigin: http://{place}\r\nCookie: {cookie}\r\nConnection: close\r\n\
             Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        BufReader::new(stream)
    }

    fn whole(&self, line: &str, body: &str) -> String {
        let mut text = String::new();
        self.send(line, body).read_to_string(&mut text).unwrap();
        text
    }

    fn page(&self, path: &str) -> String {
        self.whole(&format!("GET {path} HTTP/1.1"), "")
    }
}

/// Reads events until one has this text.
fn wait_for(events: &mut BufReader<TcpStream>, text: &str) {
    let mut line = String::new();
    while !line.contains(text) {
        line.clear();
        assert_ne!(
            events.read_line(&mut line).unwrap(),
            0,
            "the events end before {text}"
        );
    }
}

#[test]
fn a_run_that_waits_is_answered_on_the_board_and_its_page_follows() {
    let mut world = run_of(APPROVAL);
    let board = Board::start(&world);
    let mut events = board.send("GET /live HTTP/1.1", "");
    wait_for(&mut events, "1 run waits for a person");
    let runs = board.page("/");
    let (_, id) = runs.split_once("/?run=").unwrap();
    let id = id.split('"').next().unwrap();
    assert!(
        board
            .page(&format!("/?run={id}"))
            .contains("Way through the workflow")
    );
    let wrong = "run=x&code=2222-2222-2222&choice=approve";
    let wrong = board.whole("POST /answer HTTP/1.1", wrong);
    assert!(wrong.starts_with("HTTP/1.1 403"), "{wrong}");

    let shown = world.root.path().join("shown");
    let begun = Instant::now();
    while !shown.exists() {
        assert!(begun.elapsed() < DEADLINE);
        std::thread::sleep(Duration::from_millis(5));
    }
    let shown = std::fs::read_to_string(shown).unwrap();
    let code = shown.trim_end().rsplit(' ').next().unwrap();
    let question = board.page(&format!("/a?code={code}"));
    let (_, request) = question.split_once("name=\"request\" value=\"").unwrap();
    let request = request.split('"').next().unwrap();
    let form = format!("request={request}&code={code}&choice=approve&comment=");
    let answered = board.whole("POST /answer HTTP/1.1", &form);
    assert!(answered.contains("approve: stored."), "{answered}");
    wait_for(&mut events, "Nothing waits for a person");
    let arguments = world.arguments("next");
    world.call(2, &arguments, &serde_json::json!({}));
    world.answer(2);
    wait_for(&mut events, ">Build</td>");
}

#[test]
fn a_second_board_at_the_same_port_says_which_one_is_there() {
    let world = run_of(APPROVAL);
    let board = Board::start(&world);
    let arguments = ["board", "--no-open", "--listen", &board.place];
    let (code, _, errors) = ended(command(&world, &arguments));
    assert_eq!(code, Some(2));
    let process = format!("process {}", board.process.id());
    assert!(
        errors.contains("says that it is a board") && errors.contains(&process),
        "{errors}"
    );
}
