//! A file that is shown with a question: its beginning, and whether it still says what was shown.
//!
//! Owns what may be shown: regular files of the project. Must not know what is asked.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::gate::FileState;
use crate::plain_file;

/// How much of a file is shown, in bytes.
const SHOWN: u64 = 4096;
/// How a file stands that is not shown.
const NOT_SHOWN: &str = "not shown";

/// The beginning of a file, or why it is not shown.
pub(crate) fn excerpt(path: &str, cwd: &Path) -> String {
    let text = inside(path, cwd).and_then(|file| beginning(&file));
    text.unwrap_or_else(|error| format!("({path} cannot be shown: {error})"))
}

/// What a file says, all of it, in one text that is another one when it says something else.
pub(crate) fn state(path: &str, cwd: &Path) -> String {
    let state = inside(path, cwd).and_then(|file| FileState::of(&file, None));
    let state = state.map(|state| serde_json::to_string(&state));
    match state {
        Ok(Ok(state)) => state,
        Ok(Err(_)) | Err(_) => NOT_SHOWN.to_owned(),
    }
}

/// Where a path really leads, if that is in the project.
fn inside(path: &str, cwd: &Path) -> io::Result<PathBuf> {
    let file = cwd.join(path).canonicalize()?;
    if file.starts_with(cwd.canonicalize()?) {
        return Ok(file);
    }
    Err(io::Error::other(
        "it lies outside of the project; name a file inside of it in `show`",
    ))
}

fn beginning(path: &Path) -> io::Result<String> {
    let file = plain_file::open(path)?;
    let file = file.ok_or_else(|| io::Error::other("it is no file"))?;
    let mut bytes = Vec::new();
    file.take(SHOWN + 1).read_to_end(&mut bytes)?;
    let is_cut = bytes.len() as u64 > SHOWN;
    bytes.truncate(usize::try_from(SHOWN).unwrap_or(usize::MAX));
    let text = String::from_utf8_lossy(&bytes);
    let visible = |c: char| c == '\n' || c == '\t' || !c.is_control();
    let text: String = text.chars().filter(|&c| visible(c)).collect();
    Ok(if is_cut { format!("{text}\n…") } else { text })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_that_says_something_else_is_another_one() {
        let project = tempfile::tempdir().unwrap();
        let here = project.path();
        let absent = state("plan.md", here);
        fs::write(here.join("plan.md"), "x".repeat(5000)).unwrap();
        let long = state("plan.md", here);
        assert!(excerpt("plan.md", here).ends_with("x\n…"));
        // What is changed lies behind what is shown.
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
