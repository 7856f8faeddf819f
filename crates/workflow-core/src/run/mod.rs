//! Runs: state, transitions, position in the definitions, restoration from a session.

mod arrival;
mod change;
mod changes;
mod data;
mod parameters;
mod resolve;
mod restore;
mod scopes;
mod spending;
mod state;
mod steps;
mod stored;
mod stored_state;
mod tally;
mod transition;

pub use arrival::{Actor, Moved, TransitionError, VisitLimit, cancel};
pub use change::MeasuredChange;
pub(crate) use changes::{Changes, meaning};
pub use changes::{Terms, changed_terms};
pub use data::{HandedOver, PhaseAnswer, RunData, RunProgress, RunValues, ScopeValues, Values};
pub(crate) use data::{Texts, input_texts};
pub(crate) use parameters::complete_values;
pub use parameters::problems;
pub(crate) use resolve::phase_name;
pub use resolve::{DefinitionMismatch, Position, ScopeLevel, entry_name};
pub use restore::{RestoredDefinition, RestoredRun, last_of_run, restore};
pub(crate) use scopes::{item_limit, wrong_list, wrong_lists};
pub(crate) use spending::read_allowances;
pub use spending::{BudgetUse, ScopeUsage, Spending, Unit, Usage};
pub(crate) use state::output_key;
pub use state::{Path, PathSegment, RunState};
pub(crate) use steps::{down_to_phase, in_order};
pub use stored::{
    RunEntry, Stored, StoredApproval, StoredDefinition, StoredGate, StoredGuards, StoredRun,
    UserMove, entry_type,
};
pub(crate) use stored_state::MAX_TIME;
pub use tally::Tally;
pub(crate) use transition::{ReachedLimit, follow_limit};
pub use transition::{advance, follow, jump, repeat, start, turn_back};
