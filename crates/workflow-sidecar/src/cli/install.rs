//! `install` and `uninstall`: our part of a host's configuration.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser};

use crate::hook_hosts;
use crate::install::{InstallRequest, opencode, pi};

const EXAMPLES: &str = "\
Examples:
  workflow-sidecar install codex              for all your projects
  workflow-sidecar install codex --project    for the project of this directory
  workflow-sidecar install codex --trust      and trust the hooks, as `/hooks` in Codex does
  workflow-sidecar install codex --dry-run    show what would be written
  workflow-sidecar install pi                 have pi install its package

Claude Code is untested: its hooks are written from its types.

Everything else in the files of the host stays as it is, byte for byte.";

const EXAMPLES_OF_REMOVAL: &str = "\
Examples:
  workflow-sidecar uninstall codex
  workflow-sidecar uninstall codex --project --dry-run";

/// Make Codex, Claude Code, Copilot CLI, Gemini CLI, opencode or pi follow workflows
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    #[command(flatten)]
    options: TargetOptions,
    /// The directory of the store, instead of ~/.local/state/workflow-sidecar
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
    /// Also trust the hooks in Codex; for another host, say what you have to confirm there
    #[arg(long)]
    trust: bool,
}

/// Remove from a host's configuration what `install` wrote
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES_OF_REMOVAL)]
pub(super) struct RemovalArguments {
    #[command(flatten)]
    options: TargetOptions,
}

#[derive(Debug, clap::Args)]
struct TargetOptions {
    /// The host
    #[arg(value_parser = names())]
    host: String,
    /// Only for the project of the current directory
    #[arg(long)]
    project: bool,
    /// Show the changes and make none
    #[arg(long)]
    dry_run: bool,
}

/// The hosts, for the command line.
fn names() -> PossibleValuesParser {
    let others = [opencode::NAME, pi::NAME].map(|name| PossibleValue::new(name).help(name));
    PossibleValuesParser::new(hook_hosts::names().chain(others))
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let request = arguments.options.request();
    let request = InstallRequest {
        state: arguments.state.clone(),
        trust: arguments.trust,
        ..request
    };
    request.install()
}

pub(super) fn remove(arguments: &RemovalArguments) -> anyhow::Result<()> {
    arguments.options.request().uninstall()
}

impl TargetOptions {
    fn request(&self) -> InstallRequest<'_> {
        InstallRequest {
            host: &self.host,
            project: self.project,
            dry_run: self.dry_run,
            state: None,
            trust: false,
        }
    }
}
