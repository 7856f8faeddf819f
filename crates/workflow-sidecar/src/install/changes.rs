//! The changes of a host's files: shown, and made.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::anyhow;

use super::hosts::InstallTarget;
use super::opencode;
use crate::files::{if_present, write_atomically};
use crate::present::{BAD, GOOD, Page, paint};

/// Makes the changes and names their files. A dry run shows their lines instead. Of a directory of sources, which is not
/// read line by line, only the number of its files is shown.
pub(super) fn make(
    changes: &[FileChange],
    target: &InstallTarget,
    is_dry_run: bool,
) -> anyhow::Result<()> {
    let sources = &opencode::source_directory(target);
    let changes = changes.iter().filter(|change| !change.is_made());
    let changes: Vec<&FileChange> = changes.collect();
    let mut page = Page::default();
    if changes.is_empty() {
        page.line("Nothing to change.");
        return page.print();
    }
    if is_dry_run {
        show(&changes, sources, true, &mut page);
        page.line("Dry run: nothing was changed.");
        return page.print();
    }
    // All are made before the first is shown: the reader of the output may go away, as `head` does.
    let mut all = changes.iter().enumerate();
    let failed = all.find_map(|(at, change)| Some((at, apply(change).err()?)));
    let made = failed.as_ref().map_or(changes.len(), |(at, _)| *at);
    show(&changes[..made], sources, false, &mut page);
    page.print()?;
    failed.map_or(Ok(()), |(_, error)| Err(error))
}

/// Adds changes: their files, and the lines that come and go.
fn show(changes: &[&FileChange], sources: &Path, has_lines: bool, page: &mut Page) {
    let (in_sources, others): (Vec<&FileChange>, Vec<_>) = changes
        .iter()
        .partition(|change| change.path.starts_with(sources));
    if let Some(first) = in_sources.first() {
        let verb = first.after.as_ref().map_or("removed", |_| "written");
        let (directory, count) = (sources.display(), in_sources.len());
        page.line(format_args!("{directory} ({count} files {verb})"));
    }
    for change in others {
        let note = match (&change.before, &change.after) {
            (None, _) => " (new)",
            (_, None) => " (removed)",
            _ => "",
        };
        page.line(format_args!("{}{note}", change.path.display()));
        if !has_lines {
            continue;
        }
        let texts = [&change.before, &change.after];
        let [before, after] = texts.map(|text| text.as_deref().unwrap_or_default());
        for (text, other, style, mark) in [(before, after, BAD, '-'), (after, before, GOOD, '+')] {
            let other: Vec<&str> = other.lines().collect();
            for line in text.lines().filter(|line| !other.contains(line)) {
                page.line(paint(style, format_args!("{mark} {line}")));
            }
        }
    }
}

/// A file, as it is and as it becomes.
#[derive(Debug)]
pub(crate) struct FileChange {
    pub(crate) path: PathBuf,
    /// `None` if the file does not exist.
    pub(crate) before: Option<String>,
    /// `None` if the file is to be removed.
    pub(crate) after: Option<String>,
}

impl FileChange {
    /// Returns true if there is nothing to do.
    pub(crate) fn is_made(&self) -> bool {
        self.before == self.after
    }
}

/// Reads a file; `None` if it does not exist.
pub(super) fn read(path: &Path) -> anyhow::Result<Option<String>> {
    let text = if_present(fs::read_to_string(path));
    text.map_err(|error| anyhow!("{}: {error}", path.display()))
}

/// The error of a file whose content does not allow the change.
pub(super) fn unfit(path: &Path, reason: &str) -> anyhow::Error {
    anyhow!("{}: {reason}: nothing was changed", path.display())
}

/// Writes a change.
pub(super) fn apply(change: &FileChange) -> anyhow::Result<()> {
    let path = &change.path;
    let failed = |error| anyhow!("{}: {error}", path.display());
    match &change.after {
        _ if change.is_made() => Ok(()),
        Some(text) => {
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent).map_err(failed)?;
            }
            write_atomically(path, text).map_err(failed)
        }
        None => fs::remove_file(path).map_err(failed),
    }
}
