//! Sessions that hosts have stored: files of pi, and runs of the store.

mod file;
mod found;

pub(crate) use file::{SessionEntry, SessionFile, is_session, read_file};
pub(crate) use found::{FoundSession, one_run, run_id, run_of_file};
