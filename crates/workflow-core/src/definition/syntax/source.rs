//! The text of one file, and the locations of spans in it.
//!
//! Line breaks become `\n` and one byte order mark is dropped (B47), so that offsets mean the same
//! for every format; lines and columns stay what an editor shows.

use std::cell::{Cell, OnceCell};
use std::sync::Arc;

use crate::diagnostic::{Excerpt, Location, Region, Span, is_hidden, push as push_shown, visible};

/// A file's text and the path people know it by.
#[derive(Debug)]
pub(crate) struct Source {
    file: Arc<str>,
    text: String,
    /// The starts of lines, computed for the first location.
    lines: OnceCell<Vec<usize>>,
    /// The offset of the last computed column, and that column.
    counted: Cell<(usize, usize)>,
    /// The location of the first byte that was not UTF-8.
    not_utf8: Option<Span>,
}

impl Source {
    pub(crate) fn new(file: &str, bytes: Vec<u8>) -> Self {
        let decoded = String::from_utf8(bytes);
        let is_utf8 = decoded.is_ok();
        let mut text =
            decoded.unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        if text.starts_with('\u{feff}') {
            text.drain(..'\u{feff}'.len_utf8());
        }
        if text.contains('\r') {
            text = text.replace("\r\n", "\n").replace('\r', "\n");
        }
        let replaced = text.find(char::REPLACEMENT_CHARACTER).filter(|_| !is_utf8);
        let not_utf8 =
            replaced.map(|at| Span::new(at, at + char::REPLACEMENT_CHARACTER.len_utf8()));
        Self {
            file: visible(file).into(),
            text,
            lines: OnceCell::new(),
            counted: Cell::default(),
            not_utf8,
        }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    pub(crate) fn not_utf8(&self) -> Option<Span> {
        self.not_utf8
    }

    /// Returns the location of a span, or of the whole file.
    pub(crate) fn location(&self, span: Option<Span>) -> Location {
        Location {
            file: Arc::clone(&self.file),
            region: span.map(|span| self.region(span)),
        }
    }

    fn region(&self, span: Span) -> Region {
        let start = self.char_start(span.start);
        let end = self.char_start(span.end).max(start);
        // A span that ends with its line's break ends before it.
        let end = start + self.text[start..end].trim_end_matches('\n').len();
        let (line, end_line) = (self.line_of(start), self.line_of(end));
        let (column, end_column) = (self.column(&line, start), self.column(&end_line, end));
        let text = &self.text[line.start..line.end];
        let excerpt = excerpt(text, start - line.start, end - line.start);
        Region {
            line: number(line.index),
            column: number(column),
            end_line: number(end_line.index),
            end_column: number(end_column),
            excerpt,
        }
    }

    /// The characters before an offset in its line. Counts on from the last answer where it can, so that
    /// many places in one long line cost no more than the line.
    fn column(&self, line: &Line, offset: usize) -> usize {
        let (known, count) = self.counted.get();
        let (from, before) = if (line.start..=offset).contains(&known) {
            (known, count)
        } else {
            (line.start, 0)
        };
        let count = before + self.text[from..offset].chars().count();
        self.counted.set((offset, count));
        count
    }

    /// The nearest character boundary at or before an offset, inside the text.
    fn char_start(&self, offset: usize) -> usize {
        let mut before = (0..=offset.min(self.text.len())).rev();
        let found = before.find(|&at| self.text.is_char_boundary(at));
        found.unwrap_or_default()
    }

    fn line_of(&self, offset: usize) -> Line {
        let starts = self.lines.get_or_init(|| {
            let breaks = self.text.match_indices('\n').map(|(at, _)| at + 1);
            std::iter::once(0).chain(breaks).collect()
        });
        let index = starts.partition_point(|&start| start <= offset) - 1;
        let next = starts.get(index + 1);
        Line {
            index,
            start: starts[index],
            end: next.map_or(self.text.len(), |next| next - 1),
        }
    }
}

/// A line of a source: its index and its text.
struct Line {
    index: usize,
    start: usize,
    end: usize,
}

/// A line or column as it is shown: counted from 1.
fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX).saturating_add(1)
}

