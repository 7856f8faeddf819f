//! Sessions that hosts have stored: files of pi, and runs of the store.

mod file;
mod found;

pub(crate) use file::{SessionEntry, SessionFile, is_session, read_file};
pub(crate) use found::{FoundSession, run_id, run_of_file};
