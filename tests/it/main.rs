//! Conformance: the sidecar as a host sees it, in memory and as the real binary.

mod connection;
mod documents;
mod examples;
mod host;
mod transcript;
mod transcripts;
