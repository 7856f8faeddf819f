//! Responses to the host's requests.

use jsonrpsee::types::{ErrorObjectOwned, Id};
use jsonrpsee::{MethodResponse, ResponsePayload};
use serde::Serialize;
use workflow_protocol::Error;

/// The response with a result.
pub(crate) fn success(id: Id<'_>, result: impl Serialize + Clone) -> MethodResponse {
    MethodResponse::response(id, ResponsePayload::success(result), usize::MAX)
}

/// The response with an error.
pub(crate) fn failure(id: Id<'_>, error: &Error) -> MethodResponse {
    let (code, data) = (error.kind.code(), error.data());
    MethodResponse::error(
        id,
        ErrorObjectOwned::owned(code, error.to_string(), Some(data)),
    )
}
