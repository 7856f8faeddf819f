//! How a run stands when nobody is at work: it can go on, it waits for a person, or it stands still.

use std::sync::Arc;

use workflow_core::definition::Loaded;
use workflow_core::diagnostic::Diagnostic;
use workflow_core::event::Entry;
use workflow_core::guard::Parked;
use workflow_core::session::Abilities;
use workflow_core::view::View;
use workflow_core::{Event, Session};

/// How a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rest {
    /// It goes on, it is over, or there is none.
    Fine,
    /// It waits for a person.
    Waits,
    /// It stands still at a limit.
    Limit,
}

/// A session as the engine takes it up from what is stored, and what is wrong with that.
pub(crate) fn taken_up(entries: &[Entry<'_>], loaded: Arc<Loaded>) -> (Session, Vec<Diagnostic>) {
    let mut session = Session::new(Abilities::default(), 0);
    let entries = entries.to_vec();
    // Nothing of it depends on the time: no run is started and nothing counts down.
    let output = session.step(0, Event::Session { entries, loaded });
    (session, output.diagnostics)
}

/// How the run of a session stands.
pub(crate) fn rest(view: &View<'_>) -> Rest {
    if !view.state.active {
        return Rest::Fine;
    }
    match view.pace.parked {
        Some(Parked::Max | Parked::MaxStale) => Rest::Limit,
        Some(Parked::Error | Parked::Question | Parked::Approval) => Rest::Waits,
        None if view.place.as_ref().is_some_and(|place| place.waits) => Rest::Waits,
        None => Rest::Fine,
    }
}
