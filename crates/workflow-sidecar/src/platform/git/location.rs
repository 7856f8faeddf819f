//! Where a repository is.

use std::fs;
use std::path::{Path, PathBuf};

use crate::files::repository_root;

/// Where a repository is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Location {
    /// The directory of its files, with `.git`. A `core.worktree` in another place has no effect.
    pub(super) root: PathBuf,
    /// The directory that git uses for this work tree.
    pub(super) git_dir: PathBuf,
}

impl Location {
    /// Finds the repository of a directory as git does: by `.git`, in the directory or above it.
    pub(super) fn of(cwd: &Path) -> Option<Self> {
        let cwd = cwd.canonicalize().ok()?;
        let root = repository_root(&cwd)?;
        let entry = root.join(".git");
        let git_dir = if entry.is_dir() {
            entry
        } else {
            let text = fs::read_to_string(&entry).ok()?;
            root.join(text.strip_prefix("gitdir:")?.trim())
        };
        Some(Self {
            root: root.to_path_buf(),
            git_dir,
        })
    }

    /// Returns the directory that all work trees of the repository share.
    pub(super) fn common_dir(&self) -> PathBuf {
        let path = fs::read_to_string(self.git_dir.join("commondir"));
        self.git_dir.join(path.unwrap_or_default().trim())
    }
}
