//! The manifest, the answer to `initialize`.
//!
//! A host that interprets it needs no knowledge of workflows.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;

answer! {
    /// The hooks to forward, the tools and commands to register, and the messages to show.
    pub struct Manifest {
        /// The version of the protocol that is spoken from here on.
        pub protocol_version: u32,
        /// The name and version of the sidecar.
        pub server: ServerInfo,
        /// The hooks to forward, and what of them.
        pub hooks: Vec<HookSubscription>,
        /// The tools to register.
        pub tools: Vec<ToolDeclaration>,
        /// The commands to register.
        pub commands: Vec<CommandDeclaration>,
        /// The display of the sidecar's messages, and their visibility for the model.
        pub message_types: Vec<MessageType>,
        /// The entries that the sidecar writes and reads.
        pub entry_types: Vec<EntryType>,
        /// What this host and its surroundings lack, as sentences for the user.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub warnings: Vec<String>,
    }
}

/// The name and version of the sidecar.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ServerInfo {
    /// The sidecar's name.
    pub name: &'static str,
    /// The sidecar's version.
    pub version: &'static str,
}

/// A hook to forward, and what of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HookSubscription {
    /// The hook's name, for example `tool_call`; the method is `hook/` and the name.
    pub name: &'static str,
    /// The fields of the event that are needed; the host may send more.
    pub event: &'static [&'static str],
    /// The fields of the context that are needed with this hook.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub context: &'static [&'static str],
}

/// A tool to register with the agent.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolDeclaration {
    /// The name the model calls it by.
    pub name: &'static str,
    /// The name the user sees.
    pub label: &'static str,
    /// The description for the model.
    pub description: &'static str,
    /// The JSON Schema of its arguments.
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    pub parameters: Box<RawValue>,
    /// One line on the tool for the system prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_snippet: Option<&'static str>,
    /// Advice on the tool for the system prompt.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub prompt_guidelines: &'static [&'static str],
    /// The execution of the calls of one message.
    pub execution_mode: ExecutionMode,
}

/// The execution of the tool calls of one message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ExecutionMode {
    /// Each call of the message is judged and run before the next one is judged.
    #[default]
    Sequential,
}

/// A command to register for the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CommandDeclaration {
    /// The command's name, without the slash.
    pub name: &'static str,
    /// The description for the user.
    pub description: &'static str,
    /// True if `command/complete` completes its arguments.
    pub completes: bool,
    /// True if it runs at once while the agent works; any other waits until the agent has finished.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub immediate: bool,
}

/// The treatment of messages of one type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessageType {
    /// The type of the messages, for example `workflow:context`.
    pub custom_type: &'static str,
    /// Their appearance.
    pub display: MessageDisplay,
    /// True if the model may see them; the host removes the others from every request.
    pub to_model: bool,
}

/// The appearance of a message.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessageDisplay {
    /// The text before the content.
    pub prefix: Option<&'static str>,
    /// The prefix' colour in the host's theme.
    pub prefix_color: Option<&'static str>,
    /// The text's colour in the host's theme.
    pub color: &'static str,
    /// True if the text is bold.
    pub bold: bool,
    /// The text that is shown instead of the content.
    pub text: Option<&'static str>,
}

/// An entry that the sidecar writes to the session's branch and reads back from it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EntryType {
    /// The entry's type, for example `workflow:state`.
    pub custom_type: &'static str,
    /// The meaning.
    pub description: &'static str,
}
