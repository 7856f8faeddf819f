//! Transcripts: what a host and a sidecar said to each other, as a file.
//!
//! [`format`] is the file, read; [`definitions`] what its definitions lines hold.

mod definitions;
mod format;

pub(crate) use definitions::{Content, Definitions, Directory, Problem};
pub(crate) use format::{Entry, Header, Line, ReadError, Said, Transcript};
