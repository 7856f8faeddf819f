//! Hosts that start a program for each event: Codex, Claude Code, Copilot CLI, Gemini CLI, Cursor, goose.
//!
//! ```text
//! process ── reads the event, answers in time whatever happens
//!    │
//!    ▼
//! decide ── turn (a session of the engine, for one event) ── turn_change ── store
//!    │
//!    ▼
//! codex, claude, copilot, gemini, cursor, goose: a `HookHost` each, which is a table of names, and two functions: the event in,
//! the answer out
//! ```
//!
//! No process stays: the session is restored from the store, handles one event, and is stored. So nothing here may depend
//! on what an earlier process had in memory; what has to survive is in [`memory`].

mod answer;
mod claude;
mod codex;
mod copilot;
mod cursor;
mod decide;
mod event;
mod gemini;
mod goose;
mod host;
mod limits;
mod memory;
mod outlet;
mod patch;
mod process;
mod prompt;
#[cfg(test)]
mod tests;
mod text;
mod tools;
mod turn;
mod turn_change;

use clap::builder::PossibleValue;

pub(crate) use self::event::EventName;
pub(crate) use self::host::{HookHost, TICKET_ARGUMENT, session_ticket};
pub(crate) use self::limits::Results;
pub(crate) use self::memory::HostMemory;
pub(crate) use self::process::run;
pub(crate) use self::text::in_prompt_words;
pub(crate) use self::turn::{HookPlatform, Turn};
pub(crate) use self::turn_change::{ATTEMPTS, TurnChange};

/// The hosts.
pub(crate) const HOSTS: [&HookHost; 6] = [
    &codex::HOST,
    &claude::HOST,
    &copilot::HOST,
    &gemini::HOST,
    &cursor::HOST,
    &goose::HOST,
];

/// The names of the hosts, for the command line.
pub(crate) fn names() -> impl Iterator<Item = PossibleValue> {
    let value = |host: &'static HookHost| {
        let note = if host.tested.is_some() {
            ""
        } else {
            " (not run by us)"
        };
        PossibleValue::new(host.name).help(format!("{}{note}", host.title))
    };
    HOSTS.into_iter().map(value)
}

/// Finds a host by its name.
pub(crate) fn host(name: &str) -> Option<&'static HookHost> {
    HOSTS.into_iter().find(|host| host.name == name)
}
