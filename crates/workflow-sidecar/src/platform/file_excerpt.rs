//! Files that are shown with an approval request: the beginning, and the state for a later comparison.
//!
//! Owns the condition that such a file is a regular file of the project. Must not know the request.

use std::fs::File;
use std::io;
use std::path::Path;

use workflow_core::approval::{Request, ShownFile};
use workflow_core::diagnostic::visible_lines;

use crate::files::regular_file::ContainedFile;
use crate::files::{hash, read_at_most};

/// Bytes of a file that are shown.
const MAX_EXCERPT: usize = 4096;
/// Bytes of the longest file of which a beginning is shown.
const MAX_FILE: u64 = 16 * 1024 * 1024;
/// The end of an excerpt that is not the whole file.
pub(crate) const CUT: &str = "\n…";

/// Reads a file as it is shown. It is read once: the state is that of the very content whose beginning is shown.
pub(crate) fn shown_file(path: &str, cwd: &Path) -> ShownFile {
    let (excerpt, state) = match open_in_project(path, cwd).and_then(content) {
        Ok(content) => (beginning(&content), hash(&content)),
        Err(error) => {
            let why = format!("({path} cannot be shown: {error})");
            (why.clone(), why)
        }
    };
    ShownFile { excerpt, state }
}

/// Reads the file that is shown with a request, as it is now.
pub(crate) fn shown_with(request: &Request) -> Option<ShownFile> {
    let show = request.show.as_deref();
    show.map(|path| shown_file(path, &request.cwd))
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

fn content(file: Option<File>) -> io::Result<Vec<u8>> {
    let file = file.ok_or_else(|| io::Error::other("it is no file"))?;
    let content = read_at_most(file, MAX_FILE)?;
    content.ok_or_else(|| io::Error::other("it is longer than 16 MiB"))
}

fn beginning(content: &[u8]) -> String {
    let shown = &content[..content.len().min(MAX_EXCERPT)];
    let end = if shown.len() < content.len() { CUT } else { "" };
    visible_lines(&String::from_utf8_lossy(shown)).into_owned() + end
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_state_changes_with_the_content() {
        let project = tempfile::tempdir().unwrap();
        let here = project.path();
        let absent = shown_file("plan.md", here).state;
        fs::write(here.join("plan.md"), "x".repeat(5000)).unwrap();
        let long = shown_file("plan.md", here).state;
        assert!(shown_file("plan.md", here).excerpt.ends_with("x\n…"));
        // The change is behind the excerpt.
        fs::write(here.join("plan.md"), "x".repeat(5001)).unwrap();
        let longer = shown_file("plan.md", here).state;
        assert!(absent != long && long != longer);
        assert_eq!(longer, shown_file("plan.md", here).state);
    }

    #[test]
    fn a_file_that_is_too_long_to_be_hashed_is_not_shown() {
        let project = tempfile::tempdir().unwrap();
        let here = project.path();
        let file = File::create(here.join("plan.md")).unwrap();
        file.set_len(MAX_FILE).unwrap();
        let shown = || shown_file("plan.md", here);
        assert!(shown().excerpt.ends_with(CUT));
        file.set_len(MAX_FILE + 1).unwrap();
        assert!(shown().excerpt.ends_with("longer than 16 MiB)"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_state_is_that_of_the_content_that_is_shown() {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        use std::sync::atomic::{AtomicBool, Ordering};

        let project = tempfile::tempdir().unwrap();
        let [plan, other] = ["plan.md", "other.md"].map(|name| project.path().join(name));
        fs::write(&plan, "good").unwrap();
        fs::write(&other, "evil").unwrap();
        let good = shown_file("plan.md", project.path());
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    renameat_with(CWD, &plan, CWD, &other, RenameFlags::EXCHANGE).unwrap();
                }
            });
            let mut shown = (0..2000).map(|_| shown_file("plan.md", project.path()));
            let is_torn = shown.any(|it| (it.excerpt == "good") != (it.state == good.state));
            is_over.store(true, Ordering::Relaxed);
            assert!(!is_torn);
        });
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
            let ShownFile { excerpt, state } = shown_file(path, &project);
            let names_cause = excerpt.contains("outside of the project; name");
            assert!(names_cause, "{excerpt}");
            assert!(!excerpt.contains("hidden"));
            assert_eq!(state, excerpt);
        }
    }
}
