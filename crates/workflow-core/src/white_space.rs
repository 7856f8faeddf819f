//! White space as ECMAScript has it: what the package's `trim` and `\s` mean.

/// Returns true for white space: U+FEFF and U+00A0 are, U+0085 and U+200B are not.
pub(crate) fn is_white_space(c: char) -> bool {
    matches!(
        c,
        '\t'..='\r' | ' ' | '\u{A0}' | '\u{1680}' | '\u{2000}'..='\u{200A}' | '\u{2028}' | '\u{2029}' | '\u{202F}'
            | '\u{205F}' | '\u{3000}' | '\u{FEFF}'
    )
}

/// The text without white space around it.
pub fn trim(text: &str) -> &str {
    text.trim_matches(is_white_space)
}

/// Returns the first word and the text after it, both trimmed.
pub fn split_first_word(text: &str) -> (&str, &str) {
    let text = trim(text);
    let end = text.find(is_white_space).unwrap_or(text.len());
    (&text[..end], trim(&text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trimming_follows_ecmascript_not_unicode() {
        assert_eq!(trim("\u{FEFF}\u{A0} a\u{3000}\n"), "a");
        assert_eq!(trim("\u{85}a\u{200B}"), "\u{85}a\u{200B}");
    }

    #[test]
    fn a_line_is_split_after_its_first_word() {
        assert_eq!(
            split_first_word("  fix\u{A0} the bug \n"),
            ("fix", "the bug")
        );
        assert_eq!(split_first_word("fix"), ("fix", ""));
        assert_eq!(split_first_word(" "), ("", ""));
    }
}
