//! Who may see the board, and send it answers.
//!
//! A browser shows the pages of all addresses, so a page of another one must neither read this one under a name of its own
//! (`Host`), nor send forms to it (`Origin`), nor show it in a frame.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{COOKIE, HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use parking_lot::Mutex;

use super::Board;
use super::failure::Failure;
use crate::files::hash;

/// Pages that anybody may ask for. A question and its answer ask for a code then.
const OPEN: [&str; 7] = [
    "/a",
    "/answer",
    "/enter",
    "/board",
    "/style.css",
    "/board.js",
    "/icon.svg",
];

/// The headers of every answer. Without a referrer at all, a browser would not say where a form comes from.
const HEADERS: [(&str, &str); 7] = [
    (
        "content-security-policy",
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; \
         frame-ancestors 'none'; base-uri 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cache-control", "no-store"),
];

/// How the board is reached, and who may see it.
#[derive(Debug, Clone)]
pub(crate) struct Access {
    /// Where it listens.
    pub(crate) address: SocketAddr,
    /// Its name behind a proxy or in a network.
    pub(crate) host: Option<String>,
    /// The header in which a proxy says who asks. Without one, a token and a cookie say that it is the user.
    pub(crate) header: Option<HeaderName>,
}

/// What is asked of each request.
pub(crate) struct Guard {
    access: Access,
    /// Counts once.
    token: Mutex<Option<String>>,
    cookie: String,
}

/// Who asks for a page.
#[derive(Debug, Clone)]
pub(super) struct Visitor {
    /// True if the visitor may see the board.
    pub(super) is_known: bool,
    /// The name that a proxy says.
    pub(super) name: Option<String>,
}

impl Visitor {
    /// Fails for a visitor who may not see the board.
    pub(super) fn require_known(&self) -> Result<(), Failure> {
        self.is_known.then_some(()).ok_or_else(unknown)
    }
}

fn unknown() -> Failure {
    Failure::new(
        StatusCode::UNAUTHORIZED,
        "Open the address that `workflow-sidecar board` has printed. It counts once, in one browser: start the board again for another \
         one. A board behind a proxy with a sign-on is reached through the proxy. A link with a code opens its question without any of \
         this.",
    )
}

impl Guard {
    pub(crate) fn new(access: Access) -> anyhow::Result<Self> {
        let token = access.header.is_none().then(secret).transpose()?;
        Ok(Self {
            access,
            token: Mutex::new(token),
            cookie: secret()?,
        })
    }

    /// The address to open, with the token if one is needed.
    pub(crate) fn address(&self) -> String {
        let Access { address, host, .. } = &self.access;
        let place = match host {
            Some(host) if address.ip().is_unspecified() => format!("{host}:{}", address.port()),
            _ => address.to_string(),
        };
        let token = self.token.lock();
        let token = token.as_ref().map(|token| format!("enter?token={token}"));
        format!("http://{place}/{}", token.unwrap_or_default())
    }

    /// Takes the token, and returns the cookie.
    pub(super) fn take(&self, given: &str) -> Result<String, Failure> {
        let is_it = |token: &mut String| hash(token) == hash(given);
        self.token.lock().take_if(is_it).ok_or_else(unknown)?;
        let (name, value) = (self.cookie_name(), &self.cookie);
        Ok(format!("{name}={value}; HttpOnly; SameSite=Lax; Path=/"))
    }

    /// Browsers share cookies among ports.
    fn cookie_name(&self) -> String {
        format!("board-{}", self.access.address.port())
    }

    /// Says who asks for a page, or why the request is refused.
    fn admit(&self, method: &Method, path: &str, headers: &HeaderMap) -> Result<Visitor, Failure> {
        let host = one(headers, &HOST).unwrap_or_default();
        if !self.is_ours(host) && !self.is_ours(&format!("{host}:80")) {
            return Err(Failure::new(
                StatusCode::MISDIRECTED_REQUEST,
                "This board has another name. `--host NAME` gives it one.",
            ));
        }
        // A page of another origin can link to this one, and do nothing else with it.
        let is = |name: &str, text: &str| headers.get(name).is_some_and(|value| value == text);
        let forbidden = |why: &str| Err(Failure::new(StatusCode::FORBIDDEN, why));
        if is("sec-fetch-site", "cross-site") && !is("sec-fetch-mode", "navigate") {
            return forbidden("Other pages cannot use this board.");
        }
        if !matches!(*method, Method::GET | Method::HEAD) {
            let origin = one(headers, &ORIGIN).and_then(|origin| origin.split_once("://"));
            if !origin.is_some_and(|(scheme, from)| scheme.starts_with("http") && from == host) {
                return forbidden("This did not come from a page of this board: nothing was done.");
            }
        }
        let visitor = self.visitor(headers);
        if !OPEN.contains(&path) {
            visitor.require_known()?;
        }
        Ok(visitor)
    }

    fn is_ours(&self, asked: &str) -> bool {
        let Access { address, host, .. } = &self.access;
        let port = asked.rsplit_once(':');
        let port = port.filter(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
        let name = port.map_or(asked, |(name, _)| name);
        let is_local =
            address.ip().is_loopback() && asked == format!("localhost:{}", address.port());
        let is_named = host
            .as_ref()
            .is_some_and(|it| it.eq_ignore_ascii_case(name));
        is_local || is_named || asked == address.to_string()
    }

    fn visitor(&self, headers: &HeaderMap) -> Visitor {
        if let Some(header) = &self.access.header {
            let name = one(headers, header).map(str::trim);
            let name = name.filter(|name| !name.is_empty()).map(str::to_owned);
            let is_known = name.is_some();
            return Visitor { is_known, name };
        }
        let (name, secret) = (self.cookie_name(), hash(&self.cookie));
        let cookies = headers.get_all(COOKIE).into_iter();
        let cookies = cookies.filter_map(|cookies| cookies.to_str().ok());
        let mut cookies = cookies.flat_map(|cookies| cookies.split("; "));
        Visitor {
            is_known: cookies.any(|cookie| {
                let value = cookie.split_once('=').filter(|(of, _)| *of == name);
                value.is_some_and(|(_, value)| hash(value) == secret)
            }),
            name: None,
        }
    }
}

/// The text of a header that a request has once.
fn one<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    let mut values = headers.get_all(name).into_iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

/// 128 random bits.
fn secret() -> anyhow::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(format!("{:032x}", u128::from_be_bytes(bytes)))
}

/// Lets a request through, or refuses it.
pub(super) async fn guard(
    State(board): State<Arc<Board>>,
    mut request: Request,
    next: Next,
) -> Response {
    let (path, headers) = (request.uri().path(), request.headers());
    let mut response = match board.guard.admit(request.method(), path, headers) {
        Ok(visitor) => {
            request.extensions_mut().insert(visitor);
            next.run(request).await
        }
        Err(failure) => failure.into_response(),
    };
    for (name, value) in HEADERS {
        let value = HeaderValue::from_static(value);
        response.headers_mut().insert(name, value);
    }
    response
}
