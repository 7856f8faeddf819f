//! Policy: decisions on tool calls, and changes to tool results.

pub mod gate;
pub mod results;
pub mod rules;
mod tools;

pub use tools::{STEP_TOOL, ToolGuard};
