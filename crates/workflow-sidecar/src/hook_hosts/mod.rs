//! Hosts that start a program for each event: Codex, Claude Code, Copilot CLI, Gemini CLI, Qwen Code.
//!
//! ```text
//! process ── reads the event, answers in time whatever happens
//!    │
//!    ▼
//! decide ── crate::driver (a session of the store, for one event)
//!    │
//!    ▼
//! hosts: a `HookHost` each, a table of names with the form of an answer
//! ```
//!
//! No process stays: the session is restored from the store, handles one event, and is stored. So nothing here may depend
//! on what an earlier process had in memory; what has to survive is in the `HostMemory` of the driver.

mod answer;
mod decide;
mod event;
mod host;
mod hosts;
mod patch;
mod process;
mod prompt;
mod surroundings;
#[cfg(test)]
mod tests;
mod tool_result;
mod transcript;

pub(crate) use self::event::EventName;
pub(crate) use self::host::{HookHost, TICKET_ARGUMENT};
pub(crate) use self::hosts::{HOSTS, host, names, parser};
pub(crate) use self::process::run;
