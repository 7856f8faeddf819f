//! Running a tool of the manifest.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;
use ts_rs::TS;

use super::answer::answer;
use super::session::session_bound;
use crate::read::Text;

session_bound! {
    /// The tool that the agent calls.
    pub struct ToolExecuteParams<'a> {
        /// The tool's name.
        #[serde(borrow)]
        pub name: Text<'a>,
        /// The host's id of the call.
        #[serde(borrow, default)]
        #[ts(optional, as = "Option<String>")]
        pub tool_call_id: Text<'a>,
        /// The arguments as the model gave them.
        #[serde(borrow)]
        #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
        #[ts(optional, type = "Record<string, unknown>")]
        pub arguments: Option<&'a RawValue>,
    }
}

session_bound! {
    /// A call whose answer is not wanted any more.
    pub struct ToolCancelParams<'a> {
        /// The host's id of the call.
        #[serde(borrow)]
        pub tool_call_id: Text<'a>,
    }
}

answer! {
    /// What the tool answers.
    pub struct ToolExecuteResult {
        /// What the model reads.
        pub content: Vec<Content>,
        /// What the host keeps beside it.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
        #[ts(optional, type = "Record<string, unknown>")]
        pub details: Option<Box<RawValue>>,
        /// What kind of answer it is.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub result_type: Option<ResultType>,
        /// Whether the call failed.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub is_error: Option<bool>,
    }
}

/// A piece of what the model reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, TS)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum Content {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
}

/// What kind of answer a tool gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub enum ResultType {
    /// It did not work.
    Error,
    /// It is about cancelling.
    Cancel,
    /// The workflow is complete.
    Complete,
    /// Anything else.
    Normal,
}
