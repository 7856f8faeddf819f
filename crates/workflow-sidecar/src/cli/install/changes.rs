//! The changes of a host's files: shown, and made.

use std::io::Write;
use std::path::Path;

use clap::builder::styling::{AnsiColor, Style};

use crate::install::{self, FileChange};

/// Makes the changes, unless it is a dry run, and shows them. Of a directory of sources, which is not read line by
/// line, only the number of its files is shown.
pub(super) fn make(
    changes: &[FileChange],
    sources: Option<&Path>,
    is_dry_run: bool,
) -> anyhow::Result<()> {
    let changes: Vec<&FileChange> = changes
        .iter()
        .filter(|change| change.before != change.after)
        .collect();
    if changes.is_empty() {
        writeln!(anstream::stdout(), "Nothing to change.")?;
        return Ok(());
    }
    if is_dry_run {
        show(&changes, sources)?;
        writeln!(anstream::stdout(), "Dry run: nothing was changed.")?;
        return Ok(());
    }
    // All are made before the first is shown: the reader of the output may go away, as `head` does.
    let failed = changes
        .iter()
        .enumerate()
        .find_map(|(at, change)| Some((at, install::apply(change).err()?)));
    let made = failed.as_ref().map_or(changes.len(), |(at, _)| *at);
    show(&changes[..made], sources)?;
    failed.map_or(Ok(()), |(_, error)| Err(error.into()))
}

/// Shows changes.
fn show(changes: &[&FileChange], sources: Option<&Path>) -> std::io::Result<()> {
    let mut out = anstream::stdout();
    let (in_sources, others): (Vec<&FileChange>, Vec<_>) = changes
        .iter()
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
