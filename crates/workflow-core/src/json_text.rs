//! Strings of JSON from elsewhere: parameters and stored states.
//!
//! `&str` fails on the first escape and `Option<Cow<str>>` always copies; [`Text`] borrows a string without escapes and
//! copies any other. A lone surrogate, which JSON can write and Rust cannot, is read as U+FFFD: neither a call nor
//! a run must be lost because an emoji was cut in two.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::{Deserialize, Deserializer, Visitor};
use serde_json::value::RawValue;

/// Text of a line: borrowed, or copied if it has an escape.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct Text<'a>(Cow<'a, str>);

impl Text<'_> {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text, copied if it is borrowed.
    pub fn into_owned(self) -> String {
        self.0.into_owned()
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;

        impl<'de> Visitor<'de> for Bytes {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_bytes<E>(self, bytes: &'de [u8]) -> Result<Text<'de>, E> {
                Ok(Text(without_surrogates(bytes)))
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Text<'de>, E> {
                Ok(without_surrogates(bytes).into_owned().into())
            }

            fn visit_str<E>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(text.to_owned().into())
            }
        }

        // As bytes, a string may have lone surrogates.
        deserializer.deserialize_bytes(Bytes)
    }
}

/// Reads a text; `None` if the value is something else.
pub fn text_or_none<'de, D>(deserializer: D) -> Result<Option<Text<'de>>, D::Error>
where
    D: Deserializer<'de>,
{
    let json = <&RawValue>::deserialize(deserializer)?;
    Ok(serde_json::from_str(json.get()).ok())
}

/// Returns text with each lone surrogate, which is three bytes, as U+FFFD.
fn without_surrogates(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut whole = String::with_capacity(bytes.len());
    let mut invalid = 0;
    for chunk in bytes.utf8_chunks() {
        whole.push_str(chunk.valid());
        invalid += chunk.invalid().len();
        if invalid >= 3 {
            whole.push(char::REPLACEMENT_CHARACTER);
            invalid = 0;
        }
    }
    whole.into()
}

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl<'a> From<&'a str> for Text<'a> {
    fn from(text: &'a str) -> Self {
        Self(Cow::Borrowed(text))
    }
}

impl From<String> for Text<'_> {
    fn from(text: String) -> Self {
        Self(Cow::Owned(text))
    }
}

impl JsonSchema for Text<'_> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        String::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lone_surrogate_is_one_replacement_character() {
        for (json, expected) in [
            (r#""""#, ""),
            (r#""é😀\n\\\"\u00e9""#, "é😀\n\\\"é"),
            (r#""\ud83d""#, "\u{fffd}"),
            (r#""\uDE00""#, "\u{fffd}"),
            (r#""a\ud83db""#, "a\u{fffd}b"),
            (r#""\ud83d\ude00""#, "😀"),
            (r#""\uD83D\uDE00\uDE00""#, "😀\u{fffd}"),
            (r#""\ud83d\ud83d\ude00""#, "\u{fffd}😀"),
            (r#""\ude00\ud83d""#, "\u{fffd}\u{fffd}"),
            (r#""\ud83d\n""#, "\u{fffd}\n"),
            (r#""\ud83d\u0041é""#, "\u{fffd}Aé"),
            (r#""\\ud83d\\\ud83d""#, "\\ud83d\\\u{fffd}"),
        ] {
            let text: Text<'_> = serde_json::from_str(json).unwrap();
            assert_eq!(text.as_str(), expected, "{json}");
        }
    }

    #[test]
    fn only_a_text_with_an_escape_is_copied() {
        let text = |json| serde_json::from_str::<Text<'_>>(json).unwrap().0;
        assert!(matches!(text(r#""é😀""#), Cow::Borrowed("é😀")));
        assert!(matches!(text(r#""\u00e9""#), Cow::Owned(_)));
    }
}
