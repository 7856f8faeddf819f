//! Checkpoints of the code, and triggers that wake the agent.

use serde::{Deserialize, Serialize};

use super::tier::Tier;
use crate::diagnostic::visible;
use crate::template;

/// What is kept of the code at the start of each turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Checkpoint {
    /// What git would put aside.
    Git,
    /// Nothing, whatever is said further out.
    Off,
}

/// What wakes the agent from outside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Trigger {
    /// What is waited for.
    pub on: TriggerOn,
    /// What the agent is told, with the variables of what came in.
    pub prompt: String,
    /// Whose settings say so.
    pub tier: Tier,
    /// Where it stands, as `file:line`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
}

/// What a trigger waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TriggerOn {
    /// Something stands in this file.
    File(String),
    /// A request comes in at this port of the machine.
    Http {
        /// The port.
        port: u16,
        /// What a request must show.
        token: Token,
    },
}

/// What a request must show.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Token {
    /// This text. It is written down nowhere else.
    Text(#[serde(serialize_with = "unsaid")] String),
    /// What this environment variable holds.
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
    /// What it waits for, as people read it.
    #[must_use]
    pub fn in_words(&self) -> String {
        match &self.on {
            TriggerOn::File(path) => format!("file {path}"),
            TriggerOn::Http { port, .. } => format!("http port {port}"),
        }
    }

    /// The same with what the agent is told and where it stands, all of it: a line that is safe to show.
    #[must_use]
    pub fn listed(&self) -> String {
        let (waits_for, prompt) = (self.in_words(), &self.prompt);
        let line = format!("{waits_for}: \"{prompt}\" ({})", self.source);
        visible(&line)
    }

    /// Whether both watch for the same and tell the agent the same, wherever they stand.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        (&self.on, &self.prompt, self.tier) == (&other.on, &other.prompt, other.tier)
    }

    /// What the agent is told when this came in.
    #[must_use]
    pub fn told(&self, came_in: &str) -> String {
        template::resolve(&self.prompt, |name| match name {
            "content" | "body" => Some(came_in),
            _ => None,
        })
    }
}
