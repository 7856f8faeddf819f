//! `install opencode` and `uninstall opencode`: a plugin instead of hooks.

use std::io::Write;

use super::install::{DRY_RUN, print};
use crate::install::{self, FileChange, Place, opencode};

/// Shows the plugin, and writes it.
pub(super) fn install(place: &Place<'_>, is_dry_run: bool) -> anyhow::Result<()> {
    change(&opencode::plan(place)?, is_dry_run)?;
    if !is_dry_run {
        anstream::println!("Start opencode again. Then type: /workflow NAME TASK");
    }
    Ok(())
}

/// Shows what is removed, and removes it.
pub(super) fn remove(place: &Place<'_>, is_dry_run: bool) -> anyhow::Result<()> {
    change(&opencode::plan_removal(place)?, is_dry_run)?;
    if !is_dry_run {
        opencode::remove_empty_directories(place);
    }
    Ok(())
}

fn change(changes: &[FileChange], is_dry_run: bool) -> anyhow::Result<()> {
    let mut out = anstream::stdout();
    let changes: Vec<&FileChange> = changes
        .iter()
        .filter(|change| change.before != change.after)
        .collect();
    if changes.is_empty() {
        writeln!(out, "Nothing to change.")?;
    }
    let (sources, others): (Vec<&FileChange>, Vec<&FileChange>) = changes
        .iter()
        .copied()
        .partition(|change| opencode::is_source(&change.path));
    if let [first, ..] = &*sources {
        let verb = if first.after.is_some() {
            "written"
        } else {
            "removed"
        };
        let directory = opencode::source_directory(&first.path);
        let count = sources.len();
        writeln!(out, "{} ({count} files {verb})", directory.display())?;
    }
    for change in others {
        print(&mut out, change)?;
    }
    if is_dry_run && !changes.is_empty() {
        writeln!(out, "{DRY_RUN}")?;
    }
    if !is_dry_run {
        for change in changes {
            install::apply(change)?;
        }
    }
    Ok(())
}
