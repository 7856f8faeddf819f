//! Edits of a JSON text that leave the rest of it as it is.
//!
//! An insertion into something empty that was there begins with a line feed, one into something that it creates does not.
//! So a removal knows what to leave.

use std::collections::HashMap;
use std::ops::Range;

use serde::Deserialize;
use serde_json::value::RawValue;

/// The place of our values in a JSON text.
#[derive(Debug)]
pub(super) struct Place {
    /// The names of an object in the text, and of its member.
    pub(super) path: [&'static str; 2],
    /// True if our values are elements of the member, false if the member itself is ours.
    pub(super) is_array: bool,
}

impl Place {
    /// The values that are there.
    pub(super) fn values<'a>(&self, text: &'a str) -> Result<Vec<&'a str>, String> {
        let ranges = match self.array(text)? {
            Some(array) => array.values,
            None => find(text, &self.path)?.into_iter().collect(),
        };
        Ok(ranges.into_iter().map(|range| &text[range]).collect())
    }

    /// Adds a value. What of the path does not exist is created.
    pub(super) fn insert(&self, text: &str, value: &str) -> Result<String, String> {
        let new = if self.is_array {
            format!("[{value}]")
        } else {
            value.to_owned()
        };
        if text.trim().is_empty() {
            return Ok(format!("{}\n", nested(&self.path, &new)));
        }
        let mut range = 0..text.len();
        for (depth, name) in self.path.iter().enumerate() {
            let object = Container::object(text, &range)?;
            let Some(index) = object.member(name) else {
                let member = nested(&self.path[depth..], &new);
                // Without the brackets of the object that is there.
                return Ok(object.append(text, &member[1..member.len() - 1]));
            };
            range = object.values[index].clone();
        }
        match self.array(text)? {
            Some(array) => Ok(array.append(text, value)),
            None => Err(format!(
                "it has `{}`, which is not ours: rename or remove it",
                self.path.join(".")
            )),
        }
    }

    /// Removes the values that are ours, and what was created for them.
    pub(super) fn remove(
        &self,
        text: &str,
        is_ours: impl Fn(&str) -> bool,
    ) -> Result<String, String> {
        let mut text = text.to_owned();
        while let Some(index) = self.values(&text)?.into_iter().position(&is_ours) {
            text = match self.array(&text)? {
                Some(array) if array.values.len() > 1 || !array.is_created(&text) => {
                    array.cut(&text, index)
                }
                Some(_) | None => remove(&text, &self.path)?,
            };
        }
        Ok(text)
    }

    /// The array at the place; `None` if it is no place in an array, or there is none.
    fn array(&self, text: &str) -> Result<Option<Container>, String> {
        let range = find(text, &self.path)?.filter(|_| self.is_array);
        let array = range.map(|range| Container::array(text, &range));
        array.transpose()
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
        let members: HashMap<String, &RawValue> = parse(text, range)?;
        let mut members: Vec<_> = members.into_iter().collect();
        members.sort_by_key(|(_, value)| value.get().as_ptr());
        let (names, values): (_, Vec<&RawValue>) = members.into_iter().unzip();
        Ok(Self::of(text, range, names, &values))
    }

    /// Reads the array in a range of the text.
    fn array(text: &str, range: &Range<usize>) -> Result<Self, String> {
        let values: Vec<&RawValue> = parse(text, range)?;
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
        let begin = self.inside.start;
        let (at, comma) = self
            .values
            .last()
            .map_or((begin, ""), |last| (last.end, ","));
        splice(text, at..at, &format!("{comma}\n{value}"))
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

/// Removes the member at a path, and each object around it that was created for it alone.
fn remove(text: &str, path: &[&str]) -> Result<String, String> {
    if let Some((name, around)) = path.split_last()
        && let Some(range) = find(text, around)?
    {
        let object = Container::object(text, &range)?;
        if object.names.len() == 1 && object.is_created(text) && !around.is_empty() {
            return remove(text, around);
        }
        if let Some(index) = object.member(name) {
            return Ok(object.cut(text, index));
        }
    }
    Ok(text.to_owned())
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

fn parse<'a, T: Deserialize<'a>>(text: &'a str, range: &Range<usize>) -> Result<T, String> {
    serde_json::from_str(&text[range.clone()])
        .map_err(|error| format!("it is not the JSON that was expected: {error}"))
}
