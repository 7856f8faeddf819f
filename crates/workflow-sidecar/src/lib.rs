//! The process around the engine: lines, time, files and the command line.
//!
//! `workflow-core` decides, `workflow-protocol` declares the messages; this crate connects the two. Start reading at
//! [`server`].

#![cfg_attr(not(test), warn(unused_crate_dependencies))]

mod answering;
mod board;
mod check;
pub mod cli;
mod definitions;
mod demo;
mod doctor;
#[cfg(test)]
#[path = "../../../tests/it/randomised.rs"]
mod drawn;
mod driver;
mod explain;
mod figures;
mod files;
mod graph;
mod hook_hosts;
mod init;
mod install;
mod log;
mod mcp;
mod measured;
mod platform;
mod present;
mod record;
mod rpc;
pub mod server;
mod sessions;
mod share;
mod show;
mod simulate;
mod store;
mod telemetry;
mod threads;
mod time;
mod user_settings;

pub use platform::gates;
pub use record::{Exchange, bless_text, differences_of_text, run_script};
