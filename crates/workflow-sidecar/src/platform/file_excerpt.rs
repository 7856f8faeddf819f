//! Files that are shown with an approval request: the beginning, and the state for a later comparison.
//!
//! Owns the condition that such a file is a regular file of the project. Must not know the request.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use workflow_core::approval::ShownFile;
use workflow_core::diagnostic::visible_lines;

use crate::files::FileState;
use crate::files::regular_file::ContainedFile;

/// Bytes of a file that are shown.
const MAX_EXCERPT: u64 = 4096;
/// The end of an excerpt that is not the whole file.
pub(crate) const CUT: &str = "\n…";
/// The state of a file that cannot be shown.
const NOT_SHOWN: &str = "not shown";

/// Reads a file as it is shown.
pub(crate) fn shown_file(path: &str, cwd: &Path) -> ShownFile {
    // The state comes first, so that a change before the excerpt is read counts as a change.
    let state = state(path, cwd);
    ShownFile {
        excerpt: excerpt(path, cwd),
        state,
    }
}

/// Returns the beginning of a file, or the reason why it cannot be shown.
fn excerpt(path: &str, cwd: &Path) -> String {
    let text = open_in_project(path, cwd).and_then(beginning);
    text.unwrap_or_else(|error| format!("({path} cannot be shown: {error})"))
}

/// Returns the state of a file as a text, which differs when the content of the file differs.
pub(crate) fn state(path: &str, cwd: &Path) -> String {
    let file = open_in_project(path, cwd);
    let state = file.and_then(|file| FileState::of_opened(file, None));
    let state = state.and_then(|state| Ok(serde_json::to_string(&state)?));
    // The excerpt has the reason.
    state.unwrap_or_else(|_| NOT_SHOWN.to_owned())
}

/// Opens a file if its real path is in the project; `None` if it is not a regular file.
fn open_in_project(path: &str, cwd: &Path) -> io::Result<Option<File>> {
    let real = cwd.join(path).canonicalize()?;
    let project = cwd.canonicalize()?;
    if real == project {
        return Ok(None);
    }
    let file = ContainedFile::below(&project, &real).ok_or_else(|| {
        io::Error::other("it lies outside of the project; name a file inside of it in `show`")
    })?;
    file.open()
}

fn beginning(file: Option<File>) -> io::Result<String> {
    let file = file.ok_or_else(|| io::Error::other("it is no file"))?;
    let mut bytes = Vec::new();
    file.take(MAX_EXCERPT + 1).read_to_end(&mut bytes)?;
    let is_cut = bytes.len() as u64 > MAX_EXCERPT;
    bytes.truncate(usize::try_from(MAX_EXCERPT).unwrap_or(usize::MAX));
    let text = String::from_utf8_lossy(&bytes);
    let text = visible_lines(&text);
    Ok(if is_cut {
        format!("{text}{CUT}")
    } else {
        text.into_owned()
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_state_changes_with_the_content() {
        let project = tempfile::tempdir().unwrap();
        let here = project.path();
        let absent = state("plan.md", here);
        fs::write(here.join("plan.md"), "x".repeat(5000)).unwrap();
        let long = state("plan.md", here);
        assert!(excerpt("plan.md", here).ends_with("x\n…"));
        // The change is behind the excerpt.
        fs::write(here.join("plan.md"), "x".repeat(5001)).unwrap();
        let longer = state("plan.md", here);
        assert!(absent != long && long != longer);
        assert_eq!(longer, state("plan.md", here));
    }

    #[cfg(unix)]
    #[test]
    fn a_file_outside_of_the_project_is_not_shown() {
        let outer = tempfile::tempdir().unwrap();
        fs::write(outer.path().join("secret"), "hidden").unwrap();
        let project = outer.path().join("project");
        fs::create_dir(&project).unwrap();
        std::os::unix::fs::symlink("../secret", project.join("link")).unwrap();
        let absolute = outer.path().join("secret");
        for path in ["../secret", "link", absolute.to_str().unwrap()] {
            let shown = excerpt(path, &project);
            assert!(shown.contains("outside of the project; name"), "{shown}");
            assert!(!shown.contains("hidden"));
            assert_eq!(state(path, &project), NOT_SHOWN);
        }
    }
}
