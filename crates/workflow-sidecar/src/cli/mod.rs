//! The command line: one variant a command, one file each.
//!
//! Owns arguments and what is printed where: what was asked for on stdout, in colour only
//! on a terminal; logs and what went wrong on stderr.

mod approve;
mod check;
mod completions;
mod demo;
mod doctor;
mod explain;
mod format;
mod graph;
mod init;
mod list;
mod named;
mod outcome;
mod person;
mod project;
mod replay;
mod run_gate;
mod schema;
mod serve;
mod show;
mod simulate;
mod status;
mod table;
mod trust;

use std::env;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use outcome::{FAILED, Outcome, TABLE, UNREAD};
use workflow_core::diagnostic::visible;

pub(crate) use self::serve::RECORD_VARIABLE;
use crate::log;

const EXAMPLES: &str = "\
Examples:
  workflow-sidecar demo                     see what it does
  workflow-sidecar init --template bugfix   a ready-made workflow, to use or to change
  workflow-sidecar check                    what is wrong with the workflows here
  workflow-sidecar simulate bugfix          walk through one, without an agent
  workflow-sidecar doctor                   does everything fit together: binary, hosts, directories?
  workflow-sidecar schema workflow          what an editor needs to complete and check a workflow.yaml
  workflow-sidecar serve                    what a host spawns; also the default when stdin is a pipe

A host speaks JSON-RPC 2.0, one message a line, on stdin and stdout. Logs go to stderr;
WORKFLOW_SIDECAR_LOG=debug shows more of them.";

/// Makes a coding agent follow a workflow.
#[derive(Debug, Parser)]
#[command(name = "workflow-sidecar", version, after_help = format!("{EXAMPLES}\n\n{TABLE}"))]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    Approve(approve::Arguments),
    Check(check::Arguments),
    Completions(completions::Arguments),
    Demo(demo::Arguments),
    Doctor(doctor::Arguments),
    Explain(explain::Arguments),
    Graph(graph::Arguments),
    Init(init::Arguments),
    List(list::Arguments),
    Replay(replay::Arguments),
    Schema(schema::Arguments),
    /// Run the checks of a gate; what `serve` starts
    #[command(hide = true)]
    RunGate,
    Serve(serve::Arguments),
    Show(show::Arguments),
    Simulate(simulate::Arguments),
    Status(status::Arguments),
    Trust(trust::Arguments),
}

/// Parses the command line and runs the command.
#[must_use]
pub fn run() -> ExitCode {
    let parsed = Arguments::try_parse_from(words());
    let serving = match &parsed {
        Ok(Arguments {
            command: Some(Command::Serve(arguments)),
        }) => Some(arguments),
        _ => None,
    };
    let is_serving = serving.is_some();
    let format = serving.map(|arguments| arguments.log_format);
    log::begin(format.unwrap_or_default());
    let done = match parsed {
        Ok(arguments) => command(arguments),
        Err(problem) => print_and_exit(&problem),
    };
    match done {
        Ok(outcome) => outcome.into(),
        // A host that goes away is how serving ends.
        Err(error) if is_serving && is_broken_pipe(&error) => ExitCode::SUCCESS,
        // Whoever reads our output has read enough, as `head` does. What would have come may be a finding.
        Err(error) if is_broken_pipe(&error) => ExitCode::from(UNREAD),
        Err(error) => {
            let styles = clap::builder::Styles::styled();
            let style = styles.get_error();
            let told = fit_for_a_terminal(&format!("{error:#}"));
            anstream::eprintln!("{style}error:{style:#} {told}");
            ExitCode::from(FAILED)
        }
    }
}

/// The command line as a whole: for man pages.
#[must_use]
pub fn command_line() -> clap::Command {
    Arguments::command()
}

/// The words of the command line. Without a command, a pipe on stdin is a host to be served.
fn words() -> Vec<OsString> {
    let mut words: Vec<OsString> = env::args_os().collect();
    if words.len() < 2 && !io::stdin().is_terminal() {
        words.push("serve".into());
    }
    words
}

/// Runs the command.
fn command(arguments: Arguments) -> anyhow::Result<Outcome> {
    let well = |()| Outcome::Well;
    match arguments.command {
        Some(Command::Approve(arguments)) => approve::run(&arguments),
        Some(Command::Check(arguments)) => check::run(&arguments),
        Some(Command::Completions(arguments)) => completions::run(&arguments),
        Some(Command::Demo(arguments)) => demo::run(&arguments).map(well),
        Some(Command::Doctor(arguments)) => doctor::run(&arguments),
        Some(Command::Explain(arguments)) => explain::run(&arguments),
        Some(Command::Graph(arguments)) => graph::run(&arguments),
        Some(Command::Init(arguments)) => init::run(&arguments),
        Some(Command::List(arguments)) => list::run(&arguments),
        Some(Command::Replay(arguments)) => replay::run(&arguments),
        Some(Command::RunGate) => run_gate::run().map(well),
        Some(Command::Schema(arguments)) => schema::run(&arguments),
        Some(Command::Serve(arguments)) => serve::run(&arguments).map(well),
        Some(Command::Show(arguments)) => show::run(&arguments),
        Some(Command::Simulate(arguments)) => simulate::run(&arguments),
        Some(Command::Status(arguments)) => status::run(&arguments),
        Some(Command::Trust(arguments)) => trust::run(&arguments),
        None => Ok(Arguments::command().print_help().map(well)?),
    }
}

/// Prints help, or what is wrong with the command line, and exits; returns only if it cannot be printed.
fn print_and_exit(problem: &clap::Error) -> anyhow::Result<Outcome> {
    problem.print()?;
    io::stdout().flush()?;
    std::process::exit(problem.exit_code())
}

/// What went wrong often quotes a file or its name, which may hold anything.
fn fit_for_a_terminal(text: &str) -> String {
    let lines: Vec<String> = text.split('\n').map(visible).collect();
    lines.join("\n")
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let cause = error.root_cause().downcast_ref::<io::Error>();
    cause.is_some_and(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::{command_line, fit_for_a_terminal};

    #[test]
    fn what_went_wrong_moves_no_cursor() {
        let told = fit_for_a_terminal("a\u{1b}[2J\u{9b}1mb\nc");
        assert_eq!(told, "a\\u{1b}[2J\\u{9b}1mb\nc");
    }

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
