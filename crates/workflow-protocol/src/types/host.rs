//! Parameters and results of the calls to the host.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use workflow_core::effect::Action;

/// Declares parameters of a call to the host: the fields given and `sessionId`.
macro_rules! to_host {
    ($($(#[$meta:meta])* pub struct $name:ident { $($fields:tt)* })*) => {$(
        $(#[$meta])*
        #[serde_with::skip_serializing_none]
        #[derive(Debug, Clone, Serialize, JsonSchema)]
        #[serde(rename_all = "camelCase")]
        pub struct $name {
            /// The session that asks; absent for the session without a name.
            #[serde(skip_serializing_if = "String::is_empty")]
            pub session_id: String,
            $($fields)*
        }
    )*};
}

to_host! {
    /// A question that is answered with yes or no.
    pub struct ConfirmParams {
        /// The question in short.
        pub title: String,
        /// The question in full.
        pub message: String,
    }

    /// A question that is answered with one of the options.
    pub struct SelectParams {
        /// The question.
        pub title: String,
        /// The choices.
        pub options: Vec<String>,
    }

    /// A question that is answered with a line of text.
    pub struct InputDialogParams {
        /// The question.
        pub title: String,
        /// The placeholder of the empty field.
        pub placeholder: Option<String>,
    }

    /// A question that is settled.
    pub struct DismissParams {
        /// The id of its request.
        pub id: String,
    }

    /// A command for the host to run.
    pub struct ExecParams {
        /// The program.
        pub command: String,
        /// Its arguments.
        pub args: Vec<String>,
        /// The directory to run it in, if not the session's.
        pub cwd: Option<String>,
        /// The timeout in milliseconds: then it is ended with all that it started, and the answer says `killed`.
        pub timeout_ms: Option<u64>,
        /// Variables that are added to its environment.
        #[serde(skip_serializing_if = "BTreeMap::is_empty")]
        pub env: BTreeMap<String, String>,
        /// Bytes of each output that are needed. The host may leave out the beginning of a longer one, and says so by
        /// `truncated`.
        pub max_output: Option<u64>,
    }
}

/// Actions that time caused, not a message.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HostApplyParams {
    /// The session they are for.
    pub session_id: String,
    /// The actions to perform, in this order.
    pub actions: Vec<Action>,
}

/// A request that the host need not answer any more.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct HostCancelParams {
    /// The id of the request.
    pub id: String,
}

/// The result of a command.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct ExecResult {
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
    /// Its exit code; 0 is success.
    pub code: i32,
    /// True if it was ended, by its timeout or by a signal.
    #[serde(default)]
    pub killed: bool,
    /// True if output is left out.
    #[serde(default)]
    pub truncated: bool,
}
