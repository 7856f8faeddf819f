//! What output is for: people, or programs.

use std::io::Write;

use serde::Serialize;

/// Whom the output is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(super) enum Format {
    /// For people
    #[default]
    Human,
    /// For programs
    Json,
}

/// Writes a value for programs.
pub(super) fn json(value: &impl Serialize) -> anyhow::Result<()> {
    let text = serde_json::to_string_pretty(value)?;
    Ok(writeln!(anstream::stdout().lock(), "{text}")?)
}

/// A count with its noun: `1 error`, `2 errors`.
pub(super) fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}
