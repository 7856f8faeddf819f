//! The temporary tree of the files at the start of the run, in which tests run without the changes of the run.
//!
//! It is in a directory of the user's cache, one for each repository, which also keeps what is built there, and which one
//! check uses at a time. The tree is removed with this value; what a killed process leaves is removed by the next one.

use std::fs::{self, File, TryLockError};
use std::io;
#[cfg(unix)]
use std::os::unix::fs::symlink;
#[cfg(windows)]
use std::os::windows::fs::symlink_dir as symlink;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use workflow_store::create_private_dir;

use crate::files::regular_file::ContainedFile;
use crate::files::{bytes_below, hash, if_present, read_at_most, user_dir};
use crate::platform::git::{Git, PrivateDirectory};
use crate::platform::process::{CheckError, Failure, one_line};

/// Directories of dependencies.
const DEPENDENCIES: [&str; 6] = ["node_modules", ".venv", "venv", "vendor", "deps", ".bundle"];
/// Bytes of what was built in other repositories.
const BUILT: u64 = 5 << 30;
/// Bytes of the longest source file.
const SOURCE: u64 = 4 * 1024 * 1024;
/// Time between two looks at a lock.
const PAUSE: Duration = Duration::from_millis(50);

/// The tree.
pub(super) struct BaseTree {
    /// The root of its files.
    root: PathBuf,
    /// The directory in it that stands for the project's.
    pub(super) cwd: PathBuf,
    /// The variables with which commands run in it.
    pub(super) environment: Vec<(String, String)>,
    _lock: File,
}

impl Drop for BaseTree {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.root) {
            tracing::warn!(%error, "the temporary tree of a check cannot be removed");
        }
    }
}

impl BaseTree {
    /// Makes the tree of the files that the private directory has compared the files with.
    pub(super) fn make(directory: &PrivateDirectory, git: Git<'_>) -> Result<Self, Failure> {
        let failed = |error: io::Error| {
            let reason = format!("the temporary tree of the tests cannot be made: {error}");
            (CheckError::Start, reason)
        };
        let project = directory.root();
        let below = git.cwd.canonicalize().map_err(failed)?;
        let below = below.strip_prefix(project).unwrap_or(Path::new(""));
        let own = cache_of(project).map_err(failed)?;
        let lock = locked(&own.join("lock"), git).map_err(failed)?;
        bound_builds(&own, git.end);
        let root = own.join("tree");
        if_present(fs::remove_dir_all(&root)).map_err(failed)?;
        fs::create_dir(&root).map_err(failed)?;
        let shown = |path: PathBuf| path.to_string_lossy().into_owned();
        let cwd = root.join(below);
        let paths = [cwd.clone(), cwd.join("src")].into_iter();
        let given = std::env::var_os("PYTHONPATH").unwrap_or_default();
        let python = std::env::join_paths(paths.chain(std::env::split_paths(&given)));
        let variable = |(name, value): (&str, String)| (name.to_owned(), value);
        let environment = [
            ("CARGO_TARGET_DIR", shown(own.join("target"))),
            // A package that is installed from the project's files must not hide those of the tree.
            ("PYTHONPATH", shown(python.unwrap_or_default().into())),
            ("GIT_CEILING_DIRECTORIES", shown(own)),
        ];
        let tree = Self {
            cwd,
            environment: environment.map(variable).to_vec(),
            root,
            _lock: lock,
        };
        directory.check_out(git, &tree.root)?;
        tree.contains(&tree.cwd).map_err(failed)?;
        fs::create_dir_all(&tree.cwd).map_err(failed)?;
        for path in directory.ignored(git)? {
            let (from, to) = (project.join(&path), tree.root.join(&path));
            let is_dependencies = DEPENDENCIES.iter().any(|name| from.ends_with(name));
            // Of a directory that the commit does not have, nothing is needed.
            if is_dependencies && from.is_dir() && to.parent().is_some_and(Path::is_dir) {
                tree.replace(&path, |to| link(&from, to))?;
            }
        }
        Ok(tree)
    }

    /// Puts a file into the tree as it is in the project, which may be to remove it.
    pub(super) fn carry(&self, project: &Path, path: &str) -> Result<(), Failure> {
        let from = project.join(path);
        self.replace(path, |to| match if_present(fs::symlink_metadata(&from))? {
            Some(found) if found.is_file() => fs::copy(&from, to).map(drop),
            Some(found) if found.is_symlink() => symlink(&fs::read_link(&from)?, to),
            Some(_) | None => Ok(()),
        })
    }

    /// Writes a file of the tree.
    pub(super) fn write(&self, path: &str, text: &str) -> Result<(), Failure> {
        self.replace(path, |to| fs::write(to, text))
    }

    /// Returns the text of a file of the tree; `None` if there is none.
    pub(super) fn text(&self, path: &str) -> Option<String> {
        text_below(&self.root, path)
    }