/// A line with visible characters, cut around `start..end` (in bytes) when it is long.
fn excerpt(line: &str, start: usize, end: usize) -> Excerpt {
    const WHOLE: usize = 200;
    let most = if line.len() <= WHOLE {
        [usize::MAX; 3]
    } else {
        [60, 80, 60]
    };
    let end = end.min(line.len());
    let (before, cut_before) = last(&line[..start], most[0]);
    let (marked, cut_marked) = first(&line[start..end], most[1]);
    // A cut mark already shows that the line continues.
    let (after, cut_after) = first(&line[end..], if cut_marked { 0 } else { most[2] });
    let mut text = String::with_capacity(line.len().min(2 * WHOLE));
    if cut_before {
        text.push('…');
    }
    push(&mut text, before);
    let start = text.len();
    push(&mut text, marked);
    let end = text.len();
    push(&mut text, after);
    if cut_marked || cut_after {
        text.push('…');
    }
    Excerpt { text, start, end }
}

/// The first characters of a text, and true if there are more.
fn first(text: &str, count: usize) -> (&str, bool) {
    match text.char_indices().nth(count) {
        Some((at, _)) => (&text[..at], true),
        None => (text, false),
    }
}

/// The last characters of a text, and true if there are more.
fn last(text: &str, count: usize) -> (&str, bool) {
    match text.char_indices().rev().nth(count) {
        Some((at, c)) => (&text[at + c.len_utf8()..], true),
        None => (text, false),
    }
}

/// A tab stays a tab: indentation must look as it does in the file.
fn push(out: &mut String, text: &str) {
    for c in text.chars() {
        push_shown(out, c, c != '\t' && is_hidden(c));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(text: &str, start: usize, end: usize) -> Region {
        let source = Source::new("f", text.as_bytes().to_vec());
        source.location(Some(Span::new(start, end))).region.unwrap()
    }

    #[test]
    fn lines_and_columns_count_from_one_in_characters() {
        let found = region("a\näö: x\n", 6, 7);
        assert_eq!((found.line, found.column), (2, 3));
        assert_eq!((found.end_line, found.end_column), (2, 4));
        assert_eq!(found.excerpt.text, "äö: x");
        assert_eq!(
            &found.excerpt.text[found.excerpt.start..found.excerpt.end],
            ":"
        );
    }

    #[test]
    fn locations_do_not_depend_on_the_order_of_requests() {
        let source = Source::new("f", "äb\nöcd ef\n\ng".as_bytes().to_vec());
        let column = |at| source.location(Some(Span::new(at, at))).column().unwrap();
        let asked = [7, 4, 0, 9, 2, 9, 4, 12, 13, 6];
        assert_eq!(asked.map(column), [3, 1, 1, 5, 2, 5, 1, 1, 1, 2]);
    }

    #[test]
    fn every_kind_of_line_break_is_one_line() {
        let found = region("a\r\nb\rc\nd", 6, 7);
        assert_eq!((found.line, found.column), (4, 1));
    }

    #[test]
    fn a_byte_order_mark_takes_no_column() {
        let found = region("\u{feff}abc", 1, 2);
        assert_eq!((found.line, found.column), (1, 2));
    }

    #[test]
    fn a_long_line_is_cut_around_the_location() {
        let line = "x".repeat(5000);
        let found = region(&line, 3000, 3003);
        assert_eq!(found.column, 3001);
        assert!(found.excerpt.text.len() < 200);
        assert_eq!(found.excerpt.end - found.excerpt.start, 3);
        assert!(found.excerpt.text.starts_with('…') && found.excerpt.text.ends_with('…'));
    }

    #[test]
    fn control_characters_are_escaped() {
        let found = region("a\u{1b}[31mb", 0, 7);
        assert_eq!(found.excerpt.text, "a\\u{1b}[31mb");
    }

    #[test]
    fn an_offset_past_the_end_is_the_end() {
        let found = region("ab\n", 90, 95);
        assert_eq!((found.line, found.column), (2, 1));
        assert_eq!(region("", 0, 0).line, 1);
    }

    #[test]
    fn bytes_that_are_not_utf8_are_replaced_and_remembered() {
        let source = Source::new("f", b"ab\xff".to_vec());
        assert_eq!(source.not_utf8(), Some(Span::new(2, 5)));
        assert_eq!(Source::new("f", "\u{fffd}".into()).not_utf8(), None);
    }
}
