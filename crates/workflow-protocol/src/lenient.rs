//! Reading what a host forwards without refusing what does not fit.
//!
//! Owns how a foreign value is passed over: a member of a wrong type is read as nothing, a name may hold half a
//! character, and a [`Reader`] says what it makes of an array or an object. Must not know what is read.
//!
//! What stays an error is what the JSON reader itself cannot skip: a bare string with half a character in the place
//! of an object.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::{BorrowedStrDeserializer, MapAccessDeserializer};
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error, IgnoredAny, IntoDeserializer, MapAccess,
    SeqAccess, Visitor,
};
use serde_json::value::RawValue;

use crate::Text;

/// Describes a type that is read from an array of anything, for schemas and TypeScript.
macro_rules! described_as_array {
    ($name:ident) => {
        impl schemars::JsonSchema for $name<'_> {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "array" })
            }
        }

        impl ts_rs::TS for $name<'_> {
            type WithoutGenerics = $name<'static>;
            type OptionInnerType = Self;

            fn name(_: &ts_rs::Config) -> String {
                "Array<unknown>".to_owned()
            }

            fn inline(config: &ts_rs::Config) -> String {
                Self::name(config)
            }
        }
    };
}

pub(crate) use described_as_array;

/// What to make of a JSON value that may be anything.
pub(crate) trait Reader<'de>: Sized {
    /// What comes out.
    type Value;

    /// The value did not fit, and has been passed over.
    fn nothing(self) -> Self::Value;

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

    fn visit_str<E: Error>(self, _: &str) -> Result<R::Value, E> {
        Ok(self.0.nothing())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, array: A) -> Result<R::Value, A::Error> {
        self.0.array(array)
    }

    fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<R::Value, A::Error> {
        self.0.object(AnyNames(object))
    }
}

/// The members of an object whose names may be anything, half a character included.
struct AnyNames<A>(A);

impl<'de, A: MapAccess<'de>> MapAccess<'de> for AnyNames<A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        let Some(name) = self.0.next_key::<Text<'de>>()? else {
            return Ok(None);
        };
        match name.borrowed() {
            Some(name) => seed.deserialize(BorrowedStrDeserializer::new(name)),
            None => seed.deserialize(name.as_str().into_deserializer()),
        }
        .map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.0.next_value_seed(seed)
    }
}

/// Reads an event: whatever is not named in `T` is passed over.
struct Event<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Event<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Members<T> {
            type Value = Event<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<Event<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(AnyNames(object))).map(Event)
            }
        }

        deserializer.deserialize_map(Members(PhantomData))
    }
}

/// An event of which nothing is needed; null is none.
pub(crate) fn event<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    let event = Option::<Event<T>>::deserialize(deserializer)?;
    Ok(event.map_or_else(T::default, |Event(event)| event))
}

/// An event that has to be there; null is none.
pub(crate) fn needed_event<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    let event = Option::<Event<T>>::deserialize(deserializer)?;
    event
        .map(|Event(event)| event)
        .ok_or_else(|| D::Error::missing_field("event"))
}

/// What is there, strictly; null is as good as nothing.
pub(crate) fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// A text; nothing if the value is something else.
pub(crate) fn text<'de, D>(deserializer: D) -> Result<Option<Text<'de>>, D::Error>
where
    D: Deserializer<'de>,
{
    MaybeText::deserialize(deserializer).map(|MaybeText(text)| text)
}

/// A number or a flag; nothing if the value is something else.
pub(crate) fn plain<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: std::str::FromStr,
{
    let json = <&RawValue>::deserialize(deserializer)?.get();
    Ok(json.parse().ok())
}

/// [`text`], for who reads members one by one.
pub(crate) struct MaybeText<'a>(pub(crate) Option<Text<'a>>);

impl<'de> Deserialize<'de> for MaybeText<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Maybe;

        impl<'de> Visitor<'de> for Maybe {
            type Value = MaybeText<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("any JSON value")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<MaybeText<'de>, E> {
                Ok(MaybeText(Some(Text::from(text))))
            }

            fn visit_newtype_struct<D: Deserializer<'de>>(
                self,
                deserializer: D,
            ) -> Result<MaybeText<'de>, D::Error> {
                let json = <&RawValue>::deserialize(deserializer)?.get();
                Ok(MaybeText(Text::of_json(json).ok()))
            }
        }

        deserializer.deserialize_newtype_struct(Text::NAME, Maybe)
    }
}
