//! What is explained: the values are what a session goes by, and each names the line that says it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod origins;
mod phase_tree;
