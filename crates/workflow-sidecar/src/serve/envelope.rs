//! What a line is: a request, a notification, an answer to us, or none of these.
//!
//! Owns JSON-RPC's envelope. One pass finds its members and passes over everything else; ids,
//! parameters and results stay text of the line. Must not know methods.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use workflow_protocol::{Dropped, Text};

/// The id of an answer to a line whose own id is not known.
pub(super) const NO_ID: &str = "null";

/// What a line turned out to be.
#[derive(Debug)]
pub(super) enum Message<'a> {
    /// Wants an answer.
    Request {
        /// The id, as it stands in the line.
        id: &'a str,
        call: Call<'a>,
    },
    /// Wants none.
    Notification(Call<'a>),
    /// Answers a request of ours.
    Response {
        /// The id, as it stands in the line.
        id: &'a str,
        /// The result, as it stands in the line; `None` if it is an error.
        result: Option<&'a str>,
    },
    /// Cannot be taken; `id` is what the refusal is sent to.
    Invalid { id: &'a str, why: Invalid },
}

/// A method and its parameters.
#[derive(Debug)]
pub(super) struct Call<'a> {
    pub(super) method: Text<'a>,
    /// The parameters, as they stand in the line.
    pub(super) params: Option<&'a str>,
}

/// Why a line cannot be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Invalid {
    #[error("the line is not UTF-8 from byte {0} on")]
    NotUtf8(usize),
    /// Counted in characters from 1.
    #[error("the line is not JSON: see column {0}")]
    NotJson(usize),
    #[error("the line is not JSON: it ends too early")]
    Cut,
    #[error("batches are not taken: send one message a line")]
    Batch,
    #[error("a message is a JSON object")]
    NotAnObject,
    #[error("a member of the message stands there twice")]
    MemberTwice,
    #[error("`jsonrpc` must be \"2.0\"")]
    Version,
    #[error("`id` must be a string, a number or null")]
    Id,
    #[error("`method` is missing or not a string")]
    Method,
}

impl Invalid {
    /// The same for the line as it was before something was taken out of what is sound in it.
    pub(super) fn moved(self, dropped: Dropped) -> Self {
        match self {
            Self::NotUtf8(byte) => Self::NotUtf8(byte + dropped.bytes),
            Self::NotJson(column) => Self::NotJson(column + dropped.chars),
            other => other,
        }
    }
}

/// Says what a line is. Borrows from it, and never fails: a line that cannot be taken is a finding too.
pub(super) fn classify(line: &str) -> Message<'_> {
    let invalid = |why| Message::Invalid { id: NO_ID, why };
    match serde_json::from_str(line) {
        Ok(Shape::Object(members)) => members.message(),
        Ok(Shape::Array) => invalid(Invalid::Batch),
        Ok(Shape::Scalar) => invalid(Invalid::NotAnObject),
        Err(error) if error.is_data() => invalid(Invalid::MemberTwice),
        Err(error) if error.is_eof() => invalid(Invalid::Cut),
        Err(error) => invalid(Invalid::NotJson(column(line, &error))),
    }
}

/// Where a line stops being JSON: the library counts lines, and bytes in them.
fn column(text: &str, error: &serde_json::Error) -> usize {
    let before: usize = text
        .split_inclusive('\n')
        .take(error.line().saturating_sub(1))
        .map(str::len)
        .sum();
    let at = before + error.column().saturating_sub(1);
    1 + text
        .bytes()
        .take(at)
        .filter(|byte| !is_continuation(*byte))
        .count()
}

/// Whether a byte goes on with a character that began before it.
fn is_continuation(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

/// What kind of JSON value a line is.
enum Shape<'a> {
    Object(Members<'a>),
    Array,
    Scalar,
}

/// The members of an envelope, each as text. `null` is a value here, not an absence.
#[derive(Default)]
struct Members<'a> {
    jsonrpc: Option<&'a RawValue>,
    id: Option<&'a RawValue>,
    method: Option<&'a RawValue>,
    params: Option<&'a RawValue>,
    result: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
}

