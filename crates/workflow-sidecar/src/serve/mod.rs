//! The process: lines in, lines out, and time.
//!
//! The thread that reads a line handles it and writes the answer; it never waits for the host. A question to the host is a
//! line out, its answer a line in.

mod clock;
mod definitions;
mod dispatch;
mod handlers;
mod host_question;
mod manifest;
mod memory;
mod observed;
mod server;
mod session;
mod stdio;

pub use memory::Memory;

pub use crate::rpc::{DEFAULT_MAX_LINE, HIGHEST_MAX_LINE};

pub(crate) use definitions::{Loader, no_project};
pub(crate) use server::Surroundings;
pub(crate) use stdio::serve;
