//! Text widths, and the sizes of what is drawn.
//!
//! The reader's font is not known, so the widths are those of a wide sans-serif font: text stays inside its box in
//! all others.

use unicode_width::UnicodeWidthChar;

/// Joins emoji to one.
const JOINER: char = '\u{200d}';

/// Returns the width of a text in pixels.
pub(super) fn width(text: &str, size: u32) -> u32 {
    let hundredths: u32 = text.chars().map(hundredths).sum();
    (hundredths * size).div_ceil(100)
}

/// Returns the width of a character in hundredths of an em.
fn hundredths(c: char) -> u32 {
    match c {
        'i' | 'j' | 'l' | '\'' | '|' => 30,
        'f' | 't' | 'I' | '.' | ',' | ':' | ';' | '!' | ' ' | '(' | ')' | '[' | ']' | '/' | '-' => {
            42
        }
        'r' | 's' | 'c' | 'k' | 'v' | 'x' | 'y' | 'z' | '`' | '*' | '?' | '"' => 60,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '…' => 104,
        'A'..='Z' | '+' | '<' | '=' | '>' | '~' | '#' | '&' | '^' => 84,
        _ if c.is_ascii() => 64,
        _ => match c.width().unwrap_or(0) {
            0 => 0,
            1 => 80,
            _ => 135,
        },
    }
}

/// Wraps a text to a width and a number of lines; the excess is cut, with an ellipsis.
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

/// Returns the end of the first line: after a word or a comma, or inside a word that is too long.
fn line_end(text: &str, size: u32, widest: u32) -> usize {
    let fits = fitting(text, size, widest);
    if fits == text.len() {
        return fits;
    }
    let breaks = text[..fits].rmatch_indices([' ', ',']);
    let mut ends = breaks.map(|(at, found)| at + usize::from(found == ","));
    ends.next().filter(|&end| end > 0).unwrap_or(fits)
}

/// Returns the number of bytes that fit: at least one character, and joined characters are not split.
fn fitting(text: &str, size: u32, widest: u32) -> usize {
    let mut used = 0;
    let mut end = 0;
    let mut joined = true;
    for (at, c) in text.char_indices() {
        let own = hundredths(c);
        // A combining mark belongs to the character before it.
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

/// Font sizes.
pub(super) const NAME: u32 = 15;
pub(super) const SMALL: u32 = 12;
/// The size by which names and titles are measured: their bold letters are wider.
pub(super) const BOLD: u32 = 17;
/// Distance between two lines.
pub(super) const LINE: u32 = 19;
pub(super) const SMALL_LINE: u32 = 17;
/// Width of an emoji, and of a mark's icon, before the text.
pub(super) const EMOJI: u32 = 30;
pub(super) const ICON: u32 = 18;
/// Distance between a box's edge and its text.
pub(super) const INSET: u32 = 14;

pub(super) const MARGIN: u32 = 24;
/// Distance between two boxes, with the arrow.
pub(super) const GAP: u32 = 28;
/// Distance between a scope's edge and its content.
pub(super) const PAD: u32 = 16;
/// Distance between a scope's content and the lane of its `loop`.
pub(super) const TO_LANE: u32 = 18;
pub(super) const NARROWEST: u32 = 150;
pub(super) const WIDEST: u32 = 330;
/// Maximum number of lines of a name.
pub(super) const LINES: usize = 4;
/// Maximum number of lines of a mark: what a rule or a check says must be readable.
pub(super) const MARK_LINES: usize = 6;

/// Width of an icon in the legend.
pub(super) const LEGEND_ICON: u32 = 26;
pub(super) const LEGEND_LINE: u32 = 20;
pub(super) const PILL_HEIGHT: u32 = 28;
/// Distance between the lanes of two jumps, and between two of their lines at a card.
pub(super) const LANE: u32 = 12;
pub(super) const JUMP_LINE: u32 = 17;
/// Maximum width of a jump's label.
pub(super) const JUMP_LABEL: u32 = 130;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_breaks_after_a_word() {
        assert_eq!(wrapped("write the test", 10, 60, 2), ["write the", "test"]);
        assert_eq!(wrapped("  one  ", 10, 60, 2), ["one"]);
        assert_eq!(
            wrapped("{tests/**,spec/**}", 10, 70, 2),
            ["{tests/**,", "spec/**}"]
        );
        assert!(wrapped("", 10, 60, 2).is_empty());
    }

    #[test]
    fn a_text_that_does_not_fit_is_cut_with_an_ellipsis() {
        assert_eq!(
            wrapped("write the failing test first", 10, 60, 2),
            ["write the", "failing te…"]
        );
        assert_eq!(wrapped("unbelievable", 10, 40, 1), ["unbel…"]);
        assert_eq!(wrapped("unbelievable", 10, 40, 9), ["unbelie", "vable"]);
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
    fn joined_characters_are_not_split() {
        for widest in 0..60 {
            for line in wrapped("👩‍💻👩‍💻 e\u{301}e\u{301}", 10, widest, 20) {
                assert!(!line.starts_with(['\u{200d}', '\u{301}']), "{line:?}");
                assert!(!line.ends_with('\u{200d}'), "{line:?}");
            }
        }
    }
}
