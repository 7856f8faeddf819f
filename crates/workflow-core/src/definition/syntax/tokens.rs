//! The locations of the values of a JSON5 text.
//!
//! Knows what separates tokens and nothing of their meaning: the text was, or will be, judged by the
//! library. [`located`] walks a finished tree and the tokens side by side; at the first
//! disagreement the whole tree keeps no spans, rather than wrong ones.

use super::node::{Kind, Node};
use crate::diagnostic::Span;

/// A token of JSON5.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JsonToken {
    OpenMap,
    CloseMap,
    OpenList,
    CloseList,
    Colon,
    Comma,
    /// A string, quotes included.
    Quoted,
    /// Anything else: a number, a keyword, an identifier.
    Bare,
}

/// The tokens of a text, without white space and comments.
pub(crate) struct Tokens<'s> {
    text: &'s str,
    at: usize,
}

pub(crate) fn tokens(text: &str) -> Tokens<'_> {
    Tokens { text, at: 0 }
}

impl Iterator for Tokens<'_> {
    type Item = (JsonToken, Span);

    fn next(&mut self) -> Option<Self::Item> {
        self.at += blank(&self.text[self.at..]);
        let rest = &self.text[self.at..];
        let first = rest.chars().next()?;
        let (token, length) = match first {
            '{' => (JsonToken::OpenMap, 1),
            '}' => (JsonToken::CloseMap, 1),
            '[' => (JsonToken::OpenList, 1),
            ']' => (JsonToken::CloseList, 1),
            ':' => (JsonToken::Colon, 1),
            ',' => (JsonToken::Comma, 1),
            '"' | '\'' => (JsonToken::Quoted, quoted(rest, first)),
            _ => (JsonToken::Bare, bare(rest, first)),
        };
        let span = Span::new(self.at, self.at + length);
        self.at += length;
        Some((token, span))
    }
}

impl Tokens<'_> {
    /// The span of the next token, if it is this one.
    fn expect(&mut self, token: JsonToken) -> Option<Span> {
        let (next, span) = self.next()?;
        (next == token).then_some(span)
    }

    /// The span of the closing bracket that comes next, perhaps after a comma.
    fn close(&mut self, bracket: JsonToken, comma_allowed: bool) -> Option<Span> {
        match self.next()? {
            (JsonToken::Comma, _) if comma_allowed => self.expect(bracket),
            (token, span) => (token == bracket).then_some(span),
        }
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

/// A tree with the span of every value and key; without any where they do not fit together.
pub(crate) fn located<'s>(text: &str, root: Node<'s>) -> Node<'s> {
    let (mut tokens, mut located) = (tokens(text), root.clone());
    match locate_value(&mut tokens, &mut located) {
        Some(()) if tokens.next().is_none() => located,
        _ => root,
    }
}

/// `None` when the tokens are not those of the value.
fn locate_value(tokens: &mut Tokens<'_>, node: &mut Node<'_>) -> Option<()> {
    let (token, start) = tokens.next()?;
    let end = match (&mut node.kind, token) {
        (Kind::Null | Kind::Bool(_) | Kind::Number(_), JsonToken::Bare)
        | (Kind::Text(_), JsonToken::Quoted) => start,
        (Kind::List(items), JsonToken::OpenList) => {
            for (at, item) in items.iter_mut().enumerate() {
                if at > 0 {
                    tokens.expect(JsonToken::Comma)?;
                }
                locate_value(tokens, item)?;
            }
            tokens.close(JsonToken::CloseList, !items.is_empty())?
        }
        (Kind::Map(map), JsonToken::OpenMap) => {
            for (at, entry) in map.entries.iter_mut().enumerate() {
                if at > 0 {
                    tokens.expect(JsonToken::Comma)?;
                }
                let (key, span) = tokens.next()?;
                matches!(key, JsonToken::Quoted | JsonToken::Bare).then_some(())?;
                entry.key_span = Some(span);
                tokens.expect(JsonToken::Colon)?;
                locate_value(tokens, &mut entry.value)?;
            }
            tokens.close(JsonToken::CloseMap, !map.entries.is_empty())?
        }
        _ => return None,
    };
    node.span = Some(Span::new(start.start, end.end));
    Some(())
}
