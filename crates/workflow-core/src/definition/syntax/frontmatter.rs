//! The frontmatter and body of a phase file, by the host's rules.
//!
//! The host: line breaks become `\n` (done by [`Source`](super::source::Source)); the frontmatter opens
//! with `---` at offset 0, its text starts after the character that follows, and it ends at the first
//! `\n---`, whatever comes after that on the line. The body is trimmed as JavaScript trims.

use crate::diagnostic::{Code, Finding, Span};
use crate::white_space::{is_white_space, trim};

/// The two parts of a phase file.
#[derive(Debug, PartialEq)]
pub(crate) struct Parts<'s> {
    /// The YAML text.
    pub(crate) yaml: &'s str,
    /// Its offset.
    pub(crate) yaml_start: usize,
    /// The instructions, trimmed.
    pub(crate) body: &'s str,
    /// Their offset.
    pub(crate) body_start: usize,
}

/// Splits a text whose line breaks are `\n`.
pub(crate) fn split(text: &str) -> Result<Parts<'_>, Finding> {
    let missing =
        |message, help| Finding::error(Code::Frontmatter, Some(opening()), message).help(help);
    let opened = text.strip_prefix("---").ok_or_else(|| {
        let help = "start it with a `---` line, `id`, `name`, `emoji`, and a `---` line";
        missing("a phase file must start with frontmatter", help)
    })?;
    let length = opened
        .find("\n---")
        .ok_or_else(|| missing("the frontmatter does not end", "end it with a `---` line"))?;
    let end = 3 + length;
    let after_opening = opened.chars().next().map_or(3, |c| 3 + c.len_utf8());
    let yaml_start = after_opening.min(end);
    let after_closing = end + "\n---".len();
    let untrimmed = &text[after_closing..];
    let body_start =
        after_closing + untrimmed.len() - untrimmed.trim_start_matches(is_white_space).len();
    Ok(Parts {
        yaml: &text[yaml_start..end],
        yaml_start,
        body: trim(untrimmed),
        body_start,
    })
}

/// The opening of the frontmatter, for findings about missing keys.
pub(crate) fn opening() -> Span {
    Span::new(0, 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, yaml: &str, body: &str) {
        let parts = split(text).unwrap();
        assert_eq!((parts.yaml, parts.body), (yaml, body));
        assert!(text[parts.yaml_start..].starts_with(yaml));
        assert!(text[parts.body_start..].starts_with(body));
    }

    #[test]
    fn frontmatter_ends_at_the_first_line_that_starts_with_three_dashes() {
        check("---\nid: a\n---\nbody\n", "id: a", "body");
        check("---\nid: a\n----\nbody", "id: a", "-\nbody");
        check("---\nid: a\n--- words\nbody", "id: a", "words\nbody");
        check("---\nx: |\n  a\n ---\n---\n", "x: |\n  a\n ---", "");
    }

    #[test]
    fn the_character_after_the_opening_dashes_is_dropped() {
        check("----\nid: a\n---\n", "\nid: a", "");
        check("---é\nid: a\n---\n", "\nid: a", "");
    }

    #[test]
    fn frontmatter_may_be_empty() {
        check("---\n---\nbody", "", "body");
        check("---\n\n---\nbody", "", "body");
    }

    #[test]
    fn a_file_may_have_none() {
        let why = |text| split(text).unwrap_err().message;
        for text in ["body", "\n---\n---\n"] {
            assert_eq!(why(text), "a phase file must start with frontmatter");
        }
        for text in ["---\nid: a\n", "---"] {
            assert_eq!(why(text), "the frontmatter does not end");
        }
    }

    #[test]
    fn the_body_is_trimmed_as_javascript_trims() {
        check("---\na: 1\n---\n\u{feff}\u{a0}\n b \u{3000}", "a: 1", "b");
        check("---\na: 1\n---\n\u{200b}b\u{85}", "a: 1", "\u{200b}b\u{85}");
    }
}
