//! The maps of the language, declared as the structs that the engine uses.
//!
//! A field with `#[key(…)]` is a key: its name and type, its default and example; its comment is its purpose. With the
//! struct of another map in place of the name, it is the key of that field there. With a `?` it, or
//! another field, is stored only where it has a value. A `const` is a key that is read by hand.
//! `#[keys]` has the keys of another struct, and `#[keys(…)]` those of one that is read by hand. What has neither is no key.

use serde_json::Value;

use super::key::{Key, Written};
use super::map_reader::MapReader;
use super::section::Section;
use crate::diagnostic::Finding;

/// A map of the language that is declared by [`section`].
pub(crate) trait Declared: 'static {
    const SECTION: &'static Section;

    /// Reads the keys that are fields. What cannot be read is reported, and left as it is.
    fn read_keys(&mut self, keys: &mut MapReader<'_, '_, '_>);

    /// The value of a key that is a field, as it is stored; `None` is another key.
    fn value_of(&self, key: &str) -> Option<Value>;
}

impl MapReader<'_, '_, '_> {
    /// Reads the keys that are fields of a map; the others are as in a file without them.
    pub(crate) fn read<T: Declared + std::default::Default>(&mut self) -> T {
        let mut map = T::default();
        map.read_keys(self);
        map
    }
}

