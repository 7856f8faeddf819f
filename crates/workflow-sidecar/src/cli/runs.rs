//! `runs`: the runs of all hosts.

use std::io::{IsTerminal, Write};
use std::thread;
use std::time::Duration;

use super::project::StoreLocation;
use super::wait::{span, wait};
use crate::platform::answers::requests::Requests;
use crate::present::{CommandOutcome, OutputFormat, RunRow, count, run_table};
use crate::store::{DAY, IndexedRun, POSTGRES_FROM_3, POSTGRES_SCHEMA, RunQuery};
use crate::time::wall_time;

/// The time between two looks of `--watch`.
const LOOK: Duration = Duration::from_secs(1);
/// Clears the screen of a terminal, and goes to its first line.
const CLEAR: &str = "\u{1b}[2J\u{1b}[H";

/// List the runs of all hosts
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Only active runs
    #[arg(long)]
    active: bool,
    /// All runs, and not only the last 50
    #[arg(long, conflicts_with = "limit")]
    all: bool,
    /// The most runs to list
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: u32,
    /// List again when something changes
    #[arg(long)]
    watch: bool,
    /// Wait while this run waits for a person and nobody has answered, and list it then
    #[arg(long, value_name = "RUN", conflicts_with_all = ["active", "all", "limit", "watch", "prune"])]
    wait: Option<String>,
    /// The longest time to wait, as 90s, 30m or 1h [default: without end]
    #[arg(long, value_name = "TIME", requires = "wait", value_parser = span)]
    timeout: Option<Duration>,
    /// Delete the sessions and requests that have not changed for this many days, or for 90, and older figures
    #[arg(long, value_name = "DAYS", num_args = 0..=1, default_missing_value = "90", conflicts_with = "watch")]
    prune: Option<u64>,
    /// Print the SQL that makes the tables and roles of a store on a server; with 3, the SQL for tables that have format 3
    #[arg(long, exclusive = true, value_name = "FORMAT", num_args = 0..=1, default_missing_value = "new", value_parser = ["new", "3"])]
    schema: Option<String>,
    #[command(flatten)]
    store: StoreLocation,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<CommandOutcome> {
    if let Some(format) = &arguments.schema {
        let sql = match &**format {
            "3" => POSTGRES_FROM_3,
            _ => POSTGRES_SCHEMA,
        };
        write!(anstream::stdout(), "{sql}")?;
        return Ok(CommandOutcome::Success);
    }
    let store = arguments.store.open()?;
    if let Some(days) = arguments.prune {
        let removed = store.prune(wall_time().saturating_sub(days.saturating_mul(DAY)))?;
        anstream::println!("Removed {removed} sessions and runs.");
        return Ok(CommandOutcome::Success);
    }
    if let Some(id) = &arguments.wait {
        let (run, outcome) = wait(store, id, arguments.timeout)?;
        list(arguments, &[run])?;
        return Ok(outcome);
    }
    let clears = arguments.watch
        && arguments.format == OutputFormat::Human
        && std::io::stdout().is_terminal();
    // One more shows that there are more.
    let query = RunQuery {
        only_active: arguments.active,
        limit: (!arguments.all).then_some(arguments.limit.saturating_add(1)),
        ..RunQuery::default()
    };
    let mut listed = None;
    let requests = Requests::of(store);
    loop {
        let mut runs = requests.store().runs(&query)?;
        requests.note_answers(&mut runs)?;
        if listed.as_ref() != Some(&runs) {
            if clears {
                write!(anstream::stdout(), "{CLEAR}")?;
            }
            list(arguments, &runs)?;
            listed = Some(runs);
        }
        if !arguments.watch {
            return Ok(CommandOutcome::Success);
        }
        thread::sleep(LOOK);
    }
}

fn list(arguments: &Arguments, runs: &[IndexedRun]) -> anyhow::Result<()> {
    let hidden = usize::from(!arguments.all && runs.len() > arguments.limit as usize);
    let listed = runs.iter().take(runs.len() - hidden);
    let listed: Vec<RunRow<'_>> = listed.map(RunRow::of).collect();
    arguments.format.print(&listed, |listed, page| {
        if listed.is_empty() {
            page.line(if arguments.active {
                "No run is active."
            } else {
                "There are no runs. A host adds one when it starts a workflow; `simulate` does not."
            });
            return;
        }
        run_table(listed, page);
        if listed.len() < runs.len() {
            let listed = count(listed.len(), "run");
            page.line(format!("The last {listed}: --all lists all."));
        }
    })
}
