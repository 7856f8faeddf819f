//! `demo`: a scripted agent in example workflows.

/// Run an agent through example workflows, over a real sidecar, and print who said what
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {}

const EXAMPLES: &str = "\
Examples:
  workflow-sidecar demo                   a blocked tool, a loop, an early stop, a crash, two runs
  NO_COLOR=1 workflow-sidecar demo | less

The workflows are written to a temporary directory and removed afterwards.";

pub(super) fn run(_: &Arguments) -> anyhow::Result<()> {
    crate::demo::run()
}
