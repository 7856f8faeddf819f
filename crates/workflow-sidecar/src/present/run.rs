//! Runs for the index of all runs, as rows of a table, and runs that are read from stored entries.

use std::borrow::Cow;

use serde::Serialize;
use workflow_core::Session;
use workflow_core::definition::Loaded;
use workflow_core::diagnostic::{Diagnostic, visible};
use workflow_core::effect::EndedRun;
use workflow_core::event::Entry;
use workflow_core::run::{Path, RunState};
use workflow_core::session::{Abilities, RunCondition, View};

use super::page::{Moment, Page};
use crate::store::{IndexedRun, Run, SessionKey};

/// Restores a session from its entries; returns it with the diagnostics.
pub(crate) fn restored_session(
    entries: &[Entry<'_>],
    loaded: &Loaded,
) -> (Session, Vec<Diagnostic>) {
    let mut session = Session::new(Abilities::default(), 0);
    // Any time will do: no run is started, and nothing counts down.
    let ((), out) = session.at(0, |session| session.handle_session(entries, loaded));
    (session, out.diagnostics)
}

/// Formats the path of a run without its definition.
pub(crate) fn stored_path(path: &Path) -> String {
    let segments = path.segments().iter();
    let parts: Vec<String> = segments
        .map(|segment| format!("{} [{}]", segment.workflow_key, segment.phase_index + 1))
        .collect();
    parts.join(" > ")
}

/// The run of a session for the index.
pub(crate) fn indexed_run(view: &View<'_>) -> Run {
    let mut run = Run {
        phase: view
            .phase
            .map_or_else(String::new, |phase| phase.phase.name.clone()),
        status: view.status().unwrap_or_default(),
        ..run_in(view.state, view.condition)
    };
    if let (RunCondition::AwaitsConsent, Some(unasked)) = (view.condition, view.unasked) {
        run.waiting = format!("{}: {unasked}", run.waiting);
    }
    run
}

/// A run that its session has unloaded, for the index. Its last phase is there already.
pub(crate) fn ended_run(ended: &EndedRun) -> Run {
    run_in(&ended.state, ended.condition)
}

fn run_in(state: &RunState, condition: RunCondition) -> Run {
    let (name, words) = (condition.state(), condition.words());
    Run {
        task_id: state.task_id.clone(),
        workflow: state.workflow_key.clone(),
        phase: String::new(),
        task: state.task_description.clone(),
        status: String::new(),
        state: name.to_owned(),
        waiting: Some(words)
            .filter(|words| *words != name)
            .unwrap_or_default()
            .to_owned(),
        is_active: state.active && condition != RunCondition::Replaced,
    }
}

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
