//! A template variable in a text without quotes, which YAML reads as a map: `ask: {phaseName} done?`.

use std::ops::Range;

use super::line::{MistakeHint, YamlLine};

/// The longest text that the help repeats, in characters.
const MAX_SHOWN_LENGTH: usize = 100;

/// A text without quotes on one line, as ranges of bytes.
struct UnquotedText {
    /// From the key, if there is one.
    entry: Range<usize>,
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
) -> Option<MistakeHint> {
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
fn describe(lines: &[YamlLine<'_>], row: usize, found: &UnquotedText) -> MistakeHint {
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
    let key = &line.text[found.entry.start..found.value.start];
    let variable = &line.text[found.variable.clone()];
    let text = quoted(&text);
    MistakeHint {
        help: format!(
            "without quotes, YAML reads `{variable}` as a map: put the text in quotes, `{key}{text}`"
        )
        .into(),
        at: Some(line.part(found.value.clone())),
        to: None,
    }
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
    let mut scan = Scan {
        in_flow,
        is_continued,
        depth: 0,
        entry: None,
        value: None,
        has_key: false,
        variable: None,
    };
    let mut at = 0;
    while let Some(next) = line[at..].chars().next() {
        let rest = &line[at..];
        let step = scan.step(line, at, rest, next);
        match step {
            Step::Skip(length) => at += length,
            Step::End { skip } => {
                if let Some(found) = scan.finish(line, at, column) {
                    return Some(found);
                }
                scan.reset();
                at += skip;
            }
            Step::Stop => break,
        }
    }
    scan.finish(line, at, column)
}

enum Step {
    /// So many bytes belong to the text, or to nothing.
    Skip(usize),
    /// The text ends here.
    End { skip: usize },
    /// The rest of the line is a comment.
    Stop,
}

struct Scan {
    in_flow: bool,
    is_continued: bool,
    /// Brackets that the line has opened.
    depth: usize,
    entry: Option<usize>,
    value: Option<usize>,
    has_key: bool,
    variable: Option<Range<usize>>,
}

impl Scan {
    const fn is_flow(&self) -> bool {
        self.in_flow || self.depth > 0
    }

    fn reset(&mut self) {
        self.entry = None;
        self.value = None;
        self.has_key = false;
        self.variable = None;
    }

    fn step(&mut self, line: &str, at: usize, rest: &str, next: char) -> Step {
        let after = &rest[next.len_utf8()..];
        let is_separated = after.is_empty() || after.starts_with(' ');
        let starts = self.value.is_none();
        if next == ' ' {
            return Step::Skip(1);
        }
        if next == '#' && (at == 0 || line[..at].ends_with(' ')) {
            return Step::Stop;
        }
        if let Some(length) = variable(rest) {
            self.entry.get_or_insert(at);
            self.value.get_or_insert(at);
            self.variable.get_or_insert(at..at + length);
            return Step::Skip(length);
        }
        match next {
            '"' | '\'' if starts => {
                self.entry.get_or_insert(at);
                self.value = Some(at);
                Step::Skip(quotes(rest))
            }
            '-' if starts && is_separated => {
                // The dash makes the rest a text, or a map.
                self.has_key = true;
                Step::Skip(1)
            }
            '{' | '[' if starts => {
                self.reset();
                self.depth += 1;
                Step::Skip(1)
            }
            '}' | ']' if self.is_flow() => {
                // The bracket closes after the text is complete.
                if self.variable.is_none() {
                    self.depth = self.depth.saturating_sub(1);
                }
                Step::End {
                    skip: usize::from(self.variable.is_none()),
                }
            }
            ',' if self.is_flow() && is_separated => Step::End { skip: 1 },
            ':' if is_separated && self.variable.is_none() && !self.is_value(line) => {
                self.has_key = true;
                self.value = None;
                Step::Skip(1)
            }
            _ => {
                self.entry.get_or_insert(at);
                self.value.get_or_insert(at);
                Step::Skip(next.len_utf8())
            }
        }
    }

    /// True if the text that has begun follows a key.
    fn is_value(&self, line: &str) -> bool {
        match (self.entry, self.value) {
            (Some(entry), Some(value)) => line[entry..value].contains(": "),
            _ => false,
        }
    }

    fn finish(&mut self, line: &str, end: usize, column: usize) -> Option<UnquotedText> {
        let variable = self.variable.take()?;
        let (entry, value) = (self.entry?, self.value?);
        let text = line[value..end].trim_end();
        let in_flow = self.is_flow();
        let is_not_text = in_flow || text.starts_with('{') || text.contains(": ");
        // A line of a longer text has no key.
        let is_entry = self.has_key || in_flow;
        let is_map = text.len() == variable.len() && !self.is_continued;
        let is_right = is_not_text && is_entry && !is_map && variable.start <= column;
        let end = value + text.len();
        is_right.then_some(UnquotedText {
            entry: entry..end,
            value: value..end,
            variable,
            in_flow,
        })
    }
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

/// The length of a text in quotes at the start of a text.
fn quotes(text: &str) -> usize {
    let quote = &text[..1];
    let mut end = 1;
    while let Some(next) = text[end..].chars().next() {
        if quote == "\"" && next == '\\' {
            end += 1 + text[end + 1..].chars().next().map_or(0, char::len_utf8);
            continue;
        }
        end += next.len_utf8();
        if quote.starts_with(next) {
            break;
        }
    }
    end
}
