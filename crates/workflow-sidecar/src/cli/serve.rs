//! `serve`: what a host spawns.

use std::io::{self, IsTerminal};

use anyhow::Context;

use crate::serve::{DEFAULT_MAX_LINE, serve};

/// What a person who types sees first.
const HINT: &str = "\
A host speaks JSON-RPC 2.0 here, one message a line. The first is
  {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":1,\"host\":{\"name\":\"me\",\"version\":\"1\"},\"cwd\":\".\"}}
Ctrl-D ends it.";

/// Serve a host on stdin and stdout
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// How many bytes a line may have; a longer one is refused and skipped
    #[arg(long, value_name = "BYTES", default_value_t = DEFAULT_MAX_LINE)]
    max_line: usize,
}

impl Default for Arguments {
    fn default() -> Self {
        Self {
            max_line: DEFAULT_MAX_LINE,
        }
    }
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    if io::stdin().is_terminal() {
        eprintln!("{HINT}");
    }
    serve(arguments.max_line).context("the pipe to the host failed")
}
