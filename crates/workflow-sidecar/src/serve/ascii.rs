//! JSON with nothing in it beyond ASCII.
//!
//! A JavaScript engine keeps ASCII in one byte a character; a single emoji in a long text would
//! make it decode the text at several times the cost. Owns how such text is written. Must not know
//! what it says.

use std::io::{self, Write};
use std::sync::Arc;

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};
use serde_json::value::RawValue;

/// Adds a value as JSON.
pub(super) fn push_json(out: &mut Vec<u8>, value: &impl Serialize) {
    value
        .serialize(&mut Serializer::with_formatter(out, Ascii))
        .expect("the contract's types have string keys only, so they are always JSON");
}

/// Adds JSON text.
pub(super) fn push_ascii(out: &mut Vec<u8>, json: &str) {
    write_ascii(out, json).expect("memory takes everything");
}

/// The longest text that is kept as JSON, in bytes: as long as what a template may become.
const MOST_KEPT: usize = workflow_core::template::MAX_RESOLVED;

/// The text that was told last, as JSON: told again, it need not be escaped again.
#[derive(Debug, Default)]
pub(super) struct Told(Option<(Arc<str>, Arc<RawValue>)>);

impl Told {
    /// A text as JSON.
    pub(super) fn json(&mut self, text: Arc<str>) -> Arc<RawValue> {
        if let Some((last, json)) = &self.0
            && (Arc::ptr_eq(last, &text) || *last == text)
        {
            return Arc::clone(json);
        }
        let json = json_of(&text);
        self.0 = (text.len() <= MOST_KEPT).then(|| (text, Arc::clone(&json)));
        json
    }
}

/// A text as JSON.
pub(super) fn json_of(text: &str) -> Arc<RawValue> {
    let mut json = Vec::with_capacity(text.len() + 2);
    push_json(&mut json, &text);
    let json = String::from_utf8(json).expect("ASCII is UTF-8");
    let json = RawValue::from_string(json).expect("a text that was written as JSON is JSON");
    Arc::from(json)
}

/// Writes nothing that is not needed, and only ASCII.
struct Ascii;

impl Formatter for Ascii {
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        write_ascii(writer, fragment)
    }

    fn write_raw_fragment<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        write_ascii(writer, fragment)
    }
}

/// Writes JSON text, or what stands in a string of it. Beyond ASCII, JSON text has only what stands in strings.
fn write_ascii<W: ?Sized + Write>(writer: &mut W, json: &str) -> io::Result<()> {
    let mut rest = json;
    let mut units = [0; 2];
    while let Some((ascii, beyond, after)) = split_at_beyond_ascii(rest) {
        writer.write_all(ascii.as_bytes())?;
        for unit in beyond.encode_utf16(&mut units) {
            writer.write_all(&escape(*unit))?;
        }
        rest = after;
    }
    writer.write_all(rest.as_bytes())
}

/// A UTF-16 unit as JSON escapes it: `\u20ac`.
fn escape(unit: u16) -> [u8; 6] {
    let digit = |shift: u16| b"0123456789abcdef"[usize::from(unit >> shift & 0xf)];
    [b'\\', b'u', digit(12), digit(8), digit(4), digit(0)]
}

/// What stands before the first character beyond ASCII, the character, and what follows; `None` if there is none.
fn split_at_beyond_ascii(text: &str) -> Option<(&str, char, &str)> {
    /// Long enough that most of a text is passed over many bytes at a time.
    const STRIDE: usize = 64;
    if text.is_ascii() {
        return None;
    }
    let plain = text
        .as_bytes()
        .chunks(STRIDE)
        .take_while(|chunk| chunk.is_ascii());
    let start = plain.map(<[u8]>::len).sum();
    let at = start
        + text.as_bytes()[start..]
            .iter()
            .position(|byte| !byte.is_ascii())?;
    let (ascii, after) = text.split_at(at);
    let mut after = after.chars();
    Some((ascii, after.next()?, after.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXTS: [&str; 7] = [
        "",
        "plain",
        "⏳",
        "a⏳b🔄c\u{2028}é",
        "🔄🔄",
        "\"\\\n\u{7f}\u{80}",
        "Long enough that it is passed over many bytes at a time, and only then — a dash, and 🔄 more.",
    ];

    #[test]
    fn text_beyond_ascii_is_escaped_and_reads_the_same() {
        for text in TEXTS {
            let written = |write: &dyn Fn(&mut Vec<u8>)| {
                let mut out = Vec::new();
                write(&mut out);
                assert!(out.is_ascii(), "{text}");
                assert_eq!(serde_json::from_slice::<String>(&out).unwrap(), text);
                out
            };
            let plain = serde_json::to_string(text).unwrap();
            let escaped = written(&|out| push_ascii(out, &plain));
            let raw = RawValue::from_string(plain.clone()).unwrap();
            assert_eq!(written(&|out| push_json(out, &text)), escaped);
            assert_eq!(written(&|out| push_json(out, &raw)), escaped);
            assert_eq!(json_of(text).get().as_bytes(), escaped);
        }
    }

    #[test]
    fn keys_are_escaped_too() {
        let mut out = Vec::new();
        push_json(&mut out, &serde_json::json!({ "é": [1.5, null, "é"] }));
        assert_eq!(out, br#"{"\u00e9":[1.5,null,"\u00e9"]}"#);
    }

    #[test]
    fn what_was_told_before_is_told_as_if_it_were_new() {
        let mut told = Told::default();
        for text in TEXTS.into_iter().chain(TEXTS).flat_map(|text| [text, text]) {
            assert_eq!(told.json(text.into()).get(), json_of(text).get());
        }
    }
}
