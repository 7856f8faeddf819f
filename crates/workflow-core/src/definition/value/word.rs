//! True or false, and one of several words.

use std::marker::PhantomData;

use serde_json::json;

use crate::definition::schema::{KeyType, Reader, Shape, Written, listed, nearest};
use crate::definition::syntax::Kind;
use crate::diagnostic::{Code, shown};

/// True or false.
pub(crate) struct Flag;

impl KeyType for Flag {
    type Value = bool;
    const SHAPE: Shape = Shape::new(|| json!({"type": "boolean"}), "true or false");

    fn read(reader: &mut Reader<'_>, written: Written<'_>) -> Option<bool> {
        match written.kind() {
            Kind::Bool(flag) => Some(*flag),
            _ => reader.refuse(written.wrong_type("true or false")),
        }
    }
}

/// A type with named values.
pub(crate) trait NamedValues: Copy + 'static {
    /// The names, each with its value and its meaning.
    const NAMES: &'static [(&'static str, Self, &'static str)];
}

/// One of several words, each with its meaning.
pub(crate) struct OneOf<T>(PhantomData<T>);

fn known<T: NamedValues>() -> impl Iterator<Item = &'static str> {
    T::NAMES.iter().map(|&(word, ..)| word)
}

impl<T: NamedValues> KeyType for OneOf<T> {
    type Value = T;
    const SHAPE: Shape = Shape::of(
        || {
            let words: Vec<&str> = known::<T>().collect();
            let meanings = T::NAMES.iter().map(|&(_, _, meaning)| meaning.trim());
            let meanings: Vec<&str> = meanings.collect();
            json!({"type": "string", "enum": words, "markdownEnumDescriptions": meanings})
        },
        || listed(known::<T>()),
    );

    fn read(reader: &mut Reader<'_>, written: Written<'_>) -> Option<T> {
        let Kind::Text(text) = written.kind() else {
            let expected = format!("one of {}", listed(known::<T>()));
            return reader.refuse(written.wrong_type(&expected));
        };
        if let Some((_, value, _)) = T::NAMES.iter().find(|(word, ..)| word == text) {
            return Some(*value);
        }
        let (name, end) = (written.key.name, written.key.consequence());
        let (known_words, text_shown) = (listed(known::<T>()), shown(text));
        let message = format!("`{name}` must be one of {known_words}, not `{text_shown}`{end}");
        let finding = written.wrong(Code::InvalidValue, written.span(), message);
        // The user had this name before.
        let word = if text == "person" { "user" } else { text };
        reader.refuse(match nearest(word, known::<T>()) {
            Some(near) => finding.meant(text, near),
            None => finding,
        })
    }
}

/// Declares a type with named values, which is stored as its word. Each has its word and, as its comment, its meaning.
macro_rules! words {
    ($(#[$meta:meta])* $vis:vis enum $name:ident {
        $($(#[doc = $doc:literal])* $word:literal $($default:ident)? => $value:ident,)+
    }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        $vis enum $name {
            $($(#[doc = $doc])* #[serde(rename = $word)] $(#[$default])? $value,)+
        }

        impl $crate::definition::NamedValues for $name {
            const NAMES: &'static [(&'static str, Self, &'static str)] = &[
                $(($word, Self::$value, concat!($($doc),*)),)+
            ];
        }

        #[allow(dead_code, unreachable_pub, reason = "some are only read, and some are not public")]
        impl $name {
            /// All of them.
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$value),+];

            /// The one with a word.
            pub(crate) fn named(word: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|one| one.word() == word)
            }

            /// Its word, as it is written.
            pub fn word(self) -> &'static str {
                match self { $(Self::$value => $word),+ }
            }
        }
    };
}

pub(crate) use words;
