//! The platform: everything that the sidecar reads, writes, starts and watches outside of its process.
//!
//! ```text
//! triggers   gates ──┐
//!              │     │
//!              ▼     ▼
//!             git → process        answer_socket → private_file
//!              └──→ trust_store    trust_store, approvals → store
//!                                  disk, file_excerpt, file_state → regular_file
//!                                  gates → file_state
//!                                  open_requests → answer_socket → ancestry
//!                                  run_notes → stored_answers → open_requests
//! ```
//!
//! [`Platform`] is the port of the engine's effects; [`RealPlatform`] carries them out with all of the above. Apart from
//! these two and [`sessions`], no module knows of sessions, methods or lines.

pub(crate) mod ancestry;
pub(crate) mod answer_socket;
pub(crate) mod approvals;
mod atomic_write;
pub(crate) mod disk;
mod effects;
pub(crate) mod file_excerpt;
mod file_state;
pub mod gates;
pub(crate) mod git;
pub(crate) mod home;
pub(crate) mod one_time_code;
mod open_requests;
pub(crate) mod paths;
pub(crate) mod private_file;
mod process;
mod real;
mod regular_file;
mod restore_reports;
mod run_notes;
mod sessions;
mod stored_answers;
#[cfg(test)]
#[cfg(unix)]
mod tests;
pub(crate) mod triggers;
pub(crate) mod trust_store;

pub(crate) use atomic_write::write_atomically;
pub(crate) use effects::{Platform, PlatformReport, Project, SessionContext};
pub(crate) use private_file::create_private_dir;
pub(crate) use real::RealPlatform;
