//! Opens a plain file, and waits for nobody.
//!
//! Owns that whatever stands at a path that somebody wrote, a pipe or a device say, holds nothing up.

use std::fs::File;
use std::io;
use std::path::Path;

/// Opens a file to read it; `None` if what is there is a directory, a pipe or a device.
pub(crate) fn open(path: &Path) -> io::Result<Option<File>> {
    // Looked at before it is opened, since opening a device may do something.
    if !path.metadata()?.is_file() {
        return Ok(None);
    }
    let file = open_at_once(path)?;
    // Another one may have taken its place since.
    let is_file = file.metadata()?.is_file();
    Ok(is_file.then_some(file))
}

#[cfg(unix)]
fn open_at_once(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
    let flags = i32::try_from(flags.bits()).unwrap_or_default();
    File::options().read(true).custom_flags(flags).open(path)
}

#[cfg(windows)]
fn open_at_once(path: &Path) -> io::Result<File> {
    File::open(path)
}
