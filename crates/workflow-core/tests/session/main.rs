//! The engine through its border: inputs in, outputs out, no I/O.

mod agent_end;
mod commands;
mod context;
mod gates;
mod limits;
mod navigation;
mod restoring;
mod rules;
mod step_tool;
mod turns;
mod world;
