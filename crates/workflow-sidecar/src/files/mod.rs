//! Files and directories, without regard to what is in them: the ground below
//! [`platform`](crate::platform). Imports nothing else of this crate.

mod atomic_write;
mod file_set;
mod file_state;
mod home;
pub(crate) mod regular_file;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub(crate) use self::atomic_write::write_atomically;
pub(crate) use self::file_state::FileState;
pub(crate) use self::home::{STATE_DIRECTORY, expanded_home, home_dir};

/// A result about a file or directory; `None` if it does not exist.
pub(crate) fn if_present<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        result => result.map(Some),
    }
}

/// A path from the root; as it is if it is empty, or if there is no working directory.
pub(crate) fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
}

/// The value in a JSON file; `None` if there is none that can be read.
pub(crate) fn json(path: &Path) -> Option<serde_json::Value> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

/// Returns true if an input is a pipe, which other processes of the user can open through `/proc`.
#[cfg(unix)]
pub(crate) fn is_pipe(input: impl std::os::fd::AsFd) -> bool {
    let status = rustix::fs::fstat(input);
    status.is_ok_and(|status| {
        rustix::fs::FileType::from_raw_mode(status.st_mode) == rustix::fs::FileType::Fifo
    })
}

#[cfg(not(unix))]
pub(crate) fn is_pipe<T>(_input: T) -> bool {
    false
}
