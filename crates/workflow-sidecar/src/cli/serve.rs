//! `serve`: what a host spawns.

use anyhow::Context;

use crate::serve::{DEFAULT_MAX_LINE, serve};

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
    serve(arguments.max_line).context("the pipe to the host failed")
}
