//! Maps, lists of maps, and maps of names to maps.

use std::marker::PhantomData;

use serde_json::json;

use crate::definition::schema::{
    Declared, FromMap, KeyType, MapReader, Reader, Shape, Written, schema_of,
};
use crate::definition::syntax::{Kind, Node, Span};
use crate::diagnostic::{Code, Finding};

/// A map.
pub(crate) struct Map<S>(PhantomData<S>);

impl<S: FromMap> KeyType for Map<S> {
    type Value = S;
    const SHAPE: Shape = Shape::new(|| schema_of(S::SECTION), "map").meant(S::meant);

    fn read(reader: &mut Reader<'_>, written: Written<'_>) -> Option<S> {
        let Kind::Map(map) = written.kind() else {
            return reader.refuse(written.wrong_type(S::SECTION.expected));
        };
        let mut keys = MapReader::new(reader, S::SECTION, map, written.span());
        keys.of = Some(written);
        S::from_map(&mut keys)
    }
}

/// A map that is read by hand.
pub(crate) struct MapByHand<S>(PhantomData<S>);

impl<S: Declared> KeyType for MapByHand<S> {
    type Value = ();
    const SHAPE: Shape = Shape::new(|| schema_of(S::SECTION), "map");

    fn read(_reader: &mut Reader<'_>, _written: Written<'_>) -> Option<()> {
        None
    }
}

/// What could be read of a list, and the locations of what could not be.
pub(crate) struct List<T> {
    pub(crate) all: Vec<T>,
    pub(crate) lost: Vec<Option<Span>>,
}

impl<T> List<T> {
    /// All of it, if nothing is lost.
    pub(crate) fn whole(self) -> Option<Vec<T>> {
        self.lost.is_empty().then_some(self.all)
    }
}

impl<T> Default for List<T> {
    fn default() -> Self {
        let (all, lost) = (Vec::new(), Vec::new());
        Self { all, lost }
    }
}

impl<T> From<List<T>> for Vec<T> {
    fn from(read: List<T>) -> Self {
        read.all
    }
}

/// A list of maps.
pub(crate) struct ListOf<S>(PhantomData<S>);

impl<S: FromMap> KeyType for ListOf<S> {
    type Value = List<S>;
    const SHAPE: Shape = Shape::new(
        || json!({"type": "array", "items": schema_of(S::SECTION)}),
        "list of maps",
    )
    .meant(S::meant_in_list);

    fn read(reader: &mut Reader<'_>, written: Written<'_>) -> Option<List<S>> {
        Self::read_first(usize::MAX, reader, written)
    }
}

impl<S: FromMap> ListOf<S> {
    /// Reads so many maps of a list.
    pub(crate) fn read_first(
        most: usize,
        reader: &mut Reader<'_>,
        written: Written<'_>,
    ) -> Option<List<S>> {
        let Kind::List(items) = written.kind() else {
            return reader.refuse(written.wrong_type("a list of maps"));
        };
        let items = &items[..items.len().min(most)];
        Some(read_maps(reader, items, |kind, span| {
            let name = written.key.name;
            let message = format!("an entry of `{name}` must be a map, not {kind}");
            Finding::error(Code::WrongType, span, message)
        }))
    }
}

/// Reads the maps of a list. `wrong` is the finding about a value of another type.
pub(crate) fn read_maps<S: FromMap>(
    reader: &mut Reader<'_>,
    items: &[Node<'_>],
    wrong: impl Fn(&str, Option<Span>) -> Finding,
) -> List<S> {
    let mut read = List::default();
    for item in items {
        if let Kind::Map(map) = &item.kind {
            let mut keys = MapReader::new(reader, S::SECTION, map, item.span);
            read.all.extend(S::from_map(&mut keys));
        } else {
            reader.report(wrong(item.kind.describe(), item.span));
            read.lost.push(item.span);
        }
    }
    read
}
