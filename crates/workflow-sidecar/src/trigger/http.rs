//! A port of this machine at which a request wakes the agent.
//!
//! Owns that only who knows the token, on this machine, is heard; that nobody can hold it up: requests are small, few at a
//! time, and have a few seconds; and that every request is answered with what became of it:
//!
//! | | |
//! | --- | --- |
//! | 200 | the agent is told |
//! | 202 | it is told when it has stopped |
//! | 400, 408, 411 | it was no request, took too long, or did not say how long it is |
//! | 401 | it did not show the token |
//! | 403 | a web page sent it, or it was sent to another name than this machine's |
//! | 405 | it was no POST |
//! | 413 | it was longer than 64 KiB |
//! | 429 | too much waits for the agent already |
//! | 503 | there is no session any more, or too many requests at once |

use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};
use workflow_core::effect::TriggerOutcome as Heard;

use super::{LONGEST, News, Tell, as_text};

/// How long a request may take, from the first byte to the last.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long it may take to show the token: until then it is anybody's.
const PATIENCE_WITH_STRANGERS: Duration = Duration::from_secs(2);
/// For how long a port may still be another trigger's that has just ended.
const CHANGE_OF_HANDS: Duration = Duration::from_millis(500);
/// How much stands before a body at most.
const LONGEST_HEAD: usize = 16 * 1024;
/// How many headers.
const HEADERS: usize = 64;
/// How many requests are read at a time.
const AT_ONCE: usize = 8;

type Secret = [u8; 32];

/// A port that is listened at until this is dropped.
#[derive(Debug)]
pub(super) struct Webhook {
    is_over: Arc<AtomicBool>,
    doors: Vec<TcpListener>,
}

impl Webhook {
    pub(super) fn start(port: u16, token: &str, tell: Tell) -> Result<Self, String> {
        let listeners = listen(port).map_err(|error| not_listening(port, &error))?;
        let is_over = Arc::new(AtomicBool::new(false));
        let mut webhook = Self {
            is_over: Arc::clone(&is_over),
            doors: Vec::new(),
        };
        let desk = Arc::new(Desk {
            secret: Sha256::digest(token).into(),
            tell,
            at_once: AtomicUsize::new(0),
        });
        for listener in listeners {
            let door = listener.try_clone();
            webhook
                .doors
                .push(door.map_err(|error| not_listening(port, &error))?);
            let (desk, is_over) = (Arc::clone(&desk), Arc::clone(&is_over));
            let thread = thread::Builder::new().name("webhook".to_owned());
            let spawned = thread.spawn(move || accept(&listener, &desk, &is_over));
            spawned.map_err(|error| not_listening(port, &error))?;
        }
        Ok(webhook)
    }
}

impl Drop for Webhook {
    /// Nobody is let in any more when this is done. Waits for nothing.
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        for door in self.doors.drain(..) {
            let address = door.local_addr();
            if !is_shut(door)
                && let Ok(address) = address
            {
                // Whoever waits for a visitor sees only then that it is over.
                let _ = TcpStream::connect_timeout(&address, Duration::from_millis(50));
            }
        }
    }
}

/// Stops listening at once, and wakes who waits for a visitor, where the system can do that.
#[cfg(unix)]
fn is_shut(door: TcpListener) -> bool {
    // The standard library shuts down streams only; to the system both are sockets.
    let socket = TcpStream::from(std::os::fd::OwnedFd::from(door));
    socket.shutdown(std::net::Shutdown::Both).is_ok()
}

#[cfg(windows)]
fn is_shut(_: TcpListener) -> bool {
    false
}

/// Listens on this machine only, perhaps after another trigger has let go of the port.
fn listen(port: u16) -> io::Result<Vec<TcpListener>> {
    let end = Instant::now() + CHANGE_OF_HANDS;
    loop {
        match listen_at_once(port) {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse && Instant::now() < end => {
                thread::sleep(Duration::from_millis(20));
            }
            listening => return listening,
        }
    }
}

/// A name like `localhost` may mean either address, so both must be ours.
fn listen_at_once(port: u16) -> io::Result<Vec<TcpListener>> {
    let old = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
    match TcpListener::bind((IpAddr::V6(Ipv6Addr::LOCALHOST), port)) {
        Ok(new) => Ok(vec![old, new]),
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => Err(error),
        Err(_) => Ok(vec![old]),
    }
}

fn not_listening(port: u16, error: &io::Error) -> String {
    if error.kind() == io::ErrorKind::AddrInUse {
        return format!(
            "Nothing listens for triggers at port {port}: another program has it. End that one, or write another `port`."
        );
    }
    format!("Nothing listens for triggers at port {port}: {error}.")
}

