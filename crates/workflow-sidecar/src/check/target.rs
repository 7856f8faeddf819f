//! Paths on the command line: a project, or workflows in one.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::ensure;

use crate::platform::disk::{AGENTS_DIRECTORY, HOST_DIRECTORY, WORKFLOWS};
use crate::platform::paths::lexical;

/// A project to check, or workflows in it.
#[derive(Debug, PartialEq)]
pub(super) struct Target {
    /// The project; `None` for the user's definitions only.
    pub(super) project: Option<PathBuf>,
    /// The directories of the selected workflows; empty for all.
    pub(super) only: BTreeSet<String>,
}

impl Target {
    /// Resolves paths, with one target for each project.
    pub(super) fn all<'a>(
        paths: impl IntoIterator<Item = &'a PathBuf>,
        here: &Path,
        agent_dir: &Path,
    ) -> anyhow::Result<Vec<Self>> {
        let mut targets: Vec<Self> = Vec::new();
        for path in paths {
            let target = Self::of(path, here, agent_dir)?;
            let same = |other: &&mut Self| other.project == target.project;
            match targets.iter_mut().find(same) {
                None => targets.push(target),
                Some(other) if target.only.is_empty() => other.only.clear(),
                Some(other) if other.only.is_empty() => {}
                Some(other) => other.only.extend(target.only),
            }
        }
        Ok(targets)
    }

    fn of(path: &Path, here: &Path, agent_dir: &Path) -> anyhow::Result<Self> {
        let full = lexical(&here.join(path));
        let (project, inside) = match full.strip_prefix(agent_dir) {
            Ok(inside) => (None, Some(inside.to_path_buf())),
            Err(_) => split(&full),
        };
        let mut only = BTreeSet::new();
        if let Some(inside) = inside {
            ensure!(full.exists(), "{} does not exist", path.display());
            let mut parts = inside.iter();
            let workflows = parts.next().is_some_and(|part| part == WORKFLOWS);
            let key = parts.next().filter(|_| workflows);
            only.extend(key.map(|key| key.to_string_lossy().into_owned()));
        } else {
            ensure!(full.is_dir(), "{} is not a directory", path.display());
        }
        Ok(Self { project, only })
    }
}

/// Returns true for a file outside of all directories of definitions.
pub(super) fn is_plain_file(path: &Path, here: &Path, agent_dir: &Path) -> bool {
    let full = lexical(&here.join(path));
    full.is_file() && !full.starts_with(agent_dir) && split(&full).1.is_none()
}

/// Splits a path into a project and the path in its host's directory. A path without that directory is a project.
fn split(full: &Path) -> (Option<PathBuf>, Option<PathBuf>) {
    let host = full.ancestors().find(|ancestor| {
        // Of the other directory only the workflows are read.
        let is_agents = || full.starts_with(ancestor.join(WORKFLOWS));
        ancestor
            .file_name()
            .is_some_and(|name| name == HOST_DIRECTORY || name == AGENTS_DIRECTORY && is_agents())
    });
    let parts = host.and_then(|host| Some((host.parent()?, full.strip_prefix(host).ok()?)));
    match parts {
        Some((project, inside)) => (Some(project.to_path_buf()), Some(inside.to_path_buf())),
        None => (Some(full.to_path_buf()), None),
    }
}

/// Maximum number of `..` in a shown path.
const MAX_LEVELS_UP: usize = 4;

/// Shortens a path relative to the working directory.
pub(super) fn relative(path: &Path, here: &Path) -> PathBuf {
    if let Ok(below) = path.strip_prefix(here) {
        return below.to_path_buf();
    }
    for (levels, ancestor) in here.ancestors().enumerate().take(MAX_LEVELS_UP + 1).skip(1) {
        let is_root = ancestor.parent().is_none();
        if let (Ok(below), false) = (path.strip_prefix(ancestor), is_root) {
            return std::iter::repeat_n("..", levels)
                .collect::<PathBuf>()
                .join(below);
        }
    }
    path.to_path_buf()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(directory: &str) -> String {
        relative(Path::new(directory), Path::new("/home/me/work"))
            .display()
            .to_string()
    }

    #[test]
    fn a_path_is_shown_relative_to_the_working_directory() {
        assert_eq!(named("/home/me/work"), "");
        assert_eq!(named("/home/me/work/a/b"), "a/b");
        assert_eq!(named("/home/me/other"), "../other");
        assert_eq!(named("/srv/other"), "/srv/other");
    }

    #[test]
    fn a_path_into_a_project_is_that_project() {
        let split = |path: &str| {
            let (project, inside) = split(Path::new(path));
            (project.unwrap().display().to_string(), inside)
        };
        let inside = |path: &str| Some(PathBuf::from(path));
        assert_eq!(split("/p/a"), ("/p/a".into(), None));
        assert_eq!(split("/p/.pi"), ("/p".into(), inside("")));
        assert_eq!(
            split("/p/.pi/workflows/w/a.md"),
            ("/p".into(), inside("workflows/w/a.md"))
        );
    }

    #[test]
    fn dots_are_removed_from_a_path() {
        assert_eq!(lexical(Path::new("/a/./b/../c")), Path::new("/a/c"));
    }
}
