//! The readers of texts, flags, names and lists.
//!
//! A wrong value of a key that is required or restricts the agent is an error. Any other is a warning, and the default is
//! used.

use super::forms::in_its_form;
use super::guard_text::{GuardText, variable};
use super::key::{Hint, Key, ValueType};
use super::names::{listed, nearest};
use crate::definition::syntax::{Kind, Node, Reader, Span, TYPOGRAPHIC_QUOTES};
use crate::diagnostic::{Code, Finding, Severity, shown};
use crate::template::{self, Family, Piece, TemplateKind};
use crate::white_space::trim;

/// A text and its location.
#[derive(Debug)]
pub(in crate::definition) struct Text {
    pub(in crate::definition) value: String,
    pub(in crate::definition) span: Option<Span>,
}

/// The named values of a key, each with its value and its meaning.
pub(in crate::definition) trait NamedValues: Copy + 'static {
    /// The names with their meaning.
    const NAMES: &'static [(&'static str, &'static str)];
    /// Their values, in the same order.
    const VALUES: &'static [Self];
}

/// The valid ones of several values.
#[derive(Debug)]
pub(in crate::definition) struct Partial<T> {
    pub(in crate::definition) all: Vec<T>,
    pub(in crate::definition) is_sound: bool,
}

impl<T> std::default::Default for Partial<T> {
    fn default() -> Self {
        Self {
            all: Vec::new(),
            is_sound: true,
        }
    }
}

impl<T> Partial<T> {
    /// Adds a value, or reports what is wrong with it.
    pub(super) fn add(&mut self, reader: &mut Reader<'_>, checked: Result<T, Finding>) {
        match checked {
            Ok(value) => self.all.push(value),
            Err(finding) => {
                self.is_sound = false;
                reader.report(finding);
            }
        }
    }
}

impl Key {
    /// A finding about a wrong value, with the severity of the key.
    fn wrong(&self, code: Code, span: Option<Span>, message: impl Into<String>) -> Finding {
        Finding::new(self.severity, code, span, message).help(self.for_example())
    }

    /// A finding about a value that the key cannot have.
    pub(super) fn out_of_range(&self, node: &Node<'_>, expected: &str) -> Finding {
        if let Some(finding) = foreign_value(self, &node.kind, node.span) {
            return finding;
        }
        let message = format!("`{}` must be {expected}{}", self.name, self.consequence());
        let finding = Finding::new(self.severity, Code::InvalidValue, node.span, message);
        self.with_hint(finding.help(self.for_example()))
    }

    /// A finding with the help that the key has for it.
    pub(super) fn with_hint(&self, finding: Finding) -> Finding {
        match self.hint {
            Hint::Example => finding,
            Hint::OfCode => finding.usual_help(),
            Hint::Text(text) => finding.help(text),
        }
    }

    pub(in crate::definition) fn for_example(&self) -> String {
        format!("for example `{}: {}`", self.name, self.example)
    }

    /// The end of a message: a warning means that the default is used.
    fn consequence(&self) -> &'static str {
        match self.severity {
            Severity::Error => "",
            Severity::Warning | Severity::Info => ": the default is used",
        }
    }
}

/// The finding about a required key that is missing or empty.
pub(super) fn missing(key: &Key, span: Option<Span>, why: &str) -> Finding {
    let finding = Finding::error(Code::MissingKey, span, format!("`{}` {why}", key.name));
    finding.help(format!(
        "write `{}: {}`, for example",
        key.name, key.example
    ))
}

/// A value of the wrong type.
pub(in crate::definition) fn wrong_type(
    key: &Key,
    expected: &str,
    kind: &Kind<'_>,
    span: Option<Span>,
) -> Finding {
    if let Some(finding) = foreign_value(key, kind, span) {
        return finding;
    }
    let message = format!(
        "`{}` must be {expected}, not {}{}",
        key.name,
        kind.describe(),
        key.consequence()
    );
    let finding = key.wrong(Code::WrongType, span, message);
    in_its_form(finding.clone(), key, kind).unwrap_or_else(|| key.with_hint(finding))
}

/// The finding about a text that stands for a value of another type: in typographic quotes, or with a variable.
fn foreign_value(key: &Key, kind: &Kind<'_>, span: Option<Span>) -> Option<Finding> {
    let Kind::Text(text) = kind else { return None };
    let finding = GuardText::Value.finding(text, span)?;
    Some(Finding {
        severity: key.severity,
        ..finding
    })
}

/// Gives a value, or reports why it is missing.
pub(super) fn or_report<T>(
    reader: &mut Reader<'_>,
    value: Option<T>,
    finding: impl FnOnce() -> Finding,
) -> Option<T> {
    if value.is_none() {
        reader.report(finding());
    }
    value
}

