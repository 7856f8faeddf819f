//! The `JUnit` file that a command writes.

use std::io::Read;
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

use super::formats::{TestRun, read_junit};
use crate::files::regular_file::ContainedFile;
use crate::platform::process::one_line;

/// Bytes of the longest report.
const BOUND: u64 = 16 * 1024 * 1024;

/// The file, as it was before the command ran.
pub(super) struct ReportFile<'a> {
    project: PathBuf,
    name: &'a str,
    modified: Option<SystemTime>,
}

impl<'a> ReportFile<'a> {
    pub(super) fn before(project: &Path, name: &'a str) -> Self {
        let project = project
            .canonicalize()
            .unwrap_or_else(|_| project.to_path_buf());
        Self {
            modified: modified(&project.join(name)),
            project,
            name,
        }
    }

    /// Reads the file that the command has written.
    pub(super) fn read(&self) -> Result<TestRun, String> {
        let name = one_line(self.name);
        let run = self.text().and_then(|text| read_junit(&text));
        run.map_err(|why| format!("the report {name} cannot be used: {why}"))
    }

    fn text(&self) -> Result<String, String> {
        let path = self.project.join(self.name);
        let is_plain = |part| matches!(part, Component::Normal(_));
        let relative = path.strip_prefix(&self.project).ok();
        let file = relative
            .filter(|relative| relative.components().all(is_plain))
            .and_then(|_| ContainedFile::below(&self.project, &path));
        let file = file.ok_or("it is outside of the project")?;
        let written = modified(&path).ok_or("the command did not write it")?;
        if Some(written) == self.modified {
            return Err("it is older than this run, so the command did not write it".to_owned());
        }
        let unopened = |_| "it cannot be opened without following a link";
        let file = file.open().map_err(unopened)?;
        let file = file.ok_or("it is no regular file, or a link")?;
        let mut text = String::new();
        let read = file.take(BOUND + 1).read_to_string(&mut text);
        if read.map_err(|error| error.to_string())? as u64 > BOUND {
            return Err("it is longer than 16 MiB".to_owned());
        }
        Ok(text)
    }
}

fn modified(path: &Path) -> Option<SystemTime> {
    path.symlink_metadata().ok()?.modified().ok()
}
