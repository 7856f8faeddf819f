//! Webhook triggers: a request to a port of this machine starts the agent.
//!
//! Owns the checks of a request (only a local client with the token is accepted), the limits on size, time and number
//! of connections, and the status of the response:
//!
//! | | |
//! | --- | --- |
//! | 200 | the text was delivered to the agent |
//! | 202 | it is delivered when the agent has stopped |
//! | 400, 408, 411, 431 | the request is invalid, too slow, without a length, or its head is too long |
//! | 401 | the token is missing or wrong |
//! | 403 | a web page sent the request, or it names another host |
//! | 405 | the method is not POST |
//! | 413 | the body is longer than 64 KiB |
//! | 429 | too many texts wait for the agent |
//! | 503 | there is no session any more, or too many requests with the token wait |
//!
//! A client that has not shown the token may be anyone, so it gets nothing that others then lack: see `unauthenticated.rs`.

use std::convert::Infallible;
use std::future::poll_fn;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{
    ALLOW, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderValue, ORIGIN, WWW_AUTHENTICATE,
};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use sha2::{Digest, Sha256};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy, sink};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::{JoinSet, spawn_blocking, yield_now};
use tokio::time::{Instant, sleep, timeout, timeout_at};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::unauthenticated::{UnauthenticatedConnections, UnauthenticatedSlot};
use super::{Deliver, MAX_TEXT, TriggerOutcome, as_text};
use crate::threads;

/// Time limit of a request, from the connection to the last byte of the body.
const REQUEST_TIME: Duration = Duration::from_secs(5);
/// Time limit of the head, which has the token: until then the client may be anyone.
const HEAD_TIME: Duration = Duration::from_secs(2);
/// Time to read the remainder of a refused request, and for the client to read the response.
const CLOSING_TIME: Duration = Duration::from_secs(1);
/// The same for a client without the token.
const UNAUTHENTICATED_CLOSING_TIME: Duration = Duration::from_millis(100);
/// Time for another process's trigger that is just ending to close the port.
const PORT_RETRY_TIME: Duration = Duration::from_millis(500);
/// Bytes of the head of a request.
const MAX_HEAD: usize = 16 * 1024;
const MAX_HEADERS: usize = 64;
/// Requests with the token at the same time. Others wait until their time is over.
const MAX_REQUESTS: usize = 8;

/// The kind of all answers.
const CONTENT: &str = "text/plain; charset=utf-8";
/// Text of a request without a body.
const DEFAULT_TEXT: &str = "Webhook triggered";

type TokenHash = [u8; 32];

/// An open port, which is closed when this is dropped.
#[derive(Debug)]
pub(crate) struct Webhook {
    stop: CancellationToken,
    /// Disconnected when the port is closed.
    closed: Receiver<()>,
}

impl Webhook {
    pub(super) fn start(port: u16, token: &str, deliver: Deliver) -> Result<Self, String> {
        let endpoint = WebhookEndpoint {
            token: Sha256::digest(token).into(),
            deliver,
            slots: Semaphore::new(MAX_REQUESTS),
            unauthenticated: UnauthenticatedConnections::default(),
        };
        Self::spawn(port, endpoint).map_err(|error| not_listening(port, &error))
    }

    fn spawn(port: u16, endpoint: WebhookEndpoint) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            // For deliveries, which wait for the lock of the server and so cannot run side by side.
            .max_blocking_threads(1)
            .build()?;
        let listeners = runtime.block_on(listen(port))?;
        let (open, closed) = channel();
        let stop = CancellationToken::new();
        let work = serve(listeners, Arc::new(endpoint), stop.clone(), open);
        threads::spawn("webhook", move || {
            runtime.block_on(work);
            runtime.shutdown_background();
        })?;
        Ok(Self { stop, closed })
    }
}

impl Drop for Webhook {
    /// Closes the port. Requests that have been accepted are still answered.
    fn drop(&mut self) {
        self.stop.cancel();
        // The thread never blocks, so this is short. The only possible result is that the sender is gone.
        let _ = self.closed.recv();
    }
}

/// Opens the port on the loopback addresses, perhaps after another trigger has closed it.
async fn listen(port: u16) -> io::Result<Vec<TcpListener>> {
    let end = Instant::now() + PORT_RETRY_TIME;
    loop {
        match bind(port).await {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse && Instant::now() < end => {
                sleep(Duration::from_millis(20)).await;
            }
            bound => return bound,
        }
    }
}

/// Binds both addresses, because a name like `localhost` may mean either one.
async fn bind(port: u16) -> io::Result<Vec<TcpListener>> {
    let mut listeners = vec![TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?];
    match TcpListener::bind((Ipv6Addr::LOCALHOST, port)).await {
        Ok(listener) => listeners.push(listener),
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => return Err(error),
        Err(error) => tracing::debug!("no webhook on the IPv6 loopback address: {error}"),
    }
    Ok(listeners)
}

fn not_listening(port: u16, error: &io::Error) -> String {
    let reason = if error.kind() == io::ErrorKind::AddrInUse {
        "another program has it. End that one, or write another `port`"
    } else {
        &error.to_string()
    };
    format!("Nothing listens for triggers at port {port}: {reason}.")
}

