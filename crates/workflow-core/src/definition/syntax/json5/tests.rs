//! JSON5: values by the library, locations by the tokens.

use proptest::prelude::*;

use super::*;

const LIMITS: TreeLimits = TreeLimits {
    depth: 64,
    size: 10_000,
};

/// Every value's span, read alone, is the value again.
fn check_spans(text: &str, node: &Node<'_>) -> Result<(), TestCaseError> {
    let span = node
        .span
        .ok_or_else(|| TestCaseError::fail(format!("no span in {text:?}")))?;
    let alone: Node = json5::from_str(&text[span.start..span.end])
        .map_err(|error| TestCaseError::fail(format!("{error} in {text:?}")))?;
    prop_assert!(same(&alone, node), "{:?}: {:?}", text, node);
    match &node.kind {
        Kind::List(items) => items.iter().try_for_each(|item| check_spans(text, item)),
        Kind::Map(map) => map.entries.iter().try_for_each(|entry| {
            let key = entry.key_span.map(|span| &text[span.start..span.end]);
            let alone = format!("{{{}:0}}", key.unwrap_or(""));
            let alone: Node = json5::from_str(&alone)
                .map_err(|error| TestCaseError::fail(format!("{error} in {text:?}")))?;
            let Kind::Map(alone) = alone.kind else {
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

#[test]
fn a_disagreement_of_tokens_and_values_leaves_no_spans() {
    let node = json5::from_str("{a: [1, 2]}").unwrap();
    let node: Node = located("{a: [1, 2, 3]}", node);
    let spans = |node: &Node<'_>| node.span;
    assert_eq!(spans(&node), None);
    let Kind::Map(map) = &node.kind else {
        panic!("a map")
    };
    assert_eq!(map.entries[0].key_span, None);
    assert_eq!(spans(&map.entries[0].value), None);
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
