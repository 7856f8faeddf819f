//! The engine through its border: inputs in, outputs out, no I/O.

mod agent_end;
mod commands;
mod context;
mod navigation;
mod restoring;
mod step_tool;
mod world;
