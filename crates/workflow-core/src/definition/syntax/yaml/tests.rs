//! Values of YAML texts, compared with npm `yaml` 2.9 (`logLevel: 'error'`, defaults otherwise).

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

pub(super) const LIMITS: TreeLimits = TreeLimits {
    depth: 64,
    size: 10_000,
};

/// Texts and what npm `yaml` makes of them. An error is `{"error": true}`, what JSON has no number
/// for is `{"num": …}`, a set `{"set": […]}` and binary data `{"bin": 1}`.
const TABLE: &str = include_str!("../../../../../../tests/definitions/yaml-1.2.json");

/// Intended differences.
const DIFFERENCES: &[(&str, &str)] = &[
    (
        "a: !!set {x}",
        "a set without its elements: no key takes it",
    ),
    ("a: {{var}}", UNKNOWN_KEY),
    ("~: a", UNKNOWN_KEY),
    ("null: a", UNKNOWN_KEY),
    ("0x1F: a", UNKNOWN_KEY),
    ("[a]: b", UNKNOWN_KEY),
    ("? [a, b]\n: c", UNKNOWN_KEY),
    ("? {a: 1}\n: c", UNKNOWN_KEY),
    ("{a: 1}: b", UNKNOWN_KEY),
    ("1: a\n'1': b", "the same key, however it is written"),
    ("\ta: 1", "a tab before the first key does no harm"),
    ("%YAML 1.1\n---\na: yes", "an error: only YAML 1.2 is read"),
    ("a: \u{1}", "an error, as the specification has it"),
];

const UNKNOWN_KEY: &str =
    "a key that is no text is spelled as written: no known key looks like that";

fn as_json(node: &Node<'_>) -> Value {
    match &node.kind {
        Kind::Null => Value::Null,
        Kind::Bool(value) => json!(value),
        Kind::Number(number) if number.is_nan() => json!({"num": "nan"}),
        Kind::Number(number) if number.is_infinite() => {
            json!({"num": if *number > 0.0 { "inf" } else { "-inf" }})
        }
        Kind::Number(number) => json!(number),
        Kind::Text(text) => json!(text),
        Kind::Tagged(name) if name.contains("!!binary") => json!({"bin": 1}),
        Kind::Tagged(name) => json!({ "tagged": name }),
        Kind::List(items) => items.iter().map(as_json).collect(),
        Kind::Map(map) => Value::Object(
            map.entries
                .iter()
                .map(|entry| (entry.key.to_string(), as_json(&entry.value)))
                .collect(),
        ),
    }
}

fn meaning(text: &str) -> Value {
    let text = text.replace("\r\n", "\n");
    match parse(text.strip_prefix('\u{feff}').unwrap_or(&text), 0, LIMITS) {
        Err(_) => json!({"error": true}),
        Ok(mut node) => {
            let mut dropped = Vec::new();
            node.drop_duplicates(&mut dropped);
            if dropped.is_empty() {
                as_json(&node)
            } else {
                json!({"error": true})
            }
        }
    }
}

/// Integers and floats of one value are one number.
fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => {
            let (Some(a), Some(b)) = (a.as_f64(), b.as_f64()) else {
                return false;
            };
            // The table's own numbers are read to the last digit but one.
            (a - b).abs() <= f64::EPSILON * a.abs()
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|(key, a)| b.get(key).is_some_and(|b| equal(a, b)))
        }
        _ => a == b,
    }
}

