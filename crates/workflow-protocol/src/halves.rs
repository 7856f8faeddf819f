//! Halves of characters.
//!
//! JSON can write one half of a character that takes two escapes (`"\ud83d"`), and JavaScript does so when it cuts a
//! string in the middle of an emoji. No Rust string holds it. Owns what it is read as: U+FFFD.

/// JSON text in which U+FFFD takes the place of every half of a character.
///
/// The text has been read as JSON before: its escapes are well formed.
#[cold]
pub(crate) fn replaced(json: &str) -> String {
    let mut whole = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        let (length, is_half) = measure(escape);
        let (escape, after) = escape.split_at(length);
        whole.push_str(before);
        whole.push_str(if is_half { "\\ufffd" } else { escape });
        rest = after;
    }
    whole + rest
}

/// How many bytes the escape takes that the text starts with, and whether it is half a character.
fn measure(text: &str) -> (usize, bool) {
    match unit(text) {
        Some(0xD800..=0xDBFF) if matches!(unit(&text[6..]), Some(0xDC00..=0xDFFF)) => (12, false),
        Some(0xD800..=0xDFFF) => (6, true),
        Some(_) => (6, false),
        None => (2, false),
    }
}

/// The number in the escape `\u` and four digits that the text starts with.
fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_halves_are_replaced() {
        for (json, expected) in [
            (r#""""#, r#""""#),
            (r#""é😀\n\\\"\u00e9""#, r#""é😀\n\\\"\u00e9""#),
            (r#""\ud83d""#, r#""\ufffd""#),
            (r#""\uDE00""#, r#""\ufffd""#),
            (r#""a\ud83db""#, r#""a\ufffdb""#),
            (r#""\ud83d\ude00""#, r#""\ud83d\ude00""#),
            (r#""\uD83D\uDE00\uDE00""#, r#""\uD83D\uDE00\ufffd""#),
            (r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
            (r#""\ude00\ud83d""#, r#""\ufffd\ufffd""#),
            (r#""\ud83d\n""#, r#""\ufffd\n""#),
            (r#""\ud83d\u0041é""#, r#""\ufffd\u0041é""#),
            (r#""\\ud83d\\\ud83d""#, r#""\\ud83d\\\ufffd""#),
            (r#""\u+123""#, r#""\u+123""#),
        ] {
            assert_eq!(replaced(json), expected, "{json}");
        }
    }
}
