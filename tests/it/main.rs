//! Conformance: the sidecar as a host sees it, in memory and as the real binary.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod connection;
mod contract;
mod dependencies;
mod documents;
mod drawn;
mod examples;
#[cfg(unix)]
mod exits;
mod explained;
#[cfg(target_os = "linux")]
mod footprint;
#[cfg(unix)]
mod gates;
#[cfg(unix)]
mod guarded;
#[cfg(unix)]
mod harmless;
mod host;
mod lines;
mod page;
mod process;
mod questions;
mod ready_made;
mod recordings;
mod sessions;
#[cfg(unix)]
mod settings;
mod time;
mod transcripts;
mod turns;
mod untrusted;
mod upgrade;
#[cfg(unix)]
mod ways_out;