/// Accepts connections until it is stopped, then waits for the accepted ones. `open` is dropped when the port is closed.
async fn serve(
    listeners: Vec<TcpListener>,
    endpoint: Arc<WebhookEndpoint>,
    stopped: CancellationToken,
    open: Sender<()>,
) {
    let connections = TaskTracker::new();
    let mut accepting = JoinSet::new();
    for listener in listeners {
        accepting.spawn(accept(listener, Arc::clone(&endpoint), connections.clone()));
    }
    stopped.cancelled().await;
    accepting.shutdown().await;
    drop(open);
    connections.close();
    connections.wait().await;
}

async fn accept(listener: TcpListener, endpoint: Arc<WebhookEndpoint>, connections: TaskTracker) {
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                // For example too many open files: trying again at once would fail as well.
                tracing::warn!("a webhook connection cannot be accepted: {error}");
                sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        let connection_slot = endpoint.unauthenticated.enter().await;
        let endpoint = Arc::clone(&endpoint);
        connections.spawn(async move {
            let closed = connection_slot.closed();
            let served = endpoint.serve_connection(stream, Arc::new(connection_slot));
            if closed.run_until_cancelled(served).await.is_none() {
                tracing::debug!("a webhook client without the token is closed for another one");
            }
        });
        // Otherwise a flood of connections would keep those that are accepted from being served.
        yield_now().await;
    }
}

/// The receiver of all requests.
struct WebhookEndpoint {
    token: TokenHash,
    deliver: Deliver,
    /// For requests with the token.
    slots: Semaphore,
    unauthenticated: UnauthenticatedConnections,
}

impl WebhookEndpoint {
    async fn serve_connection(
        self: Arc<Self>,
        stream: TcpStream,
        connection_slot: Arc<UnauthenticatedSlot>,
    ) {
        let deadline = Instant::now() + REQUEST_TIME;
        let shared = Arc::clone(&connection_slot);
        let service = service_fn(move |request| {
            let (endpoint, connection_slot) = (Arc::clone(&self), Arc::clone(&shared));
            Box::pin(async move {
                let answer = endpoint.answer(request, deadline, &connection_slot).await;
                let answer = answer.unwrap_or_else(|refusal| refusal);
                Ok::<_, Infallible>(answer.into_response())
            })
        });
        let mut connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_TIME)
            .keep_alive(false)
            .max_buf_size(MAX_HEAD)
            .max_headers(MAX_HEADERS)
            .serve_connection(TokioIo::new(stream), service);
        let served = poll_fn(|context| connection.poll_without_shutdown(context));
        let served = timeout_at(deadline + CLOSING_TIME, served).await;
        let mut stream = connection.into_parts().io.into_inner();
        match served {
            Ok(Ok(())) => {}
            // hyper closes a connection without a head in time, but sends no response.
            Ok(Err(error)) if error.is_timeout() => {
                if let Err(error) = stream.write_all(&WebhookAnswer::TOO_SLOW.as_bytes()).await {
                    tracing::debug!("a webhook client is gone: {error}");
                }
            }
            Ok(Err(error)) => tracing::debug!("an invalid webhook request: {error}"),
            Err(_) => {
                tracing::debug!("a webhook client did not read its response");
                return;
            }
        }
        let time = if connection_slot.is_authenticated() {
            CLOSING_TIME
        } else {
            UNAUTHENTICATED_CLOSING_TIME
        };
        close(stream, time).await;
    }

    async fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
        deadline: Instant,
        connection_slot: &UnauthenticatedSlot,
    ) -> Result<WebhookAnswer, WebhookAnswer> {
        if request.method() != Method::POST {
            return Err(WebhookAnswer::NOT_POST);
        }
        check_headers(request.headers(), &self.token)?;
        connection_slot.authenticate();
        let slot = timeout_at(deadline, self.slots.acquire()).await;
        let _slot = slot.map_err(|_| WebhookAnswer::TOO_MANY)?;
        let text = read_text(request, deadline).await?;
        Ok(Arc::clone(&self).deliver(text).await)
    }

    async fn deliver(self: Arc<Self>, text: String) -> WebhookAnswer {
        let delivery = spawn_blocking(move || (self.deliver)(Ok(text)));
        match delivery.await {
            Ok(Some(TriggerOutcome::Delivered)) => WebhookAnswer::DELIVERED,
            Ok(Some(TriggerOutcome::Queued)) => WebhookAnswer::QUEUED,
            Ok(Some(TriggerOutcome::Refused)) => WebhookAnswer::QUEUE_FULL,
            Ok(None) => WebhookAnswer::NO_SESSION,
            Err(error) => {
                tracing::warn!("a webhook request was not delivered: {error}");
                WebhookAnswer::NO_SESSION
            }
        }
    }
}

/// Closes a connection after reading the remainder of the request: otherwise the client could lose the response.
async fn close(mut stream: TcpStream, time: Duration) {
    // A client that is gone needs no response.
    let _ = stream.shutdown().await;
    let mut rest = stream.take(4 * MAX_TEXT as u64);
    let _ = timeout(time, copy(&mut rest, &mut sink())).await;
}

