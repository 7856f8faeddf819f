//! The patterns of rules, compiled.

use std::cell::OnceCell;

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};
use regex::{Regex, RegexBuilder};

use super::file_access::Place;
use super::path_matcher::{Reach, Reached, Roots};
use super::paths::{PathForm, Paths};
use workflow_shell::expand_braces;

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
    /// `..` behind a part that is a pattern.
    #[error("`..` behind a `*` leads nowhere: write the path without `..`")]
    Climbs,
    /// Braces that stand for too many texts.
    #[error("its braces stand for too many paths: make several patterns of it")]
    Braces,
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
pub(super) enum From {
    Root,
    Home,
    Project,
}

/// Checks one glob.
pub(crate) fn check_glob(pattern: &str) -> Result<(), PatternError> {
    for anchored in anchored(pattern, From::Root)? {
        for glob in anchored.globs("") {
            self::glob(&glob, false)?;
        }
    }
    Ok(())
}

/// The globs of a rule, compiled when the first path is compared.
#[derive(Debug, Clone)]
pub(super) struct Globs {
    patterns: Vec<String>,
    /// Where a bare name is looked for.
    bare: From,
    compiled: OnceCell<Option<Compiled>>,
}

#[derive(Debug, Clone)]
struct Compiled {
    sets: [GlobSet; 3],
    reaches: Vec<Reach>,
    roots: Roots,
    ignores_case: bool,
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
            compiled: OnceCell::new(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    fn compiled(&self, paths: &dyn Paths) -> Option<&Compiled> {
        let compile = || Compiled::new(&self.patterns, self.bare, paths).ok();
        self.compiled.get_or_init(compile).as_ref()
    }

    /// Whether all of them are globs.
    pub(super) fn is_sound(&self, paths: &dyn Paths) -> bool {
        self.compiled(paths).is_some()
    }

    /// Whether one of them matches; `None` if one of them is no glob.
    pub(super) fn matches(&self, form: &PathForm, paths: &dyn Paths) -> Option<bool> {
        Some(self.compiled(paths)?.matches(form))
    }

    /// Whether one of them matches something at a place that a call touches; `None` if one of them is no glob.
    pub(super) fn touch(&self, place: &Place, paths: &dyn Paths) -> Option<bool> {
        let compiled = self.compiled(paths)?;
        let is_plain = place.tail.is_empty();
        if is_plain && place.forms.iter().any(|form| compiled.matches(form)) {
            return Some(true);
        }
        if is_plain && !place.change.includes_tree() {
            return Some(false);
        }
        let reached = Reached::new(place, compiled.ignores_case);
        let mut all = compiled.reaches.iter();
        Some(all.any(|reach| reach.meets(&reached, &compiled.roots)))
    }
}

impl Compiled {
    fn new(patterns: &[String], bare: From, paths: &dyn Paths) -> Result<Self, PatternError> {
        let ignores_case = paths.ignores_case();
        let roots = Roots::new(paths, ignores_case);
        let mut builders = [(); 3].map(|()| GlobSetBuilder::new());
        let mut reaches = Vec::new();
        for pattern in patterns {
            for anchored in anchored(pattern, bare)? {
                let heads = anchored.heads(paths);
                if anchored.up == 0 {
                    for text in anchored.globs("") {
                        builders[anchored.from as usize].add(glob(&text, ignores_case)?);
                    }
                }
                let also = heads.iter().skip(usize::from(anchored.up == 0));
                for (head, rest) in also {
                    let behind = Anchored {
                        parts: anchored.parts[*rest..].to_vec(),
                        ..anchored.clone()
                    };
                    for text in behind.globs(&globset::escape(head.trim_start_matches('/'))) {
                        builders[From::Root as usize].add(glob(&text, ignores_case)?);
                    }
                }
                reaches.push(Reach::new(&anchored, &heads, ignores_case));
            }
        }
        let [root, home, project] = builders;
        Ok(Self {
            sets: [root.build()?, home.build()?, project.build()?],
            reaches,
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

fn glob(text: &str, ignores_case: bool) -> Result<Glob, PatternError> {
    Ok(GlobBuilder::new(text)
        .literal_separator(true)
        .case_insensitive(ignores_case)
        .build()?)
}

/// One thing that a pattern stands for, without `.`, `..` and braces.
///
/// `/x` is from the root, `~/x` from the home directory, `a/b`, `./x` and `../x` from the project; a
/// pattern without a `/` in it, or only at its end, is a name at any depth of what `bare` says.
#[derive(Debug, Clone)]
pub(super) struct Anchored {
    pub(super) from: From,
    /// How many directories above that it begins.
    pub(super) up: usize,
    pub(super) parts: Vec<String>,
    /// Whether it may be about a directory, as far as it says: not about a file of one name.
    pub(super) is_wide: bool,
}

fn anchored(pattern: &str, bare: From) -> Result<Vec<Anchored>, PatternError> {
    let all = expand_braces(pattern, str::to_owned).ok_or(PatternError::Braces)?;
    all.iter().map(|text| Anchored::new(text, bare)).collect()
}

impl Anchored {
    fn new(text: &str, bare: From) -> Result<Self, PatternError> {
        let first = text.split('/').next().unwrap_or_default();
        let is_name = !text.trim_end_matches('/').contains('/');
        let from = match first {
            "" => From::Root,
            "~" => From::Home,
            "." | ".." => From::Project,
            "**" => bare,
            _ if is_name => bare,
            _ => From::Project,
        };
        let said = text.split('/').skip(usize::from(first == "~"));
        let deep = is_name && !matches!(first, "" | "~" | "." | ".." | "**");
        let (mut up, mut parts) = (0, Vec::new());
        for part in deep.then_some("**").into_iter().chain(said) {
            match part {
                "" | "." => {}
                ".." => match parts.pop() {
                    None => up += 1,
                    Some(last) if is_plain(last) => {}
                    Some(_) => return Err(PatternError::Climbs),
                },
                part => parts.push(part),
            }
        }
        let is_directory = text.ends_with('/') || parts.last() == Some(&"**");
        while parts.last() == Some(&"**") {
            parts.pop();
        }
        let is_file = |name: &&str| is_plain(name) && name.contains('.');
        Ok(Self {
            is_wide: is_directory || !parts.last().is_some_and(is_file),
            from,
            up: if from == From::Root { 0 } else { up },
            parts: parts.into_iter().map(str::to_owned).collect(),
        })
    }

    /// The globs behind a directory: a directory stands for all that is in it.
    fn globs(&self, directory: &str) -> Vec<String> {
        let head = (!directory.is_empty()).then_some(directory);
        let parts = head
            .into_iter()
            .chain(self.parts.iter().map(String::as_str));
        let itself = parts.collect::<Vec<_>>().join("/");
        if itself.is_empty() {
            return vec!["**".to_owned()];
        }
        vec![format!("{itself}/**"), itself]
    }

    /// Where what is plain of it leads, and behind how many parts that is.
    fn heads(&self, paths: &dyn Paths) -> Vec<(String, usize)> {
        let plain = self.parts.iter().take_while(|part| is_plain(part)).count();
        let start = match self.from {
            From::Root => "/",
            From::Home => "~/",
            From::Project => "./",
        };
        let head = format!(
            "{start}{}{}",
            "../".repeat(self.up),
            self.parts[..plain].join("/")
        );
        let head = if head.len() > 1 {
            head.trim_end_matches('/')
        } else {
            &head
        };
        let forms = paths.forms(head).into_iter();
        forms.map(|form| (form.absolute, plain)).collect()
    }
}

/// Whether a part of a glob stands for itself alone.
fn is_plain(part: &str) -> bool {
    !part.contains(['*', '?', '[', '\\'])
}

#[cfg(test)]
mod tests {
    use super::super::paths::PlainPaths;
    use super::*;

    fn matches(pattern: &str, path: &str) -> bool {
        let globs = Globs::anywhere(&[pattern.to_owned()]);
        globs
            .matches(&PlainPaths.forms(path)[0], &PlainPaths)
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
    fn dots_in_a_pattern_are_worked_out_or_refused() {
        assert!(matches("docs/../src/**", "src/a"));
        assert!(matches("./a/./b", "a/b"));
        assert!(matches("../beside/*", "../beside/a"));
        assert!(matches(".", "a"));
        assert!(matches("~", "~/a"));
        let refused = check_glob("src/*/../x").expect_err("it leads nowhere");
        assert!(refused.to_string().contains("write the path without"));
        assert!(check_glob(&"{a,b}".repeat(9)).is_err());
    }

    #[test]
    fn what_is_allowed_by_a_bare_name_lies_in_the_project() {
        let globs = Globs::in_project(&["*.md".to_owned()]);
        let matches = |path| globs.matches(&PlainPaths.forms(path)[0], &PlainPaths);
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
