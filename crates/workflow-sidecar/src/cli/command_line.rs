//! The definition of the command line: one variant per command, with the examples of its help.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use super::{
    approve, board, check, completions, doctor, explain, graph, hook, init, install, list, mcp,
    print_error, replay, runs, schema, serve, show, simulate, stats, status, trust,
};
use crate::install::InstallRequest;
use crate::present::{FAILED, UNREAD};
use crate::simulate::HELP as SCRIPT_HELP;

/// The examples and notes of each command, behind a line with its name.
const HELP: &str = include_str!("help.txt");

/// Makes a coding agent follow a workflow.
#[derive(Debug, Parser)]
#[command(name = "workflow-sidecar", version)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    Approve(approve::Arguments),
    Board(board::Arguments),
    Check(check::Arguments),
    Completions(completions::Arguments),
    /// Run a scripted agent against a real sidecar, and print the conversation
    Demo,
    Doctor(doctor::Arguments),
    Explain(explain::Arguments),
    Graph(graph::Arguments),
    Hook(hook::Arguments),
    Init(init::Arguments),
    Install(install::Arguments),
    List(list::Arguments),
    Mcp(mcp::Arguments),
    Replay(replay::Arguments),
    /// Run the checks of a gate; what `serve` starts
    #[command(hide = true)]
    RunGate,
    Runs(runs::Arguments),
    Schema(schema::Arguments),
    Serve(serve::Arguments),
    Show(show::Arguments),
    Simulate(simulate::Arguments),
    Stats(stats::Arguments),
    Status(status::Arguments),
    Trust(trust::Arguments),
    /// Remove from a host's configuration what `install` wrote
    Uninstall(InstallRequest),
}

/// Returns the definition of the whole command line, for man pages.
pub fn command_line() -> clap::Command {
    with_help(Arguments::command()).mut_subcommands(with_help)
}

/// Adds what the help says of a command below its options.
fn with_help(command: clap::Command) -> clap::Command {
    let begin = format!("{}\n", command.get_name());
    let mut sections = HELP.split("== ");
    let text = sections.find_map(|section| section.strip_prefix(&begin));
    match (command.get_name(), text.map(str::trim_end)) {
        ("simulate", Some(text)) => {
            command.after_help(format!("{text}\n\nCommands:\n{SCRIPT_HELP}"))
        }
        (_, Some(text)) => command.after_help(text),
        (_, None) => command,
    }
}

/// Parses the command line. Without a command, a pipe on stdin means `serve`, because a host may spawn the
/// binary without arguments.
pub(super) fn parse() -> Result<Option<Command>, clap::Error> {
    // What the help says beyond the options is only added for somebody who reads it.
    let arguments = Arguments::try_parse().or_else(|_| {
        let matches = command_line().try_get_matches()?;
        Arguments::from_arg_matches(&matches)
    })?;
    if arguments.command.is_none() && !io::stdin().is_terminal() {
        return Ok(Arguments::try_parse_from(["workflow-sidecar", "serve"])?.command);
    }
    Ok(arguments.command)
}

/// Drops the suggestion of a command that only `serve` starts.
fn without_hidden_commands(mut error: clap::Error) -> clap::Error {
    if let Some(ContextValue::Strings(mut near)) = error.remove(ContextKind::SuggestedSubcommand) {
        let command = Arguments::command();
        near.retain(|name| {
            let found = command.find_subcommand(name);
            found.is_some_and(|found| !found.is_hide_set())
        });
        if !near.is_empty() {
            error.insert(
                ContextKind::SuggestedSubcommand,
                ContextValue::Strings(near),
            );
        }
    }
    error
}

/// Prints the help, the version or a usage error, and returns its exit code.
pub(super) fn usage_error(error: clap::Error) -> ExitCode {
    let error = without_hidden_commands(error);
    match error.print().and_then(|()| io::stdout().flush()) {
        // clap exits with 0 for help and with 2 for a usage error.
        Ok(()) => ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(FAILED)),
        Err(cause) if cause.kind() == io::ErrorKind::BrokenPipe => ExitCode::from(UNREAD),
        Err(cause) => {
            print_error(&cause.into());
            ExitCode::from(FAILED)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::command_line;

    #[test]
    fn every_command_shows_examples() {
        command_line().debug_assert();
        let command_line = command_line();
        let commands = command_line.get_subcommands();
        for command in commands.filter(|command| !command.is_hide_set()) {
            let help = command.get_after_help().map(ToString::to_string);
            let has_examples = help.is_some_and(|help| help.starts_with("Examples:\n"));
            assert!(has_examples, "{}", command.get_name());
            assert!(command.get_about().is_some(), "{}", command.get_name());
        }
    }
}
