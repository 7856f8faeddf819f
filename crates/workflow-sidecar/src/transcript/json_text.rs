//! JSON as it stands in a line: finding members, and putting something else in their place.
//!
//! Everything that is not replaced stays byte for byte, whatever the JSON looks like. Must not know
//! what is looked for.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use workflow_protocol::Text;

/// The members of an object, in order, with those that stand there twice; none if it is none.
pub(super) fn members(json: &str) -> Vec<(String, &str)> {
    struct Pairs;
    impl<'de> Visitor<'de> for Pairs {
        type Value = Vec<(String, &'de RawValue)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut pairs = Vec::new();
            // A name may hold half a character.
            while let Some((name, value)) = map.next_entry::<Text<'de>, &'de RawValue>()? {
                pairs.push((name.as_str().to_owned(), value));
            }
            Ok(pairs)
        }
    }
    let mut reader = serde_json::Deserializer::from_str(json);
    let pairs = Deserializer::deserialize_map(&mut reader, Pairs).unwrap_or_default();
    pairs
        .into_iter()
        .map(|(name, value)| (name, value.get()))
        .collect()
}

/// The elements of an array; none if it is none.
pub(super) fn elements(json: &str) -> Vec<&str> {
    struct Elements<'a>(PhantomData<&'a ()>);
    impl<'de> Visitor<'de> for Elements<'de> {
        type Value = Vec<&'de RawValue>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an array")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
            let mut elements = Vec::new();
            while let Some(element) = seq.next_element()? {
                elements.push(element);
            }
            Ok(elements)
        }
    }
    let mut reader = serde_json::Deserializer::from_str(json);
    let elements = Deserializer::deserialize_seq(&mut reader, Elements(PhantomData));
    let elements = elements.unwrap_or_default();
    elements.into_iter().map(RawValue::get).collect()
}

/// The last member of this name.
pub(super) fn member<'a>(json: &'a str, name: &str) -> Option<&'a str> {
    let found = members(json).into_iter().rev().find(|(of, _)| of == name);
    found.map(|(_, value)| value)
}

/// The member at the end of a path of names.
pub(super) fn at<'a>(json: &'a str, path: &[&str]) -> Option<&'a str> {
    path.iter().try_fold(json, |json, name| member(json, name))
}

/// The text that a JSON string holds.
pub(super) fn string(json: &str) -> Option<String> {
    json.starts_with('"')
        .then(|| String::deserialize(&mut serde_json::Deserializer::from_str(json)).ok())?
}

/// A text as a JSON string.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The text with some of its parts, each a slice of it, replaced.
pub(super) fn with_replaced<'a>(text: &'a str, mut parts: Vec<(&'a str, String)>) -> String {
    let start = |part: &str| part.as_ptr().addr() - text.as_ptr().addr();
    parts.sort_by_key(|(part, _)| start(part));
    let mut replaced = String::with_capacity(text.len());
    let mut done = 0;
    for (part, new) in parts {
        let from = start(part);
        replaced.push_str(&text[done..from]);
        replaced.push_str(&new);
        done = from + part.len();
    }
    replaced.push_str(&text[done..]);
    replaced
}

/// The JSON with a member of the object at the end of a path; unchanged if there is no object.
pub(super) fn with_member(json: &str, path: &[&str], name: &str, value: &str) -> String {
    let Some(object) = at(json, path).filter(|object| object.starts_with('{')) else {
        return json.to_owned();
    };
    if let Some(old) = member(object, name) {
        return with_replaced(json, vec![(old, value.to_owned())]);
    }
    let comma = if members(object).is_empty() { "" } else { "," };
    let open = &object[..object.len() - 1];
    let object_with = format!("{open}{comma}{}:{value}}}", quoted(name));
    with_replaced(json, vec![(object, object_with)])
}

/// The string literals in a JSON text that are values, and not names of members.
pub(super) fn strings(json: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = json;
    while let Some(at) = rest.find('"') {
        let literal = literal(&rest[at..]);
        let after = &rest[at + literal.len()..];
        if !after.trim_ascii_start().starts_with(':') {
            found.push(literal);
        }
        rest = after;
    }
    found
}

