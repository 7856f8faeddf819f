//! Running a tool of the manifest.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;
use workflow_core::Text;
use workflow_core::effect::AnswerKind as ResultType;

session_bound! {
    /// The tool that the agent calls.
    pub struct ToolExecuteParams<'a> {
        /// The tool's name.
        #[serde(borrow)]
        pub name: Text<'a>,
        /// The host's id of the call.
        #[serde(borrow, default)]
        pub tool_call_id: Text<'a>,
        /// The arguments as the model gave them.
        #[serde(borrow)]
        #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
        pub arguments: Option<&'a RawValue>,
    }

    /// A call whose answer is not wanted any more.
    pub struct ToolCancelParams<'a> {
        /// The host's id of the call.
        #[serde(borrow)]
        pub tool_call_id: Text<'a>,
    }
}

answer! {
    /// The answer of the tool.
    pub struct ToolExecuteResult {
        /// The content that the model reads.
        pub content: Vec<Content>,
        /// Data that the host keeps with it.
        #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
        pub details: Option<Box<RawValue>>,
        /// The kind of answer.
        pub result_type: Option<ResultType>,
        /// True if the call failed.
        pub is_error: Option<bool>,
    }
}

/// A piece of what the model reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum Content {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
}
