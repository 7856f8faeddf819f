//! Text of a line, borrowed where the line allows it.
//!
//! Owns the one string type of parameters. `&str` fails on the first escape and `Option<Cow<str>>` always copies;
//! [`Text`] borrows what has no escapes and copies what has. Half a character, which JSON can write and Rust cannot,
//! is read as U+FFFD: a call must not be lost because somebody cut an emoji in two.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde_json::value::RawValue;

use crate::halves;

/// Text of a line: borrowed, or copied if it held an escape. It is read from JSON text and from nothing else.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct Text<'a>(Cow<'a, str>);

impl<'a> Text<'a> {
    /// What it is asked for as: who reads JSON quickly gives it as it stands in the line, if it may be borrowed.
    pub(crate) const NAME: &'static str = "a text of the line";

    /// The text that a JSON value holds; the value has been read as JSON before.
    pub(crate) fn of_json(json: &'a str) -> serde_json::Result<Self> {
        let quoted = json.strip_prefix('"');
        let inner = quoted.and_then(|json| json.strip_suffix('"'));
        match inner {
            Some(inner) if !inner.contains('\\') => Ok(Self::from(inner)),
            Some(_) => serde_json::from_str(json)
                .or_else(|_| serde_json::from_str(&halves::replaced(json)))
                .map(|text| Self(Cow::Owned(text))),
            None => serde_json::from_str(json).map(|text| Self(Cow::Owned(text))),
        }
    }

    /// The text as it stands in the line, if it had no escapes.
    pub(crate) fn borrowed(&self) -> Option<&'a str> {
        match self.0 {
            Cow::Borrowed(text) => Some(text),
            Cow::Owned(_) => None,
        }
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text as a value of its own.
    #[must_use]
    pub fn into_owned(self) -> String {
        self.0.into_owned()
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Whole;

        impl<'de> Visitor<'de> for Whole {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text::from(text))
            }

            fn visit_newtype_struct<D: Deserializer<'de>>(
                self,
                deserializer: D,
            ) -> Result<Text<'de>, D::Error> {
                let json = <&RawValue>::deserialize(deserializer)?;
                Text::of_json(json.get()).map_err(D::Error::custom)
            }
        }

        deserializer.deserialize_newtype_struct(Self::NAME, Whole)
    }
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

impl ts_rs::TS for Text<'_> {
    type WithoutGenerics = Text<'static>;
    type OptionInnerType = Self;

    fn name(_: &ts_rs::Config) -> String {
        "string".to_owned()
    }

    fn inline(config: &ts_rs::Config) -> String {
        Self::name(config)
    }
}
