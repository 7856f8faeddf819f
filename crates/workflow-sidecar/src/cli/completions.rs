//! `completions`: what a shell needs to complete a command line.

use std::io::Write;

use clap::CommandFactory;
use clap_complete::{Shell, generate};

use super::outcome::Outcome;

const EXAMPLES: &str = "\
Examples:
  source <(workflow-sidecar completions bash)
  workflow-sidecar completions zsh > ~/.zfunc/_workflow-sidecar
  workflow-sidecar completions fish > ~/.config/fish/completions/workflow-sidecar.fish";

/// Print what a shell needs to complete command lines
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let mut text = Vec::new();
    generate(
        arguments.shell,
        &mut super::Arguments::command(),
        "workflow-sidecar",
        &mut text,
    );
    anstream::stdout().lock().write_all(&text)?;
    Ok(Outcome::Well)
}
