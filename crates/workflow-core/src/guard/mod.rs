//! What holds a run to its definition: which tools may run.

mod alternatives;
pub mod gate;
pub mod results;
pub mod rules;
pub mod shell;
mod tools;

pub use tools::{STEP_TOOL, ToolGuard};