/// The finding about a text that is written in typographic quotes alone, which belong to it.
fn typographic(reader: &Reader<'_>, key: &Key, text: &str, span: Option<Span>) -> Option<Finding> {
    let inner = text
        .strip_prefix(TYPOGRAPHIC_QUOTES)?
        .strip_suffix(TYPOGRAPHIC_QUOTES)?;
    let at = span?;
    let is_written_so = reader.source.text().get(at.start..at.end) == Some(text);
    if !is_written_so || inner.is_empty() || inner.contains(TYPOGRAPHIC_QUOTES) {
        return None;
    }
    let message = format!(
        "`{}` is in typographic quotes, which are part of the text",
        key.name
    );
    let help = format!("write `\"{}\"`", shown(inner));
    let finding = Finding::warning(Code::InvalidValue, span, message).help(help);
    Some(finding.fix(text, inner))
}

pub(super) fn read_text(reader: &mut Reader<'_>, key: &Key, node: &Node<'_>) -> Option<Text> {
    let span = node.span;
    match &node.kind {
        Kind::Text(text) if key.is_required() && trim(text).is_empty() => {
            reader.report(missing(key, span, "is empty"));
            None
        }
        Kind::Text(text) => {
            let is_plain = matches!(key.value, ValueType::Text | ValueType::CommandName);
            if let Some(name) = variable(text).filter(|_| is_plain) {
                let message = format!("`{{{}}}` is not replaced in `{}`", shown(name), key.name);
                let finding = Finding::warning(Code::UnknownVariable, span, message);
                reader.report(finding.help("write the value itself"));
            }
            if let Some(finding) = typographic(reader, key, text, span) {
                reader.report(finding);
            }
            Some(Text {
                value: text.to_string(),
                span,
            })
        }
        kind => {
            reader.report(not_text(key, kind, span));
            None
        }
    }
}

pub(super) fn read_filled(reader: &mut Reader<'_>, key: &Key, node: &Node<'_>) -> Option<Text> {
    let text = read_text(reader, key, node)?;
    if !trim(&text.value).is_empty() {
        return Some(text);
    }
    let message = format!("`{}` is empty", key.name);
    let finding = Finding::error(Code::MissingKey, text.span, message);
    reader.report(finding.help("give it a text, or remove it"));
    None
}

pub(super) fn read_template(reader: &mut Reader<'_>, key: &Key, node: &Node<'_>) -> Option<Text> {
    let text = read_text(reader, key, node)?;
    if let ValueType::Template(kind) = key.value {
        check_template(reader, kind, &text.value, text.span);
    }
    Some(text)
}

pub(super) fn read_flag(reader: &mut Reader<'_>, key: &Key, node: &Node<'_>) -> Option<bool> {
    let flag = match node.kind {
        Kind::Bool(flag) => Some(flag),
        _ => None,
    };
    or_report(reader, flag, || {
        wrong_type(key, "true or false", &node.kind, node.span)
    })
}

pub(super) fn read_named<T: NamedValues>(
    reader: &mut Reader<'_>,
    key: &Key,
    node: &Node<'_>,
) -> Option<T> {
    let known = || T::NAMES.iter().map(|&(word, _)| word);
    let span = node.span;
    let Kind::Text(text) = &node.kind else {
        let expected = format!("one of {}", listed(known()));
        reader.report(wrong_type(key, &expected, &node.kind, span));
        return None;
    };
    if let Some(at) = known().position(|word| word == text) {
        return Some(T::VALUES[at]);
    }
    let message = format!(
        "`{}` must be one of {}, not `{}`{}",
        key.name,
        listed(known()),
        shown(text),
        key.consequence()
    );
    let finding = key.wrong(Code::InvalidValue, span, message);
    reader.report(match nearest(text, known()) {
        Some(near) => finding
            .help(format!("did you mean `{near}`?"))
            .fix(text, near),
        None => finding,
    });
    None
}

/// A list of texts; `None` if an item is not a text.
pub(in crate::definition) fn texts(
    reader: &mut Reader<'_>,
    key: &Key,
    node: &Node<'_>,
) -> Option<Vec<String>> {
    let Kind::List(items) = &node.kind else {
        reader.report(wrong_type(key, "a list", &node.kind, node.span));
        return None;
    };
    let mut sound = true;
    let mut out = Vec::with_capacity(items.len());
    for item in items {
        match &item.kind {
            Kind::Text(text) => out.push(text.to_string()),
            kind => {
                sound = false;
                let message = format!(
                    "an entry of `{}` must be text, not {}{}",
                    key.name,
                    kind.describe(),
                    key.consequence()
                );
                reader.report(quoted(key.wrong(Code::WrongType, item.span, message), kind));
            }
        }
    }
    sound.then_some(out)
}

