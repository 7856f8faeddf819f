//! The tokens of a JSON5 text, each with its location.
//!
//! Knows what separates tokens and nothing of their meaning: the text was, or will be, judged by the library.

use crate::diagnostic::Span;

/// The tokens of a text, without white space and comments.
pub(crate) struct Tokens<'s> {
    text: &'s str,
    at: usize,
}

pub(crate) fn tokens(text: &str) -> Tokens<'_> {
    Tokens { text, at: 0 }
}

impl<'s> Iterator for Tokens<'s> {
    /// A sign, a string with its quotes, or anything else: a number, a keyword, an identifier.
    type Item = (&'s str, Span);

    fn next(&mut self) -> Option<Self::Item> {
        self.at += blank(&self.text[self.at..]);
        let rest = &self.text[self.at..];
        let first = rest.chars().next()?;
        let length = match first {
            '{' | '}' | '[' | ']' | ':' | ',' => 1,
            '"' | '\'' => quoted(rest, first),
            _ => bare(rest, first),
        };
        let span = Span::new(self.at, self.at + length);
        self.at += length;
        Some((&rest[..length], span))
    }
}

/// The length of the white space and comments that open a text.
fn blank(text: &str) -> usize {
    let mut at = 0;
    loop {
        let rest = &text[at..];
        let spaces = rest.trim_start_matches(json5::char::is_json5_whitespace);
        at += rest.len() - spaces.len();
        let comment = if let Some(body) = spaces.strip_prefix("//") {
            2 + body
                .find(json5::char::is_json5_line_terminator)
                .unwrap_or(body.len())
        } else if let Some(body) = spaces.strip_prefix("/*") {
            2 + body.find("*/").map_or(body.len(), |end| end + 2)
        } else {
            return at;
        };
        at += comment;
    }
}

/// The length of the string that opens a text.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Returns the length of the identifier at the start of a text.
fn bare(text: &str, first: char) -> usize {
    let ends = |c: char| {
        json5::char::is_json5_whitespace(c)
            || matches!(c, '{' | '}' | '[' | ']' | ':' | ',' | '"' | '\'' | '/')
    };
    let after = first.len_utf8();
    text[after..]
        .find(ends)
        .map_or(text.len(), |end| after + end)
}
