//! Edits of a JSON text that leave the rest of it as it is.
//!
//! An insertion into something empty that was there begins with a line feed, one into something that it creates does not.
//! So a removal knows what to leave.

use std::fmt;
use std::ops::Range;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The members of an object, in order.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

/// The places of the values in an object or array, and of its inside.
struct Container {
    /// Between the brackets.
    inside: Range<usize>,
    /// The names; empty in an array.
    names: Vec<String>,
    values: Vec<Range<usize>>,
}

impl Container {
    /// Reads the object in a range of the text.
    fn object(text: &str, range: &Range<usize>) -> Result<Self, String> {
        let slice = &text[range.clone()];
        let Members(members) = serde_json::from_str(slice).map_err(|error| not_json(&error))?;
        let (names, values): (Vec<String>, Vec<&RawValue>) = members.into_iter().unzip();
        Ok(Self::of(text, range, names, &values))
    }

    /// Reads the array in a range of the text.
    fn array(text: &str, range: &Range<usize>) -> Result<Self, String> {
        let slice = &text[range.clone()];
        let values: Vec<&RawValue> =
            serde_json::from_str(slice).map_err(|error| not_json(&error))?;
        Ok(Self::of(text, range, Vec::new(), &values))
    }

    fn of(text: &str, range: &Range<usize>, names: Vec<String>, values: &[&RawValue]) -> Self {
        let slice = &text[range.clone()];
        let begin = range.start + slice.find(['{', '[']).unwrap_or(0) + 1;
        let end = range.start + slice.rfind(['}', ']']).unwrap_or(slice.len());
        // A raw value is a part of the text that it was read from.
        let offset = |value: &RawValue| value.get().as_ptr() as usize - text.as_ptr() as usize;
        let range = |value: &&RawValue| offset(value)..offset(value) + value.get().len();
        Self {
            inside: begin..end,
            names,
            values: values.iter().map(range).collect(),
        }
    }

    fn member(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| known == name)
    }

    /// Adds a value at the end.
    fn append(&self, text: &str, value: &str) -> String {
        match self.values.last() {
            Some(last) => splice(text, last.end..last.end, &format!(",\n{value}")),
            None => splice(
                text,
                self.inside.start..self.inside.start,
                &format!("\n{value}"),
            ),
        }
    }

    /// Removes a value, with its name and the comma before or after it.
    fn cut(&self, text: &str, index: usize) -> String {
        let end = self.values[index].end;
        if index > 0 {
            return splice(text, self.values[index - 1].end..end, "");
        }
        // What follows the comma stays.
        let end = match self.values.get(1) {
            Some(_) => end + text[end..].find(',').map_or(0, |comma| comma + 1),
            None => end,
        };
        splice(text, self.inside.start..end, "")
    }

    /// True if an edit created it with its first value.
    fn is_created(&self, text: &str) -> bool {
        text[self.inside.clone()].starts_with(['{', '[', '"'])
    }
}

/// Adds an element to the array at a path of names. What of the path does not exist is created.
pub(super) fn insert_element(text: &str, path: &[&str], element: &str) -> Result<String, String> {
    insert(text, path, &format!("[{element}]"), |text, range| {
        Ok(Container::array(text, range)?.append(text, element))
    })
}

/// Adds a member: the last name of a path. What of the path before it does not exist is created.
pub(super) fn insert_member(text: &str, path: &[&str], value: &str) -> Result<String, String> {
    insert(text, path, value, |_, _| {
        let name = path.join(".");
        Err(format!(
            "it has `{name}`, which is not ours: rename or remove it"
        ))
    })
}

/// The elements of the array at a path; none if there is no such array.
pub(super) fn elements(text: &str, path: &[&str]) -> Result<Vec<String>, String> {
    let Some(range) = find(text, path)? else {
        return Ok(Vec::new());
    };
    let array = Container::array(text, &range)?;
    let values = array.values.into_iter();
    Ok(values.map(|value| text[value].to_owned()).collect())
}

/// The value at a path, as it is written.
pub(super) fn value<'a>(text: &'a str, path: &[&str]) -> Result<Option<&'a str>, String> {
    Ok(find(text, path)?.map(|range| &text[range]))
}

/// Removes elements of the array at a path, and what was created for them.
pub(super) fn remove_elements(
    text: &str,
    path: &[&str],
    is_ours: impl Fn(&str) -> bool,
) -> Result<String, String> {
    let mut text = text.to_owned();
    loop {
        let Some(range) = find(&text, path)? else {
            return Ok(text);
        };
        let array = Container::array(&text, &range)?;
        let ours = array
            .values
            .iter()
            .position(|value| is_ours(&text[value.clone()]));
        let Some(index) = ours else { return Ok(text) };
        if array.values.len() == 1 && array.is_created(&text) {
            return remove(&text, path);
        }
        text = array.cut(&text, index);
    }
}

/// Removes the member at a path if it is ours, and what was created for it.
pub(super) fn remove_member(
    text: &str,
    path: &[&str],
    is_ours: impl Fn(&str) -> bool,
) -> Result<String, String> {
    match find(text, path)? {
        Some(range) if is_ours(&text[range.clone()]) => remove(text, path),
        _ => Ok(text.to_owned()),
    }
}

/// Inserts a value at a path, or changes the one that is there.
fn insert(
    text: &str,
    path: &[&str],
    value: &str,
    change: impl FnOnce(&str, &Range<usize>) -> Result<String, String>,
) -> Result<String, String> {
    if text.trim().is_empty() {
        return Ok(format!("{}\n", nested(path, value)));
    }
    let mut range = 0..text.len();
    for (depth, name) in path.iter().enumerate() {
        let object = Container::object(text, &range)?;
        let Some(index) = object.member(name) else {
            let member = nested(&path[depth..], value);
            // Without the brackets of the object that is there.
            return Ok(object.append(text, &member[1..member.len() - 1]));
        };
        range = object.values[index].clone();
    }
    change(text, &range)
}

/// Removes the member at a path, and each object around it that was created for it alone.
fn remove(text: &str, path: &[&str]) -> Result<String, String> {
    let Some((name, around)) = path.split_last() else {
        return Ok(text.to_owned());
    };
    let Some(range) = find(text, around)? else {
        return Ok(text.to_owned());
    };
    let object = Container::object(text, &range)?;
    let Some(index) = object.member(name) else {
        return Ok(text.to_owned());
    };
    if object.names.len() == 1 && object.is_created(text) && !around.is_empty() {
        return remove(text, around);
    }
    Ok(object.cut(text, index))
}

/// The range of the value at a path.
fn find(text: &str, path: &[&str]) -> Result<Option<Range<usize>>, String> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    let mut range = 0..text.len();
    for name in path {
        let object = Container::object(text, &range)?;
        match object.member(name) {
            Some(index) => range = object.values[index].clone(),
            None => return Ok(None),
        }
    }
    Ok(Some(range))
}

/// A value in objects of these names.
fn nested(path: &[&str], value: &str) -> String {
    path.iter().rev().fold(value.to_owned(), |value, name| {
        let name = serde_json::Value::from(*name);
        format!("{{{name}: {value}}}")
    })
}

fn splice(text: &str, range: Range<usize>, with: &str) -> String {
    format!("{}{with}{}", &text[..range.start], &text[range.end..])
}

fn not_json(error: &serde_json::Error) -> String {
    format!("it is not the JSON that was expected: {error}")
}
