//! Actions: what a host is asked to do, in the form that it has on the wire.
//!
//! They come in the order in which they have to be applied: state as an entry first, then its announcement.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::definition::Thinking;
use crate::policy::VisibleTools;
use crate::types::Severity;

/// Something the host has to do.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum Action {
    /// Append an entry to the session's branch.
    AppendEntry {
        /// The entry's type, for example `workflow:state`.
        custom_type: &'static str,
        /// The data to store.
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
        key: &'static str,
        /// The text; null clears it.
        text: Option<String>,
    },
    /// Show or clear a widget at the editor.
    SetWidget {
        /// The id of the widget.
        key: &'static str,
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
        level: Severity,
        /// True for a text that only the user may see: never show it to the model, and do not store it.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        secret: bool,
    },
}

impl Action {
    pub(crate) fn notify(level: Severity, message: String) -> Self {
        Self::Notify {
            message,
            level,
            secret: false,
        }
    }
}

/// A message for the conversation.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    /// The message's type; the manifest says how to show it and whether the model sees it.
    pub custom_type: &'static str,
    /// The text.
    pub content: String,
    /// True if the user sees it.
    pub display: bool,
}

/// The way a message is delivered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessageOptions {
    /// True if the agent starts a run because of it.
    pub trigger_turn: bool,
}

/// When a message reaches an agent that is busy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Delivery {
    /// Between two steps of the run that is going on.
    Steer,
    /// After the run that is going on.
    FollowUp,
}

/// The position of a widget.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Placement {
    /// Above the editor: what is in progress. A host that sees keys reports them while it is shown, as `hook/input`.
    #[default]
    AboveEditor,
    /// Below the editor: what lasts.
    BelowEditor,
}

/// Settings that a phase asks the host to make; the user's own stay for what is left out.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HostHints {
    /// The model, as the host names it.
    pub model: Option<String>,
    /// The level of the model's thinking.
    pub thinking: Option<Thinking>,
    /// The tools that the model sees.
    pub tools: Option<VisibleTools>,
}
