//! What the host must do.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::definition::Thinking;
use crate::policy::VisibleTools;
use crate::types::Severity;

/// Something that the host must do.
#[derive(Debug)]
pub enum Action {
    /// Append an entry to the session.
    AppendEntry {
        /// Its custom type.
        custom_type: &'static str,
        /// Its data, as JSON text.
        data: Box<RawValue>,
    },
    /// Show a message that triggers no turn.
    SendMessage {
        /// Its custom type.
        custom_type: &'static str,
        /// Its text.
        content: String,
    },
    /// Send a message to the agent as the user would.
    SendUserMessage {
        /// Its text.
        content: String,
        /// The moment at which an agent that has become busy gets it.
        delivery: Delivery,
    },
    /// Name the session.
    SetSessionName {
        /// The name.
        name: String,
    },
    /// Set or clear the status line.
    SetStatus {
        /// The text, `None` to clear it.
        text: Option<String>,
    },
    /// Set or clear a widget at the editor.
    SetWidget {
        /// The widget.
        widget: Widget,
        /// Its lines, `None` to clear it.
        lines: Option<Vec<String>>,
    },
    /// Set what a phase asks for, or restore what the person had.
    SetHints {
        /// The settings of the phase; `None` restores those of the person.
        hints: Option<HostHints>,
    },
    /// Show a message to the person.
    Notify {
        /// The text.
        message: String,
        /// Its severity.
        severity: Severity,
        /// True if only the user may see it, and never the model.
        is_secret: bool,
    },
}

/// A widget at the editor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Widget {
    /// What is in progress: a countdown, a gate, a restore.
    Progress,
    /// The phases of the run.
    Phases,
}

/// Settings that a phase asks the host to make; the user's own stay for what is left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
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

/// The moment at which a message reaches an agent that is busy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// Not at all: it is for an idle agent.
    IfIdle,
    /// Between two of its responses.
    Steer,
    /// After its work.
    FollowUp,
}
