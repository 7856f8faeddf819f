//! `mcp`, the server that a host starts for `workflow_step`.

use std::path::PathBuf;

use super::telemetry::{self, TIME_TO_EXPORT};
use crate::mcp;

/// Serve `workflow_step` to a host over MCP on stdin and stdout
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The directory of the store, instead of ~/.local/state/workflow-sidecar
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
    #[command(flatten)]
    telemetry: telemetry::Arguments,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let serve = || mcp::serve(arguments.state.as_deref());
    arguments.telemetry.around(TIME_TO_EXPORT, serve)
}
