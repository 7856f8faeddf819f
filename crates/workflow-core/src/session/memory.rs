//! The memory of a session that its entries do not contain.
//!
//! A host that starts a process for each event stores it with the entries, so that the next process continues as if it were
//! the same one. Losing it costs comfort, never a guard: the context is sent again, a `cancel` has to be repeated,
//! what the unfinished turn has used of a budget does not count.

use serde::{Deserialize, Serialize};

use super::auto_continue::SentReminder;
use super::budget::Work;
use super::context::SentContext;
use super::tool_guard::RepeatedDenial;
use crate::run::{Spending, Tally};

/// The data that a session remembers beside its entries.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Memory {
    /// The run that it is about.
    pub(crate) task_id: Option<String>,
    pub(crate) tally: Tally,
    pub(crate) sent_context: SentContext,
    /// True after a first `cancel`.
    pub(crate) cancel_pending: bool,
    /// True after a move by a person, until the agent has had the chance to read the new phase.
    pub(crate) is_unread: bool,
    pub(crate) reminded: Option<SentReminder>,
    pub(crate) repeated: Option<RepeatedDenial>,
    /// What the run has used of its budgets, if it has any: the entries have it from the end of a turn on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) spending: Option<Spending>,
    /// The work of the agent that is not counted yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) work: Option<Work>,
}
