//! Lone surrogates in JSON text.
//!
//! JSON can write one half of a surrogate pair (`"\ud83d"`), and JavaScript does so when it cuts a string in the middle
//! of an emoji. A Rust string cannot hold it.

/// Replaces every lone surrogate of a JSON text by U+FFFD.
///
/// The text has been read as JSON before: its escapes are well formed.
pub(crate) fn replaced(json: &str) -> String {
    let mut whole = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        let (length, is_lone) = measure(escape);
        let (escape, after) = escape.split_at(length);
        whole.push_str(before);
        whole.push_str(if is_lone { "\\ufffd" } else { escape });
        rest = after;
    }
    whole + rest
}

/// Measures the escape at the start of the text: its length in bytes, and whether it is a lone surrogate.
fn measure(text: &str) -> (usize, bool) {
    match unit(text) {
        Some(0xD800..=0xDBFF) if matches!(unit(&text[6..]), Some(0xDC00..=0xDFFF)) => (12, false),
        Some(0xD800..=0xDFFF) => (6, true),
        Some(_) => (6, false),
        None => (2, false),
    }
}

/// The code unit of the escape `\u` and four digits that the text starts with.
fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lone_surrogates_are_replaced() {
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
