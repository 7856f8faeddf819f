//! The modules of tests in a source file of Rust: `#[cfg(test)] mod tests { … }`.

use std::str::FromStr;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// Returns a source file of the base with the test modules of the file as it is now; `None` if there is none, or they are
/// the same.
pub(super) fn carried(base: &str, now: &str) -> Option<String> {
    let (before, after) = (modules(base)?, modules(now)?);
    if after.is_empty() || before == after {
        return None;
    }
    let remove = |text: String, module: &&str| text.replacen(module, "", 1);
    let rest = before.iter().fold(base.to_owned(), remove);
    Some(format!("{rest}\n{}\n", after.join("\n")))
}

/// Returns the test modules of a new file as a module with its name; `None` if it has none.
pub(super) fn alone(name: &str, text: &str) -> Option<String> {
    let modules = modules(text).filter(|modules| !modules.is_empty())?;
    let name = name.replace('-', "_");
    Some(format!(
        "#[cfg(test)]\nmod {name} {{\n{}\n}}\n",
        modules.join("\n")
    ))
}

/// Finds the modules; `None` if the text is no Rust.
fn modules(text: &str) -> Option<Vec<&str>> {
    let tokens: Vec<TokenTree> = TokenStream::from_str(text).ok()?.into_iter().collect();
    let items = tokens.split_inclusive(|token| match token {
        TokenTree::Punct(sign) => sign.as_char() == ';',
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        _ => false,
    });
    let modules = items.filter_map(|item| {
        let start = item.windows(2).position(is_cfg_test)?;
        let item = item.get(start..)?;
        let is_mod = |token: &TokenTree| matches!(token, TokenTree::Ident(word) if *word == "mod");
        let from = item.first()?.span().byte_range().start;
        let to = item.last()?.span().byte_range().end;
        item.iter().any(is_mod).then(|| text.get(from..to))?
    });
    Some(modules.collect())
}

fn is_cfg_test(tokens: &[TokenTree]) -> bool {
    let text: String = tokens.iter().map(ToString::to_string).collect();
    text.split_whitespace().collect::<String>() == "#[cfg(test)]"
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
    fn the_modules_of_a_new_file_stand_in_a_module_with_its_name() {
        let text = alone("my-tool", BASE).unwrap();
        assert!(text.starts_with("#[cfg(test)]\nmod my_tool {"), "{text}");
        assert!(
            text.contains("fn old()") && !text.contains("fn a()"),
            "{text}"
        );
    }

    #[test]
    fn only_modules_for_tests_count() {
        assert!(alone("a", "#[cfg(test)] mod tests;").is_some());
        for text in [
            "mod tests {}",
            "#[cfg(test)] use a::b;",
            "#[cfg(test)] fn f() {} mod a {}",
            "#[cfg(unix)] mod a {}",
        ] {
            assert_eq!(alone("a", text), None, "{text}");
        }
    }
}
