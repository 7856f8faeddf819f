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
        /// What to store.
        #[ts(type = "unknown")]
        data: Box<RawValue>,
    },
    /// Put a message into the conversation.
    SendMessage {
        /// The message.
        message: Message,
        /// How to deliver it.
        options: MessageOptions,
    },
    /// Say something as the user would.
    SendUserMessage {
        /// What to say.
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
        /// Which text.
        key: String,
        /// The text; null clears it.
        text: Option<String>,
    },
    /// Show or clear a widget at the editor.
    SetWidget {
        /// Which widget.
        key: String,
        /// Its lines; null clears it.
        lines: Option<Vec<String>>,
        /// Where it goes.
        placement: Placement,
    },
    /// Tell the user something.
    Notify {
        /// What to tell.
        message: String,
        /// How grave it is.
        level: Level,
    },
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
    /// Whether the user sees it.
    pub display: bool,
    /// What the host may keep beside the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "unknown")]
    pub details: Option<Box<RawValue>>,
}

/// How a message is delivered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct MessageOptions {
    /// Whether the agent starts a run because of it.
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

/// Where a widget goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema, TS)]
#[serde(rename_all = "camelCase")]
pub enum Placement {
    /// Above the editor.
    #[default]
    AboveEditor,
    /// Below the editor.
    BelowEditor,
}

/// How grave a notice to the user is.
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
