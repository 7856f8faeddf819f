//! Reads single values of a map and says what is wrong with them.
//!
//! What is required, or is a guard, is an error when it is wrong; anything else is a warning, and its
//! default is used. A key without a value is taken as absent, with a warning.

use std::borrow::Cow;

use super::findings::{Finding, Reader};
use super::keys::{listed, nearest};
use super::language::Level;
use super::node::{Entry, Kind, Map, Node};
use super::source::Span;
use crate::diagnostic::{Code, Severity, shown};
use crate::template::{self, Piece};
use crate::white_space::trim;

/// A text and where it stands.
pub(super) struct Text<'s> {
    pub(super) value: Cow<'s, str>,
    pub(super) span: Option<Span>,
}

/// The text of a required key of a level. `missing_at` is the place to name when there is none.
pub(super) fn required_text<'s>(
    reader: &mut Reader<'_>,
    map: &mut Map<'s>,
    level: Level,
    key: &str,
    missing_at: Option<Span>,
) -> Option<Text<'s>> {
    let missing = |span, why: &str| {
        let finding = Finding::error(Code::MissingKey, span, format!("`{key}` {why}"));
        match level.keys().iter().find(|row| row.name == key) {
            Some(row) => finding.help(format!("write `{key}: {}`, for example", row.example)),
            None => finding,
        }
    };
    let Some(entry) = map.take(key) else {
        reader.report(missing(missing_at, "is missing"));
        return None;
    };
    let (key_span, span) = (entry.key_span, entry.value.span);
    match text_of(entry) {
        Ok(text) if trim(&text.value).is_empty() => {
            reader.report(missing(span, "is empty"));
            None
        }
        Ok(text) => Some(text),
        Err(Kind::Null) => {
            reader.report(missing(key_span, "has no value"));
            None
        }
        Err(kind) => {
            reader.report(not_text(Severity::Error, key, &kind, span));
            None
        }
    }
}

/// The text of an optional key; an empty one counts.
pub(super) fn optional_text<'s>(
    reader: &mut Reader<'_>,
    map: &mut Map<'s>,
    key: &str,
) -> Option<Text<'s>> {
    let entry = present(reader, map, key)?;
    text_or_report(reader, Severity::Warning, entry)
}

/// The entry of an optional key that has a value.
pub(super) fn present<'s>(
    reader: &mut Reader<'_>,
    map: &mut Map<'s>,
    key: &str,
) -> Option<Entry<'s>> {
    let entry = map.take(key)?;
    if entry.value.kind == Kind::Null {
        let message = format!("`{key}` has no value: the default is used");
        reader.report(Finding::warning(Code::NoValue, entry.key_span, message));
        return None;
    }
    Some(entry)
}

/// The entry of an optional key of a guard: one without a value is an error, for the guard would be dropped.
pub(super) fn given<'s>(
    reader: &mut Reader<'_>,
    map: &mut Map<'s>,
    key: &str,
) -> Option<Entry<'s>> {
    let entry = map.take(key)?;
    if entry.value.kind == Kind::Null {
        let message = format!("`{key}` has no value");
        let finding = Finding::error(Code::MissingKey, entry.key_span, message);
        reader.report(finding.help("give it one, or remove it: a guard must not be dropped"));
        return None;
    }
    Some(entry)
}

/// The text of an optional key of a guard; an empty one counts.
pub(super) fn given_text<'s>(
    reader: &mut Reader<'_>,
    map: &mut Map<'s>,
    key: &str,
) -> Option<Text<'s>> {
    let entry = given(reader, map, key)?;
    text_or_report(reader, Severity::Error, entry)
}

/// The text of an optional key of a guard; an empty one is an error.
pub(super) fn filled_text<'s>(
    reader: &mut Reader<'_>,
    map: &mut Map<'s>,
    key: &str,
) -> Option<Text<'s>> {
    let text = given_text(reader, map, key)?;
    if !trim(&text.value).is_empty() {
        return Some(text);
    }
    let finding = Finding::error(Code::MissingKey, text.span, format!("`{key}` is empty"));
    reader.report(finding.help("give it a text, or remove it: a guard must not be dropped"));
    None
}

/// True or false, in a guard.
pub(super) fn flag(reader: &mut Reader<'_>, entry: &Entry<'_>) -> Option<bool> {
    if let Kind::Bool(flag) = entry.value.kind {
        return Some(flag);
    }
    let Node { kind, span } = &entry.value;
    let key = &*entry.key;
    reader.report(wrong_type(
        Severity::Error,
        key,
        "true or false",
        kind,
        *span,
    ));
    None
}

