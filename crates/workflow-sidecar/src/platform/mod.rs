//! The platform: everything that the sidecar reads, writes, starts and watches outside of its process.
//!
//! ```text
//! triggers   gates ──┐
//!              │     │
//!              ▼     ▼
//!             git → process       notes_and_answers
//!              └──────→ answers ←─────┘
//!
//! answers, notes_and_answers → crate::store → crate::files
//! disk, paths, file_excerpt, gates → crate::files     paths → installation
//! ```
//!
//! [`Platform`] is the port of the engine's effects; [`RealPlatform`] carries them out with all of the above. Apart from
//! these two, [`open_sessions`] and what reports to these, no module knows of sessions, methods or lines.

pub(crate) mod answers;
pub(crate) mod disk;
mod effects;
pub(crate) mod file_excerpt;
pub mod gates;
pub(crate) mod git;
pub(crate) mod installation;
mod notes_and_answers;
mod open_sessions;
pub(crate) mod paths;
mod process;
mod real;
mod restore_reports;
#[cfg(test)]
#[cfg(unix)]
mod tests;
pub(crate) mod triggers;

#[cfg(test)]
pub(crate) use effects::tests::session_in;
pub(crate) use effects::{Platform, PlatformReport, SessionContext};
pub(crate) use process::{
    ProgramLine, ProgramVersion, RunningProgram, VERSION_TIMEOUT, close_to_other_processes,
    missing_program, on_path, path_directories, version_in,
};
pub(crate) use real::RealPlatform;