/// Reads the text of a request.
async fn read_text(request: Request<Incoming>, deadline: Instant) -> Result<String, WebhookAnswer> {
    let body = request.into_body();
    let length = body.size_hint().exact().ok_or(WebhookAnswer::NO_LENGTH)?;
    if length > MAX_TEXT as u64 {
        return Err(WebhookAnswer::TOO_LONG);
    }
    let body = match timeout_at(deadline, body.collect()).await {
        Ok(Ok(body)) => body.to_bytes(),
        Ok(Err(error)) => {
            tracing::debug!("the body of a webhook request is lost: {error}");
            return Err(WebhookAnswer::INVALID);
        }
        Err(_) => return Err(WebhookAnswer::TOO_SLOW),
    };
    let text = as_text(&body, length);
    Ok(if text.is_empty() {
        DEFAULT_TEXT.to_owned()
    } else {
        text
    })
}

/// Checks that a local program with the token sent the request.
///
/// A web page can make a browser send requests to any port, also under a host name that resolves to this machine.
fn check_headers(headers: &HeaderMap, token: &TokenHash) -> Result<(), WebhookAnswer> {
    if headers.contains_key(ORIGIN) {
        return Err(WebhookAnswer::WEB_PAGE);
    }
    let mut hosts = headers.get_all(HOST).iter();
    if !hosts.all(|host| is_this_machine(host.as_bytes())) {
        return Err(WebhookAnswer::OTHER_HOST);
    }
    let sent = headers.get(AUTHORIZATION).and_then(bearer_token);
    if !sent.is_some_and(|sent| is_token(sent, token)) {
        return Err(WebhookAnswer::NO_TOKEN);
    }
    Ok(())
}

/// Returns `true` for the names of this machine's loopback interface, with or without a port.
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

fn bearer_token(value: &HeaderValue) -> Option<&[u8]> {
    const SCHEME: &[u8] = b"bearer ";
    let (scheme, token) = value.as_bytes().split_at_checked(SCHEME.len())?;
    scheme.eq_ignore_ascii_case(SCHEME).then_some(token)
}

/// Compares all bytes of the hashes, so that the time of the comparison reveals nothing about the token.
fn is_token(sent: &[u8], token: &TokenHash) -> bool {
    let sent: TokenHash = Sha256::digest(sent.trim_ascii()).into();
    let differences = sent.iter().zip(token).fold(0, |all, (a, b)| all | (a ^ b));
    differences == 0
}

/// A status and its text.
#[derive(Debug, Clone, Copy)]
struct WebhookAnswer(u16, &'static str);

impl WebhookAnswer {
    const DELIVERED: Self = Self(200, "delivered");
    const QUEUED: Self = Self(202, "queued: the agent is busy");
    const QUEUE_FULL: Self = Self(429, "too much waits for the agent already");
    const NO_SESSION: Self = Self(503, "there is no session any more");
    const TOO_MANY: Self = Self(503, "too many requests at once");
    const INVALID: Self = Self(400, "this is no request");
    const TOO_SLOW: Self = Self(408, "this took too long");
    const NO_LENGTH: Self = Self(411, "say how long it is: `Content-Length`");
    const TOO_LONG: Self = Self(413, "at most 65536 bytes");
    const WEB_PAGE: Self = Self(403, "requests of web pages are refused");
    const OTHER_HOST: Self = Self(403, "send it to localhost, 127.0.0.1 or [::1]");
    const NO_TOKEN: Self = Self(401, "show the token: `Authorization: Bearer <token>`");
    const NOT_POST: Self = Self(405, "send it with POST");

    fn into_response(self) -> Response<Full<Bytes>> {
        let Self(status, text) = self;
        let response = Response::builder().status(status);
        let response = response.header(CONTENT_TYPE, CONTENT);
        let response = match status {
            401 => response.header(WWW_AUTHENTICATE, "Bearer"),
            405 => response.header(ALLOW, "POST"),
            _ => response,
        };
        let response = response.body(Full::from(format!("{text}\n")));
        response.expect("the status and the headers are valid")
    }

    /// Returns the response as bytes, for a connection without a request.
    fn as_bytes(self) -> Vec<u8> {
        let Self(status, text) = self;
        let status = StatusCode::from_u16(status).expect("it is a status");
        let length = text.len() + 1;
        format!(
            "HTTP/1.1 {status}\r\nContent-Type: {CONTENT}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{text}\n"
        )
        .into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpStream;
    use std::time::Instant;

    use super::*;

    #[test]
    fn only_names_of_this_machine_are_accepted() {
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
    fn dropping_closes_the_port_at_once_in_spite_of_open_connections() {
        let free = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let start = || Webhook::start(port, "t", Box::new(|_| None)).unwrap();
        let first = start();
        // More clients than connections are allowed, and none sends anything.
        let clients: Vec<_> = (0..20)
            .map(|_| TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap())
            .collect();
        let began = Instant::now();
        drop(first);
        assert!(began.elapsed() < Duration::from_millis(100));
        assert!(TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err());
        drop(start());
        drop(clients);
    }
}