pub(in crate::definition) fn read_choices(
    reader: &mut Reader<'_>,
    key: &Key,
    node: &Node<'_>,
) -> Option<Vec<String>> {
    let span = node.span;
    let choices = texts(reader, key, node)?;
    if choices.is_empty() || choices.iter().any(|choice| trim(choice).is_empty()) {
        let message = format!(
            "`{}` needs at least one text, and none that is empty",
            key.name
        );
        let finding = Finding::error(Code::MissingKey, span, message);
        reader.report(finding.help(key.for_example()));
        return None;
    }
    Some(choices)
}

fn not_text(key: &Key, kind: &Kind<'_>, span: Option<Span>) -> Finding {
    if let Some(variable) = unquoted_template(kind) {
        let message = format!(
            "`{}` is a map: `{variable}` without quotes is not text",
            key.name
        );
        return Finding::new(key.severity, Code::UnquotedTemplate, span, message)
            .help(format!("put it in quotes: \"{variable}\""));
    }
    quoted(wrong_type(key, "text", kind, span), kind)
}

/// The finding about a value that would be text with quotes around it.
fn quoted(finding: Finding, kind: &Kind<'_>) -> Finding {
    match kind {
        Kind::Number(_) | Kind::Bool(_) => finding.help("put it in quotes"),
        Kind::Tagged(_) => finding.help("remove the tag, and put the text in quotes"),
        Kind::Null | Kind::Text(_) | Kind::List(_) | Kind::Map(_) => finding,
    }
}

/// `{name}` or `{{name}}` without quotes: a YAML map of one key without a value.
fn unquoted_template(kind: &Kind<'_>) -> Option<String> {
    let Kind::Map(map) = kind else { return None };
    let [entry] = &*map.entries else { return None };
    let mut bytes = entry.key.bytes();
    let is_name = bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let is_template = is_name || entry.key.starts_with('{');
    (is_template && entry.value.kind == Kind::Null).then(|| format!("{{{}}}", shown(&entry.key)))
}

/// Reports the variables of a template that do not exist in its key, each once.
pub(in crate::definition) fn check_template(
    reader: &mut Reader<'_>,
    kind: TemplateKind,
    text: &str,
    span: Option<Span>,
) {
    const REPORTED: usize = 20;
    // Most instructions have none, and are long.
    if !text.contains('{') {
        return;
    }
    let known = kind.variables();
    let families = kind.families();
    let mut unknown: Vec<&str> = Vec::new();
    for piece in template::pieces(text) {
        let Piece::Variable(name, at) = piece else {
            continue;
        };
        if known.contains(&name) || unknown.contains(&name) || unknown.len() == REPORTED {
            continue;
        }
        let family = Family::of(name).map(|(family, _)| family);
        // Those of its families are checked against the workflow. A question has no other variables.
        if family.is_some_and(|family| families.contains(&family))
            || family.is_none() && kind == TemplateKind::Ask
        {
            continue;
        }
        unknown.push(name);
        let name_span = span.map(|span| variable_span(reader.source.text(), span, name, at));
        let message = format!("unknown variable `{{{}}}`: it is not replaced", shown(name));
        let finding = Finding::warning(Code::UnknownVariable, name_span, message);
        if let Some(family) = family {
            let form = family.form();
            reader.report(finding.help(format!("`{{{form}}}` has no value here: remove it")));
            continue;
        }
        reader.report(match nearest(name, known.iter().copied()) {
            Some(near) => finding
                .help(format!("did you mean `{{{near}}}`?"))
                .fix(&format!("{{{name}}}"), &format!("{{{near}}}")),
            None => finding.help(format!(
                "known variables: {}",
                listed(known.iter().copied())
            )),
        });
    }
}

/// The dotted names in a template that a template of this kind takes, each with its location.
pub(in crate::definition) fn references_in(
    reader: &Reader<'_>,
    kind: TemplateKind,
    text: &Text,
) -> Vec<(String, Option<Span>)> {
    const MAX_ITEMS: usize = 1000;
    if !text.value.contains('{') {
        return Vec::new();
    }
    let names = template::pieces(&text.value).filter_map(|piece| match piece {
        Piece::Variable(name, at) => {
            let (family, _) = Family::of(name)?;
            let is_taken = kind.families().contains(&family);
            is_taken.then_some((name, at))
        }
        Piece::Text(_) => None,
    });
    let located = names.take(MAX_ITEMS).map(|(name, at)| {
        let source = reader.source.text();
        let span = text.span.map(|span| variable_span(source, span, name, at));
        (name.to_owned(), span)
    });
    located.collect()
}

/// The location of a variable: `at` in the text if that is written as it is, else where it is first found.
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
