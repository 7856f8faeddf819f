//! Reading what a host forwards without refusing what does not fit.
//!
//! Owns one visitor. A [`Reader`] says what it makes of a text, an array or an object; everything else is passed over
//! and read as nothing. Must not know what is read.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor,
};

use crate::Text;

/// What to make of a JSON value that may be anything.
pub(crate) trait Reader<'de>: Sized {
    /// What comes out.
    type Value;

    /// The value did not fit, and has been passed over.
    fn nothing(self) -> Self::Value;

    /// The value is a text.
    fn text(self, _text: Text<'de>) -> Self::Value {
        self.nothing()
    }

    /// The value is an array.
    fn array<A: SeqAccess<'de>>(self, mut array: A) -> Result<Self::Value, A::Error> {
        while array.next_element::<IgnoredAny>()?.is_some() {}
        Ok(self.nothing())
    }

    /// The value is an object.
    fn object<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
        while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(self.nothing())
    }
}

/// Reads one value with a [`Reader`].
pub(crate) struct Lenient<R>(pub(crate) R);

impl<'de, R: Reader<'de>> DeserializeSeed<'de> for Lenient<R> {
    type Value = R::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<R::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, R: Reader<'de>> Visitor<'de> for Lenient<R> {
    type Value = R::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<R::Value, E> {
        Ok(self.0.nothing())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<R::Value, E> {
        Ok(self.0.nothing())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<R::Value, E> {
        Ok(self.0.nothing())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<R::Value, E> {
        Ok(self.0.nothing())
    }

    fn visit_unit<E: Error>(self) -> Result<R::Value, E> {
        Ok(self.0.nothing())
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<R::Value, E> {
        Ok(self.0.text(text.into()))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<R::Value, E> {
        Ok(self.0.text(text.to_owned().into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, array: A) -> Result<R::Value, A::Error> {
        self.0.array(array)
    }

    fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<R::Value, A::Error> {
        self.0.object(object)
    }
}

/// A text, or nothing if the value is something else.
#[derive(Debug, Default)]
pub(crate) struct MaybeText<'a>(pub(crate) Option<Text<'a>>);

impl<'de> Deserialize<'de> for MaybeText<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read<'de>(PhantomData<&'de ()>);

        impl<'de> Reader<'de> for Read<'de> {
            type Value = MaybeText<'de>;

            fn nothing(self) -> MaybeText<'de> {
                MaybeText(None)
            }

            fn text(self, text: Text<'de>) -> MaybeText<'de> {
                MaybeText(Some(text))
            }
        }

        Lenient(Read(PhantomData)).deserialize(deserializer)
    }
}
