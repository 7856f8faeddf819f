//! Patterns of rules, matched against accessed paths: also against paths with globs and variables, and
//! against directories that are removed or moved as a whole.

use super::file_access::AccessedPath;
use super::glob_intersection::{Evidence, Part, Symbol, intersects};
use super::paths::Paths;
use crate::pattern::{Anchor, Anchored};
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

/// The project and the home directory.
#[derive(Debug, Clone)]
pub(super) struct Roots(Vec<Vec<Part>>);

impl Roots {
    pub(super) fn new(paths: &dyn Paths, ignores_case: bool) -> Self {
        let roots = [".", "~"].into_iter().flat_map(|root| paths.forms(root));
        Self(
            roots
                .map(|form| parts(&form.absolute, ignores_case))
                .collect(),
        )
    }
}

/// A pattern of a rule.
#[derive(Debug, Clone)]
pub(super) struct PathMatcher {
    from: Anchor,
    /// Relative to `from`.
    parts: Option<Vec<Part>>,
    /// Relative to the root of the file system, each with the number of parts that the pattern does not contain.
    absolute: Vec<(Vec<Part>, usize)>,
    /// True if it matches a name at any depth.
    is_deep: bool,
    is_wide: bool,
}

/// An accessed path, split into parts.
pub(super) struct PathCandidate<'p> {
    path: &'p AccessedPath,
    ignores_case: bool,
    /// The parts after the literal ones.
    tail: Vec<Part>,
    /// True if a part is unknown.
    is_unknown: bool,
    /// True if it may contain any directories.
    leads_anywhere: bool,
}

impl<'p> PathCandidate<'p> {
    pub(super) fn new(path: &'p AccessedPath, ignores_case: bool) -> Self {
        let fold = |part: &Part| {
            if ignores_case {
                part.to_lowercase()
            } else {
                part.clone()
            }
        };
        let is_unknown = path.tail.contains(&Part::Unknown);
        Self {
            path,
            ignores_case,
            tail: path.tail.iter().map(fold).collect(),
            is_unknown,
            leads_anywhere: is_unknown || path.tail.contains(&Part::Any),
        }
    }

    fn join(&self, path: &str) -> Vec<Part> {
        let mut all = parts(path, self.ignores_case);
        all.extend(self.tail.iter().cloned());
        all
    }
}

impl PathMatcher {
    pub(super) fn new(pattern: &Anchored, heads: &[(String, usize)], ignores_case: bool) -> Self {
        let glob = |text: &String| {
            let part = Part::glob(text, true);
            if ignores_case {
                part.to_lowercase()
            } else {
                part
            }
        };
        let own: Vec<Part> = pattern.parts.iter().map(glob).collect();
        let absolute = heads.iter().map(|(head, plain)| {
            let mut all = parts(head, ignores_case);
            let implied = all.len().saturating_sub(*plain);
            all.extend(own[*plain..].iter().cloned());
            (all, implied)
        });
        Self {
            from: pattern.from,
            absolute: absolute.collect(),
            is_deep: own.first() == Some(&Part::Any),
            is_wide: pattern.is_wide,
            parts: (pattern.up == 0).then_some(own),
        }
    }

    /// Returns whether the pattern matches the path, or something below it that is accessed.
    pub(super) fn matches(&self, candidate: &PathCandidate<'_>, roots: &Roots) -> bool {
        let kind = candidate.path.kind;
        if kind == AccessKind::WriteWithin && !self.is_wide
            || kind == AccessKind::ReadTree && candidate.is_unknown
        {
            return false;
        }
        if self.matches_path(candidate, false) {
            return true;
        }
        if !kind.includes_tree() {
            return false;
        }
        if self.is_deep {
            self.may_be_within(candidate, roots)
        } else {
            self.matches_path(candidate, true)
        }
    }

