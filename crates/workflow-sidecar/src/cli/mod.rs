//! The command line: one variant a command, one file each.
//!
//! Owns arguments, logging and exit codes: 0 is well, 1 is a failure, 2 is a wrong command line.

mod demo;
mod serve;

use std::io::{self, IsTerminal};
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use tracing_subscriber::EnvFilter;

/// What is logged, as `tracing` filters it: `warn`, `debug`, `workflow_sidecar=trace`.
const LOG_VARIABLE: &str = "WORKFLOW_SIDECAR_LOG";

const EXAMPLES: &str = "\
Examples:
  workflow-sidecar demo                         see what it does
  workflow-sidecar serve                        what a host spawns; also the default when stdin is a pipe
  workflow-sidecar serve --max-line 1048576     refuse lines over a megabyte

A host speaks JSON-RPC 2.0, one message a line, on stdin and stdout. Logs go to stderr;
WORKFLOW_SIDECAR_LOG=debug shows more of them.";

/// Makes a coding agent follow a workflow.
#[derive(Debug, Parser)]
#[command(name = "workflow-sidecar", version, after_help = EXAMPLES)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    Demo(demo::Arguments),
    Serve(serve::Arguments),
}

/// Reads the command line and does what it says.
#[must_use]
pub fn run() -> ExitCode {
    let arguments = Arguments::parse();
    log_to_stderr();
    let done = match arguments.command {
        Some(Command::Demo(arguments)) => demo::run(&arguments),
        Some(Command::Serve(arguments)) => serve::run(&arguments),
        None if io::stdin().is_terminal() => Arguments::command().print_help().map_err(Into::into),
        None => serve::run(&serve::Arguments::default()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever reads our output has read enough, as `head` does.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("workflow-sidecar: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let cause = error.root_cause().downcast_ref::<io::Error>();
    cause.is_some_and(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

/// Stdout carries the protocol and nothing else.
fn log_to_stderr() {
    let filter = EnvFilter::try_from_env(LOG_VARIABLE).unwrap_or_else(|_| EnvFilter::new("warn"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .with_ansi(false)
        .init();
}
