//! What must hold for any bytes: a target an entry point that takes what others wrote.
//!
//! A target takes bytes and panics where a promise is broken. libFuzzer's wrappers in `fuzz/` call it, and so does
//! the ordinary test that plays the cases kept in `fuzz/cases` and inputs made of the seeds.
//!
//! Owns what is promised. Must not know how inputs are found.

#![cfg_attr(not(test), warn(unused_crate_dependencies))]
#![expect(
    clippy::missing_panics_doc,
    reason = "a panic is how a target says that a promise is broken"
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

/// An entry point, and what it is fed.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Its name, which its wrapper and its directory of cases have too.
    pub name: &'static str,
    /// Plays an input; panics where a promise is broken.
    pub play: fn(&[u8]),
    /// Inputs made of the tests of this repository.
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
