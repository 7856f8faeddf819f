//! The data that a session of a hook host remembers beside its entries.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use workflow_core::session::Memory;

use crate::telemetry::PhaseClock;

/// The number of notices that wait to be shown. More of them would not be read.
const MAX_NOTICES: usize = 20;

/// The data that is remembered.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct HostMemory {
    pub(crate) session: Memory,
    /// The directory in which the session started. That of a later event may be another one: a host follows the `cd` of
    /// its agent.
    pub(crate) project: Option<PathBuf>,
    /// The last prompt that was a command, with the host's id of it.
    pub(crate) command: Option<String>,
    /// True if it did not reach the model.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) command_blocks: bool,
    /// The last stop of the agent, by what tells it from another one.
    pub(crate) stop: Option<String>,
    /// The reminders since the user's last prompt.
    pub(crate) reminders: u32,
    /// True if the conversation may have lost the context since the model last read it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) may_lack_context: bool,
    /// The length of the transcript then, where the host does not say whether something is lost.
    pub(crate) checked_at: Option<u64>,
    /// The first message of a run that a call has started, until the main agent has read it.
    pub(crate) first_message: Option<String>,
    /// Texts for the user that no answer could show yet.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) notices: Vec<String>,
    /// The last run with decisions that were kept, and their number.
    pub(crate) kept_decisions: (String, u32),
    /// The phase and its times.
    pub(crate) clock: Option<PhaseClock>,
}

/// A decision about a call, as it is kept for the pages of the run.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct CallDecision {
    pub(crate) tool: String,
    pub(crate) reason: String,
    /// True if the user was asked, and false if the call was blocked.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_asked: bool,
}

impl HostMemory {
    /// Reads what was stored. What cannot be read is forgotten: the project is then the directory of the next event.
    pub(crate) fn parse(text: &str) -> Self {
        if text.is_empty() {
            return Self::default();
        }
        serde_json::from_str(text).unwrap_or_else(|error| {
            tracing::warn!("the memory of a session cannot be read: {error}");
            Self::default()
        })
    }

    pub(crate) fn to_text(&self) -> String {
        serde_json::to_string(self).expect("the memory has string keys only")
    }

    /// Returns the project of the session, and remembers it. A user who starts or resumes the session chooses it.
    pub(crate) fn project_of(&mut self, cwd: &Path, starts: bool) -> PathBuf {
        if starts {
            self.project = None;
        }
        self.project
            .get_or_insert_with(|| cwd.to_path_buf())
            .clone()
    }

    /// Adds a text for the user.
    pub(crate) fn add_notices(&mut self, notices: impl IntoIterator<Item = String>) {
        self.notices.extend(notices);
        let excess = self.notices.len().saturating_sub(MAX_NOTICES);
        self.notices.drain(..excess);
    }

    /// Takes the texts that wait for the user, as one.
    pub(crate) fn take_notices(&mut self) -> Option<String> {
        let notices = std::mem::take(&mut self.notices);
        (!notices.is_empty()).then(|| notices.join("\n\n"))
    }
}