    /// Returns whether the pattern matches the path itself, or with `within` something below it.
    fn matches_path(&self, candidate: &PathCandidate<'_>, within: bool) -> bool {
        let forms = &candidate.path.forms;
        if forms.is_empty() {
            let parts = self.parts.iter().map(|parts| (parts, 0));
            let mut all = parts.chain(
                self.absolute
                    .iter()
                    .map(|(parts, implied)| (parts, *implied)),
            );
            return all.any(|(parts, implied)| {
                self.intersects(parts, implied, candidate.tail.clone(), candidate, within)
            });
        }
        forms.iter().any(|form| {
            let relative = match self.from {
                Anchor::Root => Some(&form.absolute),
                Anchor::Home => form.in_home.as_ref(),
                Anchor::Project => form.in_project.as_ref(),
            };
            let relative = relative.zip(self.parts.as_ref());
            relative.is_some_and(|(path, parts)| {
                self.intersects(parts, 0, candidate.join(path), candidate, within)
            }) || self.absolute.iter().any(|(parts, implied)| {
                self.intersects(
                    parts,
                    *implied,
                    candidate.join(&form.absolute),
                    candidate,
                    within,
                )
            })
        })
    }

    fn intersects(
        &self,
        rule: &[Part],
        implied: usize,
        mut named: Vec<Part>,
        candidate: &PathCandidate<'_>,
        within: bool,
    ) -> bool {
        let reads = matches!(candidate.path.kind, AccessKind::Read | AccessKind::Run);
        let evidence = if candidate.is_unknown && reads {
            Evidence::From(implied)
        } else {
            Evidence::NotNeeded
        };
        if within {
            named.push(Part::Any);
        }
        let mut rule = rule.to_vec();
        // A directory matches everything below it, and this may be one.
        if self.is_wide || !candidate.leads_anywhere {
            rule.push(Part::Any);
        }
        intersects(&rule, &named, evidence)
    }

    /// Returns whether a name at any depth may be below a directory that is accessed as a whole.
    fn may_be_within(&self, candidate: &PathCandidate<'_>, roots: &Roots) -> bool {
        let kind = candidate.path.kind;
        let forms = &candidate.path.forms;
        if forms.is_empty() {
            return self.may_contain(kind, &candidate.tail);
        }
        forms.iter().any(|form| {
            let mut named = candidate.join(&form.absolute);
            named.push(Part::Any);
            roots
                .0
                .iter()
                .any(|root| intersects(root, &named, Evidence::NotNeeded))
                || form
                    .in_project
                    .as_ref()
                    .is_some_and(|path| self.may_contain(kind, &candidate.join(path)))
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
            AccessKind::Read | AccessKind::Run | AccessKind::Write | AccessKind::ReadTree => false,
        }
    }
}

fn parts(path: &str, ignores_case: bool) -> Vec<Part> {
    let parts = path.split('/').filter(|part| !part.is_empty());
    let literal = parts.map(Part::literal);
    if ignores_case {
        literal.map(|part| part.to_lowercase()).collect()
    } else {
        literal.collect()
    }
}

fn is_generated(directory: &[Part]) -> bool {
    let mut names = directory.iter().filter(|part| part.is_literal()).map(text);
    names.any(|name| GENERATED_DIRECTORIES.contains(&&*name) || name.ends_with(".egg-info"))
}

/// Returns whether the name looks like that of a file.
fn is_file(path: &[Part]) -> bool {
    let name = path.last().map(text).unwrap_or_default();
    name.rsplit_once('.').is_some_and(|(start, end)| {
        let is_ending = (1..=MAX_EXTENSION_BYTES).contains(&end.len());
        !start.is_empty() && is_ending && end.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

fn text(part: &Part) -> String {
    let Part::One(symbols) = part else {
        return String::new();
    };
    let symbol = |symbol: &Symbol| match symbol {
        Symbol::Is(c) => *c,
        Symbol::Any | Symbol::Many | Symbol::Unknown => '*',
    };
    symbols.iter().map(symbol).collect()
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
