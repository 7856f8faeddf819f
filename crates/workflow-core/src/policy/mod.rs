//! Policy: decisions on tool calls, and changes to tool results.

pub mod gate_report;
pub mod results;
pub mod rules;
mod tool_list;

pub use tool_list::{STEP_TOOL, VisibleTools};
