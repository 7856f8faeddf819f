//! The run and phase that a measurement is about.

use serde::{Deserialize, Serialize};
use workflow_core::Session;

/// The run and phase that a measurement is about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Labels {
    /// The id of the run. On spans only: counters would have a series for each run.
    pub(super) run: String,
    pub(super) workflow: String,
    pub(super) phase: String,
}

impl Labels {
    /// Returns those of the session's run, if it has one.
    pub(super) fn of(session: &Session) -> Option<Self> {
        let view = session.view()?;
        Some(Self {
            run: view.state.task_id.clone(),
            workflow: view.state.workflow_key.clone(),
            phase: view.phase.map(|it| it.phase.id.clone()).unwrap_or_default(),
        })
    }
}

/// What a measurement says beside its run and phase: names and values.
pub(super) type Attributes<'a> = [(&'static str, &'a str)];
