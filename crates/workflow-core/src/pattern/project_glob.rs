//! Globs of files in the project, for checks of gates.

use globset::{GlobSet, GlobSetBuilder};

use super::{Anchor, PatternError, anchored, glob};

/// A glob that matches paths relative to the project.
#[derive(Debug, Clone)]
pub struct ProjectGlob(GlobSet);

impl ProjectGlob {
    /// Reads a path; `None` if it has no wildcards. Brackets alone are none: they occur in names of files.
    pub(crate) fn read(path: &str) -> Option<Result<Self, PatternError>> {
        path.contains(['*', '?', '{']).then(|| Self::new(path))
    }

    fn new(pattern: &str) -> Result<Self, PatternError> {
        let mut set = GlobSetBuilder::new();
        for anchored in anchored(pattern, Anchor::Project)? {
            if anchored.from != Anchor::Project || anchored.up > 0 {
                return Err(PatternError::Outside);
            }
            for text in anchored.globs("") {
                set.add(glob(&text, false)?);
            }
        }
        Ok(Self(set.build()?))
    }

    /// Returns true if it matches a path, relative to the project and with `/`.
    #[must_use]
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
