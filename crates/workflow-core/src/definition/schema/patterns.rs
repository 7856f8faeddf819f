//! Globs, patterns of commands and regular expressions.

use super::Key;
use super::typed::Partial;
use super::values::{Text, read_filled, wrong_type};
use crate::definition::syntax::{Entry, Kind, Node, Reader, Span};
use crate::diagnostic::{Code, Finding, shown};
use crate::guard::rules::{check_glob, regex};
use crate::white_space::trim;

/// Says what is wrong with a pattern.
type Check = fn(&str) -> Result<(), String>;

pub(super) fn read_globs(
    reader: &mut Reader<'_>,
    key: &Key,
    node: Node<'_>,
) -> Option<Vec<String>> {
    read_patterns(reader, key, node, |glob| {
        check_glob(glob).map_err(|error| error.to_string())
    })
}

pub(super) fn read_commands(
    reader: &mut Reader<'_>,
    key: &Key,
    node: Node<'_>,
) -> Option<Vec<String>> {
    read_patterns(reader, key, node, |_| Ok(()))
}

pub(super) fn read_regexes(
    reader: &mut Reader<'_>,
    key: &Key,
    node: Node<'_>,
) -> Option<Vec<String>> {
    read_patterns(reader, key, node, check_regex)
}

pub(super) fn read_regex(reader: &mut Reader<'_>, key: &Key, node: Node<'_>) -> Option<Text> {
    let text = read_filled(reader, key, node)?;
    if let Some(finding) = invalid(&text.value, text.span, check_regex) {
        reader.report(finding);
        return None;
    }
    Some(text)
}

/// A map of patterns by the names of fields. Some of them may be wrong.
pub(super) fn read_fields(
    reader: &mut Reader<'_>,
    key: &Key,
    node: Node<'_>,
) -> Option<Partial<(String, String)>> {
    let mut read = Partial {
        all: Vec::new(),
        is_sound: false,
    };
    let Kind::Map(fields) = node.kind else {
        reader.report(wrong_type(key, "a map of patterns", &node.kind, node.span));
        return Some(read);
    };
    if fields.entries.is_empty() {
        let message = format!("`{}` names no field", key.name);
        reader.report(Finding::error(Code::MissingKey, node.span, message));
        return Some(read);
    }
    read.is_sound = true;
    for Entry {
        key: field, value, ..
    } in fields.entries
    {
        let finding = match &value.kind {
            Kind::Text(pattern) => invalid(pattern, value.span, check_regex),
            kind => {
                let message = format!("`{}` must be text, not {}", shown(&field), kind.words());
                Some(Finding::error(Code::WrongType, value.span, message))
            }
        };
        match (finding, value.kind) {
            (None, Kind::Text(pattern)) => {
                read.all.push((field.into_owned(), pattern.into_owned()))
            }
            (finding, _) => {
                read.is_sound = false;
                finding
                    .into_iter()
                    .for_each(|finding| reader.report(finding));
            }
        }
    }
    Some(read)
}

/// A text or a list of texts, all of which are valid.
fn read_patterns(
    reader: &mut Reader<'_>,
    key: &Key,
    node: Node<'_>,
    check: Check,
) -> Option<Vec<String>> {
    let Partial { all, is_sound } =
        some_or_all(reader, key, node, |text, span| invalid(text, span, check));
    is_sound.then_some(all)
}

/// What is valid of a text or a list of texts.
pub(super) fn some_or_all(
    reader: &mut Reader<'_>,
    key: &Key,
    node: Node<'_>,
    wrong: impl Fn(&str, Option<Span>) -> Option<Finding>,
) -> Partial<String> {
    let mut read = Partial {
        all: Vec::new(),
        is_sound: false,
    };
    let span = node.span;
    let items = match node.kind {
        Kind::List(items) => items,
        kind @ Kind::Text(_) => vec![Node { kind, span }],
        kind => {
            reader.report(wrong_type(key, "text or a list of texts", &kind, span));
            return read;
        }
    };
    if items.is_empty() {
        let message = format!("`{}` is empty", key.name);
        reader.report(Finding::error(Code::MissingKey, span, message).help("name at least one"));
        return read;
    }
    read.is_sound = true;
    for item in items {
        let finding = match item.kind {
            Kind::Text(text) => match wrong(&text, item.span) {
                None => {
                    read.all.push(text.into_owned());
                    continue;
                }
                Some(finding) => finding,
            },
            kind => {
                let message = format!(
                    "an entry of `{}` must be text, not {}",
                    key.name,
                    kind.words()
                );
                Finding::error(Code::WrongType, item.span, message)
            }
        };
        reader.report(finding);
        read.is_sound = false;
    }
    read
}

/// The finding about a pattern that is invalid.
fn invalid(
    text: &str,
    span: Option<Span>,
    check: fn(&str) -> Result<(), String>,
) -> Option<Finding> {
    if trim(text).is_empty() {
        return Some(Finding::error(
            Code::InvalidValue,
            span,
            "an empty pattern matches nothing",
        ));
    }
    let error = check(text).err()?;
    let message = format!("`{}` is no pattern: {}", shown(text), one_line(&error));
    Some(
        Finding::error(Code::Pattern, span, message)
            .help("a rule that cannot match must not be dropped"),
    )
}

/// The last line of an error: those of regular expressions draw a picture above it.
fn one_line(error: &str) -> String {
    let last = error.lines().last().unwrap_or_default();
    shown(last.trim_start_matches("error: "))
}

fn check_regex(pattern: &str) -> Result<(), String> {
    regex(pattern).map(drop).map_err(|error| error.to_string())
}
