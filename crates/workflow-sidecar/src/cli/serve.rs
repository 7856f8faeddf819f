//! `serve`, the command that a host spawns.

use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::path::Path;

use anyhow::Context;
use clap::builder::{FalseyValueParser, RangedU64ValueParser};

use super::telemetry::{self, TIME_TO_EXPORT};
use crate::log::{FORMAT_VARIABLE, LogFormat};
use crate::record::{DEFAULT_LIMIT, RECORD_VARIABLE, Recorder, Redaction};
use crate::server::{DEFAULT_MAX_LINE, MAX_LINE_LIMIT, serve};

/// Set for `--record-redact`.
const REDACT_VARIABLE: &str = "WORKFLOW_SIDECAR_RECORD_REDACT";

/// Shown if the command is run in a terminal.
const HINT: &str = "\
This command expects a host that speaks JSON-RPC 2.0, one message a line. The first message is
  {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":1,\"host\":{\"name\":\"me\",\"version\":\"1\"},\"cwd\":\".\"}}
Ctrl-D ends the command.";

/// Serve a host over JSON-RPC on stdin and stdout
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Maximum length of a line in bytes; longer lines are refused
    #[arg(long, value_name = "BYTES", default_value_t = DEFAULT_MAX_LINE, value_parser = RangedU64ValueParser::<usize>::new().range(1..=MAX_LINE_LIMIT as u64))]
    max_line: usize,
    /// Record the messages of both sides: append to a file, or create a file in a directory
    #[arg(long, value_name = "FILE", env = RECORD_VARIABLE)]
    record: Option<OsString>,
    /// Leave what tools, people and models say out of the recording
    #[arg(long, env = REDACT_VARIABLE, value_parser = FalseyValueParser::new())]
    record_redact: bool,
    /// Maximum size of the recording in bytes
    // The minimum is the size of the first line.
    #[arg(long, value_name = "BYTES", default_value_t = DEFAULT_LIMIT, value_parser = clap::value_parser!(u64).range(4096..))]
    record_limit: u64,
    /// Format of the log on stderr: text, or one JSON object a line
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t, env = FORMAT_VARIABLE)]
    pub(super) log_format: LogFormat,
    #[command(flatten)]
    telemetry: telemetry::Arguments,
}

impl Arguments {
    /// Starts the requested recording. A session must not fail because it cannot be recorded.
    fn recorder(&self) -> Option<Recorder> {
        let path = self.record.as_deref().filter(|path| !path.is_empty())?;
        let redaction = Redaction::new(self.record_redact);
        Recorder::begin(Path::new(path), redaction, self.record_limit)
            .inspect_err(|error| tracing::warn!("nothing is recorded: {error}"))
            .ok()
    }
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    if io::stdin().is_terminal() {
        eprintln!("{HINT}");
    }
    let recorder = || arguments.recorder().map(|recorder| Box::new(recorder) as _);
    let serve = || serve(arguments.max_line, recorder());
    let served = arguments.telemetry.around(TIME_TO_EXPORT, serve);
    served.context("the pipe to the host failed")
}