impl<'a> Members<'a> {
    fn message(self) -> Message<'a> {
        let id = self.id.map(RawValue::get);
        let answered = id.filter(|id| is_id(id)).unwrap_or(NO_ID);
        let invalid = |why| Message::Invalid { id: answered, why };
        let answers = self.result.is_some() || self.error.is_some();
        // An answer to a question of ours that says nothing is still the only one there will be.
        if self.method.is_none() && (answers || id.is_some_and(is_ours)) {
            let result = self.result.filter(|_| self.error.is_none());
            return Message::Response {
                id: answered,
                result: result.map(RawValue::get),
            };
        }
        if self.jsonrpc.and_then(text).as_deref() != Some("2.0") {
            return invalid(Invalid::Version);
        }
        if id.is_some_and(|id| !is_id(id)) {
            return invalid(Invalid::Id);
        }
        let Some(method) = self.method.and_then(text) else {
            return invalid(Invalid::Method);
        };
        let params = self.params.map(RawValue::get);
        let call = Call { method, params };
        match id {
            Some(id) => Message::Request { id, call },
            None => Message::Notification(call),
        }
    }
}

/// Whether JSON text is a string, a number or null.
fn is_id(json: &str) -> bool {
    json == "null" || json.starts_with(|c: char| c == '"' || c == '-' || c.is_ascii_digit())
}

/// Whether JSON text is an id of the sidecar's own requests: `"s1"`, `"s2"`, and so on.
fn is_ours(json: &str) -> bool {
    let number = json
        .strip_prefix("\"s")
        .and_then(|rest| rest.strip_suffix('"'));
    number.is_some_and(|number| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// The text a JSON value holds, if it is a string.
pub(super) fn text(json: &RawValue) -> Option<Text<'_>> {
    serde_json::from_str(json.get()).ok()
}

/// The members that matter here.
#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "lowercase")]
enum Member {
    Jsonrpc,
    Id,
    Method,
    Params,
    Result,
    Error,
    #[serde(other)]
    Other,
}

impl<'de> Deserialize<'de> for Shape<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ShapeVisitor)
    }
}

struct ShapeVisitor;

impl<'de> Visitor<'de> for ShapeVisitor {
    type Value = Shape<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Shape<'de>, A::Error> {
        let mut members = Members::default();
        while let Some(member) = map.next_key::<Member>()? {
            let place = match member {
                Member::Jsonrpc => &mut members.jsonrpc,
                Member::Id => &mut members.id,
                Member::Method => &mut members.method,
                Member::Params => &mut members.params,
                Member::Result => &mut members.result,
                Member::Error => &mut members.error,
                Member::Other => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            // Two ids, or two methods, would mean whatever the reader likes.
            if place.replace(map.next_value()?).is_some() {
                return Err(A::Error::custom("a member stands there twice"));
            }
        }
        Ok(Shape::Object(members))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Shape<'de>, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Shape::Array)
    }

