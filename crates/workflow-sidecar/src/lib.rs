//! The process around the engine: lines, time, files and the command line.
//!
//! `workflow-core` decides, `workflow-protocol` says how it looks on the wire; this crate brings
//! the two together. Start reading at [`serve`].

mod approval;
mod check;
pub mod cli;
mod demo;
mod disk;
mod doctor;
#[cfg(test)]
#[path = "../../../tests/it/drawn.rs"]
mod drawn;
pub mod gate;
mod graph;
mod home;
mod init;
mod log;
mod paths;
mod plain_file;
mod platform;
mod private;
mod record;
mod rest;
pub mod serve;
mod session_file;
mod show;
mod shown;
mod simulate;
mod trigger;
pub mod trust;
mod wire;

pub use record::{Exchange, bless_text, differences_of_text, run_script};