/// A text or a list of texts, in a guard; `None` when something in it is not as it should be.
pub(super) fn one_or_more(
    reader: &mut Reader<'_>,
    entry: Entry<'_>,
    wrong: impl Fn(&str, Option<Span>) -> Option<Finding>,
) -> Option<Vec<String>> {
    let (all, sound) = sound_ones(reader, entry, wrong);
    sound.then_some(all)
}

/// What is as it should be of a text or a list of texts, in a guard, and whether that is all of it.
pub(super) fn sound_ones(
    reader: &mut Reader<'_>,
    entry: Entry<'_>,
    wrong: impl Fn(&str, Option<Span>) -> Option<Finding>,
) -> (Vec<String>, bool) {
    let span = entry.value.span;
    let items = match entry.value.kind {
        Kind::List(items) => items,
        kind @ Kind::Text(_) => vec![Node { kind, span }],
        kind => {
            let finding = wrong_type(
                Severity::Error,
                &entry.key,
                "text or a list of texts",
                &kind,
                span,
            );
            reader.report(finding);
            return (Vec::new(), false);
        }
    };
    if items.is_empty() {
        let message = format!("`{}` is empty", entry.key);
        reader.report(Finding::error(Code::MissingKey, span, message).help("name at least one"));
        return (Vec::new(), false);
    }
    let mut sound = true;
    let mut all = Vec::with_capacity(items.len());
    for item in items {
        let finding = match item.kind {
            Kind::Text(text) => match wrong(&text, item.span) {
                None => {
                    all.push(text.into_owned());
                    continue;
                }
                Some(finding) => finding,
            },
            kind => {
                let message = format!(
                    "an entry of `{}` must be text, not {}",
                    entry.key,
                    kind.words()
                );
                Finding::error(Code::WrongType, item.span, message)
            }
        };
        reader.report(finding);
        sound = false;
    }
    (all, sound)
}

/// A place in the source as people read it: `file:line`.
pub(super) fn place_of(reader: &Reader<'_>, span: Option<Span>) -> String {
    let place = reader.source.place(span);
    match place.line() {
        Some(line) => format!("{}:{line}", place.file),
        None => place.file.to_string(),
    }
}

fn text_or_report<'s>(
    reader: &mut Reader<'_>,
    severity: Severity,
    entry: Entry<'s>,
) -> Option<Text<'s>> {
    let (key, span) = (entry.key.clone(), entry.value.span);
    match text_of(entry) {
        Ok(text) => Some(text),
        Err(kind) => {
            reader.report(not_text(severity, &key, &kind, span));
            None
        }
    }
}

fn text_of(entry: Entry<'_>) -> Result<Text<'_>, Kind<'_>> {
    let Node { kind, span } = entry.value;
    match kind {
        Kind::Text(value) => Ok(Text { value, span }),
        kind => Err(kind),
    }
}

fn not_text(severity: Severity, key: &str, kind: &Kind<'_>, span: Option<Span>) -> Finding {
    if let Some(variable) = unquoted_template(kind) {
        let message = format!("`{key}` is a map: `{variable}` without quotes is not text");
        return Finding::new(severity, Code::UnquotedTemplate, span, message)
            .help(format!("put it in quotes: \"{variable}\""));
    }
    quoted(wrong_type(severity, key, "text", kind, span), kind)
}

/// What would be text with quotes around it.
fn quoted(finding: Finding, kind: &Kind<'_>) -> Finding {
    match kind {
        Kind::Number(_) | Kind::Bool(_) => finding.help("put it in quotes"),
        Kind::Null | Kind::Text(_) | Kind::List(_) | Kind::Map(_) => finding,
    }
}

/// `{name}` or `{{name}}` without quotes: a YAML map of one key without a value.
fn unquoted_template(kind: &Kind<'_>) -> Option<String> {
    let Kind::Map(map) = kind else { return None };
    let [entry] = &*map.entries else { return None };
    let word = entry
        .key
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let template = word || entry.key.starts_with('{');
    (template && entry.value.kind == Kind::Null).then(|| format!("{{{}}}", shown(&entry.key)))
}

/// A value of the wrong type.
pub(super) fn wrong_type(
    severity: Severity,
    key: &str,
    expected: &str,
    kind: &Kind<'_>,
    span: Option<Span>,
) -> Finding {
    let message = format!(
        "`{key}` must be {expected}, not {}{}",
        kind.words(),
        default(severity)
    );
    Finding::new(severity, Code::WrongType, span, message).example(key)
}

