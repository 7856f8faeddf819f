//! JSON-RPC 2.0, a message a line.

mod framing;
mod message;
mod outbox;
mod outgoing_requests;
mod visible_json;

pub use framing::{DEFAULT_MAX_LINE, MAX_LINE_LIMIT};
pub(crate) use framing::{Frame, LineReader};
pub(crate) use message::{Message, MethodCall};
pub(crate) use outbox::Outbox;
pub(crate) use outbox::{failure, success};
pub(crate) use outgoing_requests::OutgoingRequests;
