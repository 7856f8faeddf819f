//! Policy: decisions on tool calls, changes to tool results, and limits of automatic continuation.

mod auto_continue;
pub mod gate;
pub mod results;
pub mod rules;
mod tools;

pub use auto_continue::{Continue, Pace, Parked, Push};
pub use tools::{STEP_TOOL, ToolGuard};
