//! Fuzz targets: one per entry point for data from outside.
//!
//! A target takes any bytes and panics if an invariant is violated. The libFuzzer wrappers in `fuzz/` call it, and so
//! does an ordinary test, with the cases in `fuzz/cases` and with mutated seeds.

#![cfg_attr(not(test), warn(unused_crate_dependencies))]
#![expect(
    clippy::missing_panics_doc,
    reason = "a target reports a violated invariant by a panic"
)]

pub mod definition;
pub mod line;
pub mod mutate;
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

/// All targets.
pub const TARGETS: &[Target] = &[
    Target {
        name: "definition",
        play: definition::play,
        seeds: seeds::definitions,
    },
    Target {
        name: "line",
        play: line::play,
        seeds: seeds::lines,
    },
    Target {
        name: "restore",
        play: restore::play,
        seeds: seeds::entries_of_sessions,
    },
    Target {
        name: "session",
        play: session::play,
        seeds: seeds::sessions,
    },
    Target {
        name: "shell",
        play: shell::play,
        seeds: seeds::shell_lines,
    },
    Target {
        name: "template",
        play: template::play,
        seeds: seeds::templates,
    },
    Target {
        name: "transcript",
        play: transcript::play,
        seeds: seeds::transcripts,
    },
];
