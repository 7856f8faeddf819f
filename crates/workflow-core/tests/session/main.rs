//! The engine through its border: events in, effects out, no I/O.

mod auto_continue;
mod broken_settings;
mod budget;
mod builtin_rule;
mod checkpoints;
mod commands;
mod consent;
mod context;
mod controls;
mod event;
mod flow;
mod flow_moves;
mod flow_properties;
mod gates;
mod in_force;
mod limits;
mod navigation;
mod paths;
mod phase_exit;
mod read_only;
mod restoring;
mod rules;
mod step_tool;
mod texts_for_the_model;
mod triggers;
mod world;
