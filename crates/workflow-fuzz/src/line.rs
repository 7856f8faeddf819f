//! A line of a host: it is answered by at most one line of JSON, and every method reads its parameters or refuses them.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use workflow_protocol::{Kind, Method, for_each_method, method};
use workflow_sidecar::server::InMemoryServer;

/// Sends the first line of the input to a new sidecar.
pub fn play(data: &[u8]) {
    let line = data.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let answers = InMemoryServer::default().send(line);
    assert!(answers.len() <= 1, "{answers:?}");
    for answer in answers {
        let answer: Value = serde_json::from_str(&answer).expect("an answer is JSON");
        assert_eq!(answer["jsonrpc"], "2.0", "{answer}");
        assert_ne!(answer["error"]["data"]["kind"], "internal", "{answer}");
    }
    if let Ok(Envelope { params }) = serde_json::from_slice(line) {
        read_by_every_method(params.map(RawValue::get));
    }
}

/// The member of a message that the methods read.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

fn read_by_every_method(params: Option<&str>) {
    macro_rules! read {
        ($($(#[$doc:meta])* $row:ident = $name:literal ($params:ident) -> $result:ty;)*) => {$(
            if let Err(error) = method::$row::read(params) {
                assert_eq!(error.kind, Kind::InvalidParams, "{} {params:?}", $name);
            }
        )*};
    }
    for_each_method!(read);
}
