//! Command line: one variant and one file per command.
//!
//! Results go to stdout, in colour only on a terminal; logs and errors go to stderr.

mod approve;
mod board;
mod check;
mod command_line;
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
mod stats;
mod status;
mod status_line;
mod telemetry;
mod terminal;
mod trust;
mod wait;

use std::io;
use std::process::ExitCode;

use workflow_core::diagnostic::visible_lines;

use crate::log;
use crate::platform::close_to_other_processes;
use crate::present::{CommandOutcome, FAILED, UNREAD};
pub use command_line::command_line;
use command_line::{Command, parse, usage_error};

/// Parses the command line and runs the command.
pub fn run() -> ExitCode {
    close_to_other_processes();
    let command = match parse() {
        Ok(command) => command,
        Err(error) => return usage_error(error),
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

/// Runs a command; prints the help if there is none.
fn execute(command: Option<Command>) -> anyhow::Result<CommandOutcome> {
    let success = |()| CommandOutcome::Success;
    match command {
        Some(Command::Approve(arguments)) => approve::run(&arguments),
        Some(Command::Board(arguments)) => board::run(&arguments).map(success),
        Some(Command::Check(arguments)) => check::run(&arguments),
        Some(Command::Completions(arguments)) => {
            completions::run(&arguments, command_line()).map(success)
        }
        Some(Command::Demo) => crate::demo::run(),
        Some(Command::Doctor(arguments)) => doctor::run(&arguments),
        Some(Command::Explain(arguments)) => explain::run(&arguments).map(success),
        Some(Command::Graph(arguments)) => graph::run(&arguments).map(success),
        Some(Command::Hook(arguments)) => Ok(hook::run(&arguments)),
        Some(Command::Init(arguments)) => init::run(&arguments).map(success),
        Some(Command::Install(arguments)) => install::run(&arguments).map(success),
        Some(Command::List(arguments)) => list::run(&arguments).map(success),
        Some(Command::Mcp(arguments)) => mcp::run(&arguments).map(success),
        Some(Command::Replay(arguments)) => replay::run(&arguments),
        Some(Command::RunGate) => run_gate::run().map(success),
        Some(Command::Runs(arguments)) => runs::run(&arguments),
        Some(Command::Schema(arguments)) => schema::run(&arguments).map(success),
        Some(Command::Serve(arguments)) => serve::run(&arguments).map(success),
        Some(Command::Show(arguments)) => show::run(&arguments).map(success),
        Some(Command::Simulate(arguments)) => simulate::run(&arguments),
        Some(Command::Stats(arguments)) => stats::run(&arguments).map(success),
        Some(Command::Status(arguments)) => status::run(&arguments),
        Some(Command::Trust(arguments)) => trust::run(&arguments),
        Some(Command::Uninstall(arguments)) => arguments.uninstall().map(success),
        None => Ok(command_line().print_help().map(success)?),
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
