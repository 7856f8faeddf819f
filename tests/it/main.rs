//! Conformance: the sidecar as a host sees it, in memory and as the real binary.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[cfg(target_os = "linux")]
mod answers;
#[cfg(unix)]
mod board;
mod checkpoints;
mod clock;
mod connection;
mod console_pages;
mod contract;
mod dependencies;
mod documents;
mod examples;
#[cfg(unix)]
mod exit_codes;
mod explain;
#[cfg(unix)]
mod gates;
#[cfg(unix)]
mod hidden_characters;
mod hooks;
mod host;
mod host_commands;
mod hostile_definitions;
#[cfg(unix)]
mod in_force;
mod malformed_lines;
mod mcp;
#[cfg(target_os = "linux")]
mod memory;
#[cfg(unix)]
mod notify;
#[cfg(feature = "otlp")]
mod otlp;
#[cfg(unix)]
mod phase_exit;
mod process;
mod questions;
mod randomised;
mod ready_made;
#[cfg(unix)]
mod recorded_gates;
mod recordings;
mod rewritten;
mod runs;
mod sessions;
#[cfg(unix)]
mod settings;
#[cfg(unix)]
mod templates_in_projects;
#[cfg(unix)]
mod test_checks;
mod transcripts;
mod triggers;
mod untrusted_projects;
#[cfg(unix)]
mod waits;
