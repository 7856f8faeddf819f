//! The texts that stand in JSON, also in JSON that a strict reader refuses.
//!
//! Owns reading escapes as lenient readers do: half of a surrogate pair is a character that nobody knows.
//! Must not know what the texts mean.

use std::iter::Peekable;
use std::str::Chars;

/// Every text of some JSON, names of fields as well, in their order.
pub(super) fn texts(json: &str) -> Vec<String> {
    let mut rest = json.chars().peekable();
    let mut all = Vec::new();
    while let Some(c) = rest.next() {
        if c == '"' {
            all.push(text(&mut rest));
        }
    }
    all
}

/// The rest of a text that has begun.
fn text(rest: &mut Peekable<Chars<'_>>) -> String {
    let mut text = String::new();
    while let Some(c) = rest.next() {
        match c {
            '"' => break,
            '\\' => text.push(escaped(rest)),
            c => text.push(c),
        }
    }
    text
}

/// The character behind a backslash.
fn escaped(rest: &mut Peekable<Chars<'_>>) -> char {
    match rest.next() {
        Some('n') => '\n',
        Some('r') => '\r',
        Some('t') => '\t',
        Some('b') => '\u{8}',
        Some('f') => '\u{c}',
        Some('u') => {
            let mut code = 0;
            for _ in 0..4 {
                let Some(digit) = rest.peek().and_then(|digit| digit.to_digit(16)) else {
                    break;
                };
                code = code * 16 + digit;
                rest.next();
            }
            // Whole pairs are no letter of ours either.
            char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
        }
        Some(c) => c,
        None => char::REPLACEMENT_CHARACTER,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_with_their_escapes() {
        let json = r#"{"a\u0062": ["c\"d\\", 1, "\ud800e\n\/"], "": null}"#;
        assert_eq!(texts(json), ["ab", "c\"d\\", "\u{fffd}e\n/", ""]);
    }

    #[test]
    fn what_is_no_json_has_texts_as_well() {
        assert_eq!(texts(r#""a\u0"#), ["a\0"]);
        assert_eq!(texts("\"a\\"), ["a\u{fffd}"]);
        assert!(texts("1e999").is_empty());
    }
}
