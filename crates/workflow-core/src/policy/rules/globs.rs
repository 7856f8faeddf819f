//! Compiled globs of a rule.

use std::cell::OnceCell;

use globset::{GlobSet, GlobSetBuilder};

use super::file_access::AccessedPath;
use super::path_matcher::{PathCandidate, PathMatcher, Roots};
use super::paths::{PathForm, Paths};
use crate::pattern::{Anchor, Anchored, PatternError, anchored, glob};

/// The globs of a rule, compiled when the first path is compared.
#[derive(Debug, Clone)]
pub(super) struct Globs {
    patterns: Vec<String>,
    /// The directory to which a bare name is relative.
    bare: Anchor,
    compiled: OnceCell<Option<Compiled>>,
}

#[derive(Debug, Clone)]
struct Compiled {
    sets: [GlobSet; 3],
    matchers: Vec<PathMatcher>,
    roots: Roots,
    ignores_case: bool,
}

impl Globs {
    /// Creates the globs of a rule that forbids; bare names match in any directory.
    pub(super) fn anywhere(patterns: &[String]) -> Self {
        Self::new(patterns, Anchor::Root)
    }

    /// Creates the globs of a rule that allows; bare names match in the project.
    pub(super) fn in_project(patterns: &[String]) -> Self {
        Self::new(patterns, Anchor::Project)
    }

    fn new(patterns: &[String], bare: Anchor) -> Self {
        Self {
            patterns: patterns.to_vec(),
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

    /// Returns whether one of them matches; `None` if one is invalid.
    pub(super) fn matches(&self, form: &PathForm, paths: &dyn Paths) -> Option<bool> {
        Some(self.compiled(paths)?.matches(form))
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
        let candidate = PathCandidate::new(path, compiled.ignores_case);
        let mut all = compiled.matchers.iter();
        Some(all.any(|matcher| matcher.matches(&candidate, &compiled.roots)))
    }
}

impl Compiled {
    fn new(patterns: &[String], bare: Anchor, paths: &dyn Paths) -> Result<Self, PatternError> {
        let ignores_case = paths.ignores_case();
        let roots = Roots::new(paths, ignores_case);
        let mut builders = [(); 3].map(|()| GlobSetBuilder::new());
        let mut matchers = Vec::new();
        for pattern in patterns {
            for anchored in anchored(pattern, bare)? {
                let heads = heads(&anchored, paths);
                if anchored.up == 0 {
                    for text in anchored.globs("") {
                        builders[anchored.from as usize].add(glob(&text, ignores_case)?);
                    }
                }
                let others = heads.iter().skip(usize::from(anchored.up == 0));
                for (head, rest) in others {
                    let after_head = Anchored {
                        parts: anchored.parts[*rest..].to_vec(),
                        ..anchored.clone()
                    };
                    for text in after_head.globs(&globset::escape(head.trim_start_matches('/'))) {
                        builders[Anchor::Root as usize].add(glob(&text, ignores_case)?);
                    }
                }
                matchers.push(PathMatcher::new(&anchored, &heads, ignores_case));
            }
        }
        let [root, home, project] = builders;
        Ok(Self {
            sets: [root.build()?, home.build()?, project.build()?],
            matchers,
            roots,
            ignores_case,
        })
    }

    fn matches(&self, form: &PathForm) -> bool {
        let [root, home, project] = &self.sets;
        let below =
            |set: &GlobSet, path: Option<&String>| path.is_some_and(|path| set.is_match(path));
        root.is_match(form.absolute.trim_start_matches('/'))
            || below(home, form.in_home.as_ref())
            || below(project, form.in_project.as_ref())
    }
}

/// Returns the paths to which the literal head of a glob leads, and the number of parts of the head.
fn heads(anchored: &Anchored, paths: &dyn Paths) -> Vec<(String, usize)> {
    let (head, parts) = anchored.head();
    let forms = paths.forms(&head).into_iter();
    forms.map(|form| (form.absolute, parts)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::paths::PLAIN_PATHS;
    use super::*;
    use crate::pattern::check_glob;

    fn matches(pattern: &str, path: &str) -> bool {
        let globs = Globs::anywhere(&[pattern.to_owned()]);
        globs
            .matches(&PLAIN_PATHS.forms(path)[0], &*PLAIN_PATHS)
            .expect("the pattern is a glob")
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
        assert!(refused.to_string().contains("write the path without"));
        assert!(check_glob(&"{a,b}".repeat(9)).is_err());
    }

    #[test]
    fn a_rule_that_allows_applies_bare_names_to_the_project() {
        let globs = Globs::in_project(&["*.md".to_owned()]);
        let matches = |path| globs.matches(&PLAIN_PATHS.forms(path)[0], &*PLAIN_PATHS);
        assert_eq!(matches("docs/a.md"), Some(true));
        assert_eq!(matches("/elsewhere/a.md"), Some(false));
    }

    #[test]
    fn a_directory_includes_everything_below_it() {
        assert!(matches(".git/**", ".git"));
        assert!(matches(".git/**", ".git/config"));
        assert!(matches("docs", "docs/a.md"));
        assert!(matches("**", "anything/at/all"));
    }
}
