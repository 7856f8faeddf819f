//! Patterns of rules, matched against accessed paths: also against paths with globs and variables, and
//! against directories that are removed or moved as a whole.

use super::file_access::AccessedPath;
use super::glob_intersection::{Evidence, Part, intersects};
use super::paths::Paths;
use crate::pattern::Anchored;
use workflow_shell::AccessKind;

/// Directories of generated files, in which files that a rule protects by name are not expected.
#[rustfmt::skip] // Names that belong together.
const GENERATED_DIRECTORIES: &[&str] = &[
    ".cache", ".eggs", ".git", ".gradle", ".mypy_cache", ".next", ".nuxt", ".nyc_output", ".parcel-cache", ".pytest_cache", ".ruff_cache",
    ".svelte-kit", ".terraform", ".tox", ".turbo", ".venv", ".vite", "__pycache__", "_build", "bower_components", "build", "coverage",
    "dist", "htmlcov", "node_modules", "obj", "out", "output", "target", "temp", "tmp", "venv",
];

/// The longest extension of a file name.
const MAX_EXTENSION_BYTES: usize = 5;

/// The parts of the project and the home directory, in all their forms.
pub(super) fn roots(paths: &dyn Paths, ignores_case: bool) -> Vec<Vec<Part>> {
    let roots = [".", "~"].into_iter().flat_map(|root| paths.forms(root));
    roots
        .map(|form| parts(&form.absolute, ignores_case))
        .collect()
}

/// A pattern of a rule.
#[derive(Debug, Clone)]
pub(super) struct PathMatcher {
    /// Its paths relative to the root of the file system, each with the number of parts that the pattern does not contain.
    absolute: Vec<(Vec<Part>, usize)>,
    /// True if it matches a name at any depth.
    is_deep: bool,
    is_wide: bool,
    ignores_case: bool,
}

impl PathMatcher {
    pub(super) fn new(pattern: &Anchored, heads: &[(String, usize)], ignores_case: bool) -> Self {
        let parts_of = |(head, plain): &(String, usize)| {
            let mut all = parts(head, ignores_case);
            let implied = all.len().saturating_sub(*plain);
            let own = pattern.parts[*plain..].iter();
            all.extend(own.map(|text| Part::glob(text, true, ignores_case)));
            (all, implied)
        };
        Self {
            absolute: heads.iter().map(parts_of).collect(),
            is_deep: pattern.parts.first().is_some_and(|part| part == "**"),
            is_wide: pattern.is_wide,
            ignores_case,
        }
    }

    /// Returns whether the pattern matches the path, or something below it that is accessed.
    pub(super) fn matches(&self, path: &AccessedPath, roots: &[Vec<Part>]) -> bool {
        let kind = path.kind;
        if kind == AccessKind::WriteWithin && !self.is_wide
            || kind == AccessKind::ReadTree && path.tail.contains(&Part::Unknown)
        {
            return false;
        }
        self.matches_path(path, false)
            || kind.includes_tree()
                && if self.is_deep {
                    self.may_be_within(path, roots)
                } else {
                    self.matches_path(path, true)
                }
    }

    /// Returns whether the pattern matches the path itself, or with `within` something below it.
    fn matches_path(&self, path: &AccessedPath, within: bool) -> bool {
        let is_unknown = path.tail.contains(&Part::Unknown);
        let reads = matches!(path.kind, AccessKind::Read | AccessKind::Run);
        let leads_anywhere = is_unknown || path.tail.contains(&Part::Any);
        let forms = path.forms.iter();
        let mut named: Vec<_> = forms.map(|form| self.join(&form.absolute, path)).collect();
        // Of a path whose start is unknown only the rest is known.
        if named.is_empty() {
            named.push(path.tail.clone());
        }
        named.into_iter().any(|mut named| {
            if within {
                named.push(Part::Any);
            }
            self.absolute.iter().any(|(rule, implied)| {
                let evidence = if is_unknown && reads {
                    Evidence::From(*implied)
                } else {
                    Evidence::NotNeeded
                };
                let mut rule = rule.clone();
                // A directory matches everything below it, and this may be one.
                if self.is_wide || !leads_anywhere {
                    rule.push(Part::Any);
                }
                intersects(&rule, &named, evidence)
            })
        })
    }

    /// Returns the parts of a path from a literal head of it.
    fn join(&self, head: &str, path: &AccessedPath) -> Vec<Part> {
        let mut all = parts(head, self.ignores_case);
        all.extend(path.tail.iter().cloned());
        all
    }

    /// Returns whether a name at any depth may be below a directory that is accessed as a whole.
    fn may_be_within(&self, path: &AccessedPath, roots: &[Vec<Part>]) -> bool {
        let kind = path.kind;
        if path.forms.is_empty() {
            return self.may_contain(kind, &path.tail);
        }
        path.forms.iter().any(|form| {
            let mut named = self.join(&form.absolute, path);
            named.push(Part::Any);
            let mut roots = roots.iter();
            let in_project = form.in_project.as_ref();
            roots.any(|root| intersects(root, &named, Evidence::NotNeeded))
                || in_project.is_some_and(|inside| self.may_contain(kind, &self.join(inside, path)))
        })
    }

    /// Returns whether a directory of the project may contain a match.
    fn may_contain(&self, kind: AccessKind, directory: &[Part]) -> bool {
        match kind {
            AccessKind::WriteWithin => !is_generated(directory),
            AccessKind::RemoveTree => !is_generated(directory) && !is_file(directory),
            AccessKind::ReplaceTree => {
                self.is_wide && !is_generated(directory) && !is_file(directory)
            }
            AccessKind::Read
            | AccessKind::Run
            | AccessKind::Write
            | AccessKind::Itself
            | AccessKind::ReadTree => false,
        }
    }
}

/// Returns the parts of a literal path.
pub(super) fn parts(path: &str, ignores_case: bool) -> Vec<Part> {
    let parts = path.split('/').filter(|part| !part.is_empty());
    parts
        .map(|part| Part::literal(part, ignores_case))
        .collect()
}

fn is_generated(directory: &[Part]) -> bool {
    let mut names = directory
        .iter()
        .filter(|part| part.is_literal())
        .map(Part::text);
    names.any(|name| GENERATED_DIRECTORIES.contains(&name) || name.ends_with(".egg-info"))
}

/// Returns whether the name looks like that of a file.
fn is_file(path: &[Part]) -> bool {
    let name = path.last().map(Part::text).unwrap_or_default();
    name.rsplit_once('.').is_some_and(|(start, end)| {
        let is_ending = (1..=MAX_EXTENSION_BYTES).contains(&end.len());
        !start.is_empty() && is_ending && end.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_recognized_by_their_extension() {
        let is_file = |path| is_file(&parts(path, false));
        assert!(is_file("src/a.rs"));
        assert!(is_file("x.test.ts"));
        assert!(!is_file("src/legacy"));
        assert!(!is_file(".github"));
    }
}
