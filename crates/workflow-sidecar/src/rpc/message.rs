//! A line as a JSON-RPC message.

use jsonrpsee::types::Id;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use workflow_protocol::{Error, Kind, Text};

use super::outbox::failure;
use super::outgoing_requests::is_outgoing;

/// A message of the host.
#[derive(Debug)]
pub(crate) enum Message<'a> {
    Request(Id<'a>, MethodCall<'a>),
    /// A call that is never answered.
    Notification(MethodCall<'a>),
    /// An answer to a request of the sidecar. The result is missing if it is an error, the id if it cannot be an id.
    Response {
        id: Option<Id<'a>>,
        result: Option<&'a RawValue>,
    },
}

/// A method and its parameters.
#[derive(Debug)]
pub(crate) struct MethodCall<'a> {
    pub(crate) method: Text<'a>,
    pub(crate) params: Option<&'a RawValue>,
}

impl<'a> Message<'a> {
    /// Parses a line.
    pub(crate) fn parse(line: &'a [u8]) -> Result<Self, InvalidMessage<'a>> {
        let line = std::str::from_utf8(line).map_err(|error| {
            let byte = error.valid_up_to() + 1;
            let message = format!("the line is not UTF-8 from byte {byte} on");
            Error::new(Kind::ParseError, message)
        })?;
        match line.trim_ascii_start().as_bytes().first() {
            Some(b'{') => {
                let envelope: Envelope<'a> =
                    serde_json::from_str(line).map_err(|error| not_json(line, &error))?;
                envelope.into_message()
            }
            first => {
                serde_json::from_str::<IgnoredAny>(line).map_err(|error| not_json(line, &error))?;
                Err(invalid(if first == Some(&b'[') {
                    "batches are not taken: send one message a line"
                } else {
                    "a message is a JSON object"
                })
                .into())
            }
        }
    }
}

/// The members of a message. A member that is null is not missing.
#[serde_with::apply(_ => #[serde(borrow, default, deserialize_with = "present")])]
#[derive(Deserialize)]
struct Envelope<'a> {
    jsonrpc: Option<&'a RawValue>,
    id: Option<&'a RawValue>,
    method: Option<&'a RawValue>,
    params: Option<&'a RawValue>,
    result: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
}

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    Deserialize::deserialize(deserializer).map(Some)
}

impl<'a> Envelope<'a> {
    fn into_message(self) -> Result<Message<'a>, InvalidMessage<'a>> {
        let id = self.id.and_then(parse_id);
        if self.is_response(id.as_ref()) {
            let result = self.result.filter(|_| self.error.is_none());
            return Ok(Message::Response { id, result });
        }
        let method = match self.call_method() {
            Ok(method) => method,
            Err(error) => return Err(InvalidMessage { id, error }),
        };
        let call = MethodCall {
            method,
            params: self.params,
        };
        Ok(match id {
            Some(id) => Message::Request(id, call),
            None => Message::Notification(call),
        })
    }

    /// Tells whether the message answers a request of the sidecar. One with the id of such a request and neither a
    /// result nor an error is the only answer that will come.
    fn is_response(&self, id: Option<&Id<'_>>) -> bool {
        let is_answer = self.result.is_some() || self.error.is_some();
        self.method.is_none() && (is_answer || id.is_some_and(is_outgoing))
    }

    /// Checks the members of a call and gives its method.
    fn call_method(&self) -> Result<Text<'a>, Error> {
        if self.jsonrpc.and_then(text).as_deref() != Some("2.0") {
            return Err(invalid("`jsonrpc` must be \"2.0\""));
        }
        if self.id.is_some_and(|id| parse_id(id).is_none()) {
            return Err(invalid("`id` must be a string or a whole number from 0"));
        }
        let method = self.method.and_then(text);
        method.ok_or_else(|| invalid("`method` is missing or not a string"))
    }
}

