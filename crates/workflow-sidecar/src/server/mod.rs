//! The server: the host's sessions behind one lock, and everything that happens to them.
//!
//! The thread that reads a line handles it and writes the answer; it never waits for the host. A question to the host is a
//! line out, its answer a line in.

mod clock;
mod config;
mod connection;
mod convert;
mod dialogs;
mod dispatcher;
mod handlers;
mod host;
mod in_memory;
mod manifest;
mod open_session;
mod requests;
mod state;

pub use in_memory::InMemoryServer;

pub use crate::rpc::{DEFAULT_MAX_LINE, MAX_LINE_LIMIT};

pub(crate) use config::ServerConfig;
pub(crate) use config::{Cause, ConnectionRecorder};
pub(crate) use connection::serve;
pub(crate) use convert::session_state_result;
pub(crate) use manifest::{START_COMMAND, commands, step_tool};