    /// Fails if a link leads to a path from inside of the tree out of it.
    fn contains(&self, path: &Path) -> io::Result<()> {
        let mut existing = path.ancestors().filter(|path| path.exists());
        let existing = existing.next().unwrap_or(&self.root).canonicalize()?;
        if existing.starts_with(self.root.canonicalize()?) {
            return Ok(());
        }
        Err(io::Error::other("a link leads out of the tree"))
    }

    /// Removes what is at a path of the tree, which no link may lead out of it, and makes it anew.
    fn replace(
        &self,
        path: &str,
        make: impl FnOnce(&Path) -> io::Result<()>,
    ) -> Result<(), Failure> {
        let to = self.root.join(path);
        let parent = to.parent().unwrap_or(&self.root);
        let replace = || {
            self.contains(parent)?;
            fs::create_dir_all(parent)?;
            if_present(fs::remove_file(&to))?;
            make(&to)
        };
        replace().map_err(|error| {
            let path = one_line(path);
            let reason = format!("{path} cannot be put into the temporary tree: {error}");
            (CheckError::Start, reason)
        })
    }
}

/// Returns the text of a regular file below a directory to which no link leads, if it is not too long for a source.
pub(super) fn text_below(directory: &Path, path: &str) -> Option<String> {
    let file = ContainedFile::below(directory, &directory.join(path))?;
    let read = read_at_most(file.open().ok()??, SOURCE);
    String::from_utf8(read.ok()??).ok()
}

/// Makes the directory for a repository, which only the user can read.
fn cache_of(project: &Path) -> io::Result<PathBuf> {
    let cache = user_dir("XDG_CACHE_HOME", ".cache");
    let cache = cache.ok_or_else(|| io::Error::other("there is no home directory"))?;
    let hash = hash(project.as_os_str().as_encoded_bytes());
    let own = cache.join("workflow-sidecar/tests").join(&hash[..16]);
    create_private_dir(&own)?;
    own.canonicalize()
}

/// Removes what was built in other repositories, those that were used longest ago first, until all is within the bound. What a
/// check uses stays; what cannot be removed now, or is not counted in time, is removed by a later check.
fn bound_builds(own: &Path, end: Option<Instant>) {
    let entries = fs::read_dir(own.parent().unwrap_or(own));
    let others = entries.into_iter().flatten().flatten();
    let others = others.filter(|entry| entry.path() != own);
    let read = |path: PathBuf| {
        let lock = File::open(path.join("lock")).ok()?;
        let used = lock.metadata().ok()?.modified().ok()?;
        Some((used, lock, path.join("target")))
    };
    let mut others: Vec<_> = others.filter_map(|entry| read(entry.path())).collect();
    others.sort_by_key(|(used, ..)| std::cmp::Reverse(*used));
    let mut all = 0;
    for (_, lock, built) in others {
        all += bytes_below(&built, BUILT.saturating_sub(all), end);
        if all > BUILT && lock.try_lock().is_ok() {
            let _ = fs::remove_dir_all(built);
        }
    }
}

/// Waits for a lock, as long as the check may take.
fn locked(path: &Path, git: Git<'_>) -> io::Result<File> {
    let file = File::create(path)?;
    while let Err(error) = file.try_lock() {
        let is_late = git.end.is_some_and(|end| Instant::now() >= end);
        match error {
            TryLockError::Error(error) => return Err(error),
            TryLockError::WouldBlock if is_late || git.monitor.is_cancelled() => {
                return Err(io::Error::other("another check of this repository uses it"));
            }
            TryLockError::WouldBlock => thread::sleep(PAUSE),
        }
    }
    Ok(file)
}

/// Links a directory of dependencies. Links in it that lead to a package of the project lead to that of the tree.
fn link(from: &Path, to: &Path) -> io::Result<()> {
    let name = from.file_name().unwrap_or_default();
    if name != "node_modules" && !name.as_encoded_bytes().starts_with(b"@") {
        return symlink(from, to);
    }
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type()?.is_symlink() {
            symlink(&fs::read_link(&source)?, &target)?;
        } else {
            link(&source, &target)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builds_over_the_bound_are_removed_whatever_is_beside_them() {
        let cache = tempfile::tempdir().unwrap();
        let path = |path: &str| cache.path().join(path);
        for directory in ["own/target", "no-lock/target", "large/target"] {
            fs::create_dir_all(path(directory)).unwrap();
        }
        File::create(path("large/lock")).unwrap();
        let built = File::create(path("large/target/a")).unwrap();
        built.set_len(BUILT + 1).unwrap();
        bound_builds(&path("own"), Some(Instant::now()));
        assert!(path("large/target").exists(), "there was no time");
        bound_builds(&path("own"), None);
        assert!(!path("large/target").exists());
        assert!(path("own/target").exists() && path("no-lock/target").exists());
    }
}
