//! Hosts that start a program for each event: Codex, Claude Code, Copilot CLI, Gemini CLI, Cursor, goose.
//!
//! ```text
//! process ── reads the event, answers in time whatever happens
//!    │
//!    ▼
//! decide ── store ── turn (a session of the engine, for one event)
//!    │
//!    ▼
//! codex, claude, copilot, gemini, cursor, goose: a table of names, and two functions: the event in, the answer out
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

use clap::builder::PossibleValue;

use self::answer::{Answer, Printed};
use self::event::{Kind, Payload};
use self::tools::ToolName;

pub(crate) use self::event::EventName;
pub(crate) use self::limits::{Limits, Results};
pub(crate) use self::memory::HostMemory;
pub(crate) use self::process::run;
pub(crate) use self::text::in_prompt_words;
pub(crate) use self::turn::{HookPlatform, Turn};

/// The argument of `workflow_step` with which a hook proves that it has seen the call.
pub(crate) const TICKET_ARGUMENT: &str = "_ticket";

/// A host that starts a program for each event.
pub(crate) struct HookHost {
    /// The name in the command line and in the store.
    pub(crate) name: &'static str,
    /// The name for people.
    pub(crate) title: &'static str,
    /// Its program, under each of its names.
    pub(crate) programs: &'static [&'static str],
    /// The version that was driven for real; `None` if it was written from documentation and not run.
    pub(crate) tested: Option<&'static str>,
    /// The events that are used, by the host's names.
    pub(crate) events: &'static [(&'static str, EventName)],
    /// The host's tools that the engine knows under another name.
    tools: &'static [(&'static str, ToolName)],
    /// The host's name of `workflow_step`.
    pub(crate) step_tool: &'static str,
    /// The reminders in a row that the host takes before it ends the agent's work by itself; `None` is without end.
    pub(crate) most_reminders: Option<u32>,
    /// True if the answer to a prompt can have a text for the model. Otherwise the text waits for a call or for the stop.
    injects: bool,
    /// True if a prompt can be answered without the model.
    answers_prompts: bool,
    /// True if a hook can change the arguments of a call. Otherwise the host names the session in the call of the MCP server.
    changes_arguments: bool,
    /// What cannot be enforced.
    pub(crate) limits: Limits,
    /// True if an answer can have a text that only the person reads.
    shows_notices: bool,
    /// Variables that the host sets for the shell of its agent, and not for hooks.
    shell_marks: &'static [&'static str],
    /// Reads an event.
    event: for<'a> fn(EventName, &'a Payload<'a>) -> Kind<'a>,
    /// Writes an answer.
    answer: fn(EventName, &Answer) -> Printed,
}

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

/// Returns the id of the ticket of a session, for a host whose hooks cannot add one to the arguments.
pub(crate) fn session_ticket(host: &str, session: &str) -> String {
    format!("{host}:{session}")
}

/// Finds a host by its name.
pub(crate) fn host(name: &str) -> Option<&'static HookHost> {
    HOSTS.into_iter().find(|host| host.name == name)
}

impl std::fmt::Debug for HookHost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("HookHost").field(&self.name).finish()
    }
}
