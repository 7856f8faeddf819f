//! The marker of active runs: a file that exists while a run is active in any session.
//!
//! It answers the question whether to fail closed where the store cannot: in the installed command, when the program is
//! missing, and here, when the database cannot be read.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::Path;

/// The name of the marker in the directory of the store.
const MARKER: &str = "active";

/// Returns true if a run may be active. A directory that cannot be read counts as one with an active run.
pub fn has_active_runs(directory: &Path) -> bool {
    directory.join(MARKER).try_exists().unwrap_or(true)
}

/// Creates or removes the marker.
pub(crate) fn mark(directory: &Path, is_active: bool) -> io::Result<()> {
    let marker = directory.join(MARKER);
    if is_active {
        let mut options = OpenOptions::new();
        options.create(true).append(true);
        return options.open(marker).map(drop);
    }
    match fs::remove_file(marker) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
