//! What output is for: people, or programs.

use std::io::{self, Write};

use clap::builder::styling::{AnsiColor, Style};
use serde::Serialize;
use workflow_core::diagnostic::visible;

/// A title.
pub(super) const TITLE: Style = Style::new().bold();
/// What is beside the point, as where something comes from.
pub(super) const ASIDE: Style = Style::new().dimmed();
/// What is as it should be.
pub(super) const GOOD: Style = AnsiColor::Green.on_default();
/// What is refused or wrong.
pub(super) const BAD: Style = AnsiColor::Red.on_default();
/// What wants to be looked at.
pub(super) const NOTABLE: Style = AnsiColor::Yellow.on_default();

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

/// Writes a text as it is, each line behind a bar.
pub(super) fn block(out: &mut impl Write, indent: &str, text: &str) -> io::Result<()> {
    for line in text.split('\n') {
        let line = format!("{indent}│ {}", visible(&line.replace('\t', "    ")));
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}
