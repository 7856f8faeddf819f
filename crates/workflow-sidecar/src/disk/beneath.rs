//! Opens files below a directory to which no link leads, and looks at each directory on the way once.
//!
//! Owns that every step starts at the directory that was opened before it, and follows no link: what is found lies
//! below the first one. Whatever is unusual is left to the caller, who goes the long way.

use std::cell::RefCell;
use std::fs::File;
use std::io;
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, openat, statat};
use rustix::io::Errno;

/// How directories are opened.
const DIRECTORY: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// A directory, and the one below it that was looked into last: the files of a workflow lie together.
#[derive(Debug)]
pub(super) struct Beneath {
    directory: File,
    last: RefCell<Option<(String, File)>>,
}

/// What is at a path below a directory.
#[derive(Debug)]
pub(super) enum Found {
    /// A plain file, opened, and how many bytes it has.
    File(File, u64),
    /// Nothing.
    Nothing,
    /// A link, something else than a plain file, or something that cannot be opened.
    Other,
}

impl Beneath {
    /// Opens a directory, by its real path.
    pub(super) fn open(directory: &Path) -> io::Result<Self> {
        Ok(Self {
            directory: rustix::fs::open(directory, DIRECTORY, Mode::empty())?.into(),
            last: RefCell::default(),
        })
    }

    /// Opens what is at a path, which has no `..` in it.
    pub(super) fn find(&self, relative: &str) -> Found {
        let Some((parents, name)) = relative.rsplit_once('/') else {
            return plain_file(&self.directory, relative);
        };
        let mut last = self.last.borrow_mut();
        if let Some((path, directory)) = &*last
            && path == parents
        {
            return plain_file(directory, name);
        }
        match self.descend(parents) {
            Ok(directory) => {
                let (_, directory) = last.insert((parents.to_owned(), directory));
                plain_file(directory, name)
            }
            Err(Errno::NOENT) => Found::Nothing,
            Err(_) => Found::Other,
        }
    }

    fn descend(&self, parents: &str) -> Result<File, Errno> {
        let mut parts = parents.split('/');
        let first = parts.next().unwrap_or_default();
        let mut at = openat(&self.directory, first, DIRECTORY, Mode::empty())?;
        for part in parts {
            at = openat(&at, part, DIRECTORY, Mode::empty())?;
        }
        Ok(at.into())
    }
}

fn plain_file(directory: &File, name: &str) -> Found {
    // Looked at before it is opened, since opening a device may do something.
    let length = match statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(found) if FileType::from_raw_mode(found.st_mode).is_file() => found.st_size,
        Err(Errno::NOENT) => return Found::Nothing,
        Ok(_) | Err(_) => return Found::Other,
    };
    // Another one may have taken its place since: nobody waits for the other end of a pipe.
    let flags =
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    match openat(directory, name, flags, Mode::empty()) {
        Ok(file) => Found::File(file.into(), u64::try_from(length).unwrap_or_default()),
        Err(_) => Found::Other,
    }
}
