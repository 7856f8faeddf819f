//! Runs: state, transitions, position in the definitions, restoration from a session.

mod history;
mod resolve;
mod restore;
mod state;
mod stored;
mod stored_state;
mod transition;
mod weakened;

pub(crate) use resolve::phase_name;
pub use resolve::{Level, Position, Stale, entry_name, first_phase};
pub use restore::{RestoredRun, restore};
pub use state::{Path, PathSegment, RunState};
pub use stored::{PersonMove, StoredDefinition, StoredGate, StoredGuards, StoredRun, entry_type};
pub(crate) use stored_state::MAX_TIME;
pub use transition::{TransitionError, advance, cancel, jump, repeat, start};
pub(crate) use weakened::weakened;
