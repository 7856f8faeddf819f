//! Runs as rows of a table.

use std::borrow::Cow;

use serde::Serialize;
use workflow_core::diagnostic::visible;

use super::page::{Moment, Page};
use crate::store::{IndexedRun, Run, SessionKey};

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
pub(crate) struct RunRow<'a> {
    #[serde(flatten)]
    key: &'a SessionKey,
    cwd: Cow<'a, str>,
    #[serde(flatten)]
    run: &'a Run,
    since: Moment,
    updated: Moment,
    #[serde(skip_serializing_if = "str::is_empty")]
    machine: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
}

impl<'a> RunRow<'a> {
    pub(crate) fn of(indexed: &'a IndexedRun) -> Self {
        Self {
            key: &indexed.key,
            cwd: indexed.cwd.to_string_lossy(),
            run: &indexed.run,
            since: indexed.since.into(),
            updated: indexed.updated.into(),
            machine: &indexed.machine,
            file: indexed.file.as_deref(),
        }
    }

    /// Returns the cells of the table.
    fn cells(&self) -> [String; 8] {
        let run = self.run;
        [
            run.task_id.clone(),
            visible(&self.key.host),
            visible(&run.workflow),
            visible(&run.phase),
            visible(run.words()),
            self.since.to_string(),
            visible(&run.task),
            visible(&self.cwd),
        ]
    }
}
