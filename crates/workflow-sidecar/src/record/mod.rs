//! Transcripts: the messages of a host and a sidecar as a file.
//!
//! [`format`] reads the file, [`recorder`] writes one during a session, and [`replay`] plays the host's part of one
//! again and compares. [`redaction`] decides which texts are left out. `loaders` and `platforms` note what is read during a
//! session, and answer with it in a replay. `player` sends the lines of a transcript, and [`suite`] replays many.

mod definitions;
mod difference;
mod format;
mod loaders;
mod meaning;
mod platforms;
mod player;
mod recorder;
mod redaction;
mod replay;
mod report;
mod scripted_session;
mod steps;
mod suite;

pub(crate) use format::{Transcript, TranscriptEntry};
pub(crate) use loaders::Tiers;
pub(crate) use recorder::{DEFAULT_LIMIT, RECORD_VARIABLE, Recorder};
pub(crate) use redaction::{Redaction, lenient_json};
pub(crate) use report::{ReplayTotals, junit, replay_text};
pub use scripted_session::{Exchange, bless_text, differences_of_text, run_script};
pub(crate) use suite::replay_all;
