//! Runs for the index of all runs, and runs that are read from stored entries.

use workflow_core::Session;
use workflow_core::definition::Loaded;
use workflow_core::diagnostic::Diagnostic;
use workflow_core::effect::EndedRun;
use workflow_core::event::Entry;
use workflow_core::run::{Path, RunState};
use workflow_core::session::{Abilities, RunCondition, View};

use crate::store::Run;

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
    Run {
        phase: view
            .phase
            .map_or_else(String::new, |phase| phase.phase.name.clone()),
        status: view.status.clone().unwrap_or_default(),
        ..run_in(view.state, view.condition)
    }
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
