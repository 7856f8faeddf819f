//! JSON of which most is passed over.
//!
//! A long line is nearly all text that nobody asked for. `serde_json` passes over eight bytes of a string at a time and
//! more slowly over what it keeps as text; here `memchr` looks for the end of a string in steps as wide as the
//! processor has. Owns the quick reading of what is usual, and declines everything else, sound or not: who declines
//! says no more than that `serde_json` has to be asked, which alone says what is wrong. What is taken here, `serde_json`
//! takes too and reads as the same; a test holds that for lines that are cut, mixed up and broken.

use std::fmt;

use memchr::memchr2;
use serde::de::value::{BorrowedStrDeserializer, MapDeserializer};
use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use crate::Text;

/// How `serde_json`'s `RawValue` asks for the text of a value. A test sees that it still does.
const RAW_VALUE: &str = "$serde_json::private::RawValue";

/// How many bytes are looked at for control characters at once.
const BLOCK: usize = 4096;

/// How many words of eight bytes are looked at before it is worth while to call `memchr`: names and small texts end there.
const SHORT: usize = 2;

/// Reads a value, if it is written as JSON usually is; otherwise nothing is known of it.
#[must_use]
pub fn skim<'de, T: Deserialize<'de>>(json: &'de str) -> Option<T> {
    let mut skim = Skim::new(json);
    let value = T::deserialize(&mut skim).ok()?;
    skim.peek().is_none().then_some(value)
}

/// `serde_json` has to be asked.
#[derive(Debug)]
pub(crate) struct Declined;

impl fmt::Display for Declined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not the usual JSON")
    }
}

impl std::error::Error for Declined {}

impl Error for Declined {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}

/// Where the reading stands.
pub(crate) struct Skim<'de> {
    json: &'de str,
    /// How far it has come.
    pub(crate) at: usize,
    /// Up to here no byte is a control character.
    plain_to: usize,
}

impl<'de> Skim<'de> {
    pub(crate) fn new(json: &'de str) -> Self {
        let (at, plain_to) = (0, 0);
        Self { json, at, plain_to }
    }

    fn byte(&self) -> Option<u8> {
        self.json.as_bytes().get(self.at).copied()
    }

    /// The next byte that is no space.
    pub(crate) fn peek(&mut self) -> Option<u8> {
        while self.byte() == Some(b' ') {
            self.at += 1;
        }
        self.byte()
    }

    /// Goes over the next byte that is no space, if it is this one.
    pub(crate) fn eats(&mut self, byte: u8) -> bool {
        let is_there = self.peek() == Some(byte);
        self.at += usize::from(is_there);
        is_there
    }

    pub(crate) fn expect(&mut self, byte: u8) -> Result<(), Declined> {
        if self.eats(byte) {
            Ok(())
        } else {
            Err(Declined)
        }
    }

    fn word(&mut self, word: &str) -> Result<(), Declined> {
        if self.json.as_bytes()[self.at..].starts_with(word.as_bytes()) {
            self.at += word.len();
            Ok(())
        } else {
            Err(Declined)
        }
    }

    /// Goes over a string, behind its first quote; says whether there are escapes in it.
    fn string(&mut self) -> Result<bool, Declined> {
        let mut is_escaped = false;
        loop {
            self.at += stop(&self.json.as_bytes()[self.at..]).ok_or(Declined)?;
            if self.byte() == Some(b'"') {
                self.sees_no_control_before(self.at)?;
                self.at += 1;
                return Ok(is_escaped);
            }
            is_escaped = true;
            self.escape()?;
        }
    }

