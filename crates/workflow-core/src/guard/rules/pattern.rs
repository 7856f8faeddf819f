//! The patterns of rules, compiled.

use std::cell::OnceCell;

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};
use regex::{Regex, RegexBuilder};

use super::paths::PathForm;

/// Bytes that a compiled regular expression may take.
const REGEX_SIZE: usize = 1 << 20;

/// A pattern that means nothing.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PatternError {
    /// A glob that is none.
    #[error("{}", .0.kind())]
    Glob(#[from] globset::Error),
    /// A regular expression that is none, or too large.
    #[error("{0}")]
    Regex(#[from] regex::Error),
}

/// Whether a name matches one of a few names in which `*` stands for any characters.
pub(crate) fn names_match(names: &[String], tool: &str) -> bool {
    names.iter().any(|name| wildcard(name, tool))
}

/// Whether a text matches a pattern in which `*` stands for any characters.
fn wildcard(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    true
}

/// A regular expression of a rule.
pub(crate) fn regex(pattern: &str) -> Result<Regex, PatternError> {
    Ok(RegexBuilder::new(pattern).size_limit(REGEX_SIZE).build()?)
}

/// What the globs of a rule are compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum From {
    Root,
    Home,
    Project,
}

/// Checks one glob.
pub(crate) fn check_glob(pattern: &str) -> Result<(), PatternError> {
    globs(pattern, From::Root, false).map(drop)
}

/// The globs of a rule, compiled when the first path is compared.
#[derive(Debug, Clone)]
pub(super) struct Globs {
    patterns: Vec<String>,
    /// Where a bare name is looked for.
    bare: From,
    sets: OnceCell<Option<[GlobSet; 3]>>,
}

impl Globs {
    /// Globs of a rule that forbids, whose bare names are meant wherever they are.
    pub(super) fn anywhere(patterns: &[String]) -> Self {
        Self::new(patterns, From::Root)
    }

    /// Globs of a rule that allows, whose bare names are meant in the project.
    pub(super) fn in_project(patterns: &[String]) -> Self {
        Self::new(patterns, From::Project)
    }

    fn new(patterns: &[String], bare: From) -> Self {
        Self {
            patterns: patterns.to_vec(),
            bare,
            sets: OnceCell::new(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Whether one of them matches; `None` if one of them is no glob.
    pub(super) fn matches(&self, form: &PathForm, ignores_case: bool) -> Option<bool> {
        let sets = self.sets.get_or_init(|| self.compiled(ignores_case).ok());
        let [root, home, project] = sets.as_ref()?;
        let below =
            |set: &GlobSet, path: Option<&String>| path.is_some_and(|path| set.is_match(path));
        Some(
            root.is_match(form.absolute.trim_start_matches('/'))
                || below(home, form.in_home.as_ref())
                || below(project, form.in_project.as_ref()),
        )
    }

    fn compiled(&self, ignores_case: bool) -> Result<[GlobSet; 3], PatternError> {
        let mut builders = [(); 3].map(|()| GlobSetBuilder::new());
        for pattern in &self.patterns {
            for (from, glob) in globs(pattern, self.bare, ignores_case)? {
                builders[from as usize].add(glob);
            }
        }
        let [root, home, project] = builders;
        Ok([root.build()?, home.build()?, project.build()?])
    }
}

/// What a pattern stands for. A directory stands for all that is in it.
///
/// `/x` is from the root, `~/x` from the home directory, `a/b` and `./x` from the project; a pattern
/// without a `/` in it, or only at its end, is a name at any depth of what `bare` says.
fn globs(pattern: &str, bare: From, ignores_case: bool) -> Result<Vec<(From, Glob)>, PatternError> {
    let (from, glob) = if let Some(rest) = pattern.strip_prefix('/') {
        (From::Root, rest.to_owned())
    } else if let Some(rest) = pattern.strip_prefix("~/") {
        (From::Home, rest.to_owned())
    } else if let Some(rest) = pattern.strip_prefix("./") {
        (From::Project, rest.to_owned())
    } else if pattern.trim_end_matches('/').contains('/') {
        let deep = pattern.starts_with("**/");
        (if deep { bare } else { From::Project }, pattern.to_owned())
    } else {
        (bare, format!("**/{pattern}"))
    };
    let glob = glob.trim_end_matches('/');
    let itself = glob.strip_suffix("/**").unwrap_or(glob);
    let mut all = vec![itself.to_owned(), format!("{itself}/**")];
    if itself.is_empty() || itself == "**" {
        all = vec!["**".to_owned()];
    }
    all.iter()
        .map(|glob| {
            let glob = GlobBuilder::new(glob)
                .literal_separator(true)
                .case_insensitive(ignores_case)
                .build()?;
            Ok((from, glob))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::paths::{Paths, PlainPaths};
    use super::*;

    fn matches(pattern: &str, path: &str) -> bool {
        let globs = Globs::anywhere(&[pattern.to_owned()]);
        globs
            .matches(&PlainPaths.forms(path)[0], false)
            .expect("the pattern is a glob")
    }

    #[test]
    fn stars_in_names_stand_for_any_characters() {
        for (pattern, text, expected) in [
            ("edit", "edit", true),
            ("edit", "edits", false),
            ("*", "anything", true),
            ("mcp__*", "mcp__git__push", true),
            ("mcp__*__push", "mcp__git__push", true),
            ("mcp__*__push", "mcp__git__pull", false),
            ("*a*b*", "xaxbx", true),
            ("*a*b*", "xbxa", false),
            ("a*a", "a", false),
            ("", "", true),
        ] {
            assert_eq!(wildcard(pattern, text), expected, "{pattern} {text}");
        }
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
    fn what_is_allowed_by_a_bare_name_lies_in_the_project() {
        let globs = Globs::in_project(&["*.md".to_owned()]);
        let matches = |path| globs.matches(&PlainPaths.forms(path)[0], false);
        assert_eq!(matches("docs/a.md"), Some(true));
        assert_eq!(matches("/elsewhere/a.md"), Some(false));
    }

    #[test]
    fn a_directory_stands_for_itself_and_all_in_it() {
        assert!(matches(".git/**", ".git"));
        assert!(matches(".git/**", ".git/config"));
        assert!(matches("docs", "docs/a.md"));
        assert!(matches("**", "anything/at/all"));
    }
}
