//! Git commands.
//!
//! Owns how git runs: it neither waits for a person nor executes what a repository's configuration names. There is no
//! monitor, hook, pager, prompt, external diff or fetch, and submodules are not entered, because their configuration
//! is unknown. Objects are read as they were committed, without replacements and grafts. Filters, which git needs to
//! compare files, and merge drivers remain: [`config_commands`] checks that they may run. Variables that name another
//! repository, as the environment of a hook has them, are ignored.
//!
//! ```text
//! restore_job → checkpoint
//! hidden_changes → repository_state → head
//! all of them → config_commands → command (hooks switched off) → configured_hooks → execution
//! ```

mod checkpoint;
mod command;
mod config_commands;
mod configured_hooks;
mod execution;
mod head;
mod hidden_changes;
mod repository_state;
mod restore_job;
#[cfg(all(test, unix))]
mod tests;

#[cfg(all(test, unix))]
pub(super) use checkpoint::restore_checkpoint;
pub(crate) use checkpoint::{TIME_TO_RECORD, record_checkpoint};
pub(super) use command::git;
pub(crate) use config_commands::config_commands;
pub(super) use config_commands::{GitOperation, check_allowed};
pub(super) use execution::{CANCELLED, TIMEOUT};
pub use head::Head;
pub(super) use head::{HeadLookup, look_up_head};
pub(super) use hidden_changes::{hidden_changes, shown as shown_changes};
pub use repository_state::RepositoryState;
pub(crate) use restore_job::{RestoreEvent, start_restore};
