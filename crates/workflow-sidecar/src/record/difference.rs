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
    #[serde(flatten)]
    pub(crate) what: DifferenceKind,
}

/// A kind of difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub(crate) enum DifferenceKind {
    /// A line says something else.
    Changed {
        /// The path of the member that differs first; none if the lines are not both JSON.
        #[serde(skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        expected: String,
        received: String,
        /// The number of other members that differ.
        others: usize,
    },
    /// The lines have another meaning, with other definitions.
    Means { changes: Vec<MeaningChange> },
    /// A line is missing.
    Missing { expected: String },
    /// There is a line that is not expected.
    Extra { received: String },
}

/// A difference in meaning.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct MeaningChange {
    /// The difference, as agents and people call it.
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
        let mut text = match &self.what {
            DifferenceKind::Changed {
                path,
                expected,
                received,
                others,
            } => {
                let what = match path.as_deref() {
                    Some("") | None => "the line differs".to_owned(),
                    Some(path) => format!("`{}` differs", visible(path)),
                };
                let others = match others {
                    0 => String::new(),
                    1 => ", and one other place".to_owned(),
                    others => format!(", and {others} other members"),
                };
                format!("{what}{others}\n{}", texts(Some(expected), Some(received)))
            }
            DifferenceKind::Means { changes } => {
                let told: Vec<&str> = changes.iter().map(|change| &*change.what).collect();
                let mut text = format!("{}: {}\n", visible(&self.after), told.join("; "));
                for change in changes {
                    text += &texts(change.expected.as_deref(), change.received.as_deref());
                }
                text
            }
            DifferenceKind::Missing { expected } => {
                format!("the sidecar does not say\n{}", texts(Some(expected), None))
            }
            DifferenceKind::Extra { received } => {
                let received = texts(None, Some(received));
                format!("the sidecar sent an additional message\n{received}")
            }
        };
        // What it means begins with what the host had sent.
        let has_meaning = matches!(self.what, DifferenceKind::Means { .. });
        let after = Some(&self.after).filter(|_| !has_meaning);
        for (name, more) in [("after", after), ("note", self.note.as_ref())] {
            if let Some(more) = more {
                let _ = writeln!(text, "{name:>10}: {}", visible(more));
            }
        }
        text
    }
}

/// The difference between two lines that are not the same.
pub(super) fn changed(expected: &str, received: &str) -> DifferenceKind {
    let values = [expected, received].map(|line| serde_json::from_str::<Value>(line).ok());
    let mut members = Vec::new();
    if let [Some(one), Some(other)] = &values {
        compare([Some(one), Some(other)], String::new(), &mut members);
    }
    let others = members.len().saturating_sub(1);
    // What a fingerprint is made from says more than the fingerprint.
    let telling = |(path, _): &(String, _)| !path.split('.').any(|name| name == "hash");
    let at = members.iter().position(telling).unwrap_or(0);
    let (path, [expected, received]) = match members.into_iter().nth(at) {
        Some((path, values)) => (Some(path), values),
        None => (None, [expected, received].map(str::to_owned)),
    };
    DifferenceKind::Changed {
        path,
        expected,
        received,
        others,
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

    fn path(expected: &str, received: &str) -> (Option<String>, String, String) {
        match changed(expected, received) {
            DifferenceKind::Changed {
                path,
                expected,
                received,
                ..
            } => (path, expected, received),
            other => panic!("{other:?}"),
        }
    }

    fn is(expected: &str, received: &str, (at, one, other): (Option<&str>, &str, &str)) {
        assert_eq!(
            path(expected, received),
            (at.map(str::to_owned), one.to_owned(), other.to_owned())
        );
    }

    #[test]
    fn a_difference_is_named_by_its_path() {
        is(
            r#"{"result":{"actions":[{"text":"a"},{"text":"b"}]}}"#,
            r#"{"result":{"actions":[{"text":"a"},{"text":"c"}]}}"#,
            (Some("result.actions[1].text"), "\"b\"", "\"c\""),
        );
        is(
            r#"{"a":1,"b":2}"#,
            r#"{"a":1}"#,
            (Some("b"), "2", "(nothing)"),
        );
        is(
            r#"{"a":[1]}"#,
            r#"{"a":[1,2]}"#,
            (Some("a[1]"), "(nothing)", "2"),
        );
        is(r#"{"a":1}"#, "[1]", (Some(""), r#"{"a":1}"#, "[1]"));
        is("nope", "{}", (None, "nope", "{}"));
        is(
            r#"{"a":{"hash":1,"z":2}}"#,
            r#"{"a":{"hash":2,"z":3}}"#,
            (Some("a.z"), "2", "3"),
        );
    }

    #[test]
    fn a_difference_is_shown_where_it_is() {
        let difference = |what| Difference {
            line: 3,
            after: "hook/agent_end (line 2)".to_owned(),
            note: None,
            what,
        };
        let long = "x".repeat(200);
        let shown = difference(changed(
            &format!("{long}a{long}"),
            &format!("{long}b{long}"),
        ))
        .shown();
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(lines[0], "the line differs");
        let mark = lines[3].chars().position(|c| c == '^').unwrap();
        assert_eq!(lines[1].chars().nth(mark), Some('a'), "{shown}");
        assert_eq!(lines[2].chars().nth(mark), Some('b'), "{shown}");
        assert_eq!(lines[4], "     after: hook/agent_end (line 2)");
        let hostile = difference(DifferenceKind::Extra {
            received: "\u{1b}[2J\u{202e}".to_owned(),
        });
        assert!(!hostile.shown().contains(['\u{1b}', '\u{202e}']));
    }
}
