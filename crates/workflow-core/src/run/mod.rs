//! Runs: state, transitions, position in the definitions, restoration from a session.

mod change;
mod changes;
mod data;
mod parameters;
mod resolve;
mod restore;
mod scopes;
mod spending;
mod state;
mod stored;
mod stored_state;
mod tally;
mod transition;

pub use change::MeasuredChange;
pub(crate) use changes::{Changes, meaning};
pub use changes::{Terms, changed_terms};
pub use data::{HandedOver, PhaseAnswer, RunData, RunProgress, RunValues, Values};
pub(crate) use data::{input_texts, size_of};
pub use parameters::problems;
pub(crate) use resolve::phase_name;
pub use resolve::{DefinitionMismatch, Position, ScopeLevel, entry_name, first_phase};
pub use restore::{RestoredDefinition, RestoredRun, last_of_run, restore};
pub use scopes::ScopeValues;
pub(crate) use scopes::{item_limit, wrong_items, wrong_lists};
pub(crate) use spending::read_allowances;
pub use spending::{BudgetUse, ScopeUsage, Spending, Unit, Usage};
pub use state::{Path, PathSegment, RunState};
pub use stored::{
    RunEntry, Stored, StoredApproval, StoredDefinition, StoredGate, StoredGuards, StoredRun,
    UserMove, entry_type,
};
pub(crate) use stored_state::MAX_TIME;
pub use tally::Tally;
pub(crate) use transition::in_order;
pub use transition::{
    Actor, TransitionError, VisitLimit, advance, cancel, follow, follow_limit, jump, repeat, start,
    turn_back,
};
