//! The process around the engine: lines, time, files and the command line.
//!
//! `workflow-core` decides, `workflow-protocol` declares the messages; this crate connects the two. Start reading at
//! [`serve`].

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
mod private;
mod rest;
mod rpc;
pub mod serve;
mod session_file;
mod show;
mod shown;
mod simulate;
mod transcript;
mod trigger;
pub mod trust;
mod wire;

pub use transcript::{Exchange, bless_text, differences_of_text, rehearse};
