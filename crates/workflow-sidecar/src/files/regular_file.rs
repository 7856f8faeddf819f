//! Regular files, opened without blocking and without following links out of a directory.
//!
//! Owns that a pipe or a device at a path from a definition blocks nothing, and that a file of a project is opened below
//! the directory that was checked.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// Opens a file to read it, following links; `None` if it is a directory, a pipe or a device.
pub(crate) fn open(path: &Path) -> io::Result<Option<File>> {
    open_below(None, path)
}

/// A file, by the real path of a directory and the path below it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ContainedFile {
    directory: PathBuf,
    relative: PathBuf,
}

impl ContainedFile {
    /// Returns the file at a real path, if that is below a directory, which is also given by its real path.
    pub(crate) fn below(directory: &Path, real: &Path) -> Option<Self> {
        let relative = real.strip_prefix(directory).ok()?;
        let is_below = relative.components().next().is_some();
        is_below.then(|| Self {
            directory: directory.to_path_buf(),
            relative: relative.to_path_buf(),
        })
    }

    /// Opens the file to read it; `None` if it is a directory, a pipe or a device.
    ///
    /// Follows no link below the directory: the paths are real ones, so a link there was made after they were resolved.
    pub(crate) fn open(&self) -> io::Result<Option<File>> {
        open_below(Some(&self.directory), &self.relative)
    }
}

/// Opens a file below a directory without following links, or any file if there is no directory.
#[cfg(unix)]
fn open_below(directory: Option<&Path>, path: &Path) -> io::Result<Option<File>> {
    use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, open, openat, statat};

    let descend = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let read = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let (parent, name, follow) = match directory {
        None => (None, path, true),
        Some(directory) => {
            let name = path.file_name().ok_or(io::ErrorKind::NotFound)?;
            let mut parent = open(directory, descend, Mode::empty())?;
            for part in path.parent().into_iter().flat_map(Path::components) {
                parent = openat(
                    &parent,
                    part.as_os_str(),
                    descend | OFlags::NOFOLLOW,
                    Mode::empty(),
                )?;
            }
            (Some(parent), Path::new(name), false)
        }
    };
    let parent = parent.as_ref().map_or(CWD, std::os::fd::AsFd::as_fd);
    let (stat_flags, open_flags) = if follow {
        (AtFlags::empty(), read)
    } else {
        (AtFlags::SYMLINK_NOFOLLOW, read | OFlags::NOFOLLOW)
    };
    // Checked before it is opened, since opening a device may have an effect.
    let found = statat(parent, name, stat_flags)?;
    if !FileType::from_raw_mode(found.st_mode).is_file() {
        return Ok(None);
    }
    let file = File::from(openat(parent, name, open_flags, Mode::empty())?);
    // Another one may have replaced it since.
    let is_file = file.metadata()?.is_file();
    Ok(is_file.then_some(file))
}

/// Opens a file. Here nothing waits for a pipe, and links cannot be excluded.
#[cfg(not(unix))]
fn open_below(directory: Option<&Path>, path: &Path) -> io::Result<Option<File>> {
    let path = directory.unwrap_or(Path::new("")).join(path);
    if !path.metadata()?.is_file() {
        return Ok(None);
    }
    let file = File::open(path)?;
    let is_file = file.metadata()?.is_file();
    Ok(is_file.then_some(file))
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_link_that_appears_after_the_check_is_not_followed() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let project = root.join("project");
        fs::create_dir_all(project.join("sub")).unwrap();
        fs::create_dir_all(root.join("elsewhere")).unwrap();
        fs::write(root.join("elsewhere/a.md"), "secret").unwrap();
        fs::write(project.join("sub/a.md"), "text").unwrap();
        let file = ContainedFile::below(&project, &project.join("sub/a.md")).unwrap();
        assert!(file.open().unwrap().is_some());
        fs::remove_file(project.join("sub/a.md")).unwrap();
        symlink("../../elsewhere/a.md", project.join("sub/a.md")).unwrap();
        assert_eq!(file.open().map(|file| file.is_some()).ok(), Some(false));
        fs::remove_file(project.join("sub/a.md")).unwrap();
        fs::remove_dir(project.join("sub")).unwrap();
        symlink("../elsewhere", project.join("sub")).unwrap();
        assert!(file.open().is_err());
    }

    #[test]
    fn a_file_must_be_below_the_directory() {
        let below = |path: &str| ContainedFile::below(Path::new("/a/b"), Path::new(path));
        assert!(below("/a/b/c").is_some());
        assert_eq!(below("/a/b"), None);
        assert_eq!(below("/a/bc"), None);
    }
}
