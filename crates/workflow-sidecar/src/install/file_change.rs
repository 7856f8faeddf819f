//! Changes of files, and the reasons why one is not made.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::anyhow;

use crate::files::{if_present, write_atomically};

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
