//! Keys with the types of their values.

use std::marker::PhantomData;

use super::key::{Default, Key, Shape, Written};
use super::reader::Reader;

/// A type that a key can have.
pub(crate) trait KeyType: 'static {
    /// What the engine has of it.
    type Value;
    /// What the schema and the documents say of it.
    const SHAPE: Shape;

    /// Reads a value, and reports what is wrong with it.
    fn read(reader: &mut Reader<'_>, written: Written<'_>) -> Option<Self::Value>;
}

/// A key whose values have a type.
pub(crate) struct Typed<T> {
    pub(crate) key: Key,
    of: PhantomData<fn() -> T>,
}

impl<T: KeyType> Typed<T> {
    pub(crate) const fn new(key: Key) -> Self {
        let shape = T::SHAPE;
        Self {
            key: Key { shape, ..key },
            of: PhantomData,
        }
    }

    /// Its default, where that is a number.
    pub(crate) const fn number(&self) -> u32 {
        match self.key.default {
            Default::Number(number) => number,
            _ => panic!("the default is a number"),
        }
    }
}
