//! Transcripts: the messages of a host and a sidecar as a file.
//!
//! [`format`] reads the file, [`recorder`] writes one during a session, and [`replay`] plays the host's part of one
//! again and compares. [`redaction`] decides which texts are left out. `recording_loader` and `recording_platform` note
//! what is read during a session, in the form of [`results`]; `transcript_loader` and `replay_platform` answer with it; `recorded_paths`
//! does both. `player` sends the lines of a transcript, and [`suite`] replays many.

mod definitions;
mod difference;
mod format;
mod meaning;
mod player;
mod recorded_paths;
mod recorder;
mod recording_loader;
mod recording_platform;
mod redaction;
mod redefine;
mod replay;
mod replay_platform;
mod report;
mod results;
mod scripted_session;
mod steps;
mod suite;
mod transcript_loader;

pub(crate) use format::{Transcript, TranscriptEntry};
pub(crate) use recorder::{DEFAULT_LIMIT, RECORD_VARIABLE, Recorder};
pub(crate) use redaction::{Redaction, lenient_json};
pub(crate) use report::{ReplayTotals, junit, replay_text};
pub use scripted_session::{Exchange, bless_text, differences_of_text, run_script};
pub(crate) use suite::replay_all;
pub(crate) use transcript_loader::Tiers;
