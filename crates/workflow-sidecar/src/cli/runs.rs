//! `runs`: the runs of hook hosts.

use std::io::Write;
use std::path::PathBuf;
use std::time::SystemTime;

use serde::Serialize;
use workflow_core::diagnostic::visible;

use super::format::{Format, json, moment};
use super::outcome::Outcome;
use super::table;
use crate::store::{IndexedRun, SqliteStore, Store, state_directory};

const DAY: u64 = 24 * 60 * 60 * 1000;

const EXAMPLES: &str = "\
Examples:
  workflow-sidecar runs                     the runs in Codex, Claude Code, Copilot CLI and Gemini CLI
  workflow-sidecar runs --format json
  workflow-sidecar runs --prune             delete the sessions that have not changed for 90 days

Runs in pi are stored in the sessions of pi: `workflow-sidecar status` shows them.";

/// List the runs of Codex, Claude Code, Copilot CLI and Gemini CLI
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Delete the sessions that have not changed for this many days
    #[arg(long, value_name = "DAYS", num_args = 0..=1, default_missing_value = "90")]
    prune: Option<u64>,
    /// The directory of the store, instead of ~/.local/state/workflow-sidecar
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let store = SqliteStore::new(state_directory(arguments.state.as_deref())?);
    if let Some(days) = arguments.prune {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?;
        let now = u64::try_from(since.as_millis())?;
        let removed = store.prune(now.saturating_sub(days.saturating_mul(DAY)))?;
        anstream::println!("Forgot {removed} sessions.");
        return Ok(Outcome::Success);
    }
    let runs = store.runs()?;
    match arguments.format {
        Format::Json => json(&runs.iter().map(Row::of).collect::<Vec<_>>())?,
        Format::Human => print(&runs)?,
    }
    Ok(Outcome::Success)
}

/// A run, as in the output of `--format json`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Row<'a> {
    host: &'a str,
    session: &'a str,
    cwd: String,
    task_id: &'a str,
    workflow: &'a str,
    phase: &'a str,
    task: &'a str,
    status: &'a str,
    active: bool,
    updated: u64,
}

impl<'a> Row<'a> {
    fn of(indexed: &'a IndexedRun) -> Self {
        let IndexedRun {
            key,
            cwd,
            updated,
            run,
        } = indexed;
        Self {
            host: &key.host,
            session: &key.session,
            cwd: cwd.to_string_lossy().into_owned(),
            task_id: &run.task_id,
            workflow: &run.workflow,
            phase: &run.phase,
            task: &run.task,
            status: &run.status,
            active: run.is_active,
            updated: *updated,
        }
    }
}

fn print(runs: &[IndexedRun]) -> anyhow::Result<()> {
    let mut out = anstream::stdout();
    if runs.is_empty() {
        writeln!(out, "There are no runs in the store.")?;
        return Ok(());
    }
    let row = |indexed: &IndexedRun| {
        let run = &indexed.run;
        [
            indexed.key.host.clone(),
            visible(&run.workflow),
            if run.is_active {
                visible(&run.phase)
            } else {
                "ended".to_owned()
            },
            moment(i64::try_from(indexed.updated).unwrap_or(i64::MAX), 0),
            visible(&run.task),
            visible(&indexed.cwd.to_string_lossy()),
        ]
    };
    let rows: Vec<[String; 6]> = runs.iter().map(row).collect();
    let head = ["HOST", "WORKFLOW", "PHASE", "CHANGED", "TASK", "PROJECT"];
    table::write(&mut out, head, &rows)?;
    Ok(())
}
