//! The versions of the files that a load reads, by which the cache of `OnDisk` notices a later change.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use workflow_core::definition::{FilePath, FileProblem, Files, Root, TierEntry};

use crate::files::FileVersion;
use crate::platform::disk::Disk;

/// The age at which a later change of a file always gets another modification time, however coarse the file system's
/// clock is.
const DISTINCT_AGE: Duration = Duration::from_secs(2);

/// The files of a disk, and the version of each that is read or listed.
pub(super) struct Observed {
    disk: Disk,
    began: SystemTime,
    seen: RefCell<Vec<(PathBuf, Option<FileVersion>)>>,
}

/// Returns the version of a file. One without metadata is as one that is not there: it cannot be read.
fn version(path: &Path) -> Option<FileVersion> {
    Some(FileVersion::from(&fs::metadata(path).ok()?))
}

/// The versions of the files that a load depends on.
pub(super) struct Observations(Vec<(PathBuf, Option<FileVersion>)>);

impl Observations {
    /// Returns true if every file is as it was.
    pub(super) fn are_current(&self) -> bool {
        let mut seen = self.0.iter();
        seen.all(|(path, seen)| version(path) == *seen)
    }
}

impl Observed {
    pub(super) fn new(disk: Disk) -> Self {
        Self {
            disk,
            began: SystemTime::now(),
            seen: RefCell::default(),
        }
    }

    fn observe(&self, path: PathBuf) {
        // Before the file is read: a change in between shows as another version later.
        let version = version(&path);
        self.seen.borrow_mut().push((path, version));
    }

    /// The observations, unless a file is so new that its next change might not show.
    pub(super) fn finish(self) -> Option<Observations> {
        let seen = self.seen.into_inner();
        let age = |version: &FileVersion| self.began.duration_since(version.modified?).ok();
        let mut versions = seen.iter().filter_map(|(_, version)| version.as_ref());
        let all_distinct =
            versions.all(|version| age(version).is_some_and(|age| age >= DISTINCT_AGE));
        all_distinct.then_some(Observations(seen))
    }
}

impl Files for Observed {
    fn entries(&self, root: Root) -> Result<Vec<TierEntry>, FileProblem> {
        self.observe(self.disk.unresolved(&FilePath::workflows(root)));
        self.disk.entries(root)
    }

    fn read(&self, path: &FilePath, max_bytes: u32) -> Result<Vec<u8>, FileProblem> {
        self.observe(self.disk.unresolved(path));
        self.disk.read(path, max_bytes)
    }

    fn shown(&self, path: &FilePath) -> String {
        self.disk.shown(path)
    }
}
