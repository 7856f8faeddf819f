//! The errors of refused calls: kinds, codes and names.
//!
//! A broken definition is a diagnostic in a result, not an error.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::PROTOCOL_VERSION;

/// The stable name of the reason for refusing a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ErrorKind")]
#[repr(i32)]
pub enum Kind {
    /// The line is not JSON.
    ParseError = -32700,
    /// The line is JSON, but not a message of the protocol: a batch, for example.
    InvalidRequest = -32600,
    /// There is no such method.
    MethodNotFound = -32601,
    /// The parameters do not fit; `path` says where.
    InvalidParams = -32602,
    /// The sidecar failed on this call. It continues with the next one.
    Internal = -32603,
    /// The call came before `initialize`.
    NotInitialized = -32050,
    /// `initialize` came a second time.
    AlreadyInitialized = -32051,
    /// The sidecar does not speak this version of the protocol; `supported` says which ones it does.
    UnsupportedVersion = -32052,
    /// There is no such session: it was not started with `hook/session_start`, or it has ended.
    UnknownSession = -32053,
    /// The manifest has no such tool.
    UnknownTool = -32054,
    /// The manifest has no such command.
    UnknownCommand = -32055,
    /// The line is longer than the limit and was skipped.
    LineTooLong = -32056,
    /// The clock is the system's and cannot be advanced.
    ClockIsNotVirtual = -32057,
    /// Too many sessions are open: end some with `hook/session_shutdown`.
    TooManySessions = -32058,
}

impl Kind {
    /// The JSON-RPC error code.
    pub const fn code(self) -> i32 {
        self as i32
    }
}

/// A refused call: the `error` object of a JSON-RPC response.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", .path.as_ref().map(|path| format!("{path}: ")).unwrap_or_default())]
pub struct Error {
    /// The reason for refusing the call.
    pub kind: Kind,
    /// A sentence for a person.
    pub message: String,
    /// The path in the parameters, for [`Kind::InvalidParams`].
    pub path: Option<String>,
}

impl Error {
    /// An error of this kind with its message.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            path: None,
        }
    }

    /// The content of `error.data`.
    pub fn data(&self) -> ErrorData {
        ErrorData {
            kind: self.kind,
            path: self.path.clone(),
            supported: match self.kind {
                Kind::UnsupportedVersion => vec![PROTOCOL_VERSION],
                _ => Vec::new(),
            },
        }
    }
}

/// The `data` of an error object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ErrorData {
    /// The stable name of what went wrong.
    pub kind: Kind,
    /// The location in the parameters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The versions of the protocol that the sidecar speaks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub supported: Vec<u32>,
}
