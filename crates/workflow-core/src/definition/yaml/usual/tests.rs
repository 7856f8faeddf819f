//! The usual way against the library.

use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::super::compose;
use super::super::tests::{LIMITS, fragment};
use super::*;

/// Some offset: spans count from the start of the source.
const OFFSET: usize = 3;

/// What the usual way makes of a text, if it reads it.
fn usual(text: &str, limits: TreeLimits) -> Option<Node<'_>> {
    read(text, OFFSET, limits)
}

#[test]
fn what_definitions_are_made_of_is_read() {
    for text in [
        "id: plan\nname: The plan\nemoji: \"🔧\"",
        "id: plan\nemoji: 🔧\n\n# Only to look.\ntools:\n  whitelist: [read, grep]  # and no more\n",
        "name: A\ncommandName: a\ninitialMessage: \"Begin {description}.\"\nphases:\n  - a.md\n  - { subworkflow: b }\n",
        "phases:\n- id: a\n  name: 'It is'\n",
        "tools:\n  rules:\n    - block: edit\n      path: \"src/**\"\n    - { ask: bash, command: ['rm *'] }\nloopable: false\n",
    ] {
        assert!(usual(text, LIMITS).is_some(), "{text}");
    }
}

#[test]
fn what_is_not_usual_is_left_to_the_library() {
    for text in [
        "",
        "a",
        "a:",
        "a: b: c",
        "a: b\n  c",
        "a: |\n  b",
        "a: *b",
        "a: &b c",
        "a: !!str b",
        "a: \"b\\n\"",
        "a: 'b''c'",
        "a: b\n---\nc: d",
        "a: [b\n]",
        "a: {b}",
        "a:\tb",
        "a: b\nc",
        "  a: b\n c: d",
        "- a: b",
    ] {
        assert_eq!(usual(text, LIMITS), None, "{text}");
    }
}

#[test]
fn the_limits_hold() {
    let read = |depth, size| usual("a:\n  - {b: [c]}\nd: e", TreeLimits { depth, size }).is_some();
    assert!(read(4, 9));
    assert!(!read(3, 9));
    assert!(!read(4, 8));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_definition_is_what_the_library_makes_of_it(
        map in map(),
        typo in prop::option::weighted(0.3, (any::<Index>(), typo())),
        depth in 1_usize..6,
    ) {
        let mut text = map.lines(0).join("\n");
        if let Some((at, typo)) = typo {
            let places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
            text.insert_str(*at.get(&places), &typo);
        }
        check(&text, TreeLimits { depth, size: 40 })?;
    }

    #[test]
    fn lines_are_what_the_library_makes_of_them(lines in prop::collection::vec(line(), 1..8)) {
        check(&lines.join("\n"), LIMITS)?;
    }

    #[test]
    fn any_mix_is_what_the_library_makes_of_it(parts in prop::collection::vec(fragment(), 0..20)) {
        check(&parts.concat(), LIMITS)?;
    }
}

fn check(text: &str, limits: TreeLimits) -> Result<(), TestCaseError> {
    if let Some(node) = usual(text, limits) {
        prop_assert_eq!(Ok(node), compose(text, OFFSET, limits), "{:?}", text);
    }
    Ok(())
}

