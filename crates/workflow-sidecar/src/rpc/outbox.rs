//! The answers to requests, and the lines to write: each message on one line, without characters that act on a terminal.

use std::borrow::Cow;

use jsonrpsee::types::{ErrorObject, Id, Notification, Request, Response, ResponsePayload};
use serde::Serialize;
use serde_json::value::to_raw_value;
use workflow_protocol::{Error, HostMethod};

use super::visible_json::visible_json;

/// The reason why nothing that is written fails to be JSON.
const IS_JSON: &str = "the protocol's types have string keys only, so they are always JSON";

/// Lines to write, each with its end.
#[derive(Debug, Default)]
pub(crate) struct Outbox(Vec<u8>);

impl Outbox {
    /// Adds a request to the host.
    pub(crate) fn request<M: HostMethod>(&mut self, id: Id<'_>, params: &M::Params) {
        let params = to_raw_value(params).expect(IS_JSON);
        self.push_json(&Request::borrowed(M::NAME, Some(&params), id));
    }

    /// Adds a notification to the host.
    pub(crate) fn notify<M: HostMethod>(&mut self, params: &M::Params) {
        self.push_json(&Notification::new(Cow::Borrowed(M::NAME), params));
    }

    /// Takes all lines out.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.0)
    }

    fn push_json(&mut self, message: &impl Serialize) {
        self.respond(&serde_json::to_string(message).expect(IS_JSON));
    }

    /// Adds a response, or another message that is JSON.
    pub(crate) fn respond(&mut self, message: &str) {
        self.0.extend_from_slice(visible_json(message).as_bytes());
        self.0.push(b'\n');
    }
}

/// The response with a result.
pub(crate) fn success(id: Id<'_>, result: impl Serialize + Clone) -> String {
    json(id, ResponsePayload::success(result))
}

/// The response with an error.
pub(crate) fn failure(id: Id<'_>, error: &Error) -> String {
    let (code, data) = (error.kind.code(), error.data());
    let error = ErrorObject::owned(code, error.to_string(), Some(data));
    json(id, ResponsePayload::<()>::error(error))
}

fn json(id: Id<'_>, payload: ResponsePayload<'_, impl Serialize + Clone>) -> String {
    serde_json::to_string(&Response::new(payload, id)).expect(IS_JSON)
}

#[cfg(test)]
mod tests {
    use workflow_protocol::method::{HostApply, UiConfirm};
    use workflow_protocol::{ConfirmParams, HostApplyParams};

    use super::*;
    use crate::rpc::outbox::success;

    #[test]
    fn each_message_is_a_line() {
        let mut outbox = Outbox::default();
        outbox.respond(&success(Id::Number(7), "ä⏳"));
        outbox.request::<UiConfirm>(
            Id::Str("s1".into()),
            &ConfirmParams {
                session_id: String::new(),
                title: "Sure?".to_owned(),
                message: "a\nb".to_owned(),
            },
        );
        outbox.notify::<HostApply>(&HostApplyParams {
            session_id: "a".to_owned(),
            actions: Vec::new(),
        });
        let lines = String::from_utf8(outbox.take()).unwrap();
        assert_eq!(
            lines.lines().collect::<Vec<_>>(),
            [
                r#"{"jsonrpc":"2.0","id":7,"result":"ä⏳"}"#,
                r#"{"jsonrpc":"2.0","id":"s1","method":"ui/confirm","params":{"title":"Sure?","message":"a\nb"}}"#,
                r#"{"jsonrpc":"2.0","method":"host/apply","params":{"sessionId":"a","actions":[]}}"#,
            ]
        );
        assert!(outbox.take().is_empty());
    }
}
