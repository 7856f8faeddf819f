//! How far a pattern of a rule reaches: also into what a call names with globs and variables, and into
//! directories that are removed or moved with all that is in them.

use super::file_access::Place;
use super::glob_intersection::{Part, Seen, Sign, meet};
use super::paths::Paths;
use super::pattern::{Anchored, From};
use workflow_shell::AccessKind;

/// Directories that hold what can be made again: nobody keeps what a rule protects by its name there.
#[rustfmt::skip] // Names that belong together.
const MADE: &[&str] = &[
    ".cache", ".eggs", ".git", ".gradle", ".mypy_cache", ".next", ".nuxt", ".nyc_output", ".parcel-cache", ".pytest_cache", ".ruff_cache",
    ".svelte-kit", ".terraform", ".tox", ".turbo", ".venv", ".vite", "__pycache__", "_build", "bower_components", "build", "coverage",
    "dist", "htmlcov", "node_modules", "obj", "out", "output", "target", "temp", "tmp", "venv",
];

/// The longest ending of a file's name.
const LONGEST_ENDING: usize = 5;

/// The directories around which all paths are seen.
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

/// A pattern, in parts.
#[derive(Debug, Clone)]
pub(super) struct Reach {
    from: From,
    /// Seen from there.
    parts: Option<Vec<Part>>,
    /// Seen from the root of the file system, each with the number of parts that the pattern does not say.
    absolute: Vec<(Vec<Part>, usize)>,
    /// Whether it is a name at any depth.
    is_deep: bool,
    is_wide: bool,
}

/// A place that a call touches, in parts.
pub(super) struct Reached<'p> {
    place: &'p Place,
    ignores_case: bool,
    /// The parts behind what is plain of it.
    tail: Vec<Part>,
    /// Whether something of it is unknown.
    is_unknown: bool,
    /// Whether it may lead through any directories.
    leads_anywhere: bool,
}

impl<'p> Reached<'p> {
    pub(super) fn new(place: &'p Place, ignores_case: bool) -> Self {
        let fold = |part: &Part| {
            if ignores_case {
                part.folded()
            } else {
                part.clone()
            }
        };
        let is_unknown = place.tail.contains(&Part::Unknown);
        Self {
            place,
            ignores_case,
            tail: place.tail.iter().map(fold).collect(),
            is_unknown,
            leads_anywhere: is_unknown || place.tail.contains(&Part::Any),
        }
    }

    fn behind(&self, path: &str) -> Vec<Part> {
        let mut all = parts(path, self.ignores_case);
        all.extend(self.tail.iter().cloned());
        all
    }
}

impl Reach {
    pub(super) fn new(pattern: &Anchored, heads: &[(String, usize)], ignores_case: bool) -> Self {
        let glob = |text: &String| {
            let part = Part::glob(text, true);
            if ignores_case { part.folded() } else { part }
        };
        let own: Vec<Part> = pattern.parts.iter().map(glob).collect();
        let absolute = heads.iter().map(|(head, plain)| {
            let mut all = parts(head, ignores_case);
            let unsaid = all.len().saturating_sub(*plain);
            all.extend(own[*plain..].iter().cloned());
            (all, unsaid)
        });
        Self {
            from: pattern.from,
            absolute: absolute.collect(),
            is_deep: own.first() == Some(&Part::Any),
            is_wide: pattern.is_wide,
            parts: (pattern.up == 0).then_some(own),
        }
    }

    /// Whether it matches something at a place.
    pub(super) fn meets(&self, reached: &Reached<'_>, roots: &Roots) -> bool {
        let change = reached.place.change;
        if change == AccessKind::WriteWithin && !self.is_wide
            || change == AccessKind::ReadTree && reached.is_unknown
        {
            return false;
        }
        if self.meets_path(reached, false) {
            return true;
        }
        if !change.includes_tree() {
            return false;
        }
        if self.is_deep {
            self.is_within(reached, roots)
        } else {
            self.meets_path(reached, true)
        }
    }

