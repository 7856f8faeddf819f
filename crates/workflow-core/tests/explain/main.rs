//! Explained values: they are those of a session, and each names the line of its origin.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod origins;
mod phase_tree;
