//! Globs, patterns of commands and regular expressions.

use super::guard_text::GuardText;
use super::key::Key;
use super::values::{Partial, Text, read_filled, wrong_type};
use crate::definition::syntax::{Kind, Node, Reader, Span};
use crate::diagnostic::{Code, Finding, shown};
use crate::pattern::{ProjectGlob, check_glob, regex};
use crate::white_space::trim;

pub(super) fn read_globs(
    reader: &mut Reader<'_>,
    key: &Key,
    node: &Node<'_>,
) -> Option<Vec<String>> {
    read_patterns(reader, key, node, GuardText::Path)
}

pub(super) fn read_regexes(
    reader: &mut Reader<'_>,
    key: &Key,
    node: &Node<'_>,
) -> Option<Vec<String>> {
    read_patterns(reader, key, node, GuardText::Regex)
}

pub(super) fn read_regex(reader: &mut Reader<'_>, key: &Key, node: &Node<'_>) -> Option<Text> {
    read_pattern(reader, key, node, GuardText::Regex)
}

/// A path of a file, or a glob of files of the project.
pub(super) fn read_files(reader: &mut Reader<'_>, key: &Key, node: &Node<'_>) -> Option<Text> {
    read_pattern(reader, key, node, GuardText::Files)
}

/// A path of one file.
pub(super) fn read_file(reader: &mut Reader<'_>, key: &Key, node: &Node<'_>) -> Option<Text> {
    read_pattern(reader, key, node, GuardText::File)
}

/// A path of a directory.
pub(super) fn read_directory(reader: &mut Reader<'_>, key: &Key, node: &Node<'_>) -> Option<Text> {
    read_pattern(reader, key, node, GuardText::Directory)
}

fn read_pattern(
    reader: &mut Reader<'_>,
    key: &Key,
    node: &Node<'_>,
    kind: GuardText,
) -> Option<Text> {
    let text = read_filled(reader, key, node)?;
    if let Some(finding) = invalid(&text.value, text.span, kind) {
        reader.report(finding);
        return None;
    }
    Some(text)
}

/// A map of patterns by the names of fields. Some of them may be wrong.
pub(super) fn read_fields(
    reader: &mut Reader<'_>,
    key: &Key,
    node: &Node<'_>,
) -> Option<Partial<(String, String)>> {
    read_map_of_texts(reader, key, node, "field", |pattern, span| {
        invalid(pattern, span, GuardText::Regex)
    })
}

/// A map of names of environment variables to their values.
pub(super) fn read_variables(
    reader: &mut Reader<'_>,
    key: &Key,
    node: &Node<'_>,
) -> Option<Partial<(String, String)>> {
    read_map_of_texts(reader, key, node, "variable", |value, span| {
        value.contains('\0').then(|| {
            let message = "the value of a variable cannot contain a null character";
            Finding::error(Code::InvalidValue, span, message)
        })
    })
}

fn read_map_of_texts(
    reader: &mut Reader<'_>,
    key: &Key,
    node: &Node<'_>,
    item: &str,
    wrong: impl Fn(&str, Option<Span>) -> Option<Finding>,
) -> Option<Partial<(String, String)>> {
    let Kind::Map(fields) = &node.kind else {
        let expected = format!("a map of {item}s to texts");
        reader.report(wrong_type(key, &expected, &node.kind, node.span));
        return None;
    };
    if fields.entries.is_empty() {
        let message = format!("`{}` has no {item}s", key.name);
        reader.report(Finding::error(Code::MissingKey, node.span, message));
        return None;
    }
    let mut read = Partial::default();
    for field in &fields.entries {
        let (name, span) = (&field.key, field.value.span);
        let checked = match &field.value.kind {
            Kind::Text(pattern) => match wrong(pattern, span) {
                None => Ok((name.to_string(), pattern.to_string())),
                Some(finding) => Err(finding),
            },
            kind => {
                let message = format!("`{}` must be text, not {}", shown(name), kind.describe());
                Err(Finding::error(Code::WrongType, span, message))
            }
        };
        read.add(reader, checked);
    }
    Some(read)
}

/// A text or a list of texts, all of which are valid.
pub(super) fn read_patterns(
    reader: &mut Reader<'_>,
    key: &Key,
    node: &Node<'_>,
    kind: GuardText,
) -> Option<Vec<String>> {
    let wrong = |text: &str, span| invalid(text, span, kind);
    let read = some_or_all(reader, key, node, wrong)?;
    read.is_sound.then_some(read.all)
}

/// The valid ones of a text or a list of texts.
pub(super) fn some_or_all(
    reader: &mut Reader<'_>,
    key: &Key,
    node: &Node<'_>,
    wrong: impl Fn(&str, Option<Span>) -> Option<Finding>,
) -> Option<Partial<String>> {
    let items = match &node.kind {
        Kind::List(items) => &**items,
        Kind::Text(_) => std::slice::from_ref(node),
        kind => {
            reader.report(wrong_type(key, "text or a list of texts", kind, node.span));
            return None;
        }
    };
    if items.is_empty() {
        let message = format!("`{}` is empty", key.name);
        let finding = Finding::error(Code::MissingKey, node.span, message);
        reader.report(finding.help("name at least one"));
        return None;
    }
    let mut read = Partial::default();
    for item in items {
        let checked = match &item.kind {
            Kind::Text(text) => match wrong(text, item.span) {
                None => Ok(text.to_string()),
                Some(finding) => Err(finding),
            },
            kind => {
                let message = format!(
                    "an entry of `{}` must be text, not {}",
                    key.name,
                    kind.describe()
                );
                Err(Finding::error(Code::WrongType, item.span, message))
            }
        };
        read.add(reader, checked);
    }
    Some(read)
}

/// The finding about a pattern that is invalid.
fn invalid(text: &str, span: Option<Span>, kind: GuardText) -> Option<Finding> {
    if trim(text).is_empty() {
        return Some(Finding::error(
            Code::InvalidValue,
            span,
            "an empty pattern matches nothing",
        ));
    }
    if let Some(finding) = kind.finding(text, span) {
        return Some(finding);
    }
    let error = match kind {
        GuardText::Path => check_glob(text).err()?,
        GuardText::Regex => regex(text).err()?,
        GuardText::Files => ProjectGlob::read(text)?.err()?,
        _ => return None,
    };
    let message = format!(
        "`{}` is not a valid pattern: {}",
        shown(text),
        one_line(&error.to_string())
    );
    Some(Finding::error(Code::Pattern, span, message).help("correct the pattern"))
}

/// The last line of an error: those of regular expressions draw a picture above it.
fn one_line(error: &str) -> String {
    let last = error.lines().last().unwrap_or_default();
    shown(last.trim_start_matches("error: "))
}
