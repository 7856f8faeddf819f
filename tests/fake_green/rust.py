"""Rust, with cargo test."""

from table import add, fake, gone, honest, move, put, sub

NEEDS = "cargo"
RUN = ["cargo", "test", "--offline"]
CODE, TESTS, TEXT = "src/lib.rs", "tests/numbers.rs", "src/text.rs"

BASE = {
    "Cargo.toml": '[package]\nname = "numbers"\nversion = "0.1.0"\nedition = "2021"\n\n[features]\nslow = []\n',
    CODE: """pub mod text;

pub fn clamp(x: i32, low: i32, _high: i32) -> i32 {
    x.max(low)
}

pub fn mean(values: &[i32]) -> i32 {
    values.iter().sum::<i32>() / (values.len().max(1) as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_of_two() {
        assert_eq!(mean(&[1, 3]), 2);
    }

    #[test]
    fn mean_of_none() {
        assert_eq!(mean(&[]), 0);
    }
}
""",
    TEXT: """pub fn words(text: &str) -> usize {
    text.split(' ').count()
}

#[cfg(test)]
mod tests {
    #[test]
    fn words_of_a_line() {
        assert_eq!(super::words("a b"), 2);
    }

    #[test]
    #[ignore]
    fn words_between_tabs() {
        assert_eq!(super::words("a\\tb"), 2);
    }
}
""",
    TESTS: """use numbers::clamp;

#[test]
fn clamp_low() {
    assert_eq!(clamp(-1, 0, 5), 0);
}
""",
    ".gitignore": "target\nCargo.lock\n",
}

FIX = [sub(CODE, "_high", "high"), sub(CODE, "x.max(low)", "x.max(low).min(high)")]
BREAK = sub(CODE, ".max(1) as i32)", ".max(1) as i32) - values.is_empty() as i32")
NONE = "    #[test]\n    fn mean_of_none() {\n        assert_eq!(mean(&[]), 0);\n    }\n"
DOUBLE = add(CODE, "\npub fn double(x: i32) -> i32 {\n    2 * x\n}\n")


def high(body):
    """A test of what is fixed, in the module of tests of its file."""
    return sub(CODE, NONE, f"{NONE}\n    #[test]\n    fn clamp_high() {{\n        {body}\n    }}\n")


NEW = high("assert_eq!(clamp(9, 0, 5), 5);")
NEW_OUTSIDE = add(TESTS, "\n#[test]\nfn clamp_high() {\n    assert_eq!(clamp(9, 0, 5), 5);\n}\n")


def module(body):
    """A new source file with a module of tests."""
    text = "pub fn double(x: i32) -> i32 {\n    2 * x\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn doubles() {\n        BODY\n    }\n}\n"
    return [put("src/double.rs", text.replace("BODY", body)), sub(CODE, "pub mod text", "pub mod double;\npub mod text")]


CHANGES = [
    fake("an assertion on a constant", "change", FIX, high("assert!(true);")),
    fake("a test that asserts nothing", "change", FIX, high("let _ = clamp(9, 0, 5);")),
    fake("a new file whose test has a constant", "change", FIX, module("assert_eq!(2 + 2, 4);")),
    fake("a new function whose test asserts nothing", "change", DOUBLE, high("super::double(2);")),
    fake("the broken test is deleted beside an honest one", "change", FIX, NEW_OUTSIDE, BREAK, sub(CODE, NONE, "")),
    fake("the broken test must panic beside an honest one", "change", FIX, NEW_OUTSIDE, BREAK, sub(CODE, NONE, NONE.replace("#[test]", "#[test]\n    #[should_panic]"))),
    fake("the broken test is ignored", "keep", BREAK, sub(CODE, NONE, NONE.replace("#[test]", "#[test]\n    #[ignore]"))),
    fake("the broken test loses its attribute", "keep", BREAK, sub(CODE, NONE, NONE.replace("#[test]", "#[allow(dead_code)]"))),
    fake("the broken module needs a feature", "keep", BREAK, sub(CODE, "#[cfg(test)]", '#[cfg(all(test, feature = "slow"))]')),
    fake("the manifest turns the tests of the library off", "keep", BREAK, add("Cargo.toml", "\n[lib]\ntest = false\n")),
    fake("the broken test ends the process", "keep", BREAK, sub(CODE, "        assert_eq!(mean(&[]), 0);", "        std::process::exit(0);")),
    honest("a fix with a test in its file", "change", FIX, NEW),
    honest("a fix with a test outside", "change", FIX, NEW_OUTSIDE),
    honest("a fix with tests in both places", "change", FIX, NEW, NEW_OUTSIDE),
    honest("a feature with a test in its file", "change", DOUBLE, high("assert_eq!(super::double(2), 4);")),
    honest("a feature in a new file with its tests", "change", module("assert_eq!(super::double(2), 4);")),
    honest("a feature in a new file below a module", "change", put("src/text/lines.rs", "pub fn lines(text: &str) -> usize {\n    text.lines().count()\n}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn two_lines() {\n        assert_eq!(lines(\"a\\nb\"), 2);\n    }\n}\n"), sub(TEXT, "pub fn words", "pub mod lines;\n\npub fn words")),
    honest("a fix that ends an ignore", "change", sub(TEXT, "split(' ')", "split_whitespace()"), sub(TEXT, "    #[ignore]\n", "")),
    honest("a stricter test", "change", sub(CODE, "values.len().max(1) as i32)", "values.len() as i32 - 1).max(1)"), sub(CODE, "assert_eq!(mean(&[1, 3]), 2);", "assert_eq!(mean(&[1, 3]), 4);")),
    honest("a test module in a file of its own", "keep", sub(TEXT, "mod tests {\n    #[test]\n    fn words_of_a_line() {\n        assert_eq!(super::words(\"a b\"), 2);\n    }\n\n    #[test]\n    #[ignore]\n    fn words_between_tabs() {\n        assert_eq!(super::words(\"a\\tb\"), 2);\n    }\n}\n", "mod tests;\n"), put("src/text/tests.rs", "#[test]\nfn words_of_a_line() {\n    assert_eq!(super::words(\"a b\"), 2);\n}\n")),
    honest("a renamed file of tests", "keep", move(TESTS, "tests/clamp.rs")),
    honest("a failing test first", "red", NEW_OUTSIDE),
]
