//! The YAML that most files are, read in one pass: keys, values on one line, lists.
//!
//! Whatever it reads is what the library makes of it, spans included; a property holds the two together. What it
//! does not read (anchors, tags, escapes, a text of several lines, a key without a value, anything
//! that is wrong) it leaves to the library, which also knows what to say about it.

use super::super::node::{Entry, Kind, Map, Node, TreeLimits};
use super::super::source::Span;
use super::core_schema;

/// What a text says, if all of it is usual. `offset` is where the text starts in its source.
pub(super) fn read(text: &str, offset: usize, limits: TreeLimits) -> Option<Node<'_>> {
    if !text.chars().all(is_usual) {
        return None;
    }
    let mut reading = Reading {
        text,
        bytes: text.as_bytes(),
        offset,
        limits,
        size: 0,
        depth: 0,
        at: 0,
        column: None,
    };
    reading.find_content();
    let root = reading.map(reading.column?)?;
    reading.column.is_none().then_some(root)
}

/// No tab, nothing that cannot be printed, no white space but spaces and line breaks.
fn is_usual(c: char) -> bool {
    match c {
        '\n' | ' '..='~' => true,
        '\0'..='\x7f' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => false,
        c => !c.is_control() && !c.is_whitespace(),
    }
}

struct Reading<'s> {
    text: &'s str,
    bytes: &'s [u8],
    offset: usize,
    limits: TreeLimits,
    /// Values and keys so far.
    size: usize,
    /// Maps and lists around what is read.
    depth: usize,
    at: usize,
    /// How far in the line of `at` begins; `None` is the end of the text.
    column: Option<usize>,
}

impl<'s> Reading<'s> {
    fn byte(&self, at: usize) -> u8 {
        // A line break stands for the end of the text, which ends the last line.
        self.bytes.get(at).copied().unwrap_or(b'\n')
    }

    /// Goes from the start of a line to the next one with something in it.
    fn find_content(&mut self) {
        while self.at < self.bytes.len() {
            let start = self.at;
            self.skip_spaces();
            match self.byte(self.at) {
                b'\n' => self.at += 1,
                b'#' => self.skip_line(),
                _ => {
                    self.column = Some(self.at - start);
                    return;
                }
            }
        }
        self.at = self.bytes.len();
        self.column = None;
    }

    fn skip_spaces(&mut self) {
        while self.byte(self.at) == b' ' {
            self.at += 1;
        }
    }

    fn skip_line(&mut self) {
        while self.byte(self.at) != b'\n' {
            self.at += 1;
        }
        self.at += 1;
    }

    /// Ends a line behind a value, and goes to the next one with something in it.
    fn end_line(&mut self) -> Option<()> {
        let end = self.at;
        self.skip_spaces();
        match self.byte(self.at) {
            b'\n' => self.at += 1,
            b'#' if self.at > end => self.skip_line(),
            _ => return None,
        }
        self.find_content();
        Some(())
    }

    fn count(&mut self) -> Option<()> {
        self.size += 1;
        (self.size <= self.limits.size).then_some(())
    }

    fn enter(&mut self) -> Option<()> {
        self.count()?;
        self.depth += 1;
        (self.depth <= self.limits.depth).then_some(())
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(start + self.offset, end + self.offset)
    }

    /// A map or list in lines is said to end where the next thing begins, without the white space before that.
    fn block(&mut self, start: usize, kind: Kind<'s>) -> Node<'s> {
        self.depth -= 1;
        let written = self.text[start..self.at].trim_end();
        Node {
            kind,
            span: Some(self.span(start, start + written.len())),
        }
    }

    /// The lines of a map whose keys stand in this column, from its first key on.
    fn map(&mut self, column: usize) -> Option<Node<'s>> {
        let start = self.at;
        self.enter()?;
        let mut map = Map::default();
        while self.column == Some(column) {
            let (key, key_span) = self.key()?;
            let value = self.value_of_key(column)?;
            map.entries.push(Entry {
                key: key.into(),
                key_span: Some(key_span),
                value,
            });
        }
        // Whatever is further in goes on with the last value, or is wrong.
        (self.column < Some(column)).then(|| self.block(start, Kind::Map(map)))
    }

    /// A key, and the colon behind it.
    fn key(&mut self) -> Option<(&'s str, Span)> {
        let start = self.at;
        let end = self.word_end(start);
        let is_key = self.byte(start).is_ascii_alphabetic()
            && self.byte(end) == b':'
            && matches!(self.byte(end + 1), b' ' | b'\n')
            && end - start <= LONGEST_KEY;
        if !is_key {
            return None;
        }
        self.count()?;
        self.at = end + 1;
        Some((&self.text[start..end], self.span(start, end)))
    }

    fn word_end(&self, start: usize) -> usize {
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let mut end = start;
        while is_word(self.byte(end)) {
            end += 1;
        }
        end
    }

