//! `replay`: comparison of a sidecar with recorded transcripts.

use std::path::{Path, PathBuf};

use anyhow::bail;
use workflow_core::diagnostic::{render, visible};

use crate::present::{BAD, CommandOutcome, NOTABLE, count, json, paint, say};
use crate::record::{ReplayTotals, Tiers, junit, replay_all, replay_text};

/// Replay recorded sessions and compare the messages of the sidecar
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Recordings, or directories of recordings
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Accept the differences: write the new messages, and the definitions of --definitions, into the recordings
    #[arg(long)]
    bless: bool,
    /// Definitions to use instead of the recorded ones: a project, or a directory with `agent` and `project`
    #[arg(long, value_name = "DIR")]
    definitions: Option<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: ReplayFormat,
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
    let instead = arguments.definitions.as_deref().map(definitions);
    let instead = instead.transpose()?.unwrap_or_default();
    let rows = replay_all(&arguments.files, &instead, arguments.bless)?;
    match arguments.format {
        ReplayFormat::Human => {
            let (mut text, errors) = replay_text(&rows);
            for error in errors {
                anstream::eprintln!("{}: {error}", paint(BAD.bold(), "error"));
            }
            text.print()?;
        }
        ReplayFormat::Json => json(&rows)?,
        ReplayFormat::Junit => say(junit(&rows)?)?,
    }
    let ReplayTotals { failed, differ, .. } = ReplayTotals::of(&rows);
    // The table names each; only where it is for programs they are named here.
    if failed > 0 && arguments.format != ReplayFormat::Human {
        bail!("{} cannot be replayed", count(failed, "transcript"));
    }
    Ok(match (failed, differ) {
        (1.., _) => CommandOutcome::Failed,
        (0, 1..) => CommandOutcome::Findings,
        (0, 0) => CommandOutcome::Success,
    })
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
