//! Parameters and results of the calls to the host.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::action::Action;

/// Declares parameters of a call to the host: the fields given and `sessionId`.
macro_rules! to_host {
    ($($(#[$meta:meta])* pub struct $name:ident { $($fields:tt)* })*) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Serialize, JsonSchema, TS)]
        #[serde(rename_all = "camelCase")]
        #[ts(optional_fields)]
        pub struct $name {
            /// Which session asks; left out for the session without a name.
            #[serde(skip_serializing_if = "String::is_empty")]
            #[ts(optional, as = "Option<_>")]
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
        /// What can be chosen.
        pub options: Vec<String>,
    }

    /// A question that is answered with a line of text.
    pub struct InputDialogParams {
        /// The question.
        pub title: String,
        /// What stands in the empty field.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub placeholder: Option<String>,
    }

    /// A command for the host to run.
    pub struct ExecParams {
        /// The program.
        pub command: String,
        /// Its arguments.
        pub args: Vec<String>,
        /// Where to run it, if not in the session's directory.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub cwd: Option<String>,
        /// How long it may take, in milliseconds.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub timeout_ms: Option<u64>,
    }

    /// A line for the host's log.
    pub struct LogParams {
        /// How grave it is.
        pub level: LogLevel,
        /// What happened.
        pub text: String,
    }
}

/// Actions that time caused, not a message.
#[derive(Debug, Clone, Serialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct HostApplyParams {
    /// Which session they are for.
    pub session_id: String,
    /// What the host has to do, in this order.
    pub actions: Vec<Action>,
}

/// What a command gave.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct ExecResult {
    /// What it wrote to its standard output.
    pub stdout: String,
    /// What it wrote to its standard error.
    pub stderr: String,
    /// How it ended; 0 is well.
    pub code: i32,
}

/// How grave a line of the log is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub enum LogLevel {
    /// For somebody who looks for a mistake.
    Debug,
    /// Good to know.
    Info,
    /// Worth a look.
    Warning,
    /// Something failed.
    Error,
}
