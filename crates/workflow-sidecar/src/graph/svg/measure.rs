//! How wide text is, in whatever sans-serif font the reader has.
//!
//! No font is asked, for the reader's is not known: the widths are those of a wide one, so that text stays
//! inside its box in all others.

use unicode_width::UnicodeWidthChar;

/// A stretch of text that belongs together more closely than its characters: an emoji with its joiners.
const JOINER: char = '\u{200d}';

/// Pixels of a text in a font of this size.
pub(super) fn width(text: &str, size: u32) -> u32 {
    let hundredths: u32 = text.chars().map(hundredths).sum();
    (hundredths * size).div_ceil(100)
}

/// Hundredths of an em.
fn hundredths(c: char) -> u32 {
    match c {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | ' ' => 38,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '/' | '-' => 46,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '…' => 104,
        'A'..='Z' => 82,
        _ if c.is_ascii() => 68,
        _ => match c.width().unwrap_or(0) {
            0 => 0,
            1 => 80,
            _ => 135,
        },
    }
}

/// A text in lines that are no wider; what does not fit into so many lines is cut, with an ellipsis.
pub(super) fn wrapped(text: &str, size: u32, widest: u32, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        if lines.len() + 1 == most && width(rest, size) > widest {
            let room = widest.saturating_sub(width("…", size));
            lines.push(format!("{}…", rest[..fitting(rest, size, room)].trim_end()));
            return lines;
        }
        let end = line_end(rest, size, widest);
        lines.push(rest[..end].trim_end().to_owned());
        rest = rest[end..].trim_start();
    }
    lines
}

/// Where the first line ends: behind a word, or in one that is too long by itself.
fn line_end(text: &str, size: u32, widest: u32) -> usize {
    let fits = fitting(text, size, widest);
    if fits == text.len() {
        return fits;
    }
    let word = text[..fits].rfind(' ').filter(|&at| at > 0);
    word.unwrap_or(fits)
}

/// How many bytes fit; at least one character, and nothing between what is joined.
fn fitting(text: &str, size: u32, widest: u32) -> usize {
    let mut used = 0;
    let mut end = 0;
    let mut joined = true;
    for (at, c) in text.char_indices() {
        let own = hundredths(c);
        // A mark belongs to the character before it.
        if !joined && own > 0 {
            end = at;
        }
        used += own;
        if used * size > widest * 100 && end > 0 {
            return end;
        }
        joined = c == JOINER;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_ends_behind_a_word() {
        assert_eq!(wrapped("write the test", 10, 60, 2), ["write the", "test"]);
        assert_eq!(wrapped("  one  ", 10, 60, 2), ["one"]);
        assert!(wrapped("", 10, 60, 2).is_empty());
    }

    #[test]
    fn what_does_not_fit_is_cut_and_says_so() {
        assert_eq!(
            wrapped("write the failing test first", 10, 60, 2),
            ["write the", "failing t…"]
        );
        assert_eq!(wrapped("unbelievable", 10, 40, 1), ["unbe…"]);
        assert_eq!(wrapped("unbelievable", 10, 40, 9), ["unbeli", "evable"]);
    }

    #[test]
    fn no_line_is_wider_than_its_box() {
        for text in [
            "mmmmmmmmmmmmmm mmmm",
            "ein Überblick über alles",
            "日本語のとても長い名前",
            "👩‍💻👩‍💻👩‍💻👩‍💻👩‍💻👩‍💻",
        ] {
            for line in wrapped(text, 14, 90, 3) {
                assert!(width(&line, 14) <= 90, "{line}");
            }
        }
    }

    #[test]
    fn what_is_joined_stays_together() {
        for widest in 0..60 {
            for line in wrapped("👩‍💻👩‍💻 e\u{301}e\u{301}", 10, widest, 20) {
                assert!(!line.starts_with(['\u{200d}', '\u{301}']), "{line:?}");
                assert!(!line.ends_with('\u{200d}'), "{line:?}");
            }
        }
    }
}
