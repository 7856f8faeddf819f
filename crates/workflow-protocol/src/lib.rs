//! The messages between a host and the sidecar, declared once.
//!
//! The crate has the names, types and errors of protocol version 1. JSON Schema, `OpenRPC`, TypeScript and the tables in
//! `protocol/README.md` are generated from them by a test, which `scripts/gen` runs. It declares `params` and `result`;
//! the envelope of JSON-RPC belongs to the transport.
//!
//! A method is a row of [`for_each_method!`]. The row declares a type that implements [`Method`] and a name in
//! [`METHODS`]. A router that is made from the rows does not compile if one has no handler.
//!
//! ```
//! use workflow_protocol::{Method, method};
//!
//! let params = r#"{"event":{"toolName":"edit","toolCallId":"c1","input":{"path":"a.rs"},"new":1}}"#;
//! let params = method::HookToolCall::read(Some(params))?;
//! assert_eq!(&*params.event.tool_name, "edit");
//! assert_eq!(&*params.session_id, "");
//!
//! let refused = method::HookToolCall::read(Some(r#"{"event":{"toolName":"edit"},"sesionId":"a"}"#)).unwrap_err();
//! assert_eq!(refused.kind.code(), -32602);
//! # Ok::<(), workflow_protocol::Error>(())
//! ```

#![cfg_attr(not(test), warn(unused_crate_dependencies))]

mod error;
pub mod method;
mod read;
mod types;

pub use error::{Error, ErrorData, Kind};
pub use method::{HostMethod, METHODS, Method};
pub use types::*;
pub use workflow_core::Text;

/// The version of the protocol that this crate speaks.
pub const PROTOCOL_VERSION: u32 = 1;