/// What a warning says on top: what happens now.
fn default(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "",
        Severity::Warning | Severity::Info => ": the default is used",
    }
}

/// One of a few words.
pub(super) fn choice<T: Copy>(
    reader: &mut Reader<'_>,
    severity: Severity,
    entry: &Entry<'_>,
    words: &[(&'static str, T)],
) -> Option<T> {
    let known: Vec<&'static str> = words.iter().map(|&(word, _)| word).collect();
    let span = entry.value.span;
    let Kind::Text(text) = &entry.value.kind else {
        let expected = format!("one of {}", listed(known.iter().copied()));
        reader.report(wrong_type(
            severity,
            &entry.key,
            &expected,
            &entry.value.kind,
            span,
        ));
        return None;
    };
    if let Some(&(_, value)) = words.iter().find(|&&(word, _)| word == text) {
        return Some(value);
    }
    let message = format!(
        "`{}` must be one of {}, not `{}`{}",
        entry.key,
        listed(known.iter().copied()),
        shown(text),
        default(severity)
    );
    let finding = Finding::new(severity, Code::InvalidValue, span, message);
    reader.report(match nearest(text, known.iter().copied()) {
        Some(near) => finding.help(format!("did you mean `{near}`?")),
        None => finding.example(&entry.key),
    });
    None
}

/// A whole number in a range; one that is too large for us means the same as the largest.
pub(super) fn whole_number(node: &Node<'_>) -> Option<u32> {
    let Kind::Number(number) = node.kind else {
        return None;
    };
    if !(number >= 0.0 && number.is_finite() && number.fract() == 0.0) {
        return None;
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "not negative, and the cast saturates"
    )]
    Some(number as u32)
}

/// A list of texts; `None` when something in it is no text.
pub(super) fn texts(
    reader: &mut Reader<'_>,
    severity: Severity,
    key: &str,
    node: Node<'_>,
) -> Option<Vec<String>> {
    let Kind::List(items) = node.kind else {
        let finding = wrong_type(severity, key, "a list", &node.kind, node.span);
        reader.report(match node.kind {
            Kind::Text(text) if text.len() < 40 => {
                finding.help(format!("write `[{}]`", shown(&text)))
            }
            _ => finding,
        });
        return None;
    };
    let mut sound = true;
    let mut out = Vec::with_capacity(items.len());
    for item in items {
        match item.kind {
            Kind::Text(text) => out.push(text.into_owned()),
            kind => {
                sound = false;
                let what = format!("an entry of `{key}`");
                let message = format!(
                    "{what} must be text, not {}{}",
                    kind.words(),
                    default(severity)
                );
                let finding = Finding::new(severity, Code::WrongType, item.span, message);
                reader.report(quoted(finding.example(key), &kind));
            }
        }
    }
    sound.then_some(out)
}

/// Reports the variables of a template that do not exist in its place, each once.
pub(super) fn check_template(
    reader: &mut Reader<'_>,
    place: template::Place,
    text: &str,
    span: Option<Span>,
) {
    const REPORTED: usize = 20;
    // Most instructions have none, and are long.
    if !text.contains('{') {
        return;
    }
    let known = place.variables();
    let mut unknown: Vec<&str> = Vec::new();
    for piece in template::pieces(text) {
        let Piece::Variable(name, at) = piece else {
            continue;
        };
        if known.contains(&name) || unknown.contains(&name) || unknown.len() == REPORTED {
            continue;
        }
        unknown.push(name);
        let name_span = span.map(|span| variable_span(reader.source.text(), span, name, at));
        let message = format!("unknown variable `{{{}}}`: it stays as it is", shown(name));
        let finding = Finding::warning(Code::UnknownVariable, name_span, message);
        reader.report(match nearest(name, known.iter().copied()) {
            Some(near) => finding.help(format!("did you mean `{{{near}}}`?")),
            None => finding.help(format!("known here: {}", listed(known.iter().copied()))),
        });
    }
}

/// Where a variable stands: `at` in the text if that is written as it is, else where it is first found.
fn variable_span(source: &str, text: Span, name: &str, at: usize) -> Span {
    let written = format!("{{{name}}}");
    let inside = source.get(text.start..text.end).unwrap_or("");
    let found = if inside
        .get(at..)
        .is_some_and(|rest| rest.starts_with(&written))
    {
        Some(at)
    } else {
        inside.find(&written)
    };
    found.map_or(text, |found| {
        Span::new(text.start + found, text.start + found + written.len())
    })
}