/// The string literal that a text starts with, quotes included.
fn literal(text: &str) -> &str {
    let bytes = text.as_bytes();
    let mut at = 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return &text[..=at],
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    text
}

/// The same JSON with characters in place of the escapes of what is not ASCII.
///
/// The sidecar escapes all of that, so nothing is lost: two lines that look the same are the same.
pub(super) fn unescaped(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        text.push_str(before);
        let (unit, next) = (unit(escape), escape.get(6..).and_then(unit));
        let found = match (unit, next) {
            (Some(high @ 0xd800..0xdc00), Some(low @ 0xdc00..0xe000)) => {
                character(&[high, low]).map(|c| (c, 12))
            }
            (Some(unit @ 0x80..), _) => character(&[unit]).map(|c| (c, 6)),
            (Some(_) | None, _) => None,
        };
        if let Some((c, length)) = found {
            text.push(c);
            rest = &escape[length..];
        } else {
            // Any other escape stays. Two characters of it are enough to pass over `\\\\`.
            let two = escape.chars().take(2).map(char::len_utf8).sum();
            text.push_str(&escape[..two]);
            rest = &escape[two..];
        }
    }
    text.push_str(rest);
    text
}

fn character(units: &[u16]) -> Option<char> {
    char::decode_utf16(units.iter().copied()).next()?.ok()
}

/// The unit that an escape at the start of the text stands for.
fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hex.then(|| u16::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_slices_of_the_line_and_can_be_replaced() {
        let line = r#"{ "a" : {"b":[1, {"c":"x\"y"}], "b":2} , "a\u0062": 1.50 }"#;
        let b = &members(member(line, "a").unwrap());
        assert_eq!(b.len(), 2);
        assert_eq!(at(line, &["a", "b"]), Some("2"));
        assert_eq!(member(line, "ab"), Some("1.50"));
        let c = member(elements(b[0].1)[1], "c").unwrap();
        assert_eq!(string(c).unwrap(), "x\"y");
        let replaced = with_replaced(
            line,
            vec![(member(line, "ab").unwrap(), "7".into()), (c, quoted("ü"))],
        );
        assert_eq!(
            replaced,
            r#"{ "a" : {"b":[1, {"c":"ü"}], "b":2} , "a\u0062": 7 }"#
        );
        let with = |json| with_member(json, &["p"], "a", "1");
        assert_eq!(with(r#"{"p":{}}"#), r#"{"p":{"a":1}}"#);
        assert_eq!(with(r#"{"p":{"b":2}}"#), r#"{"p":{"b":2,"a":1}}"#);
        assert_eq!(with(r#"{"p":{"a":2}}"#), r#"{"p":{"a":1}}"#);
        assert_eq!(with(r#"{"p":[]}"#), r#"{"p":[]}"#);
        assert!(
            members("[1]").is_empty() && members("nope").is_empty() && elements("{}").is_empty()
        );
    }

    #[test]
    fn strings_are_values_only() {
        let json = r#"{"a":"b\\","c" : ["d",{"e":{}}],"":"\":"}"#;
        assert_eq!(strings(json), [r#""b\\""#, r#""d""#, r#""\":""#]);
        assert_eq!(strings(r#""a"#), [r#""a"#]);
        assert_eq!(strings(r#""a\"#), [r#""a\"#]);
    }

    #[test]
    fn escapes_become_characters() {
        assert_eq!(
            unescaped(r"a\ud83d\udd04b\u23f3\n\\u23f3\u0007"),
            "a🔄b⏳\\n\\\\u23f3\\u0007"
        );
        for odd in [
            r"\ud83d",
            r"\udd04\ud83d",
            r"\u+123",
            r"\u12",
            "\\",
            "\\é",
            r"\ud83dé",
        ] {
            assert_eq!(unescaped(odd), odd);
        }
    }
}