    /// What stands behind a key, or in the lines below it.
    fn value_of_key(&mut self, column: usize) -> Option<Node<'s>> {
        let key_end = self.at;
        self.skip_spaces();
        let comment = self.byte(self.at) == b'#' && self.at > key_end;
        if self.byte(self.at) != b'\n' && !comment {
            return self.value_in_line();
        }
        self.at = key_end;
        self.end_line()?;
        let below = self.column?;
        let is_item = self.is_item();
        if is_item && below >= column {
            self.list(below, below > column)
        } else if below > column {
            self.map(below)
        } else {
            None
        }
    }

    fn is_item(&self) -> bool {
        self.byte(self.at) == b'-' && self.byte(self.at + 1) == b' '
    }

    /// The lines of a list whose dashes stand in this column, from its first dash on. Where they are not further
    /// in than their key, the library has the list begin behind the first dash.
    fn list(&mut self, column: usize, is_further_in: bool) -> Option<Node<'s>> {
        let mut start = self.at;
        self.enter()?;
        let mut items = Vec::new();
        while self.column == Some(column) && self.is_item() {
            let dash = self.at;
            self.at += 1;
            self.skip_spaces();
            if items.is_empty() && !is_further_in {
                start = self.at;
            }
            let inside = column + (self.at - dash);
            items.push(self.item(inside)?);
        }
        (self.column <= Some(column)).then(|| self.block(start, Kind::List(items)))
    }

    /// An item of a list, which stands in this column: a map whose first key is in the dash's line, or a value.
    fn item(&mut self, column: usize) -> Option<Node<'s>> {
        if self.is_item() {
            return None;
        }
        let end = self.word_end(self.at);
        if self.byte(end) == b':' {
            self.column = Some(column);
            return self.map(column);
        }
        self.value_in_line()
    }

    /// A value that begins and ends in this line, with nothing behind it.
    fn value_in_line(&mut self) -> Option<Node<'s>> {
        let node = match self.byte(self.at) {
            b'[' | b'{' => self.flow()?,
            b'"' | b'\'' => self.quoted()?,
            _ => self.plain()?,
        };
        self.end_line()?;
        Some(node)
    }

    /// A text in quotes, in which nothing is escaped.
    fn quoted(&mut self) -> Option<Node<'s>> {
        let (start, quote) = (self.at, self.byte(self.at));
        let mut end = start + 1;
        while self.byte(end) != quote {
            if matches!(self.byte(end), b'\n' | b'\\') {
                return None;
            }
            end += 1;
        }
        // Two single quotes are one that is meant.
        if self.byte(end + 1) == quote {
            return None;
        }
        self.count()?;
        self.at = end + 1;
        Some(Node {
            kind: Kind::Text(self.text[start + 1..end].into()),
            span: Some(self.span(start, self.at)),
        })
    }

    /// A text without quotes, to the end of the line or to its comment.
    fn plain(&mut self) -> Option<Node<'s>> {
        let start = self.at;
        if !begins_plain(self.byte(start)) {
            return None;
        }
        let mut end = start;
        loop {
            match (self.byte(end), self.byte(end + 1)) {
                (b'\n', _) | (b' ', b'#') => break,
                (b':', b' ' | b'\n') => return None,
                _ => end += 1,
            }
        }
        let written = self.text[start..end].trim_end_matches(' ');
        self.scalar(start, written)
    }

    fn scalar(&mut self, start: usize, written: &'s str) -> Option<Node<'s>> {
        self.count()?;
        self.at = start + written.len();
        Some(Node {
            kind: core_schema(written).unwrap_or(Kind::Text(written.into())),
            span: Some(self.span(start, self.at)),
        })
    }

    /// A list or map in brackets.
    fn flow(&mut self) -> Option<Node<'s>> {
        let start = self.at;
        self.enter()?;
        let (mut items, mut map) = (Vec::new(), Map::default());
        let is_list = self.byte(start) == b'[';
        let close = if is_list { b']' } else { b'}' };
        self.at += 1;
        self.skip_spaces();
        while self.byte(self.at) != close {
            if is_list {
                items.push(self.flow_value()?);
            } else {
                let (key, key_span) = self.key()?;
                self.skip_spaces();
                map.entries.push(Entry {
                    key: key.into(),
                    key_span: Some(key_span),
                    value: self.flow_value()?,
                });
            }
            self.skip_spaces();
            if self.byte(self.at) == b',' {
                self.at += 1;
                self.skip_spaces();
            } else if self.byte(self.at) != close {
                return None;
            }
        }
        self.at += 1;
        self.depth -= 1;
        Some(Node {
            kind: if is_list {
                Kind::List(items)
            } else {
                Kind::Map(map)
            },
            span: Some(self.span(start, self.at)),
        })
    }

    fn flow_value(&mut self) -> Option<Node<'s>> {
        let start = self.at;
        match self.byte(start) {
            b'[' | b'{' => self.flow(),
            b'"' | b'\'' => self.quoted(),
            first if begins_plain(first) => {
                let is_part = |byte: u8| begins_plain(byte) || matches!(byte, b'-' | b'.' | b'*');
                let mut end = start;
                while is_part(self.byte(end)) {
                    end += 1;
                }
                self.scalar(start, &self.text[start..end])
            }
            _ => None,
        }
    }
}

/// A longer one is no key, or none of ours.
const LONGEST_KEY: usize = 100;

/// Whether a text without quotes may begin with it, whatever comes behind.
fn begins_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'/' | b'$') || !byte.is_ascii()
}

#[cfg(test)]
mod tests;
