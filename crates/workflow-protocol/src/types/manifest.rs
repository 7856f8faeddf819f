//! The manifest, the answer to `initialize`.
//!
//! A host that interprets it needs no knowledge of workflows.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;
use ts_rs::TS;

use super::answer::answer;

answer! {
    /// What the host has to forward, register and show.
    pub struct Manifest {
        /// The version of the protocol that is spoken from here on.
        pub protocol_version: u32,
        /// Which sidecar it is.
        pub server: ServerInfo,
        /// The hooks to forward, and what of them.
        pub hooks: Vec<HookSubscription>,
        /// The tools to register.
        pub tools: Vec<ToolDeclaration>,
        /// The commands to register.
        pub commands: Vec<CommandDeclaration>,
        /// How to show the sidecar's messages, and which of them the model may see.
        pub message_types: Vec<MessageType>,
        /// The entries that the sidecar writes and reads.
        pub entry_types: Vec<EntryType>,
    }
}

/// Which sidecar it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct ServerInfo {
    /// The sidecar's name.
    pub name: String,
    /// The sidecar's version.
    pub version: String,
}

/// A hook to forward, and what of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct HookSubscription {
    /// The hook's name, for example `tool_call`; the method is `hook/` and the name.
    pub name: String,
    /// The fields of the event that are needed; the host may send more.
    pub event: Vec<String>,
    /// The fields of the context that are needed with this hook.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<_>")]
    pub context: Vec<String>,
}

/// A tool to register with the agent.
#[derive(Debug, Clone, Serialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct ToolDeclaration {
    /// The name the model calls it by.
    pub name: String,
    /// The name the user sees.
    pub label: String,
    /// What the model is told of it.
    pub description: String,
    /// The JSON Schema of its arguments.
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    #[ts(type = "Record<string, unknown>")]
    pub parameters: Box<RawValue>,
    /// One line on the tool for the system prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_snippet: Option<String>,
    /// Advice on the tool for the system prompt.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<_>")]
    pub prompt_guidelines: Vec<String>,
    /// Whether calls of one message may run side by side.
    pub execution_mode: ExecutionMode,
}

/// Whether the tool calls of one message may run side by side.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub enum ExecutionMode {
    /// Each call of the message is judged and run before the next one is judged.
    #[default]
    Sequential,
    /// They may run side by side.
    Parallel,
}

/// A command to register for the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct CommandDeclaration {
    /// The command's name, without the slash.
    pub name: String,
    /// What the user is told of it.
    pub description: String,
    /// Whether `command/complete` has something to say about its arguments.
    pub completes: bool,
    /// Whether it runs at once while the agent works; any other waits until the agent has finished.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<_>")]
    pub immediate: bool,
}

/// How to treat messages of one type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct MessageType {
    /// The type of the messages, for example `workflow:context`.
    pub custom_type: String,
    /// How they look.
    pub display: MessageDisplay,
    /// Whether the model may see them; the host takes the others out of every request.
    pub to_model: bool,
}

/// How a message looks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct MessageDisplay {
    /// What comes before the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
    /// The prefix' colour in the host's theme.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefix_color: Option<String>,
    /// The text's colour in the host's theme.
    pub color: String,
    /// Whether the text is bold.
    pub bold: bool,
    /// What is shown in place of the content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// An entry that the sidecar writes to the session's branch and reads back from it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct EntryType {
    /// The entry's type, for example `workflow:state`.
    pub custom_type: String,
    /// What it means.
    pub description: String,
}
