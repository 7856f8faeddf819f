//! The lines that are to be written.
//!
//! Owns how an answer, a request and a notification of ours look as text. Must not know where
//! they go.

use serde::Serialize;
use workflow_protocol::HostMethod;

/// What [`MethodResponse`](jsonrpsee::MethodResponse) starts with when its id is null.
const NULL_ID: &str = r#"{"jsonrpc":"2.0","id":null,"#;

/// Lines to write, each with its end.
#[derive(Debug, Default)]
pub(super) struct Outbox(Vec<u8>);

impl Outbox {
    /// Adds an answer that was made for the id null, under the id it is meant for.
    ///
    /// The id is echoed byte for byte.
    pub(super) fn answer(&mut self, id: &str, made_for_null: &str) {
        let body = made_for_null
            .strip_prefix(NULL_ID)
            .expect("jsonrpsee writes version and id first: a test holds it");
        self.push(&[r#"{"jsonrpc":"2.0","id":"#, id, ","]);
        push_ascii(&mut self.0, body);
        self.0.push(b'\n');
    }

    /// Adds a result for an id.
    pub(super) fn result(&mut self, id: &str, result: &impl Serialize) {
        self.push(&[r#"{"jsonrpc":"2.0","id":"#, id, r#","result":"#]);
        self.json(result);
    }

    /// Adds a request of ours.
    pub(super) fn request<M: HostMethod>(&mut self, id: &str, params: &M::Params) {
        self.push(&[
            r#"{"jsonrpc":"2.0","id":""#,
            id,
            r#"","method":""#,
            M::NAME,
            r#"","params":"#,
        ]);
        self.json(params);
    }

    /// Adds a notification of ours.
    pub(super) fn notification<M: HostMethod>(&mut self, params: &M::Params) {
        self.push(&[r#"{"jsonrpc":"2.0","method":""#, M::NAME, r#"","params":"#]);
        self.json(params);
    }

    /// Moves the lines of another outbox behind these.
    pub(super) fn append(&mut self, other: &mut Self) {
        self.0.append(&mut other.0);
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// How many bytes wait.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Forgets what has been written, and gives much memory back.
    pub(super) fn clear(&mut self) {
        self.0.clear();
        self.0.shrink_to(1 << 16);
    }

    fn push(&mut self, parts: &[&str]) {
        for part in parts {
            self.0.extend_from_slice(part.as_bytes());
        }
    }

    /// Adds the last member of a line, and the line's end.
    fn json(&mut self, value: &impl Serialize) {
        let json = serde_json::to_string(value)
            .expect("the contract's types have string keys only, so they are always JSON");
        push_ascii(&mut self.0, &json);
        self.0.extend_from_slice(b"}\n");
    }
}

/// Adds JSON text with everything beyond ASCII escaped.
///
/// A JavaScript engine keeps ASCII in one byte a character; a single emoji in a long text would
/// make it decode the text at several times the cost. Beyond ASCII, JSON text has only what stands in strings.
fn push_ascii(out: &mut Vec<u8>, json: &str) {
    out.reserve(json.len());
    let mut rest = json;
    let mut units = [0; 2];
    while let Some((ascii, beyond, after)) = split_at_beyond_ascii(rest) {
        out.extend_from_slice(ascii.as_bytes());
        for unit in beyond.encode_utf16(&mut units) {
            out.extend_from_slice(&escape(*unit));
        }
        rest = after;
    }
    out.extend_from_slice(rest.as_bytes());
}

/// A UTF-16 unit as JSON escapes it: `\u20ac`.
fn escape(unit: u16) -> [u8; 6] {
    let digit = |shift: u16| b"0123456789abcdef"[usize::from(unit >> shift & 0xf)];
    [b'\\', b'u', digit(12), digit(8), digit(4), digit(0)]
}

/// What stands before the first character beyond ASCII, the character, and what follows; `None` if there is none.
fn split_at_beyond_ascii(text: &str) -> Option<(&str, char, &str)> {
    /// Long enough that most of a text is passed over many bytes at a time.
    const STRIDE: usize = 64;
    let plain = text
        .as_bytes()
        .chunks(STRIDE)
        .take_while(|chunk| chunk.is_ascii());
    let start = plain.map(<[u8]>::len).sum();
    let at = start
        + text.as_bytes()[start..]
            .iter()
            .position(|byte| !byte.is_ascii())?;
    let (ascii, after) = text.split_at(at);
    let mut after = after.chars();
    Some((ascii, after.next()?, after.as_str()))
}

#[cfg(test)]
mod tests {
    use jsonrpsee::types::{ErrorObject, Id};
    use jsonrpsee::{MethodResponse, ResponsePayload};

    use super::*;

    fn answer(id: &str, response: &MethodResponse) -> String {
        let mut outbox = Outbox::default();
        outbox.answer(id, response.as_ref());
        String::from_utf8(outbox.0).unwrap()
    }

    #[test]
    fn an_answer_carries_the_id_as_it_came() {
        let result = MethodResponse::response(Id::Null, ResponsePayload::success("ä"), usize::MAX);
        assert_eq!(
            answer("\"é\"", &result),
            "{\"jsonrpc\":\"2.0\",\"id\":\"é\",\"result\":\"\\u00e4\"}\n"
        );
        let error = MethodResponse::error(Id::Null, ErrorObject::borrowed(-1, "no", None));
        assert_eq!(
            answer("1.50", &error),
            "{\"jsonrpc\":\"2.0\",\"id\":1.50,\"error\":{\"code\":-1,\"message\":\"no\"}}\n"
        );
    }

    #[test]
    fn text_beyond_ascii_is_escaped_and_reads_the_same() {
        for text in [
            "",
            "plain",
            "⏳",
            "a⏳b🔄c\u{2028}é",
            "🔄🔄",
            "\"\\\n\u{7f}\u{80}",
        ] {
            let mut out = Vec::new();
            push_ascii(&mut out, &serde_json::to_string(text).unwrap());
            assert!(out.is_ascii(), "{text}");
            assert_eq!(serde_json::from_slice::<String>(&out).unwrap(), text);
        }
    }
}
