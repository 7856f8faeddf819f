//! `install` and `uninstall`: our part of a host's configuration.

use std::path::PathBuf;

use crate::install::InstallRequest;

/// Make Codex, Claude Code, Copilot CLI, Gemini CLI, Qwen Code, opencode or pi follow workflows
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    request: InstallRequest,
    /// The directory of the store, instead of ~/.local/state/workflow-sidecar
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
    /// Also trust the hooks in Codex; for another host, say what you have to confirm there
    #[arg(long)]
    trust: bool,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let state = arguments.state.as_deref();
    arguments.request.install(state, arguments.trust)
}
