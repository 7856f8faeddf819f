//! The process: lines in, lines out, and time.
//!
//! The thread that reads a line decides and writes the answer itself; nothing it does waits for
//! the host. Asking the host is a line out, its answer a line in. One thread more waits for
//! deadlines. Whoever decides holds the pen: what is written is in the order of what was decided.
//!
//! Owns the order of reading, deciding and writing. Must not know methods.

mod ascii;
mod clock;
mod definitions;
mod dispatch;
mod envelope;
mod frame;
mod handlers;
mod manifest;
mod memory;
mod observed;
mod outbox;
mod peer;
mod server;
mod session;
mod stdio;
mod usual;

pub use frame::{DEFAULT_MAX_LINE, HIGHEST_MAX_LINE};
pub use memory::Memory;

pub(crate) use definitions::{Loader, no_project};
pub(crate) use server::Surroundings;
pub(crate) use stdio::serve;
