//! Git commands.
//!
//! Owns how git runs: it neither waits for a user nor executes what a repository's configuration names. Commands that
//! only read commits and settings run no program. What compares or restores files runs with a private directory, which
//! has none of the repository's hooks, and of its settings only those that say how files are stored. Filters, which git
//! needs to compare files, and merge drivers remain: [`config_commands`] checks that they may run. There is no pager
//! or prompt, submodules are not entered, and only [`FetchedCommit`] fetches, into a repository of its own. Objects are
//! read as they were committed, without replacements and grafts. Variables that name another repository, as the environment of a hook has them, are ignored.
//!
//! ```text
//! hidden_changes → repository_state
//! work_tree → hidden_changes
//! change → hidden_changes, checkpoint
//! all of them → private_directory → config_commands → execution, location
//! fetched → execution
//! ```

mod change;
mod checkpoint;
mod config_commands;
mod execution;
mod fetched;
mod hidden_changes;
mod location;
mod private_directory;
mod repository_state;
#[cfg(all(test, unix))]
mod tests;
mod work_tree;

pub(crate) use change::{measure_change, record_files};
#[cfg(all(test, unix))]
pub(super) use checkpoint::restore_checkpoint;
pub(crate) use checkpoint::{TIME_TO_RECORD, record_checkpoint, restore_with_progress};
pub(crate) use config_commands::config_commands;
pub(super) use config_commands::{Configuration, GitOperation};
pub(super) use execution::Git;
pub(crate) use fetched::{CommittedFile, FetchedCommit};
pub(super) use hidden_changes::{changes, hidden_changes};
pub(super) use private_directory::PrivateDirectory;
pub(super) use repository_state::RepositoryState;
