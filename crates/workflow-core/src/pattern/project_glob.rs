//! Globs of files in the project, for checks of gates.

use globset::GlobSet;

use super::{Anchor, Anchored, anchored, glob_set, globs};

/// A glob that matches paths relative to the project.
#[derive(Debug, Clone)]
pub struct ProjectGlob(GlobSet);

impl ProjectGlob {
    /// Reads a path; `None` if it has no wildcards. Brackets alone are none: they occur in names of files.
    pub(crate) fn read(path: &str) -> Option<Result<Self, String>> {
        path.contains(['*', '?', '{']).then(|| Self::new(path))
    }

    fn new(pattern: &str) -> Result<Self, String> {
        let anchored = anchored(pattern, Anchor::Project)?;
        let is_inside = |one: &Anchored| one.from == Anchor::Project && one.up == 0;
        if !anchored.iter().all(is_inside) {
            return Err("it must name files of the project".to_owned());
        }
        let globs = anchored.iter().flat_map(|one| globs("", &one.parts));
        glob_set(globs, false).map(Self)
    }

    /// Makes the test that a path is one of these, or is matched by a glob among them.
    pub(crate) fn any_of(paths: Vec<String>) -> impl Fn(&str) -> bool {
        let globs = paths.iter().filter_map(|path| Self::read(path)?.ok());
        let globs: Vec<Self> = globs.collect();
        move |path| {
            paths.iter().any(|one| one == path) || globs.iter().any(|glob| glob.matches(path))
        }
    }

    /// Returns true if it matches a path, relative to the project and with `/`.
    pub fn matches(&self, path: &str) -> bool {
        self.0.is_match(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, path: &str) -> bool {
        let glob = ProjectGlob::read(pattern).expect("it has wildcards");
        glob.expect("it is valid").matches(path)
    }

    #[test]
    fn each_alternative_is_relative_to_the_project() {
        let tests = "{tests/**,test_*.py,**/*_test.go}";
        for path in ["tests/a/b.rs", "test_a.py", "x/test_a.py", "x/y_test.go"] {
            assert!(matches(tests, path), "{path}");
        }
        for path in ["x/tests/a.rs", "contest.py", "latest.go"] {
            assert!(!matches(tests, path), "{path}");
        }
    }

    #[test]
    fn a_path_without_wildcards_is_no_glob() {
        for path in ["docs/plan.md", "app/[id]/page.tsx", "/etc/hosts"] {
            assert!(ProjectGlob::read(path).is_none(), "{path}");
        }
    }

    #[test]
    fn a_glob_outside_of_the_project_is_refused() {
        for pattern in ["/etc/*", "~/*.md", "../*", "{docs/*,/etc/*}", "a*/../b"] {
            let read = ProjectGlob::read(pattern).expect("it has wildcards");
            assert!(read.is_err(), "{pattern}");
        }
    }
}
