//! Responses to the host's requests, as JSON.

use jsonrpsee::types::{ErrorObject, Id, Response, ResponsePayload};
use serde::Serialize;
use workflow_protocol::Error;

use super::outbox::IS_JSON;

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
