//! JSON5 into a [`Node`] tree. The only file that knows the JSON5 library.
//!
//! The library decides whether a text is valid and what its scalars and keys mean, and gives no positions;
//! [`tokens`](super::tokens) gives positions and decides nothing.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::de::IgnoredAny;

use super::node::{Entry, Kind, Map, Node, TreeLimits};
use super::tokens::{Tokens, tokens};
use crate::diagnostic::{Code, Finding, Span};

/// Reads a text. Its depth is counted first: the library recurses without a limit.
pub(crate) fn parse(text: &str, limits: TreeLimits) -> Result<Node<'_>, Finding> {
    check_extent(text, limits)?;
    json5::from_str::<IgnoredAny>(text).map_err(|error| syntax_error(text, &error))?;
    let mut tokens = tokens(text);
    let first = tokens.next();
    let node = first.and_then(|first| value(&mut tokens, first));
    node.ok_or_else(|| Finding::error(Code::Syntax, None, "not valid JSON5"))
}

/// Refuses texts that are nested too deep or too large.
fn check_extent(text: &str, limits: TreeLimits) -> Result<(), Finding> {
    let mut depth = 0_usize;
    for (count, (token, span)) in tokens(text).enumerate() {
        match token {
            "{" | "[" => depth += 1,
            "}" | "]" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > limits.depth {
            return Err(limits.too_deep(Some(span)));
        }
        if count > limits.size {
            return Err(limits.too_large(Some(span)));
        }
    }
    Ok(())
}

fn syntax_error(text: &str, error: &json5::Error) -> Finding {
    let message = error.to_string();
    // The library appends its own position.
    let message = message.split(" at line ").next().unwrap_or(&message);
    let at = match error.position() {
        // What the text ends too early for is where it starts; the mistake is at the end.
        Some(position) if !message.starts_with("EOF") => offset_of(text, position),
        _ => text.trim_end().len(),
    };
    let message = format!("not valid JSON5: {message}");
    Finding::error(Code::Syntax, Some(Span::new(at, at + 1)), message)
}

/// The library counts lines and characters, and more line breaks than editors know.
fn offset_of(text: &str, position: json5::Position) -> usize {
    let (mut line, mut column) = (0, 0);
    for (at, c) in text.char_indices() {
        if (line, column) == (position.line, position.column) {
            return at;
        }
        if json5::char::is_json5_line_terminator(c) {
            (line, column) = (line + 1, 0);
        } else {
            column += 1;
        }
    }
    text.len()
}

/// The value that begins with a token. The library has found the text to be valid; `None` is a text that is not.
fn value<'s>(tokens: &mut Tokens<'s>, (token, start): (&'s str, Span)) -> Option<Node<'s>> {
    let (kind, end) = match token {
        "null" => (Kind::Null, start),
        "true" | "false" => (Kind::Bool(token == "true"), start),
        "[" => {
            let mut items = Vec::new();
            loop {
                match tokens.next()? {
                    ("]", end) => break (Kind::List(items), end),
                    (",", _) => {}
                    first => items.push(value(tokens, first)?),
                }
            }
        }
        "{" => {
            let mut entries = Vec::new();
            loop {
                let (key, key_span) = match tokens.next()? {
                    ("}", end) => break (Kind::Map(Map { entries }), end),
                    (",", _) => continue,
                    key => key,
                };
                let (_colon, first) = (tokens.next()?, tokens.next()?);
                entries.push(Entry {
                    key: key_text(key)?,
                    key_span: Some(key_span),
                    value: value(tokens, first)?,
                });
            }
        }
        "}" | "]" | ":" | "," => return None,
        text if text.starts_with(['"', '\'']) => (Kind::Text(json5::from_str(text).ok()?), start),
        number => (Kind::Number(json5::from_str(number).ok()?), start),
    };
    let span = Some(Span::new(start.start, end.end));
    Some(Node { kind, span })
}

/// The text of a key, which may be an identifier with escapes.
fn key_text(written: &str) -> Option<Cow<'static, str>> {
    let map = format!("{{{written}: 0}}");
    let map: BTreeMap<String, u8> = json5::from_str(&map).ok()?;
    map.into_keys().next().map(Cow::Owned)
}

#[cfg(test)]
mod tests;
