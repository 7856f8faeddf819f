//! Directories that only their owner can read.

use std::fs;
use std::io;
use std::path::Path;

/// Creates a directory that only its owner can read, or restricts an existing one. Its parents are ordinary ones.
#[cfg(unix)]
pub fn create_private_dir(directory: &Path) -> io::Result<()> {
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
pub fn create_private_dir(directory: &Path) -> io::Result<()> {
    fs::create_dir_all(directory)
}
