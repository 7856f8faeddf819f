//! A template variable in a text without quotes, which YAML reads as a map: `ask: {phaseName} done?`.

use std::ops::Range;

use super::line::{YamlLine, likely};
use crate::diagnostic::Finding;

/// The longest text that the help repeats, in characters.
const MAX_SHOWN_LENGTH: usize = 100;

/// Finds the text around the error in this line and column, or the text that this line continues.
pub(super) fn hint(
    lines: &[YamlLine<'_>],
    number: usize,
    column: usize,
    in_flow: bool,
) -> Option<Finding> {
    let row = number.min(lines.len().checked_sub(1)?);
    let here = lines[row];
    let column = here
        .text
        .char_indices()
        .nth(column)
        .map_or(here.text.len(), |(at, _)| at);
    find(&lines[row..], column, in_flow, false).or_else(|| {
        let head = lines[..row].iter().rposition(|line| !line.is_blank())?;
        let is_continued = lines[head].indent().len() < here.indent().len();
        find(&lines[head..], usize::MAX, false, true).filter(|_| is_continued)
    })
}

/// The finding about a text on the first line and those that continue it, with the corrected text. `key` is the key and the
/// colon, if there is one.
fn unquoted(lines: &[YamlLine<'_>], key: &str, variable: &str, value: Range<usize>) -> Finding {
    let mut text = lines[0].text[value.clone()].to_owned();
    for more in &lines[1..] {
        text.push(' ');
        text.push_str(more.text.trim());
    }
    let text = quoted(&text);
    let help = format!(
        "without quotes, YAML reads `{variable}` as a map: put the text in quotes, `{key}{text}`"
    );
    likely(help, Some(lines[0].part(value.start, value.end)))
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

/// Finds a text on the first line that has a variable before the column and that YAML does not read as a text. A variable
/// alone is a valid map, unless the next line continues the text.
fn find(
    lines: &[YamlLine<'_>],
    column: usize,
    in_flow: bool,
    is_continued: bool,
) -> Option<Finding> {
    let line = lines[0].text;
    let line = line.find(" #").map_or(line, |comment| &line[..comment]);
    let starts = line.match_indices('{').map(|(at, _)| at);
    let mut variables = starts.filter_map(|at| Some(at..at + variable(&line[at..])?));
    variables.find_map(|variable| {
        let before = &line[..variable.start];
        let count = |signs: [char; 2]| before.matches(signs).count();
        let in_flow = in_flow || count(['{', '[']) > count(['}', ']']);
        let separators = [", ", "[", "{"].iter();
        let ends = separators.filter_map(|sign| Some(before.rfind(sign)? + sign.len()));
        let separator = ends.max().filter(|_| in_flow).unwrap_or(0);
        let entry = &before[separator..];
        let trimmed = entry.trim_start_matches([' ', '-']);
        let entry = separator + entry.len() - trimmed.len();
        let value = entry + trimmed.find(": ").map_or(0, |colon| colon + ": ".len());
        let rest = &line[variable.end..];
        let signs = rest.char_indices().filter(|_| in_flow);
        let mut ends = signs.filter(|&(at, sign)| match sign {
            '}' | ']' => true,
            ',' => rest[at + 1..].is_empty() || rest[at + 1..].starts_with(' '),
            _ => false,
        });
        let end = ends.next().map_or(line.len(), |(at, _)| variable.end + at);
        let text = line[value..end].trim_end();
        let is_not_text = in_flow || text.starts_with('{') || text.contains(": ");
        // A line of a longer text has no key.
        let is_entry = in_flow || value > entry || before[..entry].ends_with("- ");
        let is_map = text.len() == variable.len() && !is_continued;
        let is_quoted = text.starts_with(['"', '\'']);
        let is_right = is_not_text && is_entry && !is_map && !is_quoted && variable.start <= column;
        let is_right = is_right && !(in_flow && is_continued);
        let depth = lines[0].indent().len();
        let belongs = |line: &&YamlLine<'_>| !line.is_blank() && line.indent().len() > depth;
        let more = lines[1..].iter().filter(|_| !in_flow).take_while(belongs);
        let lines = &lines[..=more.count()];
        let (key, variable) = (&line[entry..value], &line[variable]);
        is_right.then(|| unquoted(lines, key, variable, value..value + text.len()))
    })
}

/// The length of `{name}` or `{{name}}` at the start of a text.
fn variable(text: &str) -> Option<usize> {
    let inner = text.strip_prefix('{')?;
    if let Some(length) = inner.starts_with('{').then(|| variable(inner)).flatten() {
        return inner[length..].starts_with('}').then_some(length + 2);
    }
    let name = inner
        .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-')))
        .filter(|length| *length > 0 && inner[*length..].starts_with('}'))?;
    Some(name + 2)
}
