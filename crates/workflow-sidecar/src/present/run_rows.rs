//! Runs as rows of a table.

use std::borrow::Cow;

use serde::Serialize;
use workflow_core::diagnostic::visible;

use super::page::{Moment, Page};
use crate::store::IndexedRun;

/// The titles of the columns.
const HEAD: [&str; 8] = [
    "RUN", "HOST", "WORKFLOW", "PHASE", "STATE", "SINCE", "TASK", "PROJECT",
];

/// Adds a table of runs.
pub(crate) fn run_table(rows: &[RunRow<'_>], page: &mut Page) {
    let cells: Vec<_> = rows.iter().map(RunRow::cells).collect();
    page.table(HEAD, &cells);
}

/// A run, as in the output of `--format json`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunRow<'a> {
    host: &'a str,
    session: &'a str,
    cwd: Cow<'a, str>,
    task_id: &'a str,
    workflow: &'a str,
    phase: &'a str,
    task: &'a str,
    status: &'a str,
    state: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    waiting: &'a str,
    active: bool,
    since: Moment,
    updated: Moment,
    #[serde(skip_serializing_if = "str::is_empty")]
    machine: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
}

impl<'a> RunRow<'a> {
    pub(crate) fn of(indexed: &'a IndexedRun) -> Self {
        let run = &indexed.run;
        Self {
            host: &indexed.key.host,
            session: &indexed.key.session,
            cwd: indexed.cwd.to_string_lossy(),
            task_id: &run.task_id,
            workflow: &run.workflow,
            phase: &run.phase,
            task: &run.task,
            status: &run.status,
            state: &run.state,
            waiting: &run.waiting,
            active: run.is_active,
            since: indexed.since.into(),
            updated: indexed.updated.into(),
            machine: &indexed.machine,
            file: indexed.file.as_deref(),
        }
    }

    /// Returns the cells of the table.
    fn cells(&self) -> [String; 8] {
        let state = if self.waiting.is_empty() {
            self.state
        } else {
            self.waiting
        };
        [
            self.task_id.to_owned(),
            visible(self.host),
            visible(self.workflow),
            visible(self.phase),
            visible(state),
            self.since.to_string(),
            visible(self.task),
            visible(&self.cwd),
        ]
    }
}
