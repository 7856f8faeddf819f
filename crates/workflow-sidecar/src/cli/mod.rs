//! Command line: one variant and one file per command.
//!
//! Results go to stdout, in colour only on a terminal; logs and errors go to stderr.

mod approve;
mod check;
mod completions;
mod doctor;
mod explain;
mod graph;
mod hook;
mod init;
mod install;
mod list;
mod lookup;
mod mcp;
mod project;
mod replay;
mod run_gate;
mod runs;
mod schema;
mod serve;
mod show;
mod simulate;
mod status;
mod status_line;
mod telemetry;
mod terminal;
mod trust;

use std::env;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use workflow_core::definition::nearest;
use workflow_core::diagnostic::visible_lines;

use crate::install::InstallRequest;
use crate::log;
use crate::platform::close_to_other_processes;
use crate::present::{CommandOutcome, FAILED, UNREAD};
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
enum Command {
    Approve(approve::Arguments),
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
    Status(status::Arguments),
    Trust(trust::Arguments),
    /// Remove from a host's configuration what `install` wrote
    Uninstall(InstallRequest),
}

/// Parses the command line and runs the command.
pub fn run() -> ExitCode {
    close_to_other_processes();
    let command = match parse() {
        Ok(command) => command,
        Err(error) => return print_clap_error(&with_near_suggestions(error)),
    };
    let log_format = match &command {
        Some(Command::Serve(arguments)) => Some(arguments.log_format),
        _ => None,
    };
    let is_serving = log_format.is_some();
    // What a hook host shows of its programs, its agent can read.
    let is_quiet = matches!(command, Some(Command::Hook(_) | Command::Mcp(_)));
    if !is_quiet || log::is_requested() {
        log::begin(log_format.unwrap_or_default());
    }
    match execute(command) {
        Ok(outcome) => outcome.into(),
        // Serving ends when the host closes the pipe.
        Err(error) if is_serving && is_broken_pipe(&error) => ExitCode::SUCCESS,
        // The reader closed the pipe early, as `head` does. The part that was not read may contain a finding.
        Err(error) if is_broken_pipe(&error) => ExitCode::from(UNREAD),
        Err(error) => {
            print_error(&error);
            ExitCode::from(FAILED)
        }
    }
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
fn parse() -> Result<Option<Command>, clap::Error> {
    let (command, mut words) = (command_line(), env::args_os().collect::<Vec<_>>());
    if let Some(simulate) = command.find_subcommand("simulate")
        && words.get(1).is_some_and(|word| word == "simulate")
    {
        words = simulate::marked(words, simulate);
    }
    let arguments = command.try_get_matches_from(words)?;
    let arguments = Arguments::from_arg_matches(&arguments)?;
    if arguments.command.is_none() && !io::stdin().is_terminal() {
        return Ok(Arguments::try_parse_from(["workflow-sidecar", "serve"])?.command);
    }
    Ok(arguments.command)
}

/// Runs a command; prints the help if there is none.
fn execute(command: Option<Command>) -> anyhow::Result<CommandOutcome> {
    let success = |()| CommandOutcome::Success;
    match command {
        Some(Command::Approve(arguments)) => approve::run(&arguments),
        Some(Command::Check(arguments)) => check::run(&arguments),
        Some(Command::Completions(arguments)) => completions::run(&arguments, command_line()),
        Some(Command::Demo) => crate::demo::run(),
        Some(Command::Doctor(arguments)) => doctor::run(&arguments),
        Some(Command::Explain(arguments)) => explain::run(&arguments),
        Some(Command::Graph(arguments)) => graph::run(&arguments),
        Some(Command::Hook(arguments)) => Ok(hook::run(&arguments)),
        Some(Command::Init(arguments)) => init::run(&arguments).map(success),
        Some(Command::Install(arguments)) => install::run(&arguments).map(success),
        Some(Command::List(arguments)) => list::run(&arguments).map(success),
        Some(Command::Mcp(arguments)) => mcp::run(&arguments).map(success),
        Some(Command::Replay(arguments)) => replay::run(&arguments),
        Some(Command::RunGate) => run_gate::run().map(success),
        Some(Command::Runs(arguments)) => runs::run(&arguments),
        Some(Command::Schema(arguments)) => schema::run(&arguments),
        Some(Command::Serve(arguments)) => serve::run(&arguments).map(success),
        Some(Command::Show(arguments)) => show::run(&arguments).map(success),
        Some(Command::Simulate(arguments)) => simulate::run(&arguments),
        Some(Command::Status(arguments)) => status::run(&arguments),
        Some(Command::Trust(arguments)) => trust::run(&arguments),
        Some(Command::Uninstall(arguments)) => arguments.uninstall().map(success),
        None => Ok(command_line().print_help().map(success)?),
    }
}

/// Drops the suggestions of a usage error that resemble nothing that was typed, and the command that only `serve` starts.
fn with_near_suggestions(mut error: clap::Error) -> clap::Error {
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
    let is_near = match (
        error.get(ContextKind::InvalidValue),
        error.get(ContextKind::SuggestedValue),
    ) {
        (Some(ContextValue::String(typed)), Some(ContextValue::String(value))) => {
            nearest(typed, [&**value]).is_some()
        }
        _ => true,
    };
    if !is_near {
        error.remove(ContextKind::SuggestedValue);
    }
    error
}

/// Prints the help, the version or a usage error, and returns its exit code.
fn print_clap_error(error: &clap::Error) -> ExitCode {
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

fn print_error(error: &anyhow::Error) {
    let styles = clap::builder::Styles::styled();
    let style = styles.get_error();
    // An error often quotes a file or its name.
    let text = format!("{error:#}");
    let text = visible_lines(&text);
    anstream::eprintln!("{style}error:{style:#} {text}");
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let cause = error.root_cause().downcast_ref::<io::Error>();
    cause.is_some_and(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
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