/// A map that is read as a whole.
pub(crate) trait FromMap: Declared + Sized {
    /// `None` is a map without which there is nothing to use; it was reported.
    fn from_map(keys: &mut MapReader<'_, '_, '_>) -> Option<Self>;

    /// The finding about a value that is no map, with the map that it most likely means.
    fn meant(_finding: Finding, _written: Written<'_>) -> Option<Finding> {
        None
    }

    /// The finding about a value that is no list of maps, with the list that it most likely means.
    fn meant_in_list(_finding: Finding, _written: Written<'_>) -> Option<Finding> {
        None
    }
}

/// Returns whether a field is as in a file without its key.
pub(crate) fn is_absent<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// The number of keys in groups.
pub(crate) const fn count(groups: &[&[Key]]) -> usize {
    let (mut at, mut count) = (0, 0);
    while at < groups.len() {
        count += groups[at].len();
        at += 1;
    }
    count
}

/// The keys of groups, one after the other.
pub(crate) const fn flat<const N: usize>(groups: &[&[Key]]) -> [Key; N] {
    let mut keys = [groups[0][0]; N];
    let (mut group, mut at, mut end) = (0, 0, 0);
    while group < groups.len() {
        while at < groups[group].len() {
            keys[end] = groups[group][at];
            (at, end) = (at + 1, end + 1);
        }
        (group, at) = (group + 1, 0);
    }
    keys
}

/// Declares a map. Each arm but the first and the last takes one row.
macro_rules! section {
    ($section:expr; $(#[$meta:meta])* $vis:vis struct $name:ident { $($rows:tt)* }) => {
        section! { @ ($section) {$(#[$meta])* $vis struct $name} [] [] [] [] [] $($rows)* }
    };
    // A key that is stored only where it is not as in a file without it.
    (@ $section:tt $head:tt $fields:tt $consts:tt $keys:tt $read:tt $groups:tt
        $(#[doc = $doc:literal])* #[key($key:tt?: $($row:tt)*)] pub $field:ident: $type:ty, $($rest:tt)*
    ) => { section! { @ $section $head $fields $consts $keys $read $groups
        $(#[doc = $doc])* #[key($key: $($row)*)] #[serde(default, skip_serializing_if = "crate::definition::schema::is_absent")]
        pub $field: $type, $($rest)*
    } };
    // A key that is a field.
    (@ $section:tt $head:tt [$($fields:tt)*] [$($consts:tt)*] [$($keys:tt)*] [$($read:ident)*] $groups:tt
        $(#[doc = $doc:literal])* #[key($key:tt: $kind:ty $(, $property:ident: $value:expr)*)]
        $(#[serde($($serde:tt)*)])? pub $field:ident: $type:ty, $($rest:tt)*
    ) => { section! { @ $section $head
        [$($fields)* $(#[doc = $doc])* $(#[serde($($serde)*)])? pub $field: $type,]
        [$($consts)* {$field ($kind) ($crate::definition::schema::Key {
            $($property: $value,)* ..section!(= $section $key $field [$($doc)*])
        })}]
        [$($keys)* &[Self::$field.key],] [$($read)* $field] $groups $($rest)*
    } };
    // A key that is read by hand.
    (@ $section:tt $head:tt $fields:tt [$($consts:tt)*] [$($keys:tt)*] $read:tt $groups:tt
        $(#[doc = $doc:literal])* #[key($key:tt: $kind:ty $(, $property:ident: $value:expr)*)]
        const $field:ident; $($rest:tt)*
    ) => { section! { @ $section $head $fields
        [$($consts)* {$field ($kind) ($crate::definition::schema::Key {
            $($property: $value,)* ..section!(= $section $key $field [$($doc)*])
        })}]
        [$($keys)* &[Self::$field.key],] $read $groups $($rest)*
    } };
    // A key with a name of its own, or the same as in another map.
    (= $section:tt $key:literal $field:ident [$($doc:literal)*]) => {
        $crate::definition::schema::Key::new($key, concat!($($doc),*), $section.is_guard)
    };
    (= $section:tt $other:ident $field:ident $doc:tt) => { $other::$field.key };
    // The keys of a part that is read by hand.
    (@ $section:tt $head:tt $fields:tt $consts:tt [$($keys:tt)*] $read:tt $groups:tt #[keys($of:ty)] $($rest:tt)*) => {
        section! { @ $section $head $fields $consts
            [$($keys)* <$of as $crate::definition::schema::Declared>::SECTION.keys,] $read $groups $($rest)*
        }
    };
    // The keys of another map.
    (@ $section:tt $head:tt [$($fields:tt)*] $consts:tt [$($keys:tt)*] $read:tt [$($groups:ident)*]
        $(#[doc = $doc:literal])* #[keys] $(#[serde($($serde:tt)*)])? pub $field:ident: $type:ty, $($rest:tt)*
    ) => { section! { @ $section $head
        [$($fields)* $(#[doc = $doc])* $(#[serde($($serde)*)])? pub $field: $type,]
        $consts [$($keys)* <$type as $crate::definition::schema::Declared>::SECTION.keys,] $read [$($groups)* $field] $($rest)*
    } };
    // A field that is stored only where it is not as in a file without it.
    (@ $section:tt $head:tt $fields:tt $consts:tt $keys:tt $read:tt $groups:tt
        $(#[doc = $doc:literal])* $vis:vis $field:ident?: $type:ty, $($rest:tt)*
    ) => { section! { @ $section $head $fields $consts $keys $read $groups
        $(#[doc = $doc])* #[serde(default, skip_serializing_if = "crate::definition::schema::is_absent")]
        $vis $field: $type, $($rest)*
    } };
    // A field that is no key.
    (@ $section:tt $head:tt [$($fields:tt)*] $consts:tt $keys:tt $read:tt $groups:tt
        $(#[doc = $doc:literal])* $(#[serde($($serde:tt)*)])? $vis:vis $field:ident: $type:ty, $($rest:tt)*
    ) => { section! { @ $section $head
        [$($fields)* $(#[doc = $doc])* $(#[serde($($serde)*)])? $vis $field: $type,]
        $consts $keys $read $groups $($rest)*
    } };
    (@ ($section:expr) {$(#[$meta:meta])* $vis:vis struct $name:ident} [$($fields:tt)*] [$({$field:ident ($kind:ty) ($key:expr)})*]
        [$($keys:tt)*] [$($read:ident)*] [$($group:ident)*]
    ) => {
        #[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        $(#[$meta])*
        $vis struct $name { $($fields)* }

        #[allow(non_upper_case_globals, reason = "a key has the name of its field")]
        impl $name {
            $(pub(crate) const $field: $crate::definition::schema::Typed<$kind> = {
                #[allow(unused_imports, reason = "most keys need few of them")]
                use $crate::definition::schema::{
                    Default::{Described, Number, Required, RequiredToStart, Text, True},
                    NoValue::{Refuse, WrongType},
                };
                $crate::definition::schema::Typed::new($key)
            };)*
            const KEYS: &'static [&'static [$crate::definition::schema::Key]] = &[$($keys)*];
        }

        impl $crate::definition::schema::Declared for $name {
            const SECTION: &'static $crate::definition::schema::Section = &$crate::definition::schema::Section {
                keys: &$crate::definition::schema::flat::<{ $crate::definition::schema::count($name::KEYS) }>($name::KEYS),
                ..$section
            };

            #[allow(unused_variables, reason = "some maps are read by hand as a whole")]
            fn read_keys(&mut self, keys: &mut $crate::definition::schema::MapReader<'_, '_, '_>) {
                $(if let Some(value) = keys.get(&Self::$read) {
                    self.$read = value.into();
                })*
                $($crate::definition::schema::Declared::read_keys(&mut self.$group, keys);)*
            }

            #[allow(unused_variables, reason = "some maps are read by hand as a whole")]
            fn value_of(&self, key: &str) -> Option<serde_json::Value> {
                $(if key == Self::$read.key.name {
                    return serde_json::to_value(&self.$read).ok();
                })*
                None$(.or_else(|| $crate::definition::schema::Declared::value_of(&self.$group, key)))*
            }
        }
    };
}

pub(crate) use section;
