//! `serve`: what a host spawns.

use std::ffi::OsString;
use std::io::{self, IsTerminal};

use anyhow::Context;
use clap::builder::RangedU64ValueParser;
use clap::{Args, FromArgMatches};

use crate::serve::{DEFAULT_MAX_LINE, HIGHEST_MAX_LINE, serve};

/// What a person who types sees first.
const HINT: &str = "\
A host speaks JSON-RPC 2.0 here, one message a line. The first is
  {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":1,\"host\":{\"name\":\"me\",\"version\":\"1\"},\"cwd\":\".\"}}
Ctrl-D ends it.";

/// Serve a host on stdin and stdout
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// How many bytes a line may have; a longer one is refused and skipped
    #[arg(long, value_name = "BYTES", default_value_t = DEFAULT_MAX_LINE, value_parser = max_line())]
    max_line: usize,
}

fn max_line() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(1..=HIGHEST_MAX_LINE as u64)
}

impl Default for Arguments {
    fn default() -> Self {
        Self {
            max_line: DEFAULT_MAX_LINE,
        }
    }
}

impl Arguments {
    /// Reads what follows `serve`; ends the process if it is wrong, or asks for help.
    pub(super) fn read(words: impl Iterator<Item = OsString>) -> Self {
        let mut words = words.peekable();
        if words.peek().is_none() {
            return Self::default();
        }
        let command = clap::Command::new("serve")
            .bin_name("workflow-sidecar serve")
            .no_binary_name(true);
        let matches = Self::augment_args(command).get_matches_from(words);
        Self::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    }
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    if io::stdin().is_terminal() {
        eprintln!("{HINT}");
    }
    serve(arguments.max_line).context("the pipe to the host failed")
}
