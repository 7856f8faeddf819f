//! Analysis of shell lines, checked against a corpus of what agents run.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests read the tables and measure time"
)]

mod corpus;
mod display;
mod everyday;
mod limits;
mod lines;
mod patterns;
mod properties;
