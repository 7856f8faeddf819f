//! Conformance: the sidecar as a host sees it, in memory and as the real binary.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod connection;
mod contract;
mod dependencies;
mod documents;
mod randomised;
mod examples;
#[cfg(unix)]
mod exit_codes;
mod explain;
#[cfg(target_os = "linux")]
mod memory;
#[cfg(unix)]
mod gates;
#[cfg(unix)]
mod recorded_gates;
#[cfg(unix)]
mod hostile_definitions;
mod host;
mod malformed_lines;
mod others;
mod checkpoints;
mod console_pages;
mod process;
mod questions;
mod ready_made;
mod recordings;
mod sessions;
#[cfg(unix)]
mod settings;
mod clock;
mod transcripts;
mod triggers;
mod untrusted_projects;
#[cfg(unix)]
mod phase_exit;
