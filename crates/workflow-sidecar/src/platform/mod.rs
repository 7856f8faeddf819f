//! The platform: everything that the sidecar reads, writes, starts and watches outside of its process.
//!
//! ```text
//! triggers   gates ──┐
//!              │     │
//!              ▼     ▼
//!             git → process        open_requests → answer_socket → ancestry
//!              └──→ trust_store    run_notes → stored_answers → open_requests
//!
//! trust_store, approvals, run_notes → crate::store → crate::files
//! disk, paths, file_excerpt, gates, answer_socket → crate::files
//! ```
//!
//! [`Platform`] is the port of the engine's effects; [`RealPlatform`] carries them out with all of the above. Apart from
//! these two and [`sessions`], no module knows of sessions, methods or lines.

pub(crate) mod ancestry;
pub(crate) mod answer_socket;
pub(crate) mod approvals;
pub(crate) mod disk;
mod effects;
pub(crate) mod file_excerpt;
pub mod gates;
pub(crate) mod git;
pub(crate) mod one_time_code;
mod open_requests;
pub(crate) mod paths;
mod process;
mod real;
mod restore_reports;
mod run_notes;
mod sessions;
mod stored_answers;
#[cfg(test)]
#[cfg(unix)]
mod tests;
pub(crate) mod triggers;
pub(crate) mod trust_store;

pub(crate) use effects::{Platform, PlatformReport, Project, SessionContext};
pub(crate) use real::RealPlatform;
