//! The readers of single values.
//!
//! A wrong value of a key that is required or restricts the agent is an error. Any other is a warning, and the default is
//! used.

use super::key::{Hint, Key, ValueType};
use super::names::{listed, nearest};
use crate::definition::model::{Bound, ExpectedExit};
use crate::definition::syntax::{Kind, Node, Reader, Span};
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
    fn out_of_range(&self, node: &Node<'_>, expected: &str) -> Finding {
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
    let message = format!(
        "`{}` must be {expected}, not {}{}",
        key.name,
        kind.describe(),
        key.consequence()
    );
    key.wrong(Code::WrongType, span, message)
}

/// Gives a value, or reports why there is none.
fn or_report<T>(
    reader: &mut Reader<'_>,
    value: Option<T>,
    finding: impl FnOnce() -> Finding,
) -> Option<T> {
    if value.is_none() {
        reader.report(finding());
    }
    value
}

pub(super) fn read_text(reader: &mut Reader<'_>, key: &Key, node: &Node<'_>) -> Option<Text> {
    let span = node.span;
    match &node.kind {
        Kind::Text(text) if key.is_required() && trim(text).is_empty() => {
            reader.report(missing(key, span, "is empty"));
            None
        }
        Kind::Text(text) => Some(Text {
            value: text.to_string(),
            span,
        }),
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
    if let ValueType::Template(place) = key.value {
        check_template(reader, place, &text.value, text.span);
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

/// A whole number; one that is too large for us means the same as the largest.
fn whole_number(node: &Node<'_>) -> Option<u32> {
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

/// The bounds of a whole number.
fn bounds(key: &Key) -> (u32, Option<u32>) {
    match key.value {
        ValueType::Whole(from, to) => (from, to),
        _ => (0, None),
    }
}

fn whole_in_bounds(key: &Key, node: &Node<'_>) -> Option<u32> {
    let (from, to) = bounds(key);
    whole_number(node).filter(|&number| number >= from && to.is_none_or(|to| number <= to))
}

pub(super) fn read_whole(reader: &mut Reader<'_>, key: &Key, node: &Node<'_>) -> Option<u32> {
    or_report(reader, whole_in_bounds(key, node), || {
        key.out_of_range(
            node,
            &match bounds(key) {
                (from, None) => format!("a whole number of at least {from}"),
                (from, Some(to)) => format!("a whole number from {from} to {to}"),
            },
        )
    })
}

pub(super) fn read_seconds(reader: &mut Reader<'_>, key: &Key, node: &Node<'_>) -> Option<u32> {
    or_report(reader, whole_in_bounds(key, node), || {
        let (from, to) = bounds(key);
        key.out_of_range(
            node,
            &format!("whole seconds from {from} to {}", to.unwrap_or(u32::MAX)),
        )
    })
}

pub(super) fn read_limit(reader: &mut Reader<'_>, key: &Key, node: &Node<'_>) -> Option<u32> {
    let (from, to) = bounds(key);
    let highest = to.unwrap_or(u32::MAX);
    let limit = whole_number(node).filter(|&limit| limit >= from);
    let limit = or_report(reader, limit, || {
        key.out_of_range(node, &format!("a whole number of at least {from}"))
    })?;
    if limit > highest {
        let message = format!(
            "`{}` can be at most {highest}, which is used instead",
            key.name
        );
        let finding = Finding::warning(Code::LimitTooHigh, node.span, message);
        reader.report(finding.help(format!("write `{}: {highest}`, or less", key.name)));
    }
    Some(limit.min(highest))
}

pub(super) fn read_bound(reader: &mut Reader<'_>, key: &Key, node: &Node<'_>) -> Option<Bound> {
    let bound = match &node.kind {
        Kind::Text(text) if text == "unlimited" => Some(Bound::Unlimited),
        _ => whole_number(node).map(Bound::Times),
    };
    or_report(reader, bound, || {
        key.out_of_range(node, "a whole number of at least 0, or `unlimited`")
    })
}

/// An amount of money in hundredths: more than nothing, with two decimals at most.
pub(super) fn read_cents(reader: &mut Reader<'_>, key: &Key, node: &Node<'_>) -> Option<u64> {
    const HIGHEST: f64 = 1e9;
    let cents = match node.kind {
        Kind::Number(number) if number > 0.0 && number <= HIGHEST => {
            let cents = (number * 100.0).round();
            let is_exact = (cents / 100.0 - number).abs() < 1e-9 * number.max(1.0);
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "it is a whole number between the bounds"
            )]
            (is_exact && cents >= 1.0).then_some(cents as u64)
        }
        _ => None,
    };
    or_report(reader, cents, || {
        key.out_of_range(node, "a number above 0 with two decimals at most")
    })
}

/// The longest a command may take, in seconds.
const LONGEST_DURATION: u32 = 24 * 60 * 60;

pub(super) fn read_duration(reader: &mut Reader<'_>, key: &Key, node: &Node<'_>) -> Option<u32> {
    let seconds = match &node.kind {
        Kind::Text(text) => spelled_duration(text),
        _ => whole_number(node),
    };
    let seconds = seconds.filter(|seconds| (1..=LONGEST_DURATION).contains(seconds));
    or_report(reader, seconds, || {
        key.out_of_range(
            node,
            "whole seconds, or a number with `s`, `m` or `h`, and at most a day",
        )
    })
}

/// `30s`, `10m`, `1h` in seconds.
fn spelled_duration(text: &str) -> Option<u32> {
    let (number, unit) = [("s", 1), ("m", 60), ("h", 60 * 60)]
        .into_iter()
        .find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?, seconds)))?;
    let is_number =
        !number.is_empty() && number.len() <= 6 && number.bytes().all(|b| b.is_ascii_digit());
    is_number.then(|| number.parse::<u32>().ok()?.checked_mul(unit))?
}

