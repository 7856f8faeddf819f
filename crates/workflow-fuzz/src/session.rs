//! A whole session: the lines of a host, and what happens beside them.

use std::collections::HashMap;

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;
use workflow_sidecar::run_script;

/// The id of an answer to a line without one.
const NO_ID: &str = "null";

/// The requests that may wait for a person.
const MAY_WAIT: &[&str] = &[
    "command/run",
    "hook/branch",
    "hook/tool_call",
    "tool/execute",
];

/// Each line of the sidecar is a message, and each request has been answered once when the session is over.
pub fn play(data: &[u8]) {
    let mut owed = Owed::default();
    for exchange in run_script(data) {
        let must_come = exchange.sent.as_ref().and_then(|line| owed.take(line));
        let answered = exchange.received.iter().filter_map(|line| owed.hear(line));
        let answered: Vec<String> = answered.collect();
        if let Some(id) = must_come {
            assert!(answered.contains(&id), "{id} is answered at once");
        }
        if exchange.is_over {
            owed.nothing();
        }
    }
}

/// The request of a line of the host.
#[derive(Debug, PartialEq, Eq)]
enum Asks {
    /// An answer under this id.
    Answer {
        id: String,
        may_wait: bool,
    },
    /// An answer under this id, or none: it depends on the spelling of the method, and clients must not rely on it.
    Perhaps(String),
    Nothing,
}

/// The answers that have not come.
#[derive(Debug, Default)]
struct Owed {
    counts: HashMap<String, i64>,
    perhaps: HashMap<String, i64>,
    /// The number of the last request of the sidecar.
    last: u64,
}

impl Owed {
    /// Takes a line of the host; gives the id of what is to be answered before anything else.
    fn take(&mut self, line: &[u8]) -> Option<String> {
        match asks(line) {
            Asks::Answer { id, may_wait } => {
                *self.counts.entry(id.clone()).or_default() += 1;
                (!may_wait).then_some(id)
            }
            Asks::Perhaps(id) => {
                *self.perhaps.entry(id).or_default() += 1;
                None
            }
            Asks::Nothing => None,
        }
    }

    /// Takes a line of the sidecar; gives the id that it answers.
    fn hear(&mut self, line: &str) -> Option<String> {
        let members = members(line.as_bytes()).expect("the sidecar speaks JSON, each member once");
        let jsonrpc = members.jsonrpc.as_deref().map(RawValue::get);
        assert_eq!(jsonrpc, Some("\"2.0\""), "{line}");
        let id = members.id.as_deref().map(RawValue::get);
        let id = id.map(|id| valid_id(id).unwrap_or_else(|| id.to_owned()));
        if let Some(method) = members.method {
            self.asked(id.as_deref(), method.get(), line);
            return None;
        }
        let id = id.expect("an answer has an id");
        assert!(
            members.result.is_some() != members.error.is_some(),
            "{line}"
        );
        if let Some(error) = members.error {
            let error: Value = serde_json::from_str(error.get()).expect("an error is JSON");
            assert!(error["code"].is_i64(), "{line}");
            assert!(error["message"].is_string(), "{line}");
            assert_ne!(error["data"]["kind"], "internal", "{line}");
        }
        self.answer(&id, line);
        Some(id)
    }

    fn asked(&mut self, id: Option<&str>, method: &str, line: &str) {
        let Some(id) = id else {
            assert!(method == "\"host/apply\"", "{line}");
            return;
        };
        let number = number_of_sidecar(id).expect("its ids are s1, s2, …");
        assert!(number > self.last, "an id of its own: {line}");
        self.last = number;
    }

    fn answer(&mut self, id: &str, line: &str) {
        for counts in [&mut self.counts, &mut self.perhaps] {
            if let Some(count) = counts.get_mut(id).filter(|count| **count > 0) {
                *count -= 1;
                return;
            }
        }
        panic!("nobody asked for {line}");
    }

    fn nothing(&self) {
        let missing = self.counts.iter().find(|(_, count)| **count > 0);
        assert_eq!(missing, None, "never answered");
    }
}

/// Reads the request of a line, by the specification of JSON-RPC and `protocol/README.md` alone.
fn asks(line: &[u8]) -> Asks {
    let answer = |id: &str, may_wait| Asks::Answer {
        id: id.to_owned(),
        may_wait,
    };
    if line.trim_ascii().is_empty() {
        return Asks::Nothing;
    }
    let Some(members) = members(line) else {
        return answer(NO_ID, false);
    };
    let valid = members.id.as_ref().and_then(|id| valid_id(id.get()));
    let named = valid.as_deref().unwrap_or(NO_ID);
    let answers = members.result.is_some() || members.error.is_some();
    let Some(method) = members.method.as_deref().map(RawValue::get) else {
        return if answers || valid.as_deref().and_then(number_of_sidecar).is_some() {
            Asks::Nothing
        } else {
            answer(named, false)
        };
    };
    let string = |json: &str| serde_json::from_str::<String>(json).ok();
    let version = members.jsonrpc.and_then(|json| string(json.get()));
    if members.id.is_some() || version.as_deref() != Some("2.0") {
        let may_wait = string(method).is_some_and(|method| MAY_WAIT.contains(&&*method));
        return answer(named, may_wait && valid.is_some());
    }
    match string(method) {
        Some(_) => Asks::Nothing,
        // Half of a pair of surrogates is a string to some.
        None if method.starts_with('"') => Asks::Perhaps(named.to_owned()),
        None => answer(named, false),
    }
}

/// The number in an id of a request of the sidecar: `"s1"`, `"s2"`, …
fn number_of_sidecar(id: &str) -> Option<u64> {
    let number = id.strip_prefix("\"s")?.strip_suffix('"')?;
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit()) && !number.starts_with('0');
    number.parse().ok().filter(|_| is_number)
}

/// Normalizes an id that a request may have.
fn valid_id(id: &str) -> Option<String> {
    let id: Value = serde_json::from_str(id).ok()?;
    (id.is_string() || id.is_u64()).then(|| id.to_string())
}

/// The members of a message. One that is null is not missing.
#[derive(Deserialize)]
struct Members {
    #[serde(default, deserialize_with = "present")]
    jsonrpc: Option<Box<RawValue>>,
    #[serde(default, deserialize_with = "present")]
    id: Option<Box<RawValue>>,
    #[serde(default, deserialize_with = "present")]
    method: Option<Box<RawValue>>,
    #[serde(default, deserialize_with = "present")]
    result: Option<Box<RawValue>>,
    #[serde(default, deserialize_with = "present")]
    error: Option<Box<RawValue>>,
    #[serde(default, rename = "params")]
    _params: Option<IgnoredAny>,
}

fn present<'de, D: Deserializer<'de>>(member: D) -> Result<Option<Box<RawValue>>, D::Error> {
    Deserialize::deserialize(member).map(Some)
}

/// Reads an object; `None` if it is something else, or has a member of a message twice.
fn members(line: &[u8]) -> Option<Members> {
    let line = std::str::from_utf8(line).ok()?;
    // Of a list the values would be the members in their order.
    let is_object = line.trim_ascii_start().starts_with('{');
    serde_json::from_str(line).ok().filter(|_| is_object)
}
