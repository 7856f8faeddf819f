//! Makes a coding agent follow a workflow.

use std::process::ExitCode;

fn main() -> ExitCode {
    workflow_sidecar::cli::run()
}
