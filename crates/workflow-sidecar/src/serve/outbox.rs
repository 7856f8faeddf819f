//! The lines that are to be written.
//!
//! Owns how an answer, a request and a notification of ours look as text. Must not know where
//! they go.

use serde::Serialize;
use workflow_protocol::HostMethod;

use super::ascii::{push_ascii, push_json};

/// What [`MethodResponse`](jsonrpsee::MethodResponse) starts with when its id is null.
const NULL_ID: &str = r#"{"jsonrpc":"2.0","id":null,"#;

/// Lines to write, each with its end.
#[derive(Debug, Default)]
pub(super) struct Outbox(Vec<u8>);

impl Outbox {
    /// Adds a refusal that was made for the id null, under the id it is meant for.
    ///
    /// The id is echoed byte for byte.
    pub(super) fn refusal(&mut self, id: &str, made_for_null: &str) {
        let body = made_for_null
            .strip_prefix(NULL_ID)
            .expect("jsonrpsee writes version and id first: a test holds it");
        self.push(&[r#"{"jsonrpc":"2.0","id":"#, id, ","]);
        push_ascii(&mut self.0, body);
        self.0.push(b'\n');
    }

    /// Begins the answer to a call, in place of all that is there: the result is added once it is known.
    pub(super) fn begin_answer(&mut self, id: &str) {
        self.clear();
        self.push(&[r#"{"jsonrpc":"2.0","id":"#, id, r#","result":"#]);
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
        if self.0.is_empty() {
            // A long line is copied once less.
            std::mem::swap(&mut self.0, &mut other.0);
        } else {
            self.0.append(&mut other.0);
            other.clear();
        }
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

    /// Adds the last member of a line that was begun, and the line's end.
    pub(super) fn json(&mut self, value: &impl Serialize) {
        push_json(&mut self.0, value);
        self.0.extend_from_slice(b"}\n");
    }
}

#[cfg(test)]
mod tests {
    use jsonrpsee::MethodResponse;
    use jsonrpsee::types::{ErrorObject, Id};

    use super::*;

    fn refused(id: &str, response: &MethodResponse) -> String {
        let mut outbox = Outbox::default();
        outbox.refusal(id, response.as_ref());
        String::from_utf8(outbox.0).unwrap()
    }

    #[test]
    fn an_answer_carries_the_id_as_it_came() {
        let mut outbox = Outbox::default();
        outbox.result("\"é\"", &"ä");
        let mut begun = Outbox::default();
        begun.begin_answer("6");
        begun.begin_answer("7");
        begun.json(&"ä");
        outbox.append(&mut begun);
        assert_eq!(
            String::from_utf8(outbox.0).unwrap(),
            "{\"jsonrpc\":\"2.0\",\"id\":\"é\",\"result\":\"\\u00e4\"}\n\
             {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":\"\\u00e4\"}\n"
        );
        let error = MethodResponse::error(Id::Null, ErrorObject::borrowed(-1, "nö", None));
        assert_eq!(
            refused("1.50", &error),
            "{\"jsonrpc\":\"2.0\",\"id\":1.50,\"error\":{\"code\":-1,\"message\":\"n\\u00f6\"}}\n"
        );
    }
}
