//! `list`: which workflows there are, where each comes from, and what takes its place.

use std::io::Write;

use serde::Serialize;
use workflow_core::definition::{Listing, Outcome as Became, Show, Tier};

use super::format::{Format, json};
use super::outcome::Outcome;
use super::project::Project;

const EXAMPLES: &str = "\
Examples:
  workflow-sidecar list                     the workflows of this directory's .pi, and your own
  workflow-sidecar list --format json";

/// List the workflows there are, with where each comes from
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    #[command(flatten)]
    project: Project,
    /// Whom the output is for
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// A workflow as `--format json` tells of it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Row<'a> {
    key: &'a str,
    command: &'a str,
    name: &'a str,
    phases: usize,
    source: &'a str,
    tier: Tier,
    status: &'static str,
}

impl<'a> From<&'a Listing> for Row<'a> {
    fn from(listing: &'a Listing) -> Self {
        Self {
            key: &listing.key,
            command: &listing.command_name,
            name: &listing.name,
            phases: listing.phases,
            source: &listing.source,
            tier: listing.tier,
            status: status(listing),
        }
    }
}

fn status(listing: &Listing) -> &'static str {
    match listing.outcome {
        Became::LeftOut => "left out, see check",
        Became::Shadowed => "replaced by the project's",
        Became::Loaded if listing.shadows => "replaces your own",
        Became::Loaded if listing.show == Show::Workflows => "a part of others",
        Became::Loaded => "can be started",
    }
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let loaded = arguments.project.load()?;
    let rows: Vec<Row<'_>> = loaded.index.iter().map(Row::from).collect();
    match arguments.format {
        Format::Json => json(&rows)?,
        Format::Human => table(&rows)?,
    }
    Ok(Outcome::Well)
}

fn table(rows: &[Row<'_>]) -> anyhow::Result<()> {
    let mut out = anstream::stdout().lock();
    if rows.is_empty() {
        writeln!(out, "no workflows: `workflow-sidecar init` writes one")?;
    }
    let width = |column: fn(&Row<'_>) -> usize| rows.iter().map(column).max().unwrap_or(0);
    let key = width(|row| row.key.chars().count());
    let status = width(|row| row.status.chars().count());
    for row in rows {
        writeln!(
            out,
            "{:key$}  {:status$}  {}",
            row.key, row.status, row.source
        )?;
    }
    Ok(())
}
