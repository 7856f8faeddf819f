//! Files and directories that only their owner can read.

use std::fs;
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

/// Creates a directory that only its owner can read, or restricts an existing one. Its parents are ordinary ones.
#[cfg(unix)]
pub(crate) fn create_private_dir(directory: &Path) -> io::Result<()> {
    use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
    const OWNER_ONLY: u32 = 0o700;
    if let Some(parent) = directory.parent() {
        fs::create_dir_all(parent)?;
    }
    match fs::DirBuilder::new().mode(OWNER_ONLY).create(directory) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && directory.is_dir() => {
            if directory.metadata()?.permissions().mode() & 0o077 != 0 {
                fs::set_permissions(directory, fs::Permissions::from_mode(OWNER_ONLY))?;
            }
            Ok(())
        }
        created => created,
    }
}

/// Creates a directory. A user's directories are private by default here.
#[cfg(windows)]
pub(crate) fn create_private_dir(directory: &Path) -> io::Result<()> {
    fs::create_dir_all(directory)
}
