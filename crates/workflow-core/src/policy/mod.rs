//! What holds a run to its definition: which tools may run, and how often the agent is pushed on.

mod auto_continue;
pub mod gate;
pub mod results;
pub mod rules;
mod tools;

pub use auto_continue::{Continue, Pace, Parked, Push};
pub use tools::{STEP_TOOL, ToolGuard};
