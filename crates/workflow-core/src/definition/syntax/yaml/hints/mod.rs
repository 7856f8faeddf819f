//! The likely mistakes that keep a text from being YAML, where its lines show them.
//!
//! A parser stops where it cannot continue, which is often a line or two behind the mistake. Owns the guesses; a
//! guess names the location it is about.

mod line;
mod variable;

use std::sync::LazyLock;

use line::{YamlLine, likely};
use regex::Regex;

use super::super::TYPOGRAPHIC_QUOTES;
use crate::diagnostic::Finding;

/// The most common cause of an error in this line and column, counted from 0. `in_flow`: the parser was between brackets.
pub(super) fn hint(text: &str, number: usize, column: usize, in_flow: bool) -> Option<Finding> {
    let mut start = 0;
    let lines: Vec<YamlLine<'_>> = text
        .split_inclusive('\n')
        .map(|text| {
            let line = YamlLine {
                start,
                text: text.trim_end_matches('\n'),
            };
            start += text.len();
            line
        })
        .collect();
    let here = *lines.get(number).or(lines.last())?;
    let before = lines.get(..number).unwrap_or(&lines);
    let around = before.len().saturating_sub(1)..lines.len().min(number + 2);
    tab(&lines[around])
        .or_else(|| typographic(here))
        .or_else(|| variable::hint(&lines, number, column, in_flow))
        .or_else(|| no_space_after_colon(before))
        .or_else(|| block_without_indent(before, here))
        .or_else(|| quotes(here, in_flow))
        .or_else(|| uneven(before, here, column))
}

/// A tab in the indentation, here or in the lines around.
fn tab(around: &[YamlLine<'_>]) -> Option<Finding> {
    around.iter().find_map(|line| {
        let at = line.indent().find('\t')?;
        let help = "indent with spaces: this is a tab";
        Some(likely(help, Some(line.part(at, at + 1))).fix("\t", "  "))
    })
}

/// A text in typographic quotes, which to YAML has none.
fn typographic(here: YamlLine<'_>) -> Option<Finding> {
    let (_, value) = here.text.split_once(": ")?;
    let quote = value.trim_start().chars().next()?;
    let help = format!("`{quote}` is a typographic quote, which is part of the text: write `\"`");
    let is_typographic = TYPOGRAPHIC_QUOTES.contains(&quote);
    is_typographic.then(|| likely(help, None))
}

/// A key, and a colon that no space follows.
static WITHOUT_SPACE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^\s*(?:- )*[A-Za-z][A-Za-z0-9_]*(:)[^ /:]").expect("it is valid")
});

/// `name:Fix` in the last lines that say something.
fn no_space_after_colon(before: &[YamlLine<'_>]) -> Option<Finding> {
    let mut said = before.iter().rev().filter(|line| !line.is_blank());
    said.by_ref().take(2).find_map(|line| {
        let colon = WITHOUT_SPACE.captures(line.text)?.get(1)?;
        let help = "put a space after the colon";
        Some(likely(help, Some(line.part(colon.start(), colon.end()))).fix(":", ": "))
    })
}

/// Text that belongs below `key: |` and is not indented further than the key.
fn block_without_indent(before: &[YamlLine<'_>], here: YamlLine<'_>) -> Option<Finding> {
    let head = before.iter().rev().find(|line| !line.is_blank())?;
    let opens = ["|", "|-", "|+", ">", ">-", ">+"].iter().any(|mark| {
        let rest = head.text.trim_end().strip_suffix(mark);
        rest.is_some_and(|rest| rest.ends_with(": "))
    });
    let is_outside = here.indent().len() <= head.indent().len();
    (opens && is_outside).then(|| likely("indent the text that belongs to the key above", None))
}

/// A text that needs quotes.
fn quotes(here: YamlLine<'_>, in_flow: bool) -> Option<Finding> {
    let value = here.text.split_once(": ");
    let value = value.map_or(here.text, |(_, value)| value).trim_start();
    let help = match value.trim_start_matches("- ").chars().next()? {
        // Between brackets the same characters may be those of a map.
        _ if in_flow && value.contains(": ") => {
            "separate entries with `, `, and put a text that contains `: ` in quotes"
        }
        '{' if !value.contains(": ") => "put a text that starts with `{` in quotes",
        '{' => return None,
        '*' => "put a text that starts with `*` in quotes",
        '`' | '@' | '%' => "put a text that starts with this character in quotes",
        _ if value.contains(": ") => "put a text that contains `: ` in quotes",
        _ => return None,
    };
    Some(likely(help, None))
}

/// A line with an indentation that no line before it has.
fn uneven(before: &[YamlLine<'_>], here: YamlLine<'_>, column: usize) -> Option<Finding> {
    let mut said = before.iter().filter(|line| !line.is_blank()).peekable();
    said.peek()?;
    let depth = here.indent().len();
    let is_known = said.any(|line| line.indent().len() == depth);
    (!here.is_blank() && !is_known && column == depth)
        .then(|| likely("indent this line like the lines it belongs to", None))
}
