//! Actions: what a host is asked to do.
//!
//! They come in the order in which they have to be applied: state as an entry first, then its announcement.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;
use ts_rs::TS;

/// Something the host has to do.
#[derive(Debug, Clone, Serialize, JsonSchema, TS)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum Action {
    /// Append an entry to the session's branch.
    AppendEntry {
        /// The entry's type, for example `workflow:state`.
        custom_type: String,
        /// The data to store.
        #[ts(type = "unknown")]
        data: Box<RawValue>,
    },
    /// Put a message into the conversation.
    SendMessage {
        /// The message.
        message: Message,
        /// The way to deliver it.
        options: MessageOptions,
    },
    /// Say something as the user would.
    SendUserMessage {
        /// The message.
        content: String,
        /// When, if the agent is busy.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        deliver_as: Option<Delivery>,
    },
    /// Name the session.
    SetSessionName {
        /// The name.
        name: String,
    },
    /// Show or clear a text in the status bar.
    SetStatus {
        /// The id of the text.
        key: String,
        /// The text; null clears it.
        text: Option<String>,
    },
    /// Show or clear a widget at the editor.
    SetWidget {
        /// The id of the widget.
        key: String,
        /// Its lines; null clears it.
        lines: Option<Vec<String>>,
        /// The position of the widget.
        placement: Placement,
    },
    /// Set what a phase asks for, for as long as it lasts. Only a host with the capability `hints` gets it.
    SetHints {
        /// The settings; null restores those that the user had before the first ones.
        hints: Option<HostHints>,
    },
    /// Tell the user something.
    Notify {
        /// The text of the notification.
        message: String,
        /// The severity.
        level: Level,
        /// True for a text that only the user may see: never show it to the model, and do not store it.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        #[ts(optional, as = "Option<_>")]
        secret: bool,
    },
}

/// Settings that a phase asks the host to make; the user's own stay for what is left out.
#[derive(Debug, Clone, Serialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct HostHints {
    /// The model, as the host names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The level of the model's thinking.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking: Option<Thinking>,
    /// The tools that the model sees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<VisibleTools>,
}

/// The level of the model's thinking.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema, TS)]
#[serde(rename_all = "lowercase")]
pub enum Thinking {
    /// Not at all.
    Off,
    /// Very short.
    Minimal,
    /// Short.
    Low,
    /// Normal.
    Medium,
    /// Long.
    High,
    /// As long as the model can.
    Xhigh,
}

/// The tools that a phase leaves to the model: those that are allowed, without those that are blocked. `workflow_step` is
/// always one of them.
#[derive(Debug, Clone, Serialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct VisibleTools {
    /// The names of the only tools that are allowed; left out if all are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed: Option<Vec<String>>,
    /// The names of tools that are blocked.
    pub blocked: Vec<String>,
}

/// A message for the conversation.
#[derive(Debug, Clone, Serialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct Message {
    /// The message's type; the manifest says how to show it and whether the model sees it.
    pub custom_type: String,
    /// The text.
    pub content: String,
    /// True if the user sees it.
    pub display: bool,
    /// Data that the host may keep with the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "unknown")]
    pub details: Option<Box<RawValue>>,
}

/// The way a message is delivered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct MessageOptions {
    /// True if the agent starts a run because of it.
    pub trigger_turn: bool,
    /// When, if the agent is busy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deliver_as: Option<Delivery>,
}

/// When a message reaches an agent that is busy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub enum Delivery {
    /// Between two steps of the run that is going on.
    Steer,
    /// After the run that is going on.
    FollowUp,
    /// Together with the next prompt of the user.
    NextTurn,
}

/// The position of a widget.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub enum Placement {
    /// Above the editor: what is in progress. A host that sees keys reports them while it is shown, as `hook/input`.
    #[default]
    AboveEditor,
    /// Below the editor: what lasts.
    BelowEditor,
}

/// The severity of a notification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub enum Level {
    /// Good to know.
    Info,
    /// Worth a look.
    Warning,
    /// Something failed.
    Error,
}
