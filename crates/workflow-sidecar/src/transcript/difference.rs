//! Where two lines differ, so that a person sees it.
//!
//! Owns how a difference is shown. Must not know where the lines come from.

use serde::Serialize;
use serde_json::Value;
use workflow_core::diagnostic::visible;

/// What a transcript expects and a sidecar does not do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Difference {
    /// The line of the transcript; of a line too many, the one it follows from.
    pub(crate) line: usize,
    /// What the host had said.
    pub(crate) after: String,
    #[serde(flatten)]
    pub(crate) what: What,
    /// What else there is to know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) hint: Option<String>,
}

/// What differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub(crate) enum What {
    /// A line says something else.
    Changed {
        /// The path of the member that differs first; none if the lines are not both JSON.
        #[serde(skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        expected: String,
        heard: String,
    },
    /// A line is not said.
    Missing { expected: String },
    /// A line is said that nobody expects.
    Extra { heard: String },
    /// The sidecar cannot be spoken to any more.
    Broken { why: String },
}

/// How much of a line is shown.
const WIDTH: usize = 100;
/// How much of it stands before the difference.
const BEFORE: usize = 30;

impl Difference {
    /// What a person reads, without the place.
    pub(crate) fn shown(&self) -> String {
        let after = on_one_line(&self.after);
        let mut text = match &self.what {
            What::Changed {
                path,
                expected,
                heard,
            } => {
                let what = match path.as_deref() {
                    Some("") => "the line differs".to_owned(),
                    Some(path) => format!("`{}` differs", on_one_line(path)),
                    None => "the line differs".to_owned(),
                };
                format!("{what}\n{}", side_by_side(expected, heard))
            }
            What::Missing { expected } => {
                format!(
                    "the sidecar does not say\n  expected: {}\n",
                    cut(expected, 0)
                )
            }
            What::Extra { heard } => {
                format!("the sidecar says more\n     heard: {}\n", cut(heard, 0))
            }
            What::Broken { why } => format!("{}\n", on_one_line(why)),
        };
        text += &format!("     after: {after}\n");
        if let Some(hint) = &self.hint {
            text += &format!("      hint: {}\n", on_one_line(hint));
        }
        text
    }
}

/// What is different between two lines that are not the same.
pub(super) fn changed(expected: &str, heard: &str) -> What {
    let values = [expected, heard].map(|line| serde_json::from_str::<Value>(line).ok());
    if let [Some(one), Some(other)] = &values
        && let Some(found) = first_difference(one, other, String::new())
    {
        return found;
    }
    What::Changed {
        path: None,
        expected: expected.to_owned(),
        heard: heard.to_owned(),
    }
}

/// The first place at which two values differ.
fn first_difference(expected: &Value, heard: &Value, path: String) -> Option<What> {
    const NOTHING: &str = "(nothing)";
    let member = |name: &str| match path.as_str() {
        "" => name.to_owned(),
        path => format!("{path}.{name}"),
    };
    let one_side = |path: String, expected: Option<&Value>, heard: Option<&Value>| {
        let shown = |value: Option<&Value>| value.map_or(NOTHING.to_owned(), Value::to_string);
        What::Changed {
            path: Some(path),
            expected: shown(expected),
            heard: shown(heard),
        }
    };
    match (expected, heard) {
        (Value::Object(one), Value::Object(other)) => {
            let common = one
                .iter()
                .filter_map(|(name, value)| Some((name, value, other.get(name)?)));
            let mut inside = common
                .filter_map(|(name, value, heard)| first_difference(value, heard, member(name)));
            let missing = || one.iter().find(|(name, _)| !other.contains_key(*name));
            let extra = || other.iter().find(|(name, _)| !one.contains_key(*name));
            inside
                .next()
                .or_else(|| {
                    missing().map(|(name, value)| one_side(member(name), Some(value), None))
                })
                .or_else(|| extra().map(|(name, value)| one_side(member(name), None, Some(value))))
        }
        (Value::Array(one), Value::Array(other)) => {
            let element = |at: usize| format!("{path}[{at}]");
            let mut inside = one
                .iter()
                .zip(other)
                .enumerate()
                .filter_map(|(at, (value, heard))| first_difference(value, heard, element(at)));
            let shorter = one.len().min(other.len());
            let rest = || {
                (one.len() != other.len())
                    .then(|| one_side(element(shorter), one.get(shorter), other.get(shorter)))
            };
            inside.next().or_else(rest)
        }
        (one, other) if one == other => None,
        (one, other) => Some(one_side(path, Some(one), Some(other))),
    }
}

/// Both texts from shortly before where they part, and a mark there.
fn side_by_side(expected: &str, heard: &str) -> String {
    let same = expected.chars().zip(heard.chars());
    let same = same.take_while(|(a, b)| a == b).count();
    let from = same.saturating_sub(BEFORE);
    let before = cut(heard, from);
    let mark: usize = before
        .chars()
        .count()
        .min(same - from + usize::from(from > 0));
    format!(
        "  expected: {}\n     heard: {before}\n            {}^\n",
        cut(expected, from),
        " ".repeat(mark)
    )
}

/// A part of a text, fit for a terminal, with a mark where something is left out.
fn cut(text: &str, from: usize) -> String {
    let mut shown = String::new();
    if from > 0 {
        shown.push('…');
    }
    let part: String = text.chars().skip(from).take(WIDTH).collect();
    shown += &on_one_line(&part);
    if text.chars().count() > from + WIDTH {
        shown.push('…');
    }
    shown
}

/// Text without anything that moves the cursor.
fn on_one_line(text: &str) -> String {
    visible(text).replace('\n', "\\n").replace('\t', "\\t")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(expected: &str, heard: &str) -> (Option<String>, String, String) {
        match changed(expected, heard) {
            What::Changed {
                path,
                expected,
                heard,
            } => (path, expected, heard),
            other => panic!("{other:?}"),
        }
    }

    fn is(expected: &str, heard: &str, (at, one, other): (Option<&str>, &str, &str)) {
        assert_eq!(
            path(expected, heard),
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
        is(
            r#"{"a":1,"b":2}"#,
            r#"{"b":2,"a":1}"#,
            (None, r#"{"a":1,"b":2}"#, r#"{"b":2,"a":1}"#),
        );
        is("nope", "{}", (None, "nope", "{}"));
    }

    #[test]
    fn a_difference_is_shown_where_it_is() {
        let difference = |what| Difference {
            line: 3,
            after: "hook/agent_end (line 2)".to_owned(),
            what,
            hint: None,
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
        let hostile = difference(What::Extra {
            heard: "\u{1b}[2J\u{202e}".to_owned(),
        });
        assert!(!hostile.shown().contains(['\u{1b}', '\u{202e}']));
    }
}
