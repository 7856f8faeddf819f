//! The string type of parameters.
//!
//! `&str` fails on the first escape and `Option<Cow<str>>` always copies; [`Text`] borrows a string without escapes and
//! copies any other. A lone surrogate, which JSON can write and Rust cannot, is read as U+FFFD: a call must not be lost
//! because an emoji was cut in two.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::{Deserialize, Deserializer, Error};
use serde_json::value::RawValue;

use super::lone_surrogates;

/// Text of a line: borrowed, or copied if it has an escape. It can be read from JSON text only.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct Text<'a>(Cow<'a, str>);

impl<'a> Text<'a> {
    /// Reads a JSON string, which has been read as JSON before.
    pub(super) fn from_json(json: &'a str) -> serde_json::Result<Self> {
        if let Ok(text) = serde_json::from_str::<&str>(json) {
            return Ok(Self::from(text));
        }
        let text = match serde_json::from_str(json) {
            Err(_) if json.starts_with('"') => {
                serde_json::from_str(&lone_surrogates::replaced(json))?
            }
            text => text?,
        };
        Ok(Self(Cow::Owned(text)))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text, copied if it is borrowed.
    #[must_use]
    pub fn into_owned(self) -> String {
        self.0.into_owned()
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = <&RawValue>::deserialize(deserializer)?;
        Self::from_json(json.get()).map_err(D::Error::custom)
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
