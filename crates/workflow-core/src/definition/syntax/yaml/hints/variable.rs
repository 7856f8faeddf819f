//! A template variable in a text without quotes, which YAML reads as a map: `ask: {phaseName} done?`.

use std::sync::LazyLock;

use regex::Regex;

use super::line::{YamlLine, likely};
use crate::diagnostic::{Finding, visible};

/// The longest text that the help repeats, in characters.
const MAX_SHOWN_LENGTH: usize = 100;

/// A text that begins with a variable: the value of a key, or an item of a list.
static IN_BLOCK: LazyLock<Regex> = LazyLock::new(|| {
    let start = r"^[ -]*?(?:- |(?<key>[^ :]+: ))";
    of_variable(start, "", ".*")
});

/// A text between brackets that has a variable in it.
static IN_FLOW: LazyLock<Regex> = LazyLock::new(|| {
    let start = r"(?:^|, |[\[{])[ -]*(?<key>[^ ,:\[\]{}]+: )?";
    of_variable(
        start,
        r#"(?:[^ ,:\[\]{}"'-][^,:\[\]{}]*)?"#,
        r"(?:[^,\]}]|,[^ ])*",
    )
});

/// A text with a variable, with what comes before it, and the text around the variable.
fn of_variable(start: &str, before: &str, after: &str) -> Regex {
    let variable = r"(?<variable>\{[\w.-]+\}|\{\{[\w.-]+\}\})";
    Regex::new(&format!("{start}(?<text>{before}{variable}{after})")).expect("it is valid")
}

/// Finds the text around the error in this line and column, or the text that this line continues.
pub(super) fn hint(
    lines: &[YamlLine<'_>],
    number: usize,
    column: usize,
    in_flow: bool,
) -> Option<Finding> {
    let row = number.min(lines.len().checked_sub(1)?);
    let here = lines[row];
    let mut letters = here.text.char_indices();
    let column = letters.nth(column).map_or(here.text.len(), |(at, _)| at);
    find(&lines[row..], column, in_flow, false).or_else(|| {
        let head = lines[..row].iter().rposition(|line| !line.is_blank())?;
        let is_continued = lines[head].indent().len() < here.indent().len();
        find(&lines[head..], usize::MAX, false, true).filter(|_| is_continued)
    })
}

/// Finds a text on the first line that has a variable before the column and that YAML does not read as a text. A variable
/// alone is a valid map, unless the next line continues the text.
fn find(
    lines: &[YamlLine<'_>],
    column: usize,
    in_flow: bool,
    is_continued: bool,
) -> Option<Finding> {
    let (first, more) = lines.split_first()?;
    let line = first.text.split(" #").next()?;
    let in_block = IN_BLOCK.captures(line).filter(|_| !in_flow);
    let between = IN_FLOW.captures_iter(line).filter(|_| !is_continued);
    let texts = in_block.map(|found| (found, true)).into_iter();
    let texts = texts.chain(between.map(|found| (found, false)));
    let mut texts = texts.filter_map(|(found, may_continue)| {
        let (text, variable) = (found.name("text")?, found.name("variable")?);
        let key = found.name("key").map_or("", |key| key.as_str());
        let is_map = text.as_str().trim_end() == variable.as_str() && !is_continued;
        let is_right = !is_map && variable.start() <= column;
        is_right.then_some((key, text, variable.as_str(), may_continue))
    });
    let (key, text, variable, may_continue) = texts.next()?;
    let (start, text) = (text.start(), text.as_str().trim_end());
    let depth = first.indent().len();
    let belongs = |line: &&YamlLine<'_>| !line.is_blank() && line.indent().len() > depth;
    let more = more.iter().filter(|_| may_continue).take_while(belongs);
    let whole = more.fold(text.to_owned(), |text, line| text + " " + line.text.trim());
    let whole = quoted(&whole);
    let help = format!(
        "without quotes, YAML reads `{variable}` as a map: put the text in quotes, `{key}{whole}`"
    );
    let part = first.part(start, start + text.len());
    Some(likely(visible(&help), Some(part)))
}

/// The text in the quotes that need the fewest escapes; a long one is cut.
fn quoted(text: &str) -> String {
    let mut shown = text.to_owned();
    if text.chars().count() > MAX_SHOWN_LENGTH {
        shown = text.chars().take(MAX_SHOWN_LENGTH - 1).collect();
        shown.push('…');
    }
    if shown.contains(['"', '\\']) {
        format!("'{}'", shown.replace('\'', "''"))
    } else {
        format!("\"{shown}\"")
    }
}
