//! A template variable in a text without quotes, which YAML reads as a map: `ask: {phaseName} done?`.

use std::ops::Range;

use super::line::{YamlLine, likely};
use crate::diagnostic::Finding;

/// The longest text that the help repeats, in characters.
const MAX_SHOWN_LENGTH: usize = 100;

/// A text without quotes on one line, as ranges of bytes.
struct UnquotedText {
    /// The key and the colon, if there is one.
    key: Range<usize>,
    value: Range<usize>,
    variable: Range<usize>,
    in_flow: bool,
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
    let column = here
        .text
        .char_indices()
        .nth(column)
        .map_or(here.text.len(), |(at, _)| at);
    if let Some(found) = find(here.text, column, in_flow, false) {
        return Some(describe(lines, row, &found));
    }
    let head = lines[..row].iter().rposition(|line| !line.is_blank())?;
    if lines[head].indent().len() >= here.indent().len() {
        return None;
    }
    let found = find(lines[head].text, lines[head].text.len(), false, true)?;
    (!found.in_flow).then(|| describe(lines, head, &found))
}

/// The help, with the corrected text.
fn describe(lines: &[YamlLine<'_>], row: usize, found: &UnquotedText) -> Finding {
    let line = lines[row];
    let mut text = line.text[found.value.clone()].to_owned();
    if !found.in_flow {
        let depth = line.indent().len();
        let more = lines[row + 1..].iter();
        for more in more.take_while(|line| !line.is_blank() && line.indent().len() > depth) {
            text.push(' ');
            text.push_str(more.text.trim());
        }
    }
    let key = &line.text[found.key.clone()];
    let variable = &line.text[found.variable.clone()];
    let text = quoted(&text);
    let help = format!(
        "without quotes, YAML reads `{variable}` as a map: put the text in quotes, `{key}{text}`"
    );
    likely(help, Some(line.part(found.value.start, found.value.end)))
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

/// Finds a text on a line that has a variable before the column and that YAML does not read as a text. A variable alone
/// is a valid map, unless the next line continues the text.
fn find(line: &str, column: usize, in_flow: bool, is_continued: bool) -> Option<UnquotedText> {
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
        is_right.then(|| UnquotedText {
            key: entry..value,
            value: value..value + text.len(),
            variable,
            in_flow,
        })
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
