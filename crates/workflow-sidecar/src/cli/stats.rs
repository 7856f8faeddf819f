//! `stats`: figures of runs over time.

use std::path::PathBuf;

use super::project::UserDirectory;
use crate::figures::{DAY, Figures, add_to};
use crate::present::OutputFormat;
use crate::time::wall_time;

/// Show how runs ended, and what took their time
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The days to count, today included
    #[arg(long, value_name = "DAYS", default_value = "90d", value_parser = days)]
    since: u64,
    /// Only this workflow, by its key
    #[arg(long, value_name = "WORKFLOW")]
    workflow: Option<String>,
    /// The directory of the store, instead of ~/.local/state/workflow-sidecar
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
    #[command(flatten)]
    user: UserDirectory,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let store = arguments.user.store(arguments.state.as_deref())?;
    let since = wall_time().saturating_sub(arguments.since.saturating_sub(1).saturating_mul(DAY));
    let mut figures = Figures::read(&store, since)?;
    if let Some(name) = &arguments.workflow {
        figures.workflows.retain(|workflow, _| workflow == name);
    }
    arguments
        .format
        .print(&figures, |figures, page| add_to(page, figures))
}

/// Reads a number of days such as `90d`.
fn days(text: &str) -> Result<u64, &'static str> {
    let days = text.strip_suffix('d').and_then(|days| days.parse().ok());
    days.ok_or("a number of days is expected, such as `90d`")
}
