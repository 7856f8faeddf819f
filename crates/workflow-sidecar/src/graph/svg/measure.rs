//! Text widths, the sizes of what is drawn, and cards: their lines, their common width, the extent of the scopes around them.
//!
//! The reader's font is not known, so the widths are those of a wide sans-serif font: text stays inside its box in
//! all others.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::super::model::{Graph, GraphNode, MarkKind, NodeMark};

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

/// Wraps a text to the lines of a card.
pub(in crate::graph) fn lines(text: &str) -> Vec<String> {
    wrapped(text, SMALL, WIDEST, usize::MAX)
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

/// The text of a card or of a scope's head, in lines.
pub(super) struct BoxText<'g> {
    /// The emoji before the name, if it is short enough.
    pub(super) emoji: Option<&'g str>,
    pub(super) name: Vec<String>,
    pub(super) marks: Vec<(MarkKind, Vec<String>)>,
}

/// The common width of all cards.
pub(super) fn card_width(graph: &Graph) -> u32 {
    let natural = graph.root.nodes().into_iter().map(|step| {
        let (emoji, name) = label(step);
        let indent = if emoji.is_some() { EMOJI } else { 0 };
        let marks = step.marks.iter();
        let marks = marks.map(|mark| ICON + width(&mark.text, SMALL));
        indent + marks.max().unwrap_or(0).max(width(&name, BOLD))
    });
    let text = natural.max().unwrap_or(0).clamp(NARROWEST, WIDEST);
    // Even, so that the centre is a whole pixel.
    (text + 2 * INSET).next_multiple_of(2)
}

/// The extent of a scope's content on one side of the axis. A `loop` inside takes a lane on that side.
pub(super) fn inside(scope: &GraphNode, card: u32, lane: u32) -> u32 {
    let entries = scope.entries.iter();
    let extents = entries.map(|entry| extent(entry, card, lane));
    extents.max().unwrap_or(0)
}

/// The extent of a card or a scope on one side of the axis.
pub(super) fn extent(scope: &GraphNode, card: u32, lane: u32) -> u32 {
    if !scope.is_scope() {
        return card / 2;
    }
    let own_lane = if scope.loop_from.is_empty() { 0 } else { lane };
    inside(scope, card, lane) + own_lane + PAD
}

/// Splits a node's label into its emoji and its name. An `emoji` that is longer than one becomes part of the name.
fn label(step: &GraphNode) -> (Option<&str>, String) {
    let emoji = &*step.emoji;
    // One emoji may consist of many joined characters.
    let icon = !emoji.is_ascii() && emoji.width() <= 2 && emoji.chars().count() < 12;
    if emoji.is_empty() {
        (None, step.name.clone())
    } else if icon || width(emoji, 100) <= 140 {
        (Some(emoji), step.name.clone())
    } else {
        (None, format!("{emoji} {}", step.name))
    }
}

impl<'g> BoxText<'g> {
    /// The text of a card.
    pub(super) fn of(step: &'g GraphNode, card: u32) -> Self {
        let (emoji, name) = label(step);
        Self::new(emoji, &name, &step.marks, card)
    }

    /// Wraps a name and marks to a box of a width.
    pub(super) fn new(emoji: Option<&'g str>, name: &str, marks: &[NodeMark], width: u32) -> Self {
        let room = width - 2 * INSET - if emoji.is_some() { EMOJI } else { 0 };
        let lines = |mark: &NodeMark| wrapped(&mark.text, SMALL, room - ICON, MARK_LINES);
        Self {
            emoji,
            name: wrapped(name, BOLD, room, LINES),
            marks: marks.iter().map(|mark| (mark.kind, lines(mark))).collect(),
        }
    }

    pub(super) fn height(&self) -> u32 {
        let count = |lines: usize| u32::try_from(lines).expect("a few lines");
        let of_marks = match self.marks.iter().map(|(_, lines)| lines.len()).sum() {
            0 => 0,
            lines => 3 + count(lines) * SMALL_LINE,
        };
        2 * 10 + count(self.name.len()).max(1) * LINE + of_marks
    }
}

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
