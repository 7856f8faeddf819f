//! `install` and `uninstall`: our part of a host's configuration.

use std::path::PathBuf;

use crate::install::InstallRequest;

const EXAMPLES: &str = "\
Examples:
  workflow-sidecar install codex              for all your projects
  workflow-sidecar install codex --project    for the project of this directory
  workflow-sidecar install codex --trust      and trust the hooks, as `/hooks` in Codex does
  workflow-sidecar install codex --dry-run    show what would be written
  workflow-sidecar install claude --plugin workflow-plugin
                                              write a plugin instead: `claude --plugin-dir workflow-plugin`
  workflow-sidecar install pi                 have pi install its package
  workflow-sidecar install codex --managed    as an administrator, for all users of the machine

Everything else in the files of the host stays as it is, byte for byte.";

pub(super) const EXAMPLES_OF_REMOVAL: &str = "\
Examples:
  workflow-sidecar uninstall codex
  workflow-sidecar uninstall codex --project --dry-run";

/// Make Codex, Claude Code, Copilot CLI, Gemini CLI, Qwen Code, opencode or pi follow workflows
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
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