    fn visit_str<E>(self, _: &str) -> Result<Shape<'de>, E> {
        Ok(Shape::Scalar)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Shape<'de>, E> {
        Ok(Shape::Scalar)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Shape<'de>, E> {
        Ok(Shape::Scalar)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Shape<'de>, E> {
        Ok(Shape::Scalar)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Shape<'de>, E> {
        Ok(Shape::Scalar)
    }

    fn visit_unit<E>(self) -> Result<Shape<'de>, E> {
        Ok(Shape::Scalar)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(line: &str) -> (&str, Invalid) {
        match classify(line) {
            Message::Invalid { id, why } => (id, why),
            other => panic!("{line} is {other:?}"),
        }
    }

    #[test]
    fn an_id_is_kept_as_it_is_written() {
        for id in [
            "1",
            "-1",
            "1.50",
            "1e3",
            "123456789012345678901234567890",
            r#""a\u0062\n""#,
            "\"\"",
            "null",
        ] {
            let line = format!(r#"{{"id": {id} ,"method":"m","jsonrpc":"2.0"}}"#);
            match classify(&line) {
                Message::Request { id: found, .. } => assert_eq!(found, id),
                other => panic!("{line} is {other:?}"),
            }
        }
    }

    #[test]
    fn without_an_id_it_is_a_notification() {
        let line = r#"{"jsonrpc":"2.0","method":"a\u002fb","params":{"x":[1]},"later":{"id":1}}"#;
        let Message::Notification(call) = classify(line) else {
            panic!("no notification");
        };
        assert_eq!(&*call.method, "a/b");
        assert_eq!(call.params, Some(r#"{"x":[1]}"#));
    }

    #[test]
    fn a_result_of_null_is_a_result() {
        let response = |line| match classify(line) {
            Message::Response { id, result } => (id, result),
            other => panic!("{other:?}"),
        };
        assert_eq!(
            response(r#"{"jsonrpc":"2.0","id":"s1","result":null}"#),
            (r#""s1""#, Some("null"))
        );
        assert_eq!(
            response(r#"{"jsonrpc":"2.0","id":"s1","error":{"code":1,"message":""}}"#),
            (r#""s1""#, None)
        );
        assert_eq!(
            response(r#"{"jsonrpc":"2.0","id":"s1"}"#),
            (r#""s1""#, None)
        );
        assert_eq!(
            response(r#"{"jsonrpc":"2.0","id":{},"error":null,"result":true}"#),
            (NO_ID, None)
        );
    }

    #[test]
    fn what_is_not_a_message_says_why() {
        for line in ["", " ", "{", "[1,", "{\"a"] {
            assert_eq!(why(line), (NO_ID, Invalid::Cut), "{line}");
        }
        for (line, column) in [
            ("x", 1),
            ("{\"a\":}", 6),
            ("{\"ä\":}", 6),
            ("{} {}", 4),
            ("\u{feff}{}", 1),
            ("{\n}x", 4),
            ("1e999", 5),
        ] {
            assert_eq!(why(line), (NO_ID, Invalid::NotJson(column)), "{line}");
        }
        for line in ["[]", r#"[{"jsonrpc":"2.0","id":1,"method":"m"}]"#] {
            assert_eq!(why(line), (NO_ID, Invalid::Batch), "{line}");
        }
        for line in ["1", "-1", "0.5", "\"x\"", "null", "true"] {
            assert_eq!(why(line), (NO_ID, Invalid::NotAnObject), "{line}");
        }
    }

    #[test]
    fn a_request_that_is_wrong_is_refused_to_its_id() {
        assert_eq!(why("{}"), (NO_ID, Invalid::Version));
        assert_eq!(why(r#"{"id":7,"method":"m"}"#), ("7", Invalid::Version));
        assert_eq!(
            why(r#"{"jsonrpc":2.0,"id":7,"method":"m"}"#),
            ("7", Invalid::Version)
        );
        assert_eq!(why(r#"{"jsonrpc":"2.0","id":7}"#), ("7", Invalid::Method));
        assert_eq!(
            why(r#"{"jsonrpc":"2.0","id":"a","method":7}"#),
            ("\"a\"", Invalid::Method)
        );
        for id in ["true", "{}", "[1]"] {
            let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#);
            assert_eq!(why(&line), (NO_ID, Invalid::Id), "{line}");
        }
        assert_eq!(
            why(r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"m"}"#),
            (NO_ID, Invalid::MemberTwice)
        );
    }

    #[test]
    fn depth_costs_no_stack() {
        let deep = "[".repeat(200_000);
        assert_eq!(why(&deep), (NO_ID, Invalid::Cut));
        let closed = format!("{deep}{}", "]".repeat(200_000));
        assert_eq!(why(&closed), (NO_ID, Invalid::Batch));
        let line =
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{closed},"x":{closed}}}"#);
        assert!(matches!(classify(&line), Message::Request { id: "1", .. }));
    }
}
