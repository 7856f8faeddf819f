//! Analysis of shell lines, checked against a corpus of what agents run.

mod corpus;
mod display;
mod limits;
mod patterns;
mod properties;