fn accept(listener: &TcpListener, desk: &Arc<Desk>, is_over: &AtomicBool) {
    for visitor in listener.incoming() {
        if is_over.load(Ordering::Relaxed) {
            return;
        }
        match visitor {
            Ok(visitor) => desk.receive(visitor),
            // Too many open files, say: more come in no time.
            Err(_) => thread::sleep(Duration::from_millis(100)),
        }
    }
}

/// What all requests come to.
struct Desk {
    secret: Secret,
    tell: Tell,
    at_once: AtomicUsize,
}

impl Desk {
    fn receive(self: &Arc<Self>, mut visitor: TcpStream) {
        if self.at_once.fetch_add(1, Ordering::AcqRel) >= AT_ONCE {
            self.at_once.fetch_sub(1, Ordering::AcqRel);
            let _ = visitor.set_write_timeout(Some(Duration::from_millis(100)));
            let _ = visitor.write_all(&Answer::TOO_MANY.bytes());
            return;
        }
        let seat = Seat(Arc::clone(self));
        let thread = thread::Builder::new().name("request".to_owned());
        // Without a thread the visitor goes unheard, and notices.
        let _ = thread.spawn(move || seat.0.attend(visitor));
    }

    fn attend(&self, mut visitor: TcpStream) {
        let now = Instant::now();
        let end = now + PATIENCE;
        let _ = visitor.set_write_timeout(Some(PATIENCE));
        let mut line = Line {
            visitor: &mut visitor,
            end: now + PATIENCE_WITH_STRANGERS,
        };
        let answer = match request(&mut line, end, &self.secret) {
            Ok(text) => match (self.tell)(News::Text(text)) {
                Some(Heard::Delivered) => Answer(200, "delivered"),
                Some(Heard::Queued) => Answer(202, "queued: the agent is busy"),
                Some(Heard::Refused) => Answer(429, "too much waits for the agent already"),
                None => Answer(503, "there is no session any more"),
            },
            Err(answer) => answer,
        };
        // Who is gone needs no answer.
        let _ = visitor.write_all(&answer.bytes());
        let _ = visitor.shutdown(std::net::Shutdown::Write);
        drain(&mut visitor, end);
    }
}

/// A place at the desk, which is free again when this is dropped.
struct Seat(Arc<Desk>);

impl Drop for Seat {
    fn drop(&mut self) {
        self.0.at_once.fetch_sub(1, Ordering::AcqRel);
    }
}

/// A visitor who must be done in time.
struct Line<'a> {
    visitor: &'a mut TcpStream,
    end: Instant,
}

impl Read for Line<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.visitor.set_read_timeout(Some(left))?;
        self.visitor.read(buffer)
    }
}

/// What is left of a request is read, or its sender would lose the answer over it.
fn drain(visitor: &mut TcpStream, end: Instant) {
    let end = end.min(Instant::now() + Duration::from_secs(1));
    let mut line = Line { visitor, end };
    let mut buffer = [0; 4096];
    let mut left = 4 * LONGEST;
    while let Ok(read @ 1..) = line.read(&mut buffer) {
        left = left.saturating_sub(read);
        if left == 0 {
            return;
        }
    }
}

/// A status, and a word about it.
#[derive(Debug, Clone, Copy)]
struct Answer(u16, &'static str);

impl Answer {
    const TOO_MANY: Self = Self(503, "too many requests at once");
    const NO_REQUEST: Self = Self(400, "this is no request");
    const TOO_LONG: Self = Self(413, "at most 65536 bytes");
    const WEB_PAGE: Self = Self(403, "web pages are not heard");
    const OTHER_NAME: Self = Self(403, "send it to localhost, 127.0.0.1 or [::1]");

    fn bytes(self) -> Vec<u8> {
        let Self(status, text) = self;
        let reason = match status {
            200 => "OK",
            202 => "Accepted",
            403 => "Forbidden",
            401 => "Unauthorized\r\nWWW-Authenticate: Bearer",
            405 => "Method Not Allowed\r\nAllow: POST",
            408 => "Request Timeout",
            411 => "Length Required",
            413 => "Content Too Large",
            429 => "Too Many Requests",
            503 => "Service Unavailable",
            _ => "Bad Request",
        };
        let length = text.len() + 1;
        format!(
            "HTTP/1.1 {status} {reason}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{text}\n"
        )
        .into_bytes()
    }
}

impl From<io::Error> for Answer {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => Self(408, "this took too long"),
            _ => Self::NO_REQUEST,
        }
    }
}

/// What is needed of what stands before a body.
struct Head {
    length: usize,
    body_at: usize,
    waits: bool,
}

