//! Hosts that start a program for each event: Codex, Claude Code, Copilot CLI, Gemini CLI.
//!
//! ```text
//! process ── reads the event, answers in time whatever happens
//!    │
//!    ▼
//! decide ── restored_session (a session of the engine, for one event) ── finished_session ── store
//!    │
//!    ▼
//! hosts: a `HookHost` each, which is a table of names, and two functions: the event in, the answer out
//! ```
//!
//! No process stays: the session is restored from the store, handles one event, and is stored. So nothing here may depend
//! on what an earlier process had in memory; what has to survive is in [`memory`].

mod answer;
mod decide;
mod event;
mod finished_session;
mod host;
mod hosts;
mod memory;
mod output;
mod patch;
mod process;
mod prompt;
mod protected_paths;
mod restored_session;
#[cfg(test)]
mod tests;
mod text;
mod tool_result;
mod tools;

pub(crate) use self::event::EventName;
pub(crate) use self::finished_session::{ATTEMPTS, FinishedSession};
pub(crate) use self::host::{HookHost, TICKET_ARGUMENT};
pub(crate) use self::hosts::{HOSTS, host, names};
pub(crate) use self::memory::HostMemory;
pub(crate) use self::process::run;
pub(crate) use self::restored_session::{HookPlatform, RestoredSession};
pub(crate) use self::text::with_commands_as_prompts;
