//! Patterns in definitions: globs, names with `*`, regular expressions.

mod anchored;
mod project_glob;
pub(crate) mod secrets;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use std::cell::RefCell;
use std::collections::BTreeMap;

use regex::{Regex, RegexBuilder};

pub(crate) use anchored::{Anchor, Anchored, anchored, globs};
pub use project_glob::ProjectGlob;

/// The maximum size of a compiled regular expression, in bytes.
const MAX_REGEX_BYTES: usize = 1 << 20;
/// The patterns of values that are kept compiled.
const MAX_COMPILED: usize = 20;

/// Returns whether a name matches one of several names in which `*` matches any characters.
pub(crate) fn names_match(names: &[String], tool: &str) -> bool {
    names.iter().any(|name| wildcard(name, tool))
}

/// Returns whether a text matches a pattern in which `*` matches any characters.
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

/// Splits a pattern of commands into a directory, from the project's root, and the words of a command in it: those of
/// `cd sub && make check` are `make check`.
pub(crate) fn directory_and_words(pattern: &str) -> (&str, &str) {
    let parts = pattern.trim_start().strip_prefix("cd ");
    let parts = parts.and_then(|rest| rest.split_once("&&"));
    let parts = parts.map(|(directory, words)| (directory.trim(), words.trim()));
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:@+".contains(c);
    let are_known = |parts: &(&str, &str)| {
        parts.0.chars().all(is_plain) && !parts.0.is_empty() && !parts.1.is_empty()
    };
    parts.filter(are_known).unwrap_or(("", pattern))
}

/// Compiles a regular expression of a rule.
pub(crate) fn regex(pattern: &str) -> Result<Regex, String> {
    let mut builder = RegexBuilder::new(pattern);
    let compiled = builder.size_limit(MAX_REGEX_BYTES).build();
    compiled.map_err(|error| error.to_string())
}

thread_local! {
    /// The compiled patterns of values: each item of a loop is checked against the same.
    static COMPILED: RefCell<BTreeMap<String, Option<Regex>>> = RefCell::default();
}

/// Returns whether a value matches a pattern. None matches one that cannot be read, which the loader reports.
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    COMPILED.with_borrow_mut(|compiled| {
        if compiled.len() == MAX_COMPILED && !compiled.contains_key(pattern) {
            compiled.clear();
        }
        let known = compiled.entry(pattern.to_owned());
        let known = known.or_insert_with(|| regex(pattern).ok());
        known.as_ref().is_some_and(|it| it.is_match(text))
    })
}

/// Checks one glob.
pub(crate) fn check_glob(pattern: &str) -> Result<(), String> {
    let anchored = anchored(pattern, Anchor::Root)?;
    let globs = anchored.iter().flat_map(|one| globs("", &one.parts));
    glob_set(globs, false).map(drop)
}

/// Compiles globs; an error says why one is invalid.
pub(crate) fn glob_set(
    globs: impl IntoIterator<Item = String>,
    ignores_case: bool,
) -> Result<GlobSet, String> {
    let reason = |error: globset::Error| error.kind().to_string();
    let mut set = GlobSetBuilder::new();
    for text in globs {
        let mut builder = GlobBuilder::new(&text);
        let builder = builder.literal_separator(true);
        let glob = builder.case_insensitive(ignores_case).build();
        set.add(glob.map_err(reason)?);
    }
    set.build().map_err(reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pattern_of_a_value_is_compiled_once() {
        let compiled = |pattern| COMPILED.with_borrow(|known| known.contains_key(pattern));
        let pattern = r"^[\w ]{1,20}$";
        assert!(!compiled(pattern));
        assert!(matches(pattern, "one") && !matches(pattern, "1.0"));
        assert!(compiled(pattern) && !matches("(", "("));
        for number in 0..MAX_COMPILED {
            assert!(matches(&format!("^{number}$"), &number.to_string()));
        }
        assert!(!compiled(pattern), "old ones are dropped");
        assert!(matches(pattern, "one"));
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
}
