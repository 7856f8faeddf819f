//! The process around the engine: lines, time, files and the command line.
//!
//! `workflow-core` decides, `workflow-protocol` says how it looks on the wire; this crate brings
//! the two together. Start reading at [`serve`].

pub mod cli;
mod demo;
mod disk;
pub mod gate;
pub mod serve;
pub mod trust;
mod wire;