/// The string or whole number from 0 that an id is.
fn parse_id(json: &RawValue) -> Option<Id<'_>> {
    let json = json.get();
    if json.starts_with('"') {
        let text: String = serde_json::from_str(json).ok()?;
        Some(Id::Str(text.into()))
    } else {
        serde_json::from_str(json).ok().map(Id::Number)
    }
}

/// The text of a JSON value, if it is a string.
fn text(json: &RawValue) -> Option<Text<'_>> {
    serde_json::from_str(json.get()).ok()
}

/// A line that is not a message, and the id of the request that it would have been.
#[derive(Debug)]
pub(crate) struct InvalidMessage<'a> {
    id: Option<Id<'a>>,
    error: Error,
}

impl InvalidMessage<'_> {
    /// The response that refuses the line.
    pub(crate) fn into_response(self) -> String {
        failure(self.id.unwrap_or(Id::Null), &self.error)
    }
}

impl From<Error> for InvalidMessage<'_> {
    fn from(error: Error) -> Self {
        Self { id: None, error }
    }
}

/// A message that is JSON, but not one of the protocol's.
fn invalid(message: &str) -> Error {
    Error::new(Kind::InvalidRequest, message)
}

/// The refusal for an error of `serde_json`. The only error in the data is a member that comes twice.
fn not_json(line: &str, error: &serde_json::Error) -> Error {
    let problem = if error.is_data() {
        return invalid("a member of the message appears twice");
    } else if error.is_eof() {
        "it ends too early".to_owned()
    } else {
        format!("see column {}", column(line, error))
    };
    Error::new(Kind::ParseError, format!("the line is not JSON: {problem}"))
}

