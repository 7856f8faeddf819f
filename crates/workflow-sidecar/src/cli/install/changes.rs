//! The changes of a host's files: shown, and made.

use std::io::Write;
use std::path::Path;

use clap::builder::styling::{AnsiColor, Style};

use crate::install::{self, FileChange};

/// Shows the changes, and makes them unless it is a dry run. Of a directory of sources, which
/// nobody reads line by line, only the number of its files is shown.
pub(super) fn make(
    changes: &[FileChange],
    sources: Option<&Path>,
    is_dry_run: bool,
) -> anyhow::Result<()> {
    let mut out = anstream::stdout();
    let changes: Vec<&FileChange> = changes
        .iter()
        .filter(|change| change.before != change.after)
        .collect();
    let (in_sources, others): (Vec<&FileChange>, Vec<_>) = changes
        .iter()
        .copied()
        .partition(|change| sources.is_some_and(|sources| change.path.starts_with(sources)));
    if let (Some(directory), Some(first)) = (sources, in_sources.first()) {
        let verb = if first.after.is_some() {
            "written"
        } else {
            "removed"
        };
        let count = in_sources.len();
        writeln!(out, "{} ({count} files {verb})", directory.display())?;
    }
    for change in others {
        print(&mut out, change)?;
    }
    if changes.is_empty() {
        writeln!(out, "Nothing to change.")?;
    } else if is_dry_run {
        writeln!(out, "Dry run: nothing was changed.")?;
    }
    if !is_dry_run {
        for change in changes {
            install::apply(change)?;
        }
    }
    Ok(())
}

/// Prints the lines that come and go.
fn print(out: &mut impl Write, change: &FileChange) -> std::io::Result<()> {
    let lines = |text: &Option<String>| -> Vec<String> {
        let text = text.as_deref().unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    };
    let (before, after) = (lines(&change.before), lines(&change.after));
    let note = match (&change.before, &change.after) {
        (None, _) => " (new)",
        (_, None) => " (removed)",
        _ => "",
    };
    writeln!(out, "{}{note}", change.path.display())?;
    let styled = |colour: AnsiColor| Style::new().fg_color(Some(colour.into()));
    let (red, green) = (styled(AnsiColor::Red), styled(AnsiColor::Green));
    for line in before.iter().filter(|line| !after.contains(line)) {
        writeln!(out, "{red}- {line}{red:#}")?;
    }
    for line in after.iter().filter(|line| !before.contains(line)) {
        writeln!(out, "{green}+ {line}{green:#}")?;
    }
    Ok(())
}
