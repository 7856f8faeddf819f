//! Checkpoints of the code, and triggers that wake the agent.

use serde::{Deserialize, Serialize};

use super::tier::Tier;
use crate::diagnostic::visible;
use crate::template;

/// The record of the code at the start of each turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Checkpoint {
    /// A commit that nothing refers to.
    Git,
    /// None, even if an outer level has one.
    Off,
}

/// An external event that wakes the agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Trigger {
    /// The event.
    pub on: TriggerOn,
    /// The message for the agent, with variables for the received text.
    pub prompt: String,
    /// The source of its settings.
    pub tier: Tier,
    /// Its location, as `file:line`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
}

/// The event of a trigger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TriggerOn {
    /// This file is not empty.
    File(String),
    /// A request comes in at this port of the machine.
    Http {
        /// The port.
        port: u16,
        /// The token of a request.
        token: Token,
    },
}

/// The token of a request.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Token {
    /// This text. It is written down nowhere else.
    Text(#[serde(serialize_with = "unsaid")] String),
    /// The value of this environment variable.
    Environment(String),
}

fn unsaid<S: serde::Serializer>(_: &str, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str("…")
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text(_) => f.write_str("Text(…)"),
            Self::Environment(name) => write!(f, "Environment({name:?})"),
        }
    }
}

impl Trigger {
    /// Describes the event, as people read it.
    #[must_use]
    pub fn describe(&self) -> String {
        match &self.on {
            TriggerOn::File(path) => format!("file {path}"),
            TriggerOn::Http { port, .. } => format!("http port {port}"),
        }
    }

    /// The event, the message and the location in full, as a line that is safe to show.
    #[must_use]
    pub fn listed(&self) -> String {
        let (waits_for, prompt) = (self.describe(), &self.prompt);
        let line = format!("{waits_for}: \"{prompt}\" ({})", self.source);
        visible(&line)
    }

    /// Returns true if event, message and source are equal, whatever the location.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        (&self.on, &self.prompt, self.tier) == (&other.on, &other.prompt, other.tier)
    }

    /// Returns the message for the agent, with the received text.
    #[must_use]
    pub fn message(&self, received: &str) -> String {
        template::resolve(&self.prompt, |name| match name {
            "content" | "body" => Some(received),
            _ => None,
        })
    }
}
