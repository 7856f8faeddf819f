//! Recorded states of files, to find out later if they have changed.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::io::{self, Read};
use std::path::Path;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use workflow_core::definition::ProjectGlob;

use super::{hash, regular_file};

/// Bytes of a file that are hashed. Of a longer one the length and the time of the last change are compared.
const READ: u64 = 16 * 1024 * 1024;

/// The metadata that differ between two versions of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileVersion {
    pub(crate) length: u64,
    /// A system without this time has none to compare.
    pub(crate) modified: Option<SystemTime>,
    /// The inode and its change time, which nothing but the system sets.
    #[cfg(unix)]
    inode: (u64, i64, i64),
}

impl From<&Metadata> for FileVersion {
    fn from(metadata: &Metadata) -> Self {
        #[cfg(unix)]
        use std::os::unix::fs::MetadataExt;
        Self {
            length: metadata.len(),
            modified: metadata.modified().ok(),
            #[cfg(unix)]
            inode: (metadata.ino(), metadata.ctime(), metadata.ctime_nsec()),
        }
    }
}

/// The state of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum FileState {
    /// There was no file.
    Absent,
    /// The SHA-256 of its content.
    Content(String),
    /// It was too long to be read.
    Long {
        /// Its length in bytes.
        length: u64,
        /// When it was last changed, in nanoseconds since 1970.
        changed: u128,
    },
    /// There was a directory, a pipe or a device.
    NoFile,
    /// It could not be read.
    Unreadable,
}

impl FileState {
    /// Reads the state of a file, after the deadline without its content. Never waits for a pipe or a device.
    pub(crate) fn of(path: &Path, end: Option<Instant>) -> io::Result<Self> {
        use io::ErrorKind::{NotADirectory, NotFound};
        let file = match regular_file::open(path) {
            Ok(Some(file)) => file,
            Ok(None) => return Ok(Self::NoFile),
            Err(error) if matches!(error.kind(), NotFound | NotADirectory) => {
                return Ok(Self::Absent);
            }
            Err(error) => return Err(error),
        };
        let metadata = file.metadata()?;
        let is_late = end.is_some_and(|end| Instant::now() >= end);
        if metadata.len() > READ || is_late {
            return Ok(Self::long(&metadata));
        }
        let (mut file, mut hasher) = (file.take(READ + 1), Sha256::new());
        io::copy(&mut file, &mut hasher)?;
        // It may have become longer since.
        Ok(match file.limit() {
            0 => Self::long(&metadata),
            _ => Self::Content(format!("{:x}", hasher.finalize())),
        })
    }

    /// Reads the states of the files that a glob matches, as one: absent without a match, unreadable after the deadline.
    ///
    /// Follows no links. Leaves out what tools install and generate: it is large, and no work of the project.
    pub(crate) fn of_all(root: &Path, glob: &ProjectGlob, end: Option<Instant>) -> Self {
        let mut found = BTreeMap::new();
        let mut directories = vec![String::new()];
        while let Some(directory) = directories.pop() {
            // A directory that cannot be listed is left out now and later.
            let entries = fs::read_dir(root.join(&directory)).into_iter().flatten();
            for entry in entries.flatten() {
                if end.is_some_and(|end| Instant::now() >= end) {
                    return Self::Unreadable;
                }
                let Ok(name) = entry.file_name().into_string() else {
                    continue;
                };
                let path = format!("{directory}{name}");
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() && !is_generated(&entry.path(), &name) => {
                        directories.push(format!("{path}/"));
                    }
                    Ok(kind) if kind.is_file() && glob.matches(&path) => {
                        let state = Self::of(&entry.path(), None).unwrap_or(Self::Unreadable);
                        found.insert(path, state);
                    }
                    Ok(_) | Err(_) => {}
                }
            }
        }
        if found.is_empty() {
            return Self::Absent;
        }
        let text = serde_json::to_vec(&found).expect("paths and states can be serialized");
        Self::Content(hash(text))
    }

    /// Reads the state of a file in the form of an earlier state, so that both can be compared.
    pub(crate) fn comparable_with(before: Option<&Self>, path: &Path) -> io::Result<Self> {
        let now = Self::of(path, None)?;
        if let (Some(Self::Long { .. }), Self::Content(_)) = (before, &now) {
            return Ok(Self::long(&path.metadata()?));
        }
        Ok(now)
    }

    fn long(metadata: &Metadata) -> Self {
        let changed = metadata.modified().ok();
        let since = changed.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        Self::Long {
            length: metadata.len(),
            // A system without this time leaves the length to compare.
            changed: since.map_or(0, |since| since.as_nanos()),
        }
    }
}

/// Returns true for the repository, for installed packages, and for a directory that its tool marks as a cache.
fn is_generated(directory: &Path, name: &str) -> bool {
    let has = |file: &str| directory.join(file).exists();
    matches!(name, ".git" | "node_modules" | "__pycache__")
        || has("CACHEDIR.TAG")
        || has("pyvenv.cfg")
}
