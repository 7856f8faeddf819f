//! JSON5 into a [`Node`] tree. The only file that knows the JSON5 library.
//!
//! The library decides what a text means and gives no positions; [`tokens`](super::tokens) gives
//! positions and decides nothing. Where the two do not fit together, values have no span.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};

use super::node::{Entry, Kind, Map, Node, TreeLimits};
use super::tokens::{JsonToken, located, tokens};
use crate::diagnostic::{Code, Finding, Span};

/// Reads a text. Its depth is counted first: the library recurses without a limit.
pub(crate) fn parse(text: &str, limits: TreeLimits) -> Result<Node<'_>, Finding> {
    check_extent(text, limits)?;
    let node = json5::from_str(text).map_err(|error| syntax_error(text, &error))?;
    Ok(located(text, node))
}

/// Refuses texts that are nested too deep or too large.
fn check_extent(text: &str, limits: TreeLimits) -> Result<(), Finding> {
    let mut depth = 0_usize;
    for (count, (token, span)) in tokens(text).enumerate() {
        match token {
            JsonToken::OpenMap | JsonToken::OpenList => depth += 1,
            JsonToken::CloseMap | JsonToken::CloseList => depth = depth.saturating_sub(1),
            JsonToken::Colon | JsonToken::Comma | JsonToken::Quoted | JsonToken::Bare => {}
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
    Finding::error(
        Code::Syntax,
        Some(Span::new(at, at + 1)),
        format!("not valid JSON5: {message}"),
    )
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

impl<'de> Deserialize<'de> for Node<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let kind = deserializer.deserialize_any(KindVisitor)?;
        Ok(Self { kind, span: None })
    }
}

struct KindVisitor;

#[expect(
    clippy::cast_precision_loss,
    reason = "a number is what JavaScript makes of it"
)]
impl<'de> Visitor<'de> for KindVisitor {
    type Value = Kind<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Kind::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(Kind::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Kind::Number(value as f64))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok(Kind::Number(value as f64))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
        Ok(Kind::Number(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Self::Value, E> {
        Ok(Kind::Text(Cow::Owned(value.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(Kind::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::new();
        while let Some((key, value)) = map.next_entry::<Node, Node>()? {
            let Kind::Text(key) = key.kind else {
                return Err(serde::de::Error::custom("a key must be text"));
            };
            entries.push(Entry {
                key,
                key_span: None,
                value,
            });
        }
        Ok(Kind::Map(Map { entries }))
    }
}

#[cfg(test)]
mod tests;
