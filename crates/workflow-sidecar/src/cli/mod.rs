//! The command line: one variant a command, one file each.
//!
//! Owns arguments, logging and what is printed where: what was asked for on stdout, in colour only
//! on a terminal; logs and what went wrong on stderr.

mod check;
mod demo;
mod format;
mod list;
mod outcome;
mod project;
mod run_gate;
mod serve;

use std::io::{self, IsTerminal};
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use outcome::{FAILED, Outcome, TABLE};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// What is logged, as `tracing` filters it: `warn`, `debug`, `workflow_sidecar=trace`.
const LOG_VARIABLE: &str = "WORKFLOW_SIDECAR_LOG";

const EXAMPLES: &str = "\
Examples:
  workflow-sidecar check                        what is wrong with the workflows here
  workflow-sidecar demo                         see what it does
  workflow-sidecar serve                        what a host spawns; also the default when stdin is a pipe
  workflow-sidecar serve --max-line 1048576     refuse lines over a megabyte

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
    Check(check::Arguments),
    Demo(demo::Arguments),
    List(list::Arguments),
    /// Run the checks of a gate; what `serve` starts
    #[command(hide = true)]
    RunGate,
    Serve(serve::Arguments),
}

/// Reads the command line and does what it says.
#[must_use]
pub fn run() -> ExitCode {
    let arguments = Arguments::parse();
    log_to_stderr();
    let well = |()| Outcome::Well;
    let done = match arguments.command {
        Some(Command::Check(arguments)) => check::run(&arguments),
        Some(Command::Demo(arguments)) => demo::run(&arguments).map(well),
        Some(Command::List(arguments)) => list::run(&arguments),
        Some(Command::RunGate) => run_gate::run().map(well),
        Some(Command::Serve(arguments)) => serve::run(&arguments).map(well),
        None if io::stdin().is_terminal() => {
            let help = Arguments::command().print_help();
            help.map(well).map_err(Into::into)
        }
        None => serve::run(&serve::Arguments::default()).map(well),
    };
    match done {
        Ok(outcome) => outcome.into(),
        // Whoever reads our output has read enough, as `head` does.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            let styles = clap::builder::Styles::styled();
            let style = styles.get_error();
            anstream::eprintln!("{style}error:{style:#} {error:#}");
            ExitCode::from(FAILED)
        }
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let cause = error.root_cause().downcast_ref::<io::Error>();
    cause.is_some_and(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

/// Stdout carries the protocol and nothing else.
///
/// The filter is a list of targets and levels without patterns: those of `EnvFilter` bring a
/// regular expression engine, which an idle process would carry about in memory.
fn log_to_stderr() {
    let wanted = std::env::var(LOG_VARIABLE).unwrap_or_default();
    let filter = match wanted.parse::<Targets>() {
        Ok(filter) if !wanted.is_empty() => filter,
        Ok(_) => Targets::new().with_default(LevelFilter::WARN),
        Err(problem) => {
            eprintln!("workflow-sidecar: {LOG_VARIABLE}={wanted}: {problem}; warnings are logged");
            Targets::new().with_default(LevelFilter::WARN)
        }
    };
    let layer = tracing_subscriber::fmt::layer()
        .with_writer(io::stderr)
        .with_ansi(false);
    tracing_subscriber::registry()
        .with(layer.with_filter(filter))
        .init();
}
