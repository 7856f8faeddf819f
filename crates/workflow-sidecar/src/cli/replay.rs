//! `replay`: comparison of a sidecar with recorded transcripts.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::bail;
use parking_lot::Mutex;
use workflow_core::diagnostic::{render, visible};

use crate::present::{CommandOutcome, NOTABLE, count, json};
use crate::record::{
    ReplayOptions, ReplayRow, ReplayTotals, Tiers, junit, replay_all, replay_text, transcripts,
};

const EXAMPLES: &str = "\
Examples:
  workflow-sidecar serve --record session.jsonl           record a session
  workflow-sidecar replay session.jsonl                   send the host's messages again, and compare
  workflow-sidecar replay tests/transcripts --format junit > replay.xml
  workflow-sidecar replay session.jsonl --definitions .   with the workflows as they are now
  workflow-sidecar replay session.jsonl --definitions . --bless    accept the differences
  workflow-sidecar replay recordings --only decisions     ignore wording

A recording contains the definitions that it was made with. It needs no directory and no host, and is replayed on
a virtual clock. In a directory all *.jsonl files are replayed.

Exits with 1 if anything differs.";

/// Time before progress is displayed.
const PROGRESS_DELAY: Duration = Duration::from_secs(1);

/// Replay recorded sessions and compare the messages of the sidecar
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Recordings, or directories of recordings
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Accept the differences: write the new messages, and the definitions of --definitions, into the recordings
    #[arg(long)]
    bless: bool,
    /// Compare only a part of the messages
    #[arg(long, value_enum, conflicts_with = "bless")]
    only: Option<Only>,
    /// Definitions to use instead of the recorded ones: a project, or a directory with `agent` and `project`
    #[arg(long, value_name = "DIR")]
    definitions: Option<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: ReplayFormat,
}

/// The parts of messages that may be compared alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Only {
    /// Decisions on calls, questions and phase changes, without their wording
    Decisions,
}

/// The formats of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
enum ReplayFormat {
    /// Text
    #[default]
    Human,
    /// JSON for programs
    Json,
    /// Test report in XML, for CI systems
    Junit,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<CommandOutcome> {
    let options = ReplayOptions {
        instead: match &arguments.definitions {
            Some(directory) => definitions(directory)?,
            None => Tiers::default(),
        },
        only_decisions: arguments.only == Some(Only::Decisions),
    };
    let files = transcripts(&arguments.files)?;
    let results = replay_all(&files, &options, arguments.bless, progress(files.len()));
    let files = files.iter().map(|file| file.display().to_string());
    let rows = files.zip(results);
    let rows: Vec<_> = rows
        .map(|(file, result)| ReplayRow { file, result })
        .collect();
    match arguments.format {
        ReplayFormat::Human => replay_text(&rows).print()?,
        ReplayFormat::Json => json(&rows)?,
        ReplayFormat::Junit => junit(&rows).print()?,
    }
    match ReplayTotals::of(&rows) {
        // The table names each; only where it is for programs they are named here.
        ReplayTotals { failed: 1.., .. } if arguments.format == ReplayFormat::Human => {
            Ok(CommandOutcome::Failed)
        }
        ReplayTotals {
            failed: failed @ 1..,
            ..
        } => bail!("{} cannot be replayed", count(failed, "transcript")),
        ReplayTotals { differ: 1.., .. } => Ok(CommandOutcome::Findings),
        ReplayTotals { .. } => Ok(CommandOutcome::Success),
    }
}

/// Reads the definitions to use instead. Their diagnostics are printed first, because they explain differences.
fn definitions(directory: &Path) -> anyhow::Result<Tiers> {
    let tiers = Tiers::read(directory)?;
    let loaded = tiers.loaded(directory)?;
    for found in &loaded.diagnostics {
        anstream::eprintln!("{}\n", render(found, true));
    }
    if loaded.catalog.iter().next().is_none() {
        let directory = visible(&directory.display().to_string());
        anstream::eprintln!("{NOTABLE}warning{NOTABLE:#}: no workflow in {directory} can run\n");
    }
    Ok(tiers)
}

/// Displays progress on a terminal after a delay.
fn progress(all: usize) -> impl Fn(usize) + Sync {
    let is_visible = io::stderr().is_terminal();
    let started = Instant::now();
    let displayed = Mutex::new(0);
    move |done| {
        if !is_visible || started.elapsed() < PROGRESS_DELAY {
            return;
        }
        // Threads may report out of order.
        let mut displayed = displayed.lock();
        if done < *displayed {
            return;
        }
        *displayed = done;
        // Cleared with the last one.
        let line = if done < all {
            format!("\r{done} of {all} replayed")
        } else {
            "\r\u{1b}[K".to_owned()
        };
        // Progress that cannot be displayed is no reason to fail.
        let _ = io::stderr().write_all(line.as_bytes());
    }
}