#[test]
fn texts_mean_what_npm_yaml_makes_of_them() {
    let table: Vec<(String, Value)> = serde_json::from_str(TABLE).unwrap();
    let mut wrong = Vec::new();
    for (text, expected) in table {
        let ours = meaning(&text);
        let known = DIFFERENCES.iter().any(|(differs, _)| *differs == text);
        if equal(&ours, &expected) == known {
            wrong.push(format!(
                "{text:?}: {ours}, npm yaml: {expected}, known: {known}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The texts that the spans of a map's keys and values cover.
fn covered(text: &str) -> Vec<(&str, &str)> {
    let node = parse(text, 0, LIMITS).unwrap();
    let Kind::Map(map) = node.kind else {
        panic!("{text:?} is a map");
    };
    let slice = |span: Option<Span>| span.map_or("?", |span| &text[span.start..span.end]);
    let of_entry = |entry: &Entry<'_>| (slice(entry.key_span), slice(entry.value.span));
    map.entries.iter().map(of_entry).collect()
}

#[test]
fn spans_cover_what_is_written() {
    assert_eq!(
        covered("a: plain # c\n'b': \"quoted\"\nc:\n  - x\n  - y\n\nd: {e: f}\n"),
        [
            ("a", "plain"),
            ("'b'", "\"quoted\""),
            ("c", "- x\n  - y"),
            ("d", "{e: f}"),
        ]
    );
    assert_eq!(
        covered("ä: 😀\nb: |\n  one\n  two\nc: &x [1]\nd: *x\ne: !!str 1\n"),
        [
            ("ä", "😀"),
            ("b", "one\n  two\n"),
            ("c", "[1]"),
            ("d", "[1]"),
            ("e", "1"),
        ]
    );
}

#[test]
fn a_tag_that_makes_something_else_is_kept_with_its_location() {
    let text = "a: !!binary aGk=\nb: !!set {x, y}\nc: !!timestamp 2001-01-01\nd: !!omap [{x: 1}]\ne: !!pairs [x: 1]\nf: !<tag:yaml.org,2002:set> {x}\n";
    let Kind::Map(map) = parse(text, 0, LIMITS).unwrap().kind else {
        panic!("{text:?} is a map");
    };
    let slice = |span: Option<Span>| span.map_or("?", |span| &text[span.start..span.end]);
    let of_entry = |entry: &Entry<'_>| (entry.value.kind.describe(), slice(entry.value.span));
    assert_eq!(
        map.entries.iter().map(of_entry).collect::<Vec<_>>(),
        [
            ("binary data (`!!binary`)", "aGk="),
            ("a set (`!!set`)", "{x, y}"),
            ("a date (`!!timestamp`)", "2001-01-01"),
            ("an ordered map (`!!omap`)", "[{x: 1}]"),
            ("a list of pairs (`!!pairs`)", "[x: 1]"),
            ("a set (`!!set`)", "{x}"),
        ]
    );
}

#[test]
fn spans_count_from_the_start_of_the_source() {
    let node = parse("a: 1", 100, LIMITS).unwrap();
    assert_eq!(node.span, Some(Span::new(100, 104)));
    let error = parse("a: [", 100, LIMITS).unwrap_err();
    assert_eq!(
        error,
        Finding::error(Code::Syntax, Some(Span::new(103, 104)), &*error.message)
    );
}

#[test]
fn every_duplicate_key_is_found() {
    let mut node = parse("a: 1\na: 2\nb: {c: 1, c: 2, c: 3}\n", 0, LIMITS).unwrap();
    let mut dropped = Vec::new();
    node.drop_duplicates(&mut dropped);
    let keys: Vec<&str> = dropped.iter().map(|(key, _)| &**key).collect();
    assert_eq!(keys, ["a", "c", "c"]);
    assert_eq!(as_json(&node), json!({"a": 1.0, "b": {"c": 1.0}}));
}

#[test]
fn nesting_ends_at_the_limit_whatever_it_is_made_of() {
    let over = |text: String| parse(&text, 0, LIMITS).unwrap_err().code;
    for text in [
        "[".repeat(100_000),
        "{a: ".repeat(100_000),
        "- ".repeat(100_000),
        "? ".repeat(100_000),
        lines(0..1000, |depth| format!("{}a:", " ".repeat(depth))),
    ] {
        assert_eq!(over(text), Code::OverLimit);
    }
    let deep = |levels: usize| format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
    assert!(parse(&deep(64), 0, LIMITS).is_ok());
    assert_eq!(over(deep(65)), Code::OverLimit);
}

/// A line for each number.
fn lines(numbers: std::ops::Range<usize>, line: impl Fn(usize) -> String) -> String {
    numbers.map(line).collect::<Vec<_>>().join("\n") + "\n"
}

#[test]
fn aliases_count_as_what_they_repeat() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..10 {
        let before = format!("*a{}", level - 1);
        let all = vec![before; 9].join(", ");
        bomb = format!("{bomb}a{level}: &a{level} [{all}]\n");
    }
    assert_eq!(parse(&bomb, 0, LIMITS).unwrap_err().code, Code::OverLimit);

    let long = format!("- &a {}\n{}", "x".repeat(5000), "- *a\n".repeat(3));
    assert_eq!(parse(&long, 0, LIMITS).unwrap_err().code, Code::OverLimit);

    let nested = lines(0..40, |level| format!("- &a{} [[*a{level}]]", level + 1));
    let nested = format!("- &a0 x\n{nested}");
    assert_eq!(parse(&nested, 0, LIMITS).unwrap_err().code, Code::OverLimit);
}

#[test]
fn the_hint_for_unquoted_text_is_given() {
    let finding = |text: &str| parse(text, 0, LIMITS).unwrap_err();
    let names = |text: &str, word: &str| finding(text).help.contains(word);
    assert!(names("a: {b} is next\n", r#"`a: "{b} is next"`"#));
    assert!(names("a: {b, c} is next\n", "`{`"));
    assert!(names("a:\n  - *.ts\n", "`*`"));
    assert!(names("a: Note: this\n", "`: `"));
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in any::<String>()) {
        check_spans(&text)?;
    }

    #[test]
    fn any_mix_of_yaml_is_read_or_refused(parts in prop::collection::vec(fragment(), 0..40)) {
        check_spans(&parts.concat())?;
    }
}

pub(super) fn fragment() -> impl Strategy<Value = String> {
    let fixed = prop::sample::select(vec![
        "a",
        "b: ",
        ": ",
        ":",
        "- ",
        "? ",
        "\n",
        "\n  ",
        "\n    ",
        "\t",
        "[",
        "]",
        "{",
        "}",
        ", ",
        ",",
        "&a ",
        "*a",
        "!!str ",
        "!x ",
        "! ",
        "'",
        "\"",
        "\\",
        "|\n",
        ">-\n",
        "#",
        " # c\n",
        "---\n",
        "...\n",
        "%YAML 1.2\n",
        "%TAG ! x\n",
        "<<: ",
        "~",
        "null",
        "0x",
        "1e3",
        "\u{feff}",
        "é",
        "😀",
        "\u{85}",
        "\u{2028}",
        "\0",
    ]);
    prop_oneof![8 => fixed.prop_map(str::to_owned), 1 => "[a-z ]{1,8}"]
}

/// Reads a text, and looks up every span of the result.
fn check_spans(text: &str) -> Result<(), TestCaseError> {
    match parse(text, 0, LIMITS) {
        Err(_) => Ok(()),
        Ok(node) => check_node(text, &node),
    }
}

fn check_node(text: &str, node: &Node<'_>) -> Result<(), TestCaseError> {
    let inside =
        |span: Option<Span>| span.is_some_and(|span| text.get(span.start..span.end).is_some());
    prop_assert!(inside(node.span), "{:?} {:?}", text, node);
    match &node.kind {
        Kind::List(items) => items.iter().try_for_each(|item| check_node(text, item)),
        Kind::Map(map) => map.entries.iter().try_for_each(|entry| {
            prop_assert!(inside(entry.key_span), "{:?} {:?}", text, entry);
            check_node(text, &entry.value)
        }),
        _ => Ok(()),
    }
}