/// A value as it may be written.
#[derive(Debug, Clone)]
enum Written {
    /// In the line of its key or dash.
    InLine(&'static str),
    /// Keys and values, and how much further in than its surroundings they stand.
    Map(Vec<(&'static str, Written, &'static str)>, usize),
    /// Items, how much further in, and what is between a dash and its item.
    List(Vec<(Written, &'static str)>, usize, usize),
}

impl Written {
    /// Its lines, where what is around it stands in this column. The first one is for the line above if that is possible.
    fn lines(&self, column: usize) -> Vec<String> {
        match self {
            Self::InLine(value) => vec![format!(" {value}")],
            Self::Map(entries, further) => {
                let indent = " ".repeat(column + further);
                let lines = entries.iter().flat_map(|(key, value, tail)| {
                    let mut lines = value.lines(column + further);
                    match value {
                        Self::InLine(_) => lines[0] = format!("{indent}{key}:{}{tail}", lines[0]),
                        _ => lines.insert(0, format!("{indent}{key}:{tail}")),
                    }
                    lines
                });
                lines.collect()
            }
            Self::List(items, further, gap) => {
                let indent = " ".repeat(column + further);
                let lines = items.iter().flat_map(|(item, tail)| {
                    let inside = column + further + 1 + gap;
                    let mut lines = match item {
                        // Its first line follows the dash.
                        Self::Map(entries, _) => Self::Map(entries.clone(), 0).lines(inside),
                        _ => item.lines(inside),
                    };
                    lines[0] = format!(
                        "{indent}-{}{}{tail}",
                        " ".repeat(*gap),
                        lines[0].trim_start()
                    );
                    lines
                });
                lines.collect()
            }
        }
    }
}

fn map() -> impl Strategy<Value = Written> {
    let in_line = || select(values()).prop_map(Written::InLine);
    let value = in_line().prop_recursive(3, 12, 3, move |value| {
        let items = prop::collection::vec((value.clone(), tail()), 1..3);
        let list = (items, 0_usize..4, 1_usize..3);
        prop_oneof![
            3 => in_line(),
            1 => map_of(value),
            1 => list.prop_map(|(items, further, gap)| Written::List(items, further, gap)),
        ]
    });
    map_of(value)
}

fn map_of(value: impl Strategy<Value = Written>) -> impl Strategy<Value = Written> {
    let key = select(vec!["a", "b", "c", "key-1", "key_2", "null", "y"]);
    let entries = prop::collection::vec((key, value, tail()), 1..4);
    (entries, 0_usize..4).prop_map(|(entries, further)| Written::Map(entries, further))
}

fn typo() -> impl Strategy<Value = String> {
    prop_oneof![2 => fragment(), 1 => any::<char>().prop_map(String::from)]
}

/// What may stand behind a value, or in the lines below it.
fn tail() -> impl Strategy<Value = &'static str> {
    select(vec![
        "",
        "",
        "",
        "",
        "",
        " ",
        "  # c",
        "\n",
        "\n# c",
        "\n   # c\n",
        " # c\n\n  ",
    ])
}

/// A line as definitions have them, and some that are nearly so.
fn line() -> impl Strategy<Value = String> {
    let indent = select(vec!["", "", "", "  ", "  ", "    ", " ", "      "]);
    let dash = select(vec!["", "", "", "- ", "- ", "-  ", "- - ", "-"]);
    let keys = "a: ¦b: ¦key-1: ¦c:  ¦a:¦¦¦\"a\": ¦1: ¦null: ¦é: ¦a b: ¦? ";
    let key = select(keys.split('¦').collect::<Vec<_>>());
    let tail = select(vec!["", "", "", "", " ", "  # c", " #", "\t"]);
    (indent, dash, key, select(values()), tail)
        .prop_map(|(indent, dash, key, value, tail)| [indent, dash, key, value, tail].concat())
}

/// Values, most of them usual.
fn values() -> Vec<&'static str> {
    const USUAL: &str = "one¦two words¦a.md¦a/b¦12¦0x1F¦012¦1e3¦true¦null¦Null¦\"quoted {x}\"¦'single'¦\"\"¦''¦[]¦[ ]¦[a]¦[a, b]¦[a,b]\
        ¦[ a , 'b: c' ]¦[a, ]¦[[a], {b: c}]¦{}¦{a: b}¦{ a: b, c: [d] }¦{a: b,}¦a:b¦a#b¦a #b¦é¦🔧¦$a¦http://a/b¦a?¦a - b¦a \"b\"";
    const OTHER: &str = "¦./a¦-3¦.5¦~¦'it''s'¦\"a\\tb\"¦\"open¦[a b]¦[a: b]¦{a:b}¦{a}¦{a: }¦[12, true, *.ts]¦[a¦a: b¦a :b¦#b\
        ¦a # b: c¦[a]#b¦\"a\" b¦\"a\"#b¦a\u{a0}¦a\u{85}b¦\u{feff}¦---¦...¦--- a¦|¦>-¦| # c¦&a b¦*a¦!x y¦@a¦`a`¦%a¦a, b¦a]¦]¦}¦,\
        ¦a\tb¦? a¦-¦*¦a\\b";
    let usual = USUAL.split('¦').cycle().take(4 * 60);
    usual.chain(OTHER.split('¦')).collect()
}
