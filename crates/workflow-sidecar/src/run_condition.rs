//! Runs that are read from stored entries, and their condition for exit codes: it can go on, it waits for a person, or it is stopped at a limit.

use workflow_core::definition::Loaded;
use workflow_core::diagnostic::Diagnostic;
use workflow_core::event::Entry;
use workflow_core::reminders::PauseReason;
use workflow_core::run::Path;
use workflow_core::session::Abilities;
use workflow_core::session::View;
use workflow_core::{Effects, Session};

/// The condition of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunCondition {
    /// It can go on, is finished, or does not exist.
    Fine,
    /// It waits for a person.
    Waits,
    /// It is stopped at a limit.
    Limit,
}

/// Restores a session from its entries; returns it with the diagnostics.
pub(crate) fn restored_session(
    entries: &[Entry<'_>],
    loaded: &Loaded,
) -> (Session, Vec<Diagnostic>) {
    let mut session = Session::new(Abilities::default(), 0);
    // Any time will do: no run is started, and nothing counts down.
    let mut out = Effects::at(0);
    session.handle_session(entries, loaded, &mut out);
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

/// Returns the condition of a session's run.
pub(crate) fn run_condition(view: &View<'_>) -> RunCondition {
    if !view.state.active {
        return RunCondition::Fine;
    }
    match view.counters.paused {
        Some(
            PauseReason::Max | PauseReason::MaxStale | PauseReason::Visits | PauseReason::Budget,
        ) => RunCondition::Limit,
        Some(PauseReason::Error | PauseReason::Question | PauseReason::Approval) => {
            RunCondition::Waits
        }
        None if view.counters.paused_by_owner => RunCondition::Waits,
        None if view.phase.as_ref().is_some_and(|phase| phase.waits) => RunCondition::Waits,
        None => RunCondition::Fine,
    }
}
