//! Edits of a JSON text that leave the rest of it as it is.
//!
//! An insertion into something empty that was there begins with a line feed, one into something that it creates does not.
//! So a removal knows what to leave.

use std::collections::HashMap;
use std::ops::Range;

use serde::Deserialize;
use serde_json::value::RawValue;

/// The place of our values in a JSON text.
pub(super) struct Place {
    /// The names of the objects on the way in the text, and of the member in the last one.
    pub(super) path: Vec<&'static str>,
    pub(super) ours: Ours,
}

/// What of a member is ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ours {
    /// Elements of it.
    Elements,
    /// The member itself.
    Whole,
    /// The member itself, unless there is one of somebody else.
    WholeIfFree,
}

impl Place {
    /// The values that are there.
    pub(super) fn values<'a>(&self, text: &'a str) -> Result<Vec<&'a str>, String> {
        let mut containers = self.containers(text)?;
        let has_array = containers.len() > self.path.len();
        let ranges = match containers.pop() {
            Some(array) if has_array => array.values,
            Some(object) => {
                let member = object.next.map(|index| object.values[index].clone());
                member.into_iter().collect()
            }
            None => Vec::new(),
        };
        Ok(ranges.into_iter().map(|range| &text[range]).collect())
    }

    /// Adds a value. What of the path does not exist is created.
    pub(super) fn insert(&self, text: &str, value: &str) -> Result<String, String> {
        let new = if self.ours == Ours::Elements {
            format!("[{value}]")
        } else {
            value.to_owned()
        };
        let containers = self.containers(text)?;
        let Some(last) = containers.last() else {
            return Ok(format!("{}\n", nested(&self.path, &new)));
        };
        match self.ours {
            _ if last.next.is_none() => {}
            Ours::WholeIfFree => return Ok(text.to_owned()),
            Ours::Whole | Ours::Elements => {
                let member = self.path.join(".");
                return Err(format!(
                    "it has `{member}`, which is not ours: rename or remove it"
                ));
            }
        }
        // Without the brackets of the object or array that is there.
        let new = nested(&self.path[containers.len() - 1..], &new);
        Ok(last.append(text, &new[1..new.len() - 1]))
    }

    /// Removes the values that are ours, and what was created for them: nothing is left of a text that was.
    pub(super) fn remove(
        &self,
        text: &str,
        is_ours: impl Fn(&str) -> bool,
    ) -> Result<String, String> {
        let mut text = text.to_owned();
        while let Some(index) = self.values(&text)?.into_iter().position(&is_ours) {
            let containers = self.containers(&text)?;
            let mut outwards = containers.iter().rev();
            let kept = outwards.find(|container| !container.is_created_for_one(&text));
            let Some(kept) = kept else {
                return Ok(String::new());
            };
            text = kept.cut(&text, kept.next.unwrap_or(index));
        }
        Ok(text)
    }

    /// The object of the text, those in it on the way, and the array that our values are in, as far as they exist. A text that is
    /// empty has none.
    fn containers(&self, text: &str) -> Result<Vec<Container>, String> {
        let mut found = Vec::new();
        let mut next = Some(text).filter(|text| !text.trim().is_empty());
        for name in &self.path {
            let Some(object) = next else { break };
            let members: HashMap<String, &RawValue> = parse(object)?;
            let mut members: Vec<_> = members.into_iter().collect();
            members.sort_by_key(|(_, value)| value.get().as_ptr());
            let mut end = 0;
            for (known, value) in &members {
                let start = value.get().as_ptr() as usize - object.as_ptr() as usize;
                let is_around = |c: char| c.is_whitespace() || "{,:".contains(c);
                // The map has the last of two members, as a host; there is a value between this name and the one before.
                parse::<String>(object[end..start].trim_matches(is_around))
                    .map_err(|_| format!("it has `{known}` twice: remove one of them"))?;
                end = start + value.get().len();
            }
            let index = members.iter().position(|(known, _)| known == name);
            let values = members.iter().map(|(_, value)| value.get());
            found.push(Container::new(text, object, values, index));
            next = index.map(|index| members[index].1.get());
        }
        if let Some(array) = next.filter(|_| self.ours == Ours::Elements) {
            let values: Vec<&RawValue> = parse(array)?;
            let values = values.into_iter().map(RawValue::get);
            found.push(Container::new(text, array, values, None));
        }
        Ok(found)
    }
}

/// The places of the values in an object or array, and of its inside.
struct Container {
    /// Between the brackets.
    inside: Range<usize>,
    values: Vec<Range<usize>>,
    /// The index of the value at our place, or on the way there.
    next: Option<usize>,
}

impl Container {
    /// The container that is a part of a text, with parts of it as its values.
    fn new<'a>(
        text: &str,
        part: &str,
        values: impl Iterator<Item = &'a str>,
        next: Option<usize>,
    ) -> Self {
        let range = |part: &str| {
            let start = part.as_ptr() as usize - text.as_ptr() as usize;
            start..start + part.len()
        };
        let whole = range(part.trim());
        Self {
            inside: whole.start + 1..whole.end - 1,
            values: values.map(range).collect(),
            next,
        }
    }

    /// Adds a value at the end.
    fn append(&self, text: &str, value: &str) -> String {
        let begin = self.inside.start;
        let last = self.values.last();
        let (at, comma) = last.map_or((begin, ""), |last| (last.end, ","));
        splice(text, at..at, &format!("{comma}\n{value}"))
    }

    /// Removes a value, with its name and the comma before or after it.
    fn cut(&self, text: &str, index: usize) -> String {
        let end = self.values[index].end;
        if index > 0 {
            return splice(text, self.values[index - 1].end..end, "");
        }
        // What follows the comma stays.
        let comma = text[end..self.inside.end].find(',');
        let end = comma.map_or(end, |comma| end + comma + 1);
        splice(text, self.inside.start..end, "")
    }

    /// True if an edit created it with its first value, and there is no other.
    fn is_created_for_one(&self, text: &str) -> bool {
        self.values.len() == 1 && text[self.inside.clone()].starts_with(['{', '[', '"'])
    }
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

fn parse<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, String> {
    serde_json::from_str(text)
        .map_err(|error| format!("it is not the JSON that was expected: {error}"))
}
