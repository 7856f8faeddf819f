//! Changes of files, and the reasons why one is not made.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::files::write_atomically;

/// A file, as it is and as it becomes.
#[derive(Debug)]
pub(crate) struct FileChange {
    pub(crate) path: PathBuf,
    /// `None` if the file does not exist.
    pub(crate) before: Option<String>,
    /// `None` if the file is to be removed.
    pub(crate) after: Option<String>,
}

/// A configuration that cannot be changed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum InstallError {
    #[error("{}: {error}", path.display())]
    Io { path: PathBuf, error: io::Error },
    #[error("{}: {reason}: nothing was changed", path.display())]
    Unfit { path: PathBuf, reason: String },
    #[error("the home directory is not known: set HOME")]
    NoHome,
    #[error("{0}")]
    NoProject(&'static str),
}

/// Reads a file; `None` if it does not exist.
pub(super) fn read(path: &Path) -> Result<Option<String>, InstallError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(InstallError::Io {
            path: path.to_path_buf(),
            error,
        }),
    }
}

pub(super) fn unfit(path: &Path, reason: String) -> InstallError {
    InstallError::Unfit {
        path: path.to_path_buf(),
        reason,
    }
}

/// Writes a change.
pub(crate) fn apply(change: &FileChange) -> Result<(), InstallError> {
    let failed = |error| InstallError::Io {
        path: change.path.clone(),
        error,
    };
    match &change.after {
        _ if change.before == change.after => Ok(()),
        Some(text) => {
            if let Some(parent) = change.path.parent() {
                fs::create_dir_all(parent).map_err(failed)?;
            }
            write_atomically(&change.path, text).map_err(failed)
        }
        None => {
            fs::remove_file(&change.path).map_err(failed)?;
            remove_own_directories(&change.path);
            Ok(())
        }
    }
}

/// Removes the directories of a plugin of ours once they are empty.
fn remove_own_directories(file: &Path) {
    const OWN: &str = "plugins/workflow-sidecar";
    let is_own = |directory: &&Path| {
        let mut above = directory.ancestors().take(2);
        above.any(|directory| directory.ends_with(OWN))
    };
    for directory in file.ancestors().skip(1).take_while(is_own) {
        if let Err(error) = fs::remove_dir(directory) {
            tracing::debug!("{} stays: {error}", directory.display());
        }
    }
}
