//! The `JUnit` file that a command writes.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::formats::{TestRun, read_junit};
use crate::files::regular_file::ContainedFile;
use crate::platform::process::one_line;

/// Bytes of the longest report.
const BOUND: u64 = 16 * 1024 * 1024;

/// The file, as it was before the command ran.
pub(super) struct ReportFile {
    project: PathBuf,
    path: PathBuf,
    modified: Option<SystemTime>,
}

impl ReportFile {
    pub(super) fn before(project: &Path, path: &str) -> Self {
        let project = project
            .canonicalize()
            .unwrap_or_else(|_| project.to_path_buf());
        let path = project.join(path);
        Self {
            modified: modified(&path),
            project,
            path,
        }
    }

    /// Reads the file that the command has written.
    pub(super) fn read(&self) -> Result<TestRun, String> {
        let shown = one_line(
            &self
                .path
                .strip_prefix(&self.project)
                .unwrap_or(&self.path)
                .to_string_lossy(),
        );
        let refused = |why: &str| Err(format!("the report {shown} cannot be used: {why}"));
        let is_plain = |part| matches!(part, std::path::Component::Normal(_));
        let below = ContainedFile::below(&self.project, &self.path);
        let relative = self.path.strip_prefix(&self.project).ok();
        let Some(file) =
            below.filter(|_| relative.is_some_and(|path| path.components().all(is_plain)))
        else {
            return refused("it is outside of the project");
        };
        let now = modified(&self.path);
        if now.is_none() {
            return refused("the command did not write it");
        }
        if now == self.modified {
            return refused("it is older than this run, so the command did not write it");
        }
        let file = match file.open() {
            Ok(Some(file)) => file,
            Ok(None) => return refused("it is no regular file, or a link"),
            Err(_) => return refused("it cannot be opened without following a link"),
        };
        if file.metadata().map_or(0, |found| found.len()) > BOUND {
            return refused("it is longer than 16 MiB");
        }
        let mut text = String::new();
        match file.take(BOUND + 1).read_to_string(&mut text) {
            Ok(read) if read as u64 > BOUND => return refused("it is longer than 16 MiB"),
            Ok(_) => {}
            Err(error) => return refused(&error.to_string()),
        }
        read_junit(&text).or_else(|why| refused(&why))
    }
}

fn modified(path: &Path) -> Option<SystemTime> {
    path.symlink_metadata().ok()?.modified().ok()
}
