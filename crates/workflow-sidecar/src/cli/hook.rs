//! `hook`, the command that a host runs for each event.

use std::path::PathBuf;

use super::outcome::Outcome;
use crate::hook_hosts;
use clap::builder::PossibleValuesParser;

const EXAMPLES: &str = "\
Examples:
  workflow-sidecar hook codex < event.json     what Codex runs for each of its events

A host's own configuration names this command: `workflow-sidecar install codex` writes it.";

/// Answer one event of Codex, Claude Code, Copilot CLI, Gemini CLI, Cursor or goose
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The host that sends the event on standard input
    #[arg(value_parser = PossibleValuesParser::new(hook_hosts::names()))]
    host: String,
    /// The directory of the store, instead of ~/.local/state/workflow-sidecar
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    let code = match hook_hosts::host(&arguments.host) {
        Some(host) => hook_hosts::run(host, arguments.state.as_deref()),
        // The parser of the argument knows the hosts.
        None => 2,
    };
    Outcome::Answered(code)
}
