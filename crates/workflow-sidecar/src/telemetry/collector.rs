//! Requests to a collector: HTTP/1.1 without encryption, one connection a request.

use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::pin::Pin;
use std::str::FromStr;
use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::client::conn::http1::handshake;
use hyper::header::{HOST, HeaderValue};
use hyper::http::Uri;
use hyper_util::rt::TokioIo;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use tokio::net::TcpStream;
use tokio::runtime;
use tokio::time::timeout;

/// The time for a request. Only threads of the exporter wait for it.
const TIMEOUT: Duration = Duration::from_secs(5);
/// The longest response, in bytes.
const MAX_RESPONSE: usize = 64 << 10;

/// The address of a collector: `http://ADDRESS:PORT`, and a path if it has one. Names beside `localhost` would need the name
/// services of the system, which a static binary cannot use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Endpoint(String);

impl Endpoint {
    /// The address for a kind of data.
    pub(super) fn of(&self, kind: &str) -> String {
        format!("{}/v1/{kind}", self.0)
    }
}

impl FromStr for Endpoint {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let uri = text.parse::<Uri>().ok().filter(|uri| {
            let is_plain = uri.host().and_then(ip).is_some() && uri.query().is_none();
            uri.scheme_str() == Some("http") && is_plain
        });
        let plain = uri.map(|_| Self(text.trim_end_matches('/').to_owned()));
        plain.ok_or(
            "the address of a collector is http://localhost:PORT or http:// with an IP address, such as http://localhost:4318; for \
             https or a name use a collector on this machine that forwards",
        )
    }
}

fn ip(host: &str) -> Option<IpAddr> {
    if host == "localhost" {
        return Some(Ipv4Addr::LOCALHOST.into());
    }
    host.trim_matches(['[', ']']).parse().ok()
}

/// A client of the collector. It blocks the exporter's thread, which runs nothing else.
#[derive(Debug)]
pub(super) struct Collector;

impl HttpClient for Collector {
    fn send_bytes<'life, 'result>(
        &'life self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'result>>
    where
        'life: 'result,
        Self: 'result,
    {
        Box::pin(async move { send(request) })
    }
}

fn send(request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
    let runtime = runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async { timeout(TIMEOUT, exchange(request)).await? })
}

async fn exchange(mut request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
    let no_host = || io::Error::other("the collector has no host");
    let authority = request.uri().authority().ok_or_else(no_host)?.clone();
    let port = authority.port_u16().unwrap_or(80);
    let address = ip(authority.host()).ok_or_else(no_host)?;
    let stream = TcpStream::connect((address, port)).await?;
    let (mut sender, connection) = handshake(TokioIo::new(stream)).await?;
    let connection = tokio::spawn(connection);
    let path = request.uri().path().parse()?;
    *request.uri_mut() = path;
    let host = HeaderValue::from_str(authority.as_str())?;
    request.headers_mut().insert(HOST, host);
    let response = sender.send_request(request.map(Full::new)).await?;
    let (parts, body) = response.into_parts();
    let body = Limited::new(body, MAX_RESPONSE).collect().await?.to_bytes();
    connection.abort();
    Ok(Response::from_parts(parts, body))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collector_is_addressed_by_http_and_gets_the_path_of_its_data() {
        let endpoint: Endpoint = "http://localhost:4318/".parse().unwrap();
        assert_eq!(endpoint.of("traces"), "http://localhost:4318/v1/traces");
        assert!("http://[::1]:4318".parse::<Endpoint>().is_ok());
        for text in [
            "https://localhost:4318",
            "localhost:4318",
            "http://",
            "http://127.0.0.1/?b",
            "http://collector:4318",
        ] {
            assert!(text.parse::<Endpoint>().is_err(), "{text}");
        }
    }
}
