//! The modules of tests in a source file of Rust: `#[cfg(test)] mod tests { … }`.

use std::ops::Range;
use std::str::FromStr;

use proc_macro2::{Spacing, TokenStream, TokenTree};

/// Returns a source file of the base with the test modules of the file as it is now; `None` if there is none, or they are
/// the same.
pub(super) fn carried(base: &str, now: &str) -> Option<String> {
    let cut = |text: &str, ranges: &[Range<usize>]| -> Option<Vec<String>> {
        ranges
            .iter()
            .map(|range| Some(text.get(range.clone())?.to_owned()))
            .collect()
    };
    let (of_base, of_now) = (modules(base)?, modules(now)?);
    let (before, after) = (cut(base, &of_base)?, cut(now, &of_now)?);
    if after.is_empty() || before == after {
        return None;
    }
    let mut text = base.to_owned();
    for range in of_base.into_iter().rev() {
        text.replace_range(range, "");
    }
    Some(format!("{text}\n{}\n", after.join("\n")))
}

/// Returns true if a file has a module of tests.
pub(super) fn has_one(text: &str) -> bool {
    modules(text).is_some_and(|modules| !modules.is_empty())
}

/// Finds the modules; `None` if the text is no Rust.
fn modules(text: &str) -> Option<Vec<Range<usize>>> {
    let tokens: Vec<TokenTree> = TokenStream::from_str(text).ok()?.into_iter().collect();
    let mut found = Vec::new();
    let mut start = None;
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Punct(sign) if sign.as_char() == '#' && sign.spacing() == Spacing::Alone => {
                let attribute = tokens
                    .get(at + 1)
                    .map(ToString::to_string)
                    .unwrap_or_default();
                let attribute: String = attribute.split_whitespace().collect();
                if attribute == "[cfg(test)]" {
                    start = start.or(Some((token.span().byte_range().start, at)));
                }
            }
            TokenTree::Punct(sign) if sign.as_char() == ';' => {
                end(&mut found, &mut start, &tokens, at);
            }
            TokenTree::Group(group) if group.delimiter() == proc_macro2::Delimiter::Brace => {
                end(&mut found, &mut start, &tokens, at);
            }
            _ => {}
        }
    }
    Some(found)
}

/// Ends the item that began with an attribute, and notes it if it is a module.
fn end(
    found: &mut Vec<Range<usize>>,
    start: &mut Option<(usize, usize)>,
    tokens: &[TokenTree],
    at: usize,
) {
    if let Some((from, first)) = start.take() {
        let is_mod = |token: &TokenTree| matches!(token, TokenTree::Ident(word) if *word == "mod");
        if tokens[first..at].iter().any(is_mod) {
            found.push(from..tokens[at].span().byte_range().end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "fn a() -> &'static str { \"#[cfg(test)] mod x {\" }\n\n#[cfg(test)]\nmod tests {\n    fn old() {}\n}\n";

    #[test]
    fn the_module_of_tests_replaces_that_of_the_base() {
        let now = BASE.replace("fn a()", "fn b()").replace("old", "new");
        let text = carried(BASE, &now).unwrap();
        assert!(
            text.contains("fn a()") && !text.contains("fn b()"),
            "{text}"
        );
        assert!(
            text.contains("fn new()") && !text.contains("fn old()"),
            "{text}"
        );
        assert_eq!(text.matches("mod tests").count(), 1);
    }

    #[test]
    fn a_new_module_is_added_and_an_equal_one_is_not_carried() {
        let base = "fn a() {}\n";
        let now =
            "fn a() { b() }\n#[cfg(test)]\n#[allow(unused)]\npub(crate) mod tests { /* } */ }\n";
        let text = carried(base, now).unwrap();
        assert!(text.starts_with(base) && text.contains("/* } */"), "{text}");
        assert_eq!(carried(BASE, BASE), None);
        assert_eq!(carried(BASE, &BASE.replace("fn a()", "fn b()")), None);
        assert_eq!(carried(base, "fn a() { b() }"), None);
        assert_eq!(carried(base, "fn a( {"), None);
    }

    #[test]
    fn only_modules_for_tests_count() {
        assert!(has_one("#[cfg(test)] mod tests;"));
        for text in [
            "mod tests {}",
            "#[cfg(test)] use a::b;",
            "#[cfg(test)] fn f() {} mod a {}",
            "#[cfg(unix)] mod a {}",
        ] {
            assert!(!has_one(text), "{text}");
        }
    }
}
