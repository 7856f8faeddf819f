//! The memory of a session that its entries do not contain.
//!
//! A host that starts a process for each event stores it with the entries, so that the next process continues as if it were
//! the same one. Losing it costs comfort, never a guard: the context is sent again, a `cancel` or an answer has to be repeated,
//! what the unfinished turn has used of a budget does not count.

use serde::{Deserialize, Serialize};

use super::auto_continue::SentReminder;
use super::call_guard::RepeatedDenial;
use super::context::SentContext;
use super::last_shown::LastShown;
use super::run::RunMemory;

/// The data that a session remembers beside its entries.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Memory {
    #[serde(flatten)]
    pub(super) run: RunMemory,
    pub(super) sent_context: SentContext,
    pub(super) reminded: Option<SentReminder>,
    pub(super) repeated: Option<RepeatedDenial>,
    pub(super) last_shown: LastShown,
    /// The last prompt, while it may become the description of a run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) prompt: Option<String>,
}