    /// A string without escapes.
    pub(crate) fn text(&mut self) -> Result<&'de str, Declined> {
        self.expect(b'"')?;
        let start = self.at;
        if self.string()? {
            return Err(Declined);
        }
        Ok(&self.json[start..self.at - 1])
    }

    fn escape(&mut self) -> Result<(), Declined> {
        self.at += match self.json.as_bytes()[self.at..] {
            [
                _,
                b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't',
                ..,
            ] => 2,
            [_, b'u', a, b, c, d, ..] if [a, b, c, d].iter().all(u8::is_ascii_hexdigit) => 6,
            _ => return Err(Declined),
        };
        Ok(())
    }

    /// JSON's strings hold no control characters, and what is outside of strings on one line needs none.
    fn sees_no_control_before(&mut self, end: usize) -> Result<(), Declined> {
        while self.plain_to < end {
            let rest = &self.json.as_bytes()[self.plain_to..];
            let block = &rest[..rest.len().min(BLOCK)];
            let least = block.iter().fold(u8::MAX, |least, byte| least.min(*byte));
            if least < b' ' {
                return Err(Declined);
            }
            self.plain_to += block.len();
        }
        Ok(())
    }

    /// Goes over a number and gives it as it stands there.
    fn number(&mut self) -> Result<&'de str, Declined> {
        let start = self.at;
        self.at += usize::from(self.byte() == Some(b'-'));
        if self.byte() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.byte() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.byte() {
            self.at += 1;
            self.at += usize::from(matches!(self.byte(), Some(b'+' | b'-')));
            self.digits()?;
        }
        Ok(&self.json[start..self.at])
    }

    /// Goes over digits, of which there is at least one.
    fn digits(&mut self) -> Result<(), Declined> {
        let rest = &self.json.as_bytes()[self.at..];
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += digits;
        if digits == 0 { Err(Declined) } else { Ok(()) }
    }

    /// Goes over the name of a member and its colon.
    fn name(&mut self) -> Result<(), Declined> {
        self.expect(b'"')?;
        self.string()?;
        self.expect(b':')
    }

    /// Goes over a value and gives it as it stands there.
    pub(crate) fn skip(&mut self) -> Result<&'de str, Declined> {
        let mut open = Open::default();
        self.peek();
        let start = self.at;
        loop {
            match self.peek().ok_or(Declined)? {
                b'"' => {
                    self.at += 1;
                    self.string()?;
                }
                b'{' => {
                    self.at += 1;
                    if !self.eats(b'}') {
                        open.push(true)?;
                        self.name()?;
                        continue;
                    }
                }
                b'[' => {
                    self.at += 1;
                    if !self.eats(b']') {
                        open.push(false)?;
                        continue;
                    }
                }
                b't' => self.word("true")?,
                b'f' => self.word("false")?,
                b'n' => self.word("null")?,
                _ => {
                    self.number()?;
                }
            }
            loop {
                let Some(is_object) = open.last() else {
                    return Ok(&self.json[start..self.at]);
                };
                if self.eats(b',') {
                    if is_object {
                        self.name()?;
                    }
                    break;
                }
                self.expect(if is_object { b'}' } else { b']' })?;
                open.pop();
            }
        }
    }
}

/// Where the first quote or backslash is.
fn stop(text: &[u8]) -> Option<usize> {
    let (words, _) = text.as_chunks();
    let mut near = 0;
    for word in words.iter().take(SHORT) {
        let word = u64::from_le_bytes(*word);
        let stops = zeros(word ^ every(b'"')) | zeros(word ^ every(b'\\'));
        if stops != 0 {
            return Some(near + (stops.trailing_zeros() / u8::BITS) as usize);
        }
        near += word.to_le_bytes().len();
    }
    memchr2(b'"', b'\\', &text[near..]).map(|far| near + far)
}

