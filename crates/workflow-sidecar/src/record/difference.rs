//! Differences between two lines, as a person sees them.
//!
//! Must not know where the lines come from.

use std::fmt::Write;

use serde::Serialize;
use serde_json::Value;
use workflow_core::diagnostic::visible;

/// A difference between a transcript and a sidecar.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Difference {
    /// The line of the transcript; of a line too many, the one it follows from.
    pub(crate) line: usize,
    /// The line of the host before it.
    pub(crate) after: String,
    /// The last note before that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<String>,
    pub(crate) changes: Vec<Change>,
}

/// What differs, in words, and the texts on both sides; none where a line is missing or too many.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Change {
    pub(crate) what: String,
    pub(crate) expected: Option<String>,
    pub(crate) received: Option<String>,
}

/// The number of characters of a line that are shown.
const WIDTH: usize = 100;
/// The number of them before the difference.
const BEFORE: usize = 30;

impl Difference {
    /// The difference as a person reads it, without its location.
    pub(crate) fn shown(&self) -> String {
        let told: Vec<&str> = self.changes.iter().map(|change| &*change.what).collect();
        let mut text = visible(&format!("{}: {}", self.after, told.join("; "))) + "\n";
        for change in &self.changes {
            text += &texts(change.expected.as_deref(), change.received.as_deref());
        }
        if let Some(note) = &self.note {
            let _ = writeln!(text, "      note: {}", visible(note));
        }
        text
    }
}

/// The difference between a line and the one that came in its place. One of them may be missing.
pub(super) fn changed(expected: Option<&str>, received: Option<&str>) -> Change {
    let what = match (expected, received) {
        (Some(expected), Some(received)) => return first_member(expected, received),
        (Some(_), None) => "the sidecar does not say",
        (None, _) => "the sidecar sent an additional message",
    };
    Change {
        what: what.to_owned(),
        expected: expected.map(str::to_owned),
        received: received.map(str::to_owned),
    }
}

/// The first member in which two lines differ, in words, with both values; the lines if they are not both JSON.
fn first_member(expected: &str, received: &str) -> Change {
    let values = [expected, received].map(|line| serde_json::from_str::<Value>(line).ok());
    let mut members = Vec::new();
    if let [Some(one), Some(other)] = &values {
        compare([Some(one), Some(other)], String::new(), &mut members);
    }
    let others = match members.len() {
        0 | 1 => String::new(),
        2 => ", and one other place".to_owned(),
        all => format!(", and {} other members", all - 1),
    };
    // What a fingerprint is made from says more than the fingerprint.
    let telling = |(path, _): &(String, _)| !path.split('.').any(|name| name == "hash");
    let at = members.iter().position(telling).unwrap_or(0);
    let (what, [expected, received]) = match members.into_iter().nth(at) {
        Some((path, texts)) if !path.is_empty() => (format!("`{path}` differs{others}"), texts),
        _ => {
            let what = "the line differs".to_owned();
            (what, [expected, received].map(str::to_owned))
        }
    };
    Change {
        what,
        expected: Some(expected),
        received: Some(received),
    }
}

/// Finds the members in which two values differ, with both values.
fn compare(values: [Option<&Value>; 2], path: String, members: &mut Vec<(String, [String; 2])>) {
    match values {
        [one, other] if one == other => {}
        [Some(Value::Object(one)), Some(Value::Object(other))] => {
            let more = other.keys().filter(|name| !one.contains_key(*name));
            for name in one.keys().chain(more) {
                let member = match path.as_str() {
                    "" => name.clone(),
                    path => format!("{path}.{name}"),
                };
                compare([one.get(name), other.get(name)], member, members);
            }
        }
        [Some(Value::Array(one)), Some(Value::Array(other))] => {
            for at in 0..one.len().max(other.len()) {
                let member = format!("{path}[{at}]");
                compare([one.get(at), other.get(at)], member, members);
            }
        }
        values => {
            let shown =
                |value: Option<&Value>| value.map_or("(nothing)".to_owned(), Value::to_string);
            members.push((path, values.map(shown)));
        }
    }
}

/// The texts, each on a line: both from shortly before where they part, and a mark there.
fn texts(expected: Option<&str>, received: Option<&str>) -> String {
    let both = expected.zip(received);
    let same = both.map_or(0, |(expected, received)| {
        let same = expected.chars().zip(received.chars());
        same.take_while(|(one, other)| one == other).count()
    });
    let from = same.saturating_sub(BEFORE);
    let mut text = String::new();
    for (name, line) in [("expected", expected), ("received", received)] {
        if let Some(line) = line {
            let _ = writeln!(text, "  {name}: {}", cut(line, from));
        }
    }
    if let Some((_, received)) = both {
        let mark = same - from + usize::from(from > 0);
        let mark = mark.min(cut(received, from).chars().count());
        let _ = writeln!(text, "            {}^", " ".repeat(mark));
    }
    text
}

/// A part of a text, fit for a terminal, with a mark where something is left out.
fn cut(text: &str, from: usize) -> String {
    let mut shown = String::new();
    if from > 0 {
        shown.push('…');
    }
    let part: String = text.chars().skip(from).take(WIDTH).collect();
    shown += &visible(&part);
    if text.chars().count() > from + WIDTH {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is(expected: &str, received: &str, (what, one, other): (&str, &str, &str)) {
        let change = Change {
            what: what.to_owned(),
            expected: Some(one.to_owned()),
            received: Some(other.to_owned()),
        };
        assert_eq!(changed(Some(expected), Some(received)), change);
    }

    #[test]
    fn a_difference_is_named_by_its_path() {
        is(
            r#"{"result":{"actions":[{"text":"a"},{"text":"b"}]}}"#,
            r#"{"result":{"actions":[{"text":"a"},{"text":"c"}]}}"#,
            ("`result.actions[1].text` differs", "\"b\"", "\"c\""),
        );
        is(
            r#"{"a":1,"b":2}"#,
            r#"{"a":1}"#,
            ("`b` differs", "2", "(nothing)"),
        );
        is(
            r#"{"a":[1]}"#,
            r#"{"a":[1,2]}"#,
            ("`a[1]` differs", "(nothing)", "2"),
        );
        is(
            r#"{"a":1}"#,
            "[1]",
            ("the line differs", r#"{"a":1}"#, "[1]"),
        );
        is("nope", "{}", ("the line differs", "nope", "{}"));
        is(
            r#"{"a":{"hash":1,"z":2}}"#,
            r#"{"a":{"hash":2,"z":3}}"#,
            ("`a.z` differs, and one other place", "2", "3"),
        );
    }

    #[test]
    fn a_difference_is_shown_where_it_is() {
        let difference = |change| Difference {
            line: 3,
            after: "agent_end (line 2)".to_owned(),
            note: None,
            changes: vec![change],
        };
        let long = "x".repeat(200);
        let [one, other] = ["a", "b"].map(|middle| format!("{long}{middle}{long}"));
        let shown = difference(changed(Some(&one), Some(&other))).shown();
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(lines[0], "agent_end (line 2): the line differs");
        let mark = lines[3].chars().position(|c| c == '^').unwrap();
        assert_eq!(lines[1].chars().nth(mark), Some('a'), "{shown}");
        assert_eq!(lines[2].chars().nth(mark), Some('b'), "{shown}");
        let hostile = difference(changed(None, Some("\u{1b}[2J\u{202e}")));
        assert!(!hostile.shown().contains(['\u{1b}', '\u{202e}']));
    }
}