/// The column of an error in characters, from 1. The library counts lines, and bytes in them.
fn column(line: &str, error: &serde_json::Error) -> usize {
    let lines_before = line
        .split_inclusive('\n')
        .take(error.line().saturating_sub(1));
    let before: usize = lines_before.map(str::len).sum();
    let at = before + error.column().saturating_sub(1);
    1 + line
        .char_indices()
        .take_while(|(start, _)| *start < at)
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CUT: &str = "the line is not JSON: it ends too early";
    const BATCH: &str = "batches are not taken: send one message a line";
    const VERSION: &str = "`jsonrpc` must be \"2.0\"";
    const ID: &str = "`id` must be a string or a whole number from 0";
    const METHOD: &str = "`method` is missing or not a string";

    fn refused(line: &str) -> (Option<Id<'_>>, String) {
        match Message::parse(line.as_bytes()) {
            Err(InvalidMessage { id, error }) => (id, error.to_string()),
            Ok(message) => panic!("{line} is {message:?}"),
        }
    }

    #[test]
    fn an_id_is_a_string_or_a_whole_number_from_0() {
        for (json, expected) in [
            ("0", Id::Number(0)),
            ("18446744073709551615", Id::Number(u64::MAX)),
            (r#""a\u0062\n""#, Id::Str("ab\n".into())),
            ("\"\"", Id::Str("".into())),
        ] {
            let line = format!(r#"{{"id": {json} ,"method":"m","jsonrpc":"2.0"}}"#);
            match Message::parse(line.as_bytes()) {
                Ok(Message::Request(id, _)) => assert_eq!(id, expected),
                other => panic!("{line} is {other:?}"),
            }
        }
        for json in [
            "null",
            "-1",
            "-0",
            "1.0",
            "1.50",
            "1e3",
            "18446744073709551616",
            "true",
            "{}",
            "[1]",
            r#""\ud83d""#,
        ] {
            let line = format!(r#"{{"jsonrpc":"2.0","id":{json},"method":"m"}}"#);
            assert_eq!(refused(&line), (None, ID.to_owned()), "{line}");
        }
    }

    #[test]
    fn a_call_without_an_id_is_a_notification() {
        let line = r#"{"jsonrpc":"2.0","method":"a\u002fb","params":{"x":[1]},"later":{"id":1}}"#;
        let Ok(Message::Notification(call)) = Message::parse(line.as_bytes()) else {
            panic!("it is a notification");
        };
        assert_eq!(&*call.method, "a/b");
        assert_eq!(call.params.map(RawValue::get), Some(r#"{"x":[1]}"#));
    }

    #[test]
    fn a_result_of_null_is_a_result() {
        for (line, expected) in [
            (
                r#"{"jsonrpc":"2.0","id":"s1","result":null}"#,
                (Some("s1"), Some("null")),
            ),
            (
                r#"{"jsonrpc":"2.0","id":"s1","error":{"code":1,"message":""}}"#,
                (Some("s1"), None),
            ),
            (r#"{"jsonrpc":"2.0","id":"s1"}"#, (Some("s1"), None)),
            (
                r#"{"jsonrpc":"2.0","id":{},"error":null,"result":true}"#,
                (None, None),
            ),
        ] {
            let Ok(Message::Response { id, result }) = Message::parse(line.as_bytes()) else {
                panic!("{line} is a response");
            };
            let id = id.as_ref().and_then(|id| id.as_str());
            assert_eq!((id, result.map(RawValue::get)), expected, "{line}");
        }
    }

    #[test]
    fn a_line_that_is_not_a_message_says_why() {
        for line in ["", " ", "{", "[1,", "{\"a"] {
            assert_eq!(refused(line), (None, CUT.to_owned()), "{line}");
        }
        for (line, column) in [
            ("x", 1),
            ("{\"a\":}", 6),
            ("{\"ä\":}", 6),
            ("{} {}", 4),
            ("\u{feff}{}", 1),
            ("{\n}x", 4),
            ("{\"params\":{\"a\tb\":1}}", 13),
        ] {
            let reason = format!("the line is not JSON: see column {column}");
            assert_eq!(refused(line), (None, reason), "{line}");
        }
        for line in ["[]", r#"[{"jsonrpc":"2.0","id":1,"method":"m"}]"#] {
            assert_eq!(refused(line), (None, BATCH.to_owned()), "{line}");
        }
        for line in ["1", "-1", "0.5", "1e999", "\"x\"", "null", "true"] {
            assert_eq!(
                refused(line),
                (None, "a message is a JSON object".to_owned()),
                "{line}"
            );
        }
        let refusal = Message::parse(b"{\"\xc3\"}").unwrap_err();
        let reason = "the line is not UTF-8 from byte 3 on";
        assert_eq!(refusal.error.to_string(), reason);
    }

    #[test]
    fn a_malformed_request_is_refused_under_its_id() {
        let seven = || Some(Id::Number(7));
        assert_eq!(refused("{}"), (None, VERSION.to_owned()));
        assert_eq!(
            refused(r#"{"id":7,"method":"m"}"#),
            (seven(), VERSION.to_owned())
        );
        assert_eq!(
            refused(r#"{"jsonrpc":2.0,"id":7,"method":"m"}"#),
            (seven(), VERSION.to_owned())
        );
        assert_eq!(
            refused(r#"{"jsonrpc":"2.0","id":7}"#),
            (seven(), METHOD.to_owned())
        );
        assert_eq!(
            refused(r#"{"jsonrpc":"2.0","id":"a","method":7}"#),
            (Some(Id::Str("a".into())), METHOD.to_owned())
        );
        assert_eq!(
            refused(r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"m"}"#),
            (None, "a member of the message appears twice".to_owned())
        );
    }

    #[test]
    fn depth_uses_no_stack() {
        let deep = "[".repeat(200_000);
        assert_eq!(refused(&deep), (None, CUT.to_owned()));
        let closed = format!("{deep}{}", "]".repeat(200_000));
        assert_eq!(refused(&closed), (None, BATCH.to_owned()));
        let line =
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{closed},"x":{closed}}}"#);
        assert!(matches!(
            Message::parse(line.as_bytes()),
            Ok(Message::Request(Id::Number(1), _))
        ));
    }
}
