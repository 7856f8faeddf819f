//! Opens a file below a directory in one step, which fails if a link is on the way.
//!
//! Owns what Linux does for this, and that what is no plain file is not opened. A system that does not know
//! the call, or forbids it, answers as for a link: the caller then goes the long way.

use std::fs::File;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags, openat2, statat};
use rustix::io::Errno;

/// What is at a path below a directory.
pub(super) enum Found {
    /// A plain file, opened, and how many bytes it has.
    File(File, u64),
    /// Nothing.
    Nothing,
    /// A link, something else than a plain file, or something that cannot be opened.
    Other,
}

/// Opens what is at a path without `..` below a directory.
pub(super) fn open(directory: &File, relative: &str) -> Found {
    // Looked at before it is opened, since opening a device may do something.
    let length = match statat(directory, relative, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(found) if FileType::from_raw_mode(found.st_mode).is_file() => found.st_size,
        Err(Errno::NOENT) => return Found::Nothing,
        Ok(_) | Err(_) => return Found::Other,
    };
    // Another one may have taken its place since: nobody waits for the other end of a pipe.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let within = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    match openat2(directory, relative, flags, Mode::empty(), within) {
        Ok(file) => Found::File(file.into(), u64::try_from(length).unwrap_or_default()),
        Err(_) => Found::Other,
    }
}
