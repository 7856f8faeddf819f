//! The engine through its border: inputs in, outputs out, no I/O.

mod agent_end;
mod broken_settings;
mod builtin_rule;
mod commands;
mod consent;
mod context;
mod event;
mod gates;
mod limits;
mod navigation;
mod paths;
mod phase_exit;
mod restoring;
mod rules;
mod step_tool;
mod turns;
mod world;
