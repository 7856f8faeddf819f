//! `completions`: completion scripts for shells.

use std::io::Write;

use clap_complete::{Shell, generate};

/// Print a shell completion script
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints the script of a command line.
pub(super) fn run(arguments: &Arguments, mut command_line: clap::Command) -> anyhow::Result<()> {
    let mut text = Vec::new();
    generate(
        arguments.shell,
        &mut command_line,
        "workflow-sidecar",
        &mut text,
    );
    let mut text = String::from_utf8(text)?;
    if arguments.shell == Shell::Bash {
        // Workaround for clap #6421: the generator writes a hyphenated name in two ways and then completes no subcommand.
        text = text.replace("workflow__subcmd__sidecar", "workflow__sidecar");
    }
    Ok(anstream::stdout().lock().write_all(text.as_bytes())?)
}
