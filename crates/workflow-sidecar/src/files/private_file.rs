//! Files that only their owner can read.

use std::io::{self, Read, Write};
use std::path::Path;

use serde::de::DeserializeOwned;

use super::regular_file;

/// Maximum number of bytes read.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// Reads the beginning of a file; `None` if it does not exist.
pub(crate) fn read_limited(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let file = match regular_file::open(path) {
        Ok(Some(file)) => file,
        Ok(None) => return Err(io::Error::other("it is not a regular file")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut bytes = Vec::new();
    file.take(MAX_BYTES).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// Reads a JSON file. What cannot be read is logged.
pub(crate) fn read_json<T: DeserializeOwned>(path: &Path) -> Option<T> {
    let text = read_limited(path)
        .inspect_err(|error| tracing::debug!("{}: {error}", path.display()))
        .ok()??;
    serde_json::from_slice(&text)
        .inspect_err(|error| tracing::warn!("{}: {error}", path.display()))
        .ok()
}

/// Replaces a file atomically. The new one is readable by its owner only.
pub(crate) fn replace(path: &Path, text: &str) -> io::Result<()> {
    let directory = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    // A temporary file is readable by its owner only.
    let mut file = tempfile::NamedTempFile::new_in(directory)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}
