//! Compiled globs of a rule.

use std::cell::OnceCell;

use globset::GlobSet;

use super::call::Target;
use super::file_access::AccessedPath;
use super::glob_intersection::Part;
use super::path_matcher::{PathMatcher, roots};
use super::paths::{PathForm, Paths};
use crate::pattern::{Anchor, Anchored, anchored, glob_set, globs};

/// The globs of a rule, compiled when the first path is compared, for the directory of that session. One that moves compiles its
/// rules anew.
#[derive(Debug, Clone)]
pub(super) struct Globs {
    patterns: Vec<String>,
    /// The directory to which a bare name is relative.
    bare: Anchor,
    compiled: OnceCell<Option<Compiled>>,
}

#[derive(Debug, Clone)]
struct Compiled {
    /// The globs, relative to the root of the file system.
    set: GlobSet,
    matchers: Vec<PathMatcher>,
    roots: Vec<Vec<Part>>,
}

impl Globs {
    /// Creates globs: a bare name matches anywhere below a directory. Of a rule that forbids it is the root, of one that
    /// allows the project.
    pub(super) fn new(patterns: &[impl ToString], bare: Anchor) -> Self {
        Self {
            patterns: patterns.iter().map(ToString::to_string).collect(),
            bare,
            compiled: OnceCell::new(),
        }
    }

    /// Returns the patterns, for display.
    pub(super) fn texts(&self) -> &[String] {
        &self.patterns
    }

    pub(super) fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Returns the compiled globs; `None` if one is invalid, which counts against the call.
    fn compiled(&self, paths: &dyn Paths) -> Option<&Compiled> {
        let compile = || Compiled::new(&self.patterns, self.bare, paths).ok();
        self.compiled.get_or_init(compile).as_ref()
    }

    /// Returns whether all of them are valid.
    pub(super) fn is_valid(&self, paths: &dyn Paths) -> bool {
        self.compiled(paths).is_some()
    }

    /// Returns whether a path is known and matched in all of its forms, and no glob is invalid.
    pub(super) fn match_all(&self, target: &Target, paths: &dyn Paths) -> bool {
        let forms = target.as_deref().unwrap_or_default();
        let fits = |globs: &Compiled| forms.iter().all(|form| globs.matches(form));
        !forms.is_empty() && self.compiled(paths).is_some_and(fits)
    }

    /// Returns whether one of them matches an accessed path; `None` if one is invalid.
    pub(super) fn match_access(&self, path: &AccessedPath, paths: &dyn Paths) -> Option<bool> {
        let compiled = self.compiled(paths)?;
        let is_literal = path.tail.is_empty();
        if is_literal && path.forms.iter().any(|form| compiled.matches(form)) {
            return Some(true);
        }
        if is_literal && !path.kind.includes_tree() {
            return Some(false);
        }
        let mut all = compiled.matchers.iter();
        Some(all.any(|matcher| matcher.matches(path, &compiled.roots)))
    }
}

impl Compiled {
    fn new(patterns: &[String], bare: Anchor, paths: &dyn Paths) -> Result<Self, String> {
        let ignores_case = paths.ignores_case();
        let mut all = Vec::new();
        let mut matchers = Vec::new();
        for pattern in patterns {
            for anchored in anchored(pattern, bare)? {
                let heads = heads(&anchored, paths);
                for (head, plain) in &heads {
                    let head = globset::escape(head.trim_matches('/'));
                    all.extend(globs(&head, &anchored.parts[*plain..]));
                }
                matchers.push(PathMatcher::new(&anchored, &heads, ignores_case));
            }
        }
        Ok(Self {
            set: glob_set(all, ignores_case)?,
            matchers,
            roots: roots(paths, ignores_case),
        })
    }

    fn matches(&self, form: &PathForm) -> bool {
        self.set.is_match(form.absolute.trim_start_matches('/'))
    }
}

/// Returns the paths to which the literal head of a glob leads, and the number of parts of the head.
fn heads(anchored: &Anchored, paths: &dyn Paths) -> Vec<(String, usize)> {
    let (head, parts) = anchored.head();
    let forms = paths.forms(&head).into_iter();
    let mut heads: Vec<String> = forms.map(|form| form.absolute).collect();
    // Where the root has a name, a path from it is in all of them.
    if anchored.from == Anchor::Root && !heads.contains(&head) {
        heads.push(head);
    }
    heads.into_iter().map(|head| (head, parts)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::paths::PLAIN_PATHS;
    use super::*;
    use crate::pattern::check_glob;

    fn matches(pattern: &str, path: &str) -> bool {
        let globs = Globs::new(&[pattern.to_owned()], Anchor::Root);
        assert!(globs.is_valid(&*PLAIN_PATHS), "{pattern} is a glob");
        globs.match_all(&Some(PLAIN_PATHS.forms(path)), &*PLAIN_PATHS)
    }

    #[test]
    fn a_name_is_found_at_any_depth() {
        assert!(matches(".env", ".env"));
        assert!(matches(".env", "a/b/.env"));
        assert!(matches(".env", "/elsewhere/.env"));
        assert!(!matches(".env", ".env.example"));
        assert!(matches("*.md", "docs/a.md"));
        assert!(matches("node_modules/", "a/node_modules/b/c.js"));
    }

    #[test]
    fn a_pattern_with_a_slash_is_from_the_project() {
        assert!(matches("docs/**", "docs/a/b.md"));
        assert!(matches("docs/**", "./x/../docs/a.md"));
        assert!(!matches("docs/**", "src/docs/a.md"));
        assert!(!matches("docs/**", "/elsewhere/docs/a.md"));
        assert!(matches("docs/*.md", "docs/a.md"));
        assert!(!matches("docs/*.md", "docs/a/b.md"));
        assert!(matches("**/secret/*", "a/secret/b"));
        assert!(matches("/etc/**", "/etc/passwd"));
        assert!(matches("~/.ssh/**", "~/.ssh/id"));
        assert!(matches("./x", "x"));
        assert!(!matches("./x", "a/x"));
    }

    #[test]
    fn dots_in_a_pattern_are_resolved_or_rejected() {
        assert!(matches("docs/../src/**", "src/a"));
        assert!(matches("./a/./b", "a/b"));
        assert!(matches("../beside/*", "../beside/a"));
        assert!(matches(".", "a"));
        assert!(matches("~", "~/a"));
        let refused = check_glob("src/*/../x").expect_err("it is invalid");
        assert!(refused.contains("write the path without"));
        assert!(check_glob(&"{a,b}".repeat(9)).is_err());
    }

    #[test]
    fn a_rule_that_allows_applies_bare_names_to_the_project() {
        let globs = Globs::new(&["*.md".to_owned()], Anchor::Project);
        let matches = |path| globs.match_all(&Some(PLAIN_PATHS.forms(path)), &*PLAIN_PATHS);
        assert!(globs.is_valid(&*PLAIN_PATHS));
        assert!(matches("docs/a.md"));
        assert!(!matches("/elsewhere/a.md"));
    }

    #[test]
    fn a_directory_includes_everything_below_it() {
        assert!(matches(".git/**", ".git"));
        assert!(matches(".git/**", ".git/config"));
        assert!(matches("docs", "docs/a.md"));
        assert!(matches("**", "anything/at/all"));
    }
}
