//! Transcripts: what a host and a sidecar said to each other, as a file.
//!
//! [`format`] is the file, read; [`definitions`] what its definitions lines hold; [`recorder`] writes one
//! while a session goes on; [`replay`] plays the host's part of one again and compares.

mod definitions;
mod difference;
mod format;
mod held;
mod json_text;
mod meaning;
mod needs;
mod payload;
mod player;
mod process;
mod recorder;
mod redefine;
mod rehearsal;
mod replay;
mod secrets;
mod sidecar;
mod steps;
mod suite;
mod watched;
mod world;

pub(crate) use difference::Difference;
pub(crate) use format::{Entry, Said, Transcript};
pub(crate) use held::Tiers;
pub(crate) use payload::Payload;
pub(crate) use player::Stage;
pub(crate) use process::Program;
pub(crate) use recorder::{Cause, DEFAULT_LIMIT, Extent, HostLine, Recorder};
pub use rehearsal::{Exchange, bless_text, differences_of_text, rehearse};
pub(crate) use suite::{Played, replay_all, transcripts};
