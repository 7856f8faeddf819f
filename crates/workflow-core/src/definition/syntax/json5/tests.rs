//! JSON5: values by the library, locations by the tokens.

use std::fmt;

use proptest::prelude::*;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};

use super::*;

const LIMITS: TreeLimits = TreeLimits {
    depth: 64,
    size: 10_000,
};

/// A value as the library alone reads it, without locations.
struct Library(Node<'static>);

impl<'de> Deserialize<'de> for Library {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let kind = deserializer.deserialize_any(KindVisitor)?;
        Ok(Self(Node { kind, span: None }))
    }
}

struct KindVisitor;

#[expect(
    clippy::cast_precision_loss,
    reason = "a number is what JavaScript makes of it"
)]
impl<'de> Visitor<'de> for KindVisitor {
    type Value = Kind<'static>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Kind::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(Kind::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Kind::Number(value as f64))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok(Kind::Number(value as f64))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
        Ok(Kind::Number(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Self::Value, E> {
        Ok(Kind::Text(Cow::Owned(value.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element::<Library>()? {
            items.push(item.0);
        }
        Ok(Kind::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::new();
        while let Some((key, value)) = map.next_entry::<String, Library>()? {
            entries.push(Entry {
                key: Cow::Owned(key),
                key_span: None,
                value: value.0,
            });
        }
        Ok(Kind::Map(Map { entries }))
    }
}

/// Every value's span, read alone, is the value again.
fn check_spans(text: &str, node: &Node<'_>) -> Result<(), TestCaseError> {
    let span = node
        .span
        .ok_or_else(|| TestCaseError::fail(format!("no span in {text:?}")))?;
    let alone: Library = json5::from_str(&text[span.start..span.end])
        .map_err(|error| TestCaseError::fail(format!("{error} in {text:?}")))?;
    prop_assert!(same(&alone.0, node), "{:?}: {:?}", text, node);
    match &node.kind {
        Kind::List(items) => items.iter().try_for_each(|item| check_spans(text, item)),
        Kind::Map(map) => map.entries.iter().try_for_each(|entry| {
            let key = entry.key_span.map(|span| &text[span.start..span.end]);
            let alone = format!("{{{}:0}}", key.unwrap_or(""));
            let alone: Library = json5::from_str(&alone)
                .map_err(|error| TestCaseError::fail(format!("{error} in {text:?}")))?;
            let Kind::Map(alone) = alone.0.kind else {
                return Err(TestCaseError::fail("a map stays a map"));
            };
            prop_assert_eq!(&alone.entries[0].key, &entry.key);
            check_spans(text, &entry.value)
        }),
        _ => Ok(()),
    }
}

/// Equal except for spans; NaN equals NaN.
fn same(a: &Node<'_>, b: &Node<'_>) -> bool {
    match (&a.kind, &b.kind) {
        (Kind::Number(a), Kind::Number(b)) => a.total_cmp(b).is_eq(),
        (Kind::List(a), Kind::List(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Kind::Map(a), Kind::Map(b)) => {
            a.entries.len() == b.entries.len()
                && a.entries
                    .iter()
                    .zip(&b.entries)
                    .all(|(a, b)| a.key == b.key && same(&a.value, &b.value))
        }
        (a, b) => a == b,
    }
}

#[test]
fn spans_cover_what_is_written() {
    let text =
        "// c\n{ a: 'x{\\'', /* , */ \"b\" : [ 1, +.5e1, ], c: {}, 'd':null, é: -Infinity, }\n";
    let node = parse(text, LIMITS).unwrap();
    check_spans(text, &node).unwrap();
    assert_eq!(node.span, Some(Span::new(5, text.len() - 1)));
}

#[test]
fn nesting_ends_at_the_limit_before_the_library_sees_it() {
    for open in ["[", "{a:", "[[/*]*/", "['\\']',"] {
        let error = parse(&open.repeat(100_000), LIMITS).unwrap_err();
        assert_eq!(error.code, Code::OverLimit, "{open}");
    }
    let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    assert!(parse(&deep(64), LIMITS).is_ok());
    assert_eq!(parse(&deep(65), LIMITS).unwrap_err().code, Code::OverLimit);
    assert_eq!(
        parse(&"1,".repeat(20_000), LIMITS).unwrap_err().code,
        Code::OverLimit
    );
}

#[test]
fn brackets_in_strings_and_comments_do_not_count() {
    let text = format!("['{0}', /*{0}*/ \"{0}\", //{0}\n]", "[".repeat(1000));
    assert!(parse(&text, LIMITS).is_ok());
}

#[test]
fn a_syntax_error_has_the_location_of_the_library() {
    let at = |text: &str| parse(text, LIMITS).unwrap_err();
    let error = |start: usize, message: &str| {
        Finding::error(Code::Syntax, Some(Span::new(start, start + 1)), message)
    };
    assert_eq!(
        at("{a: 1\n b: 2}"),
        error(7, "not valid JSON5: expected comma")
    );
    assert_eq!(at("{é: @}"), error(5, "not valid JSON5: expected value"));
    assert_eq!(at("{a: "), error(3, "not valid JSON5: EOF parsing value"));
    assert_eq!(
        at("'\u{2028}' x"),
        error(6, "not valid JSON5: trailing characters")
    );
}

#[test]
fn every_duplicate_key_is_found() {
    let mut node = parse("{a: 1, 'a': 2, \"\\u0061\": 3}", LIMITS).unwrap();
    let mut dropped = Vec::new();
    node.drop_duplicates(&mut dropped);
    assert_eq!(dropped.len(), 2);
}

/// White space and comments.
fn blank() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "", " ", "\n", "\u{a0}", "/* ] */", "// }\n", "\u{feff}", "/***/",
    ])
}

fn scalar() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "null",
        "true",
        "false",
        "0",
        "-1",
        "+1.",
        ".5",
        "0x1F",
        "1e3",
        "NaN",
        "-Infinity",
        "''",
        "'a'",
        "\"]\"",
        "'\\''",
        "'\\\n'",
        "\"//\"",
        "'\\u00e9😀'",
        "\"\\\\\"",
    ])
}

fn key() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "a", "$b", "_", "'c'", "\"d:\"", "\\u0065f", "é", "null", "Infinity",
    ])
}