pub(super) fn read_exit_code(
    reader: &mut Reader<'_>,
    key: &Key,
    node: &Node<'_>,
) -> Option<ExpectedExit> {
    let exit = match &node.kind {
        Kind::Text(text) if text == "nonzero" => Some(ExpectedExit::Nonzero),
        _ => whole_number(node)
            .and_then(|code| u8::try_from(code).ok())
            .map(|code| ExpectedExit::Code(code.into())),
    };
    or_report(reader, exit, || {
        key.out_of_range(node, "a whole number from 0 to 255, or `nonzero`")
    })
}

/// A list of texts; `None` when something in it is no text.
pub(in crate::definition) fn texts(
    reader: &mut Reader<'_>,
    key: &Key,
    node: &Node<'_>,
) -> Option<Vec<String>> {
    let Kind::List(items) = &node.kind else {
        let finding = wrong_type(key, "a list", &node.kind, node.span);
        reader.report(match &node.kind {
            Kind::Text(text) if text.len() < 40 => {
                finding.help(format!("write `[{}]`", shown(text)))
            }
            _ => finding,
        });
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
    place: TemplateKind,
    text: &str,
    span: Option<Span>,
) {
    const REPORTED: usize = 20;
    // Most instructions have none, and are long.
    if !text.contains('{') {
        return;
    }
    let known = place.variables();
    let families = place.families();
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
            || family.is_none() && place == TemplateKind::Ask
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
    place: TemplateKind,
    text: &Text,
) -> Vec<(String, Option<Span>)> {
    const MOST: usize = 1000;
    if !text.value.contains('{') {
        return Vec::new();
    }
    let names = template::pieces(&text.value).filter_map(|piece| match piece {
        Piece::Variable(name, at) => {
            let (family, _) = Family::of(name)?;
            let is_taken = place.families().contains(&family);
            is_taken.then_some((name, at))
        }
        Piece::Text(_) => None,
    });
    let located = names.take(MOST).map(|(name, at)| {
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
