//! Analysis of shell lines, checked against a corpus of what agents run.

#![allow(clippy::disallowed_types, reason = "a test measures time")]

mod corpus;
mod display;
mod limits;
mod patterns;
mod properties;
