//! `hook`, the command that a host runs for each event.

use std::path::PathBuf;
use std::time::Duration;

use super::telemetry;
use crate::hook_hosts::{self, HookHost};
use crate::present::CommandOutcome;

/// The time to send measurements after the answer. The host waits for the end of the process.
const TIME_TO_EXPORT: Duration = Duration::from_millis(250);

/// Answer one event of Codex, Claude Code, Copilot CLI, Gemini CLI or Qwen Code
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The host that sends the event on standard input
    #[arg(value_parser = hook_hosts::parser())]
    host: &'static HookHost,
    /// The directory of the store, instead of ~/.local/state/workflow-sidecar
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
    #[command(flatten)]
    telemetry: telemetry::Arguments,
}

pub(super) fn run(arguments: &Arguments) -> CommandOutcome {
    let run = || hook_hosts::run(arguments.host, arguments.state.as_deref());
    match arguments.telemetry.around(TIME_TO_EXPORT, run) {
        0 => CommandOutcome::Success,
        _ => CommandOutcome::Failed,
    }
}
