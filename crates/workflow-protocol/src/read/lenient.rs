//! Lenient reading of what a host forwards.
//!
//! An event is not refused for a member that the sidecar does not need: a member of a wrong type counts as left out,
//! and a name may hold a lone surrogate. A bare string with a lone surrogate in the position of an object remains an
//! error, because `serde_json` cannot skip it.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error, IntoDeserializer, MapAccess, Visitor,
};
use serde_json::value::RawValue;

use workflow_core::Text;
pub(crate) use workflow_core::text_or_none as text;

/// An event that may be left out; null counts as left out.
pub(crate) fn event<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    let event = Option::<Object<T>>::deserialize(deserializer)?;
    Ok(event.map_or_else(T::default, |Object(event)| event))
}

/// An event that is required; null counts as left out.
pub(crate) fn required_event<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    let event = Option::<Object<T>>::deserialize(deserializer)?;
    event
        .map(|Object(event)| event)
        .ok_or_else(|| D::Error::missing_field("event"))
}

/// A value that is read strictly; null counts as left out.
pub(crate) fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// A number or a flag; `None` if the value is something else.
pub(crate) fn scalar<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: std::str::FromStr,
{
    let json = <&RawValue>::deserialize(deserializer)?;
    Ok(json.get().parse().ok())
}

/// A value as JSON text, null included.
pub(crate) fn raw<'de, D>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error>
where
    D: Deserializer<'de>,
{
    Deserialize::deserialize(deserializer).map(Some)
}

/// Reads an object whose other members may be anything; `None` if the value is something else.
pub(crate) fn object<'a, T: Deserialize<'a>>(json: &'a RawValue) -> Option<T> {
    let object = serde_json::from_str::<Object<T>>(json.get());
    object.ok().map(|Object(value)| value)
}

/// An object whose member names may hold lone surrogates.
struct Object<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Members<T> {
            type Value = Object<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<Object<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(TextNames(object))).map(Object)
            }
        }

        deserializer.deserialize_map(Members(PhantomData))
    }
}

/// The members of an object, their names read as [`Text`].
struct TextNames<A>(A);

impl<'de, A: MapAccess<'de>> MapAccess<'de> for TextNames<A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        let name = self.0.next_key::<Text<'de>>()?;
        name.map(|name| seed.deserialize(name.as_str().into_deserializer()))
            .transpose()
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.0.next_value_seed(seed)
    }
}
