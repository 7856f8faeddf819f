//! Recorded states of files, to find out later if they have changed.

use std::fs::Metadata;
use std::io::{self, Read};
use std::path::Path;
use std::time::{Instant, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::regular_file;

/// Bytes of a file that are hashed. Of a longer one the length and the time of the last change are compared.
const READ: u64 = 16 * 1024 * 1024;

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