const fn every(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

/// The highest bit of each byte that is zero; bytes above the first one that is may seem to be.
const fn zeros(word: u64) -> u64 {
    word.wrapping_sub(every(1)) & !word & every(0x80)
}

/// The objects and arrays a value stands in, as deep as there are bits.
#[derive(Default)]
struct Open {
    depth: u32,
    /// The lowest bit is the innermost: set if it is an object.
    are_objects: u64,
}

impl Open {
    fn push(&mut self, is_object: bool) -> Result<(), Declined> {
        if self.depth == u64::BITS {
            return Err(Declined);
        }
        self.depth += 1;
        self.are_objects = self.are_objects << 1 | u64::from(is_object);
        Ok(())
    }

    fn last(&self) -> Option<bool> {
        (self.depth > 0).then_some(self.are_objects & 1 == 1)
    }

    fn pop(&mut self) {
        self.depth -= 1;
        self.are_objects >>= 1;
    }
}

impl<'de> Deserializer<'de> for &mut Skim<'de> {
    type Error = Declined;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Declined> {
        match self.peek().ok_or(Declined)? {
            b'{' => {
                self.at += 1;
                let value = visitor.visit_map(Members::of(self))?;
                self.expect(b'}').map(|()| value)
            }
            b'[' => {
                self.at += 1;
                let value = visitor.visit_seq(Members::of(self))?;
                self.expect(b']').map(|()| value)
            }
            b'"' => visitor.visit_borrowed_str(self.text()?),
            b't' => {
                self.word("true")?;
                visitor.visit_bool(true)
            }
            b'f' => {
                self.word("false")?;
                visitor.visit_bool(false)
            }
            b'n' => {
                self.word("null")?;
                visitor.visit_unit()
            }
            _ => {
                let number = self.number()?;
                visitor.visit_u64(number.parse().map_err(|_| Declined)?)
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Declined> {
        if self.peek() == Some(b'n') {
            self.word("null")?;
            visitor.visit_none()
        } else {
            visitor.visit_some(self)
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Declined> {
        if name == RAW_VALUE {
            let text = BorrowedStrDeserializer::new(self.skip()?);
            visitor.visit_map(MapDeserializer::new(std::iter::once((RAW_VALUE, text))))
        } else if name == Text::NAME && self.peek() == Some(b'"') {
            let start = self.at;
            if let Ok(text) = self.text() {
                return visitor.visit_borrowed_str(text);
            }
            self.at = start;
            visitor.visit_newtype_struct(self)
        } else {
            visitor.visit_newtype_struct(self)
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Declined> {
        let text = self.text()?;
        visitor.visit_enum(BorrowedStrDeserializer::new(text))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Declined> {
        self.skip()?;
        visitor.visit_unit()
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        unit unit_struct seq tuple tuple_struct map struct identifier
    }
}

/// What is left of an object or an array, whose end is left to who began it.
struct Members<'a, 'de> {
    skim: &'a mut Skim<'de>,
    is_first: bool,
}

impl<'a, 'de> Members<'a, 'de> {
    fn of(skim: &'a mut Skim<'de>) -> Self {
        let is_first = true;
        Self { skim, is_first }
    }

    /// Whether there is another one, and then goes over the comma before it.
    fn has_next(&mut self, end: u8) -> Result<bool, Declined> {
        if self.skim.peek() == Some(end) {
            return Ok(false);
        }
        if !std::mem::take(&mut self.is_first) {
            self.skim.expect(b',')?;
        }
        Ok(true)
    }
}

impl<'de> SeqAccess<'de> for Members<'_, 'de> {
    type Error = Declined;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Declined> {
        if !self.has_next(b']')? {
            return Ok(None);
        }
        seed.deserialize(&mut *self.skim).map(Some)
    }
}

impl<'de> MapAccess<'de> for Members<'_, 'de> {
    type Error = Declined;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Declined> {
        if !self.has_next(b'}')? {
            return Ok(None);
        }
        if self.skim.peek() != Some(b'"') {
            return Err(Declined);
        }
        seed.deserialize(&mut *self.skim).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Declined> {
        self.skim.expect(b':')?;
        seed.deserialize(&mut *self.skim)
    }
}

#[cfg(test)]
mod tests {
    use serde::de::IgnoredAny;
    use serde_json::value::RawValue;

    use super::*;
    use crate::ToolCallParams;

    fn raw(json: &str) -> Option<&str> {
        skim::<&RawValue>(json).map(RawValue::get)
    }

    #[test]
    fn text_of_a_value_is_given_as_serde_json_gives_it() {
        for json in [
            r#"{"a":[1,-0.5e+7,"é\n\u00e9\"",{},[],[[]],null,true,false],"":{"b":" "}}"#,
            r#""a text of more than sixteen bytes, with \"escapes\" \\ in it""#,
            "0",
            "[ 1 , 2 ]",
        ] {
            assert_eq!(raw(json), Some(json));
        }
        assert_eq!(raw(" 1 "), Some("1"));
    }

    #[test]
    fn what_is_wrong_is_declined() {
        for json in [
            "",
            " ",
            "01",
            "1.",
            "-",
            "+1",
            ".5",
            "1e",
            "tru",
            "nul",
            "[1,]",
            "[,1]",
            "[1 2]",
            r#"{"a":1,}"#,
            r#"{"a"}"#,
            r#"{"a":}"#,
            "{1:2}",
            "[1}",
            "{]",
            "]",
            r#"{"a":1]"#,
            "\"",
            r#""\x""#,
            r#""\u12g4""#,
            r#""\"#,
            "\"a long text with a tab \t in it\"",
            "1 1",
            "\u{feff}1",
        ] {
            assert_eq!(raw(json), None, "{json}");
            assert!(skim::<IgnoredAny>(json).is_none(), "{json}");
        }
    }

    #[test]
    fn what_is_unusual_is_left_to_who_knows() {
        let deep = "[".repeat(66) + &"]".repeat(66);
        assert_eq!(raw(&deep), None);
        assert_eq!(raw(&deep[1..131]), Some(&deep[1..131]));
        assert_eq!(raw("[\t]"), None);
        assert_eq!(skim::<i64>("-1"), None);
        assert_eq!(skim::<f64>("0.5"), None);
        assert_eq!(skim::<u64>("18446744073709551616"), None);
        assert_eq!(skim::<&str>(r#""\u0061""#), None);
    }

    #[test]
    fn a_usual_call_is_taken() {
        let call = r#"{"sessionId":"a","event":{"toolName":"ed\u0069t","input":{"a":"b"}}}"#;
        let call = skim::<ToolCallParams<'_>>(call).expect("it is usual");
        assert_eq!(&*call.session_id, "a");
        assert_eq!(&*call.event.tool_name, "edit");
        assert_eq!(call.event.input.map(RawValue::get), Some(r#"{"a":"b"}"#));
    }
}
