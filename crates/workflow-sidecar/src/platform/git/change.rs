//! What was changed in a project since the start of a run.
//!
//! The start is recorded as a tree of all files that git does not ignore, untracked and changed ones too, so that what was
//! changed before does not count. No reference leads to the tree: git keeps it for two weeks (`gc.pruneExpire`).
//!
//! Lists of ignored files that the user does not trust have no effect, all that is below a new one counts, and the change is
//! not known where another one has changed or is gone, or where there is a repository inside, so that nothing is hidden.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader};
use std::path::Path;
use std::time::Instant;

use memchr::memchr_iter;
use workflow_core::run::MeasuredChange;

use super::checkpoint::{TIME_TO_RECORD, is_commit_name, submodules};
use super::execution::{Git, words};
use super::hidden_changes::changes;
use super::private_directory::PrivateDirectory;
use crate::platform::process::{Failure, failed};

/// The bytes at the beginning of a file in which git looks for a zero byte, which texts do not have.
const LOOKED_AT: usize = 8000;

/// Records the files of a project as a tree.
pub(crate) fn record_files(cwd: &Path, agent_dir: &Path) -> Result<String, Failure> {
    let git = Git::within(TIME_TO_RECORD, cwd);
    let head = git.head()?;
    let directory = PrivateDirectory::showing_all(git, agent_dir)?;
    let git = directory.with_own_index(git);
    let listed = listed(git, head.as_deref())?;
    let changed = listed.iter().filter_map(|line| changed_path(line));
    // Another repository in this one has no files here.
    let paths = changed.filter(|path| !path.ends_with('/'));
    let options = ["--add", "--remove", "--replace"];
    git.update_index(&options, &paths.collect::<Vec<_>>())?;
    git.text(&["write-tree"])
}

/// Measures what was changed since the files of a project were recorded.
pub(crate) fn measure_change(
    cwd: &Path,
    agent_dir: &Path,
    tree: &str,
    globs: &[Vec<String>],
) -> Result<MeasuredChange, Failure> {
    let git = Git::within(TIME_TO_RECORD, cwd);
    let directory = PrivateDirectory::showing_all(git, agent_dir)?;
    let git = directory.with_own_index(git);
    if !is_commit_name(tree) {
        return Err(failed("the files at the start of the run are not known"));
    }
    let listed = listed(git, Some(tree))?;
    let is_untracked = |line: &str| line.starts_with("??") || line.starts_with("!!");
    let mut lists = listed.iter().filter(|line| is_ignore_file(line));
    // One that is gone may have shown what another one hides.
    if lists.any(|line| !is_untracked(line)) {
        return Err(failed("a list of ignored files has changed"));
    }
    let is_in_use = |path: &String| {
        fs::read_dir(directory.root().join(path)).is_ok_and(|mut files| files.next().is_some())
    };
    if submodules(git)?.iter().any(is_in_use) {
        return Err(failed("what is changed inside of submodules is not known"));
    }
    let diff =
        "diff --numstat -z --no-renames --no-ext-diff --no-textconv --ignore-submodules=dirty";
    let numbers = git.list(&words(diff))?;
    let (root, end) = (directory.root(), git.end);
    let mut lines = 0_u64;
    for line in &numbers {
        let mut parts = line.splitn(3, '\t');
        let mut next = || parts.next().unwrap_or_default();
        let (added, removed, path) = (next(), next(), next());
        lines += match (added.parse::<u64>(), removed.parse::<u64>()) {
            (Ok(added), Ok(removed)) => added + removed,
            // Attributes can declare a text to be no text: all of its lines count.
            _ => lines_of(&root.join(path), end)?,
        };
    }
    let below = cwd.canonicalize().unwrap_or_default();
    let below = below.strip_prefix(root).unwrap_or(Path::new(""));
    let mut changed: BTreeMap<String, bool> = BTreeMap::new();
    for line in &listed {
        let Some(path) = changed_path(line) else {
            continue;
        };
        changed.insert(path.to_owned(), is_untracked(line));
        // What is below a new list counts, also what another one has hidden since the start: which of them hides it is not known.
        if is_untracked(line) && is_ignore_file(line) {
            let directory = Path::new(path).parent().and_then(Path::to_str);
            let below = format!(":(top,literal){}", directory.unwrap_or_default());
            let hidden = ["ls-files", "-z", "--others", "--", &below];
            let hidden = git.list(&hidden)?;
            changed.extend(hidden.into_iter().map(|path| (path, true)));
        }
    }
    let mut paths = Vec::new();
    for (path, is_untracked) in &changed {
        if path.ends_with('/') {
            return Err(failed(
                "the files of a repository in this one are not known",
            ));
        }
        if path.contains(char::REPLACEMENT_CHARACTER) {
            return Err(failed("a changed path is not UTF-8"));
        }
        if *is_untracked {
            lines += lines_of(&root.join(path), end)?;
        }
        // A path outside of the project is one that no glob matches.
        let of_project = Path::new(path).strip_prefix(below).ok();
        let of_project = of_project.and_then(Path::to_str);
        paths.push(of_project.map_or_else(|| format!("../{path}"), str::to_owned));
    }
    Ok(MeasuredChange::new(lines, &paths, globs))
}

/// Lists the changes since a commit or tree, also lists of ignored files that are ignored themselves.
fn listed(git: Git<'_>, since: Option<&str>) -> Result<Vec<String>, Failure> {
    let mut listed = changes(git, since, &["--untracked-files=all", "--ignored=matching"])?;
    listed.retain(|line| !line.starts_with("!!") || is_ignore_file(line));
    Ok(listed)
}

fn is_ignore_file(line: &str) -> bool {
    changed_path(line).is_some_and(|path| Path::new(path).ends_with(".gitignore"))
}

/// The path of a line of `git status`, if the file is not as in the index.
pub(super) fn changed_path(line: &str) -> Option<&str> {
    let (state, path) = line.split_at_checked(3)?;
    (state.as_bytes().get(1) != Some(&b' ')).then_some(path)
}

/// The lines of a file; none where it is gone or no text.
fn lines_of(path: &Path, end: Option<Instant>) -> Result<u64, Failure> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_file() => {}
        Ok(metadata) => return Ok(metadata.is_symlink().into()),
        Err(_) => return Ok(0),
    }
    let count = || {
        let mut file = BufReader::with_capacity(LOOKED_AT, File::open(path)?);
        let is_text = !file.fill_buf()?.contains(&0);
        // The last line may have no end.
        let (mut lines, mut rest) = (0, 0);
        while end.is_none_or(|end| Instant::now() <= end) {
            let read = file.fill_buf()?;
            if !is_text || read.is_empty() {
                return Ok(lines + rest);
            }
            lines += memchr_iter(b'\n', read).count() as u64;
            rest = u64::from(!read.ends_with(b"\n"));
            let length = read.len();
            file.consume(length);
        }
        Err(io::Error::from(io::ErrorKind::TimedOut))
    };
    let reason = |error| format!("the lines of a changed file cannot be counted: {error}");
    count().map_err(|error| failed(reason(error)))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_long_file_without_lines_is_counted_no_longer_than_the_limit() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a");
        fs::write(&path, "x".repeat(LOOKED_AT)).unwrap();
        let file = File::options().append(true).open(&path).unwrap();
        file.set_len(1 << 36).unwrap();
        let start = Instant::now();
        assert!(lines_of(&path, Some(start + Duration::from_millis(50))).is_err());
        assert!(start.elapsed() < Duration::from_secs(5));
    }
}
