//! Fuzz targets: one per entry point for data from outside.
//!
//! A target takes any bytes and panics if an invariant is violated. The libFuzzer wrappers in `fuzz/` call it, and so
//! does an ordinary test, with the cases in `fuzz/cases` and with mutated seeds. `canary` has lines of its own instead of bytes, and no
//! wrapper: what it calls harmless runs.

#![cfg_attr(not(test), warn(unused_crate_dependencies))]
#![expect(
    clippy::missing_panics_doc,
    reason = "a target reports a violated invariant by a panic"
)]

pub mod canary;
pub mod definition;
pub mod line;
pub mod numbers;
pub mod restore;
pub mod seeds;
pub mod session;
pub mod shell;
pub mod template;
pub mod transcript;

/// An entry point and its inputs.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// The name, also of its wrapper and of its directory of cases.
    pub name: &'static str,
    /// Runs an input; panics if an invariant is violated.
    pub play: fn(&[u8]),
    /// Inputs from the tests of this repository.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

impl Target {
    const fn new(name: &'static str, play: fn(&[u8]), seeds: fn() -> Vec<Vec<u8>>) -> Self {
        Self { name, play, seeds }
    }
}

/// All targets.
pub const TARGETS: &[Target] = &[
    Target::new("definition", definition::play, seeds::definitions),
    Target::new("line", line::play, seeds::lines),
    Target::new("restore", restore::play, seeds::entries_of_sessions),
    Target::new("session", session::play, seeds::sessions),
    Target::new("shell", shell::play, seeds::shell_lines),
    Target::new("template", template::play, seeds::templates),
    Target::new("transcript", transcript::play, seeds::transcripts),
];
