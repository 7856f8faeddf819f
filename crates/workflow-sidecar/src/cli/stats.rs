//! `stats`: figures of runs over time.

use super::project::StoreLocation;
use crate::figures::{Figures, add_to};
use crate::present::OutputFormat;
use crate::store::DAY;
use crate::time::wall_time;

/// Show how runs ended, and what took their time
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The days to count (UTC), today included
    #[arg(long, value_name = "DAYS", default_value = "90d", value_parser = days)]
    since: u64,
    /// Only this workflow, by its key
    #[arg(long, value_name = "WORKFLOW")]
    workflow: Option<String>,
    #[command(flatten)]
    store: StoreLocation,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let store = arguments.store.open()?;
    let now = wall_time();
    let since = now.saturating_sub((arguments.since - 1).saturating_mul(DAY));
    let figures = Figures::read(&store, (since, now), arguments.workflow.as_deref())?;
    arguments
        .format
        .print(&figures, |figures, page| add_to(page, figures))
}

/// Reads a number of days such as `90d`.
fn days(text: &str) -> Result<u64, &'static str> {
    let days = text.strip_suffix('d').and_then(|days| days.parse().ok());
    let days = days.filter(|days| *days > 0);
    days.ok_or("a number of days is expected, such as `90d`")
}