/// The body of a request that may come in.
fn request(line: &mut Line<'_>, end: Instant, secret: &Secret) -> Result<String, Answer> {
    let mut read = Vec::new();
    let mut buffer = [0; 4096];
    let head = loop {
        match line.read(&mut buffer)? {
            0 => return Err(Answer::NO_REQUEST),
            more => read.extend_from_slice(&buffer[..more]),
        }
        if let Some(head) = head(&read, secret)? {
            break head;
        }
        if read.len() > LONGEST_HEAD {
            return Err(Answer::NO_REQUEST);
        }
    };
    line.end = end;
    if head.waits {
        line.visitor.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    let mut body = read.split_off(head.body_at);
    body.truncate(head.length);
    let missing = head.length - body.len();
    line.take(missing as u64).read_to_end(&mut body)?;
    if body.len() < head.length {
        return Err(Answer::NO_REQUEST);
    }
    Ok(as_text(&body, body.len() as u64))
}

/// Reads what stands before a body, once it is all there.
fn head(read: &[u8], secret: &Secret) -> Result<Option<Head>, Answer> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    let body_at = match request.parse(read) {
        Ok(httparse::Status::Complete(at)) => at,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(_) => return Err(Answer::NO_REQUEST),
    };
    if request.method != Some("POST") {
        return Err(Answer(405, "send it with POST"));
    }
    let named = |name: &str| {
        let mut headers = request.headers.iter();
        headers.find(|header| header.name.eq_ignore_ascii_case(name))
    };
    // A page on the web can have a browser send what it likes to any port, also under a name of its own.
    if named("Origin").is_some() {
        return Err(Answer::WEB_PAGE);
    }
    let mut hosts = request
        .headers
        .iter()
        .filter(|header| header.name.eq_ignore_ascii_case("Host"));
    if !hosts.all(|host| is_this_machine(host.value)) {
        return Err(Answer::OTHER_NAME);
    }
    let shown = named("Authorization").and_then(|header| bearer(header.value));
    if !shown.is_some_and(|token| is_secret(token, secret)) {
        return Err(Answer(
            401,
            "show the token: `Authorization: Bearer <token>`",
        ));
    }
    if named("Transfer-Encoding").is_some() {
        return Err(Answer(411, "say how long it is: `Content-Length`"));
    }
    let length = match named("Content-Length") {
        None => 0,
        Some(header) => std::str::from_utf8(header.value)
            .ok()
            .filter(|value| value.bytes().all(|byte| byte.is_ascii_digit()))
            .ok_or(Answer::NO_REQUEST)?
            .parse()
            .map_err(|_| Answer::TOO_LONG)?,
    };
    if length > LONGEST {
        return Err(Answer::TOO_LONG);
    }
    let waits =
        named("Expect").is_some_and(|header| header.value.eq_ignore_ascii_case(b"100-continue"));
    Ok(Some(Head {
        length,
        body_at,
        waits,
    }))
}

/// Whether a name, with a port or without, is one of this machine's for itself.
fn is_this_machine(host: &[u8]) -> bool {
    let Ok(host) = std::str::from_utf8(host.trim_ascii()) else {
        return false;
    };
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    ["localhost", "127.0.0.1", "[::1]"]
        .iter()
        .any(|known| name.eq_ignore_ascii_case(known))
}

fn bearer(value: &[u8]) -> Option<&[u8]> {
    const SCHEME: &[u8] = b"bearer ";
    let (scheme, token) = value.split_at_checked(SCHEME.len())?;
    scheme.eq_ignore_ascii_case(SCHEME).then_some(token)
}

/// Compares hashes, all of them: how long that takes says nothing about the token.
fn is_secret(token: &[u8], secret: &Secret) -> bool {
    let shown: Secret = Sha256::digest(token.trim_ascii()).into();
    let differences = shown
        .iter()
        .zip(secret)
        .fold(0, |all, (a, b)| all | (a ^ b));
    differences == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_machine_are_meant() {
        for host in [
            "localhost",
            "LocalHost:80",
            "127.0.0.1:3333",
            "[::1]",
            "[::1]:3333",
        ] {
            assert!(is_this_machine(host.as_bytes()), "{host}");
        }
        for host in [
            "",
            "x",
            "localhost.evil.example:3333",
            "evil.example",
            "127.0.0.1.evil.example",
            "::1",
            "localhost:80:x",
            "\u{e9}",
        ] {
            assert!(!is_this_machine(host.as_bytes()), "{host}");
        }
    }

    #[test]
    fn whoever_ends_waits_for_nobody_and_the_port_changes_hands() {
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let start = || Webhook::start(port, "t", Box::new(|_| None)).unwrap();
        let first = start();
        // Somebody who says nothing is at the desk, and others stand in line.
        let visitors: Vec<_> = (0..20)
            .map(|_| TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap())
            .collect();
        let began = Instant::now();
        drop(first);
        assert!(began.elapsed() < Duration::from_millis(100));
        assert!(TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err());
        drop(start());
        drop(visitors);
    }
}