    /// Whether it matches the place itself, or also something in it.
    fn meets_path(&self, reached: &Reached<'_>, within: bool) -> bool {
        let forms = &reached.place.forms;
        if forms.is_empty() {
            let parts = self.parts.iter().map(|parts| (parts, 0));
            let mut all = parts.chain(self.absolute.iter().map(|(parts, unsaid)| (parts, *unsaid)));
            return all.any(|(parts, unsaid)| {
                self.meet(parts, unsaid, reached.tail.clone(), reached, within)
            });
        }
        forms.iter().any(|form| {
            let from_there = match self.from {
                From::Root => Some(&form.absolute),
                From::Home => form.in_home.as_ref(),
                From::Project => form.in_project.as_ref(),
            };
            let from_there = from_there.zip(self.parts.as_ref());
            from_there.is_some_and(|(path, parts)| {
                self.meet(parts, 0, reached.behind(path), reached, within)
            }) || self.absolute.iter().any(|(parts, unsaid)| {
                self.meet(
                    parts,
                    *unsaid,
                    reached.behind(&form.absolute),
                    reached,
                    within,
                )
            })
        })
    }

    fn meet(
        &self,
        rule: &[Part],
        unsaid: usize,
        mut named: Vec<Part>,
        reached: &Reached<'_>,
        within: bool,
    ) -> bool {
        let seen = if reached.is_unknown && reached.place.change == AccessKind::Read {
            Seen::From(unsaid)
        } else {
            Seen::Nothing
        };
        if within {
            named.push(Part::Any);
        }
        let mut rule = rule.to_vec();
        // A directory stands for all that is in it, and nobody knows whether this is one.
        if self.is_wide || !reached.leads_anywhere {
            rule.push(Part::Any);
        }
        meet(&rule, &named, seen)
    }

    /// Whether a name at any depth may lie in a place that is taken as a whole.
    fn is_within(&self, reached: &Reached<'_>, roots: &Roots) -> bool {
        let change = reached.place.change;
        let forms = &reached.place.forms;
        if forms.is_empty() {
            return self.may_hold(change, &reached.tail);
        }
        forms.iter().any(|form| {
            let mut named = reached.behind(&form.absolute);
            named.push(Part::Any);
            roots.0.iter().any(|root| meet(root, &named, Seen::Nothing))
                || form
                    .in_project
                    .as_ref()
                    .is_some_and(|path| self.may_hold(change, &reached.behind(path)))
        })
    }

    /// Whether a directory of the project may hold what it is about.
    fn may_hold(&self, change: AccessKind, directory: &[Part]) -> bool {
        match change {
            AccessKind::WriteWithin => !is_made(directory),
            AccessKind::RemoveTree => !is_made(directory) && !is_file(directory),
            AccessKind::ReplaceTree => self.is_wide && !is_made(directory) && !is_file(directory),
            AccessKind::Read | AccessKind::Write | AccessKind::ReadTree => false,
        }
    }
}

fn parts(path: &str, ignores_case: bool) -> Vec<Part> {
    let parts = path.split('/').filter(|part| !part.is_empty());
    let literal = parts.map(Part::literal);
    if ignores_case {
        literal.map(|part| part.folded()).collect()
    } else {
        literal.collect()
    }
}

fn is_made(directory: &[Part]) -> bool {
    let mut names = directory.iter().filter(|part| part.is_literal()).map(text);
    names.any(|name| MADE.contains(&&*name) || name.ends_with(".egg-info"))
}

/// Whether the name looks like that of a file.
fn is_file(path: &[Part]) -> bool {
    let name = path.last().map(text).unwrap_or_default();
    name.rsplit_once('.').is_some_and(|(start, end)| {
        let is_ending = (1..=LONGEST_ENDING).contains(&end.len());
        !start.is_empty() && is_ending && end.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

fn text(part: &Part) -> String {
    let Part::One(signs) = part else {
        return String::new();
    };
    let sign = |sign: &Sign| match sign {
        Sign::Is(c) => *c,
        Sign::Any | Sign::Many | Sign::Unknown => '*',
    };
    signs.iter().map(sign).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_told_by_their_endings() {
        let is_file = |path| is_file(&parts(path, false));
        assert!(is_file("src/a.rs"));
        assert!(is_file("x.test.ts"));
        assert!(!is_file("src/legacy"));
        assert!(!is_file(".github"));
    }
}
