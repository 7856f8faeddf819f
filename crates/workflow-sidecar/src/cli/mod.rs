//! The command line: one variant a command, one file each.
//!
//! Owns arguments, logging and exit codes: 0 is well, 1 is a failure, 2 is a wrong command line.

mod serve;

use std::io::{self, IsTerminal};
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::layer;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// What is logged: a level, or levels by module, as `warn` or `warn,workflow_sidecar=debug`.
const LOG_VARIABLE: &str = "WORKFLOW_SIDECAR_LOG";

const EXAMPLES: &str = "\
Examples:
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
    Serve(serve::Arguments),
}

/// Reads the command line and does what it says.
#[must_use]
pub fn run() -> ExitCode {
    let arguments = Arguments::parse();
    log_to_stderr();
    let done = match arguments.command {
        Some(Command::Serve(arguments)) => serve::run(&arguments),
        None if io::stdin().is_terminal() => Arguments::command().print_help().map_err(Into::into),
        None => serve::run(&serve::Arguments::default()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("workflow-sidecar: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Stdout carries the protocol and nothing else. A filter that cannot be read is as good as none.
fn log_to_stderr() {
    let filter = std::env::var(LOG_VARIABLE).ok();
    let filter = filter.filter(|filter| !filter.trim().is_empty());
    let filter: Option<Targets> = filter.and_then(|filter| filter.parse().ok());
    let filter = filter.unwrap_or_else(|| Targets::new().with_default(LevelFilter::WARN));
    let lines = layer().with_writer(io::stderr).with_ansi(false);
    tracing_subscriber::registry()
        .with(lines)
        .with(filter)
        .init();
}