fn value() -> impl Strategy<Value = String> {
    let scalar = (blank(), scalar(), blank()).prop_map(|(a, b, c)| format!("{a}{b}{c}"));
    scalar.prop_recursive(4, 40, 5, |inner| {
        let tail = prop::sample::select(vec!["", ",", ", /*,*/"]);
        let items = prop::collection::vec(inner.clone(), 1..5);
        let entry = (blank(), key(), blank(), inner)
            .prop_map(|(before, key, after, value)| format!("{before}{key}{after}:{value}"));
        let entries = prop::collection::vec(entry, 1..5);
        prop_oneof![
            (items, tail.clone()).prop_map(|(items, tail)| format!("[{}{tail}]", items.join(","))),
            (entries, tail).prop_map(|(entries, tail)| format!("{{{}{tail}}}", entries.join(","))),
            blank().prop_map(|blank| format!("[{blank}]")),
            blank().prop_map(|blank| format!("{{{blank}}}")),
        ]
    })
}

proptest! {
    #[test]
    fn every_span_read_alone_is_the_value(text in value()) {
        let node = parse(&text, LIMITS).map_err(|error| TestCaseError::fail(format!("{error:?}")))?;
        check_spans(&text, &node)?;
    }

    #[test]
    fn any_mix_of_json5_is_read_with_spans_or_refused(
        parts in prop::collection::vec(prop_oneof![
            scalar(), key(), blank(),
            prop::sample::select(vec!["{", "}", "[", "]", ",", ":", "'", "\"", "/", "\\", "//", "/*", "*/"]),
        ], 0..30),
    ) {
        let text = parts.concat();
        if let Ok(node) = parse(&text, LIMITS) {
            check_spans(&text, &node)?;
        }
    }

    #[test]
    fn any_text_is_read_with_spans_or_refused(text in any::<String>()) {
        if let Ok(node) = parse(&text, LIMITS) {
            check_spans(&text, &node)?;
        }
    }
}
