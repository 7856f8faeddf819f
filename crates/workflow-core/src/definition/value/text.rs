//! Texts, with the variables of templates.

use serde_json::json;

use crate::definition::guard_text::{GuardText, variable};
use crate::definition::schema::{
    KeyType, NAME, Reader, Shape, TemplateReference, Written, listed, missing, nearest,
};
use crate::definition::syntax::{Kind, Span, TYPOGRAPHIC_QUOTES};
use crate::diagnostic::{Code, Finding, Severity, shown};
use crate::template::{self, Family, Piece, TemplateKind};
use crate::white_space::trim;

/// Text. A required one is not blank.
pub(crate) struct Text;
/// Text that is not blank, and is checked as its key says.
pub(crate) struct FilledText;
/// A name that can be typed after `/workflow`.
pub(crate) struct CommandName;
/// Text with variables.
pub(crate) struct Template;

impl KeyType for Text {
    type Value = String;
    const SHAPE: Shape = Shape::new(|| json!({"type": "string"}), "text");

    fn read(reader: &mut Reader<'_>, written: Written<'_>) -> Option<String> {
        let text = read_text_for_people(reader, written)?;
        if let Some(name) = variable(&text) {
            let (name, key) = (shown(name), written.key.name);
            let message = format!("`{{{name}}}` is not replaced in `{key}`");
            let finding = Finding::warning(Code::UnknownVariable, written.span(), message);
            reader.report(finding.help("write the value itself"));
        }
        Some(text)
    }
}

impl KeyType for FilledText {
    type Value = String;
    const SHAPE: Shape = Shape::new(
        || json!({"type": "string", "pattern": "\\S"}),
        Text::SHAPE.described,
    );

    fn read(reader: &mut Reader<'_>, written: Written<'_>) -> Option<String> {
        let text = match written.key.check {
            Some(_) => read_text(reader, written)?,
            None => Text::read(reader, written)?,
        };
        let finding = if trim(&text).is_empty() {
            let message = format!("`{}` is empty", written.key.name);
            let finding = Finding::error(Code::MissingKey, written.span(), message);
            Some(finding.help("give it a text, or remove it"))
        } else {
            let check = written.key.check;
            if check == Some(GuardText::File) {
                reader.passes(written.hidden(&text, written.span()));
            }
            note_values(reader, check, &text, written.span());
            check.and_then(|kind| kind.invalid(&text, written.span()))
        };
        reader.passes(finding).then_some(text)
    }
}

impl KeyType for CommandName {
    type Value = String;
    const SHAPE: Shape = Shape {
        pattern: NAME,
        ..Shape::new(Text::SHAPE.schema, "`a-z A-Z 0-9 _ -`")
    };

    fn read(reader: &mut Reader<'_>, written: Written<'_>) -> Option<String> {
        Text::read(reader, written)
    }
}

impl KeyType for Template {
    type Value = String;
    const SHAPE: Shape = Shape::new(Text::SHAPE.schema, "template");

    fn read(reader: &mut Reader<'_>, written: Written<'_>) -> Option<String> {
        let text = read_text_for_people(reader, written)?;
        if let Some(kind) = written.key.template {
            check_template(reader, kind, &text, written.span());
        }
        Some(text)
    }
}

/// The finding about a text that is written in typographic quotes alone, which belong to it.
fn typographic(reader: &Reader<'_>, written: Written<'_>, text: &str) -> Option<Finding> {
    let inner = text
        .strip_prefix(TYPOGRAPHIC_QUOTES)?
        .strip_suffix(TYPOGRAPHIC_QUOTES)?;
    let span = written.span()?;
    let is_written_so = reader.source.text().get(span.start..span.end) == Some(text);
    if !is_written_so || inner.is_empty() || inner.contains(TYPOGRAPHIC_QUOTES) {
        return None;
    }
    let name = written.key.name;
    let message = format!("`{name}` is in typographic quotes, which are part of the text");
    let help = format!("write `\"{}\"`", shown(inner));
    let finding = Finding::warning(Code::InvalidValue, Some(span), message).help(help);
    Some(finding.fix(text, inner))
}

fn read_text_for_people(reader: &mut Reader<'_>, written: Written<'_>) -> Option<String> {
    let text = read_text(reader, written)?;
    reader.passes(written.hidden(&text, written.span()));
    Some(text)
}

fn read_text(reader: &mut Reader<'_>, written: Written<'_>) -> Option<String> {
    let key = written.key;
    match written.kind() {
        Kind::Text(text) if key.is_required() && trim(text).is_empty() => {
            reader.refuse(missing(key, written.span(), "is empty"))
        }
        Kind::Text(text) => {
            if let Some(finding) = typographic(reader, written, text) {
                reader.report(finding);
            }
            Some(text.to_string())
        }
        _ => reader.refuse(not_text(written)),
    }
}

fn not_text(written: Written<'_>) -> Finding {
    let (key, kind) = (written.key, written.kind());
    if let Some(variable) = unquoted_template(kind) {
        let name = key.name;
        let message = format!("`{name}` is a map: `{variable}` without quotes is not text");
        let finding = written.wrong(Code::UnquotedTemplate, written.span(), message);
        return finding.help(format!("put it in quotes: \"{variable}\""));
    }
    quoted(written.wrong_type("text"), kind)
}

/// The finding about a value that would be text with quotes around it.
pub(super) fn quoted(finding: Finding, kind: &Kind<'_>) -> Finding {
    match kind {
        Kind::Number(_) | Kind::Bool(_) => finding.help("put it in quotes"),
        Kind::Tagged(_) => finding.help("remove the tag, and put the text in quotes"),
        Kind::Null | Kind::Text(_) | Kind::List(_) | Kind::Map(_) => finding,
    }
}

/// `{name}` or `{{name}}` without quotes: a YAML map of one key without a value.
fn unquoted_template(kind: &Kind<'_>) -> Option<String> {
    let [entry] = &*kind.map()?.entries else {
        return None;
    };
    let mut bytes = entry.key.bytes();
    let is_name = bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let is_template = is_name || entry.key.starts_with('{');
    (is_template && entry.value.kind == Kind::Null).then(|| format!("{{{}}}", shown(&entry.key)))
}

/// Notes the values of the run that are in the text of a guard which takes some.
pub(crate) fn note_values(
    reader: &mut Reader<'_>,
    kind: Option<GuardText>,
    text: &str,
    span: Option<Span>,
) {
    if kind.is_some_and(GuardText::takes_values) {
        let before = reader.sites.references.len();
        check_template(reader, TemplateKind::Guard, text, span);
        for reference in &mut reader.sites.references[before..] {
            reference.is_path = kind.is_some_and(GuardText::is_path);
        }
    }
}

/// Reports the variables of a template that do not exist in its key, each once, and notes the dotted names that it takes.
pub(crate) fn check_template(
    reader: &mut Reader<'_>,
    kind: TemplateKind,
    text: &str,
    span: Option<Span>,
) {
    const REPORTED: usize = 20;
    const NOTED: usize = 1000;
    // Most instructions have none, and are long.
    if !text.contains('{') {
        return;
    }
    let known = kind.variables();
    let mut unknown: Vec<&str> = Vec::new();
    let mut noted = 0;
    for piece in template::pieces(text) {
        let Piece::Variable(name, at) = piece else {
            continue;
        };
        let family = Family::of(name);
        let is_taken = family.is_some_and(|family| kind.families().contains(&family))
            || family == Some(Family::Approval) && kind.families().len() > 1;
        let is_idle = if is_taken {
            noted == NOTED
        } else {
            known.contains(&name) || unknown.contains(&name) || unknown.len() == REPORTED
        };
        // A question and a guard have no other variables. A guard refuses those of texts.
        let is_literal = kind == TemplateKind::Guard
            || kind == TemplateKind::Ask && !TemplateKind::is_of_run(name);
        if is_idle || family.is_none() && is_literal {
            continue;
        }
        let span = span.map(|span| variable_span(reader.source.text(), span, name, at));
        if is_taken {
            // It is checked against the workflow.
            noted += 1;
            let name = name.to_owned();
            let is_path = false;
            let reference = TemplateReference {
                name,
                kind,
                span,
                is_path,
            };
            reader.sites.references.push(reference);
            continue;
        }
        unknown.push(name);
        let message = format!("unknown variable `{{{}}}`: it is not replaced", shown(name));
        let severity = Severity::error_if(kind == TemplateKind::With);
        let finding = Finding::new(severity, Code::UnknownVariable, span, message);
        let near = nearest(name, known.iter().copied());
        reader.report(match (family, near) {
            (Some(family), _) => {
                let form = family.form();
                let instead = match family {
                    Family::Item => "pass it in `with`, and read that input",
                    _ => "remove it",
                };
                finding.help(format!("`{{{form}}}` has no value here: {instead}"))
            }
            (None, Some(near)) => finding.meant(&format!("{{{name}}}"), &format!("{{{near}}}")),
            (None, None) if known.is_empty() => finding.help("write the value itself"),
            (None, None) => {
                let known = listed(known.iter().copied());
                finding.help(format!("known variables: {known}"))
            }
        });
    }
}

/// The location of a variable: `at` in the text if that is written as it is, else where it is first found.
fn variable_span(source: &str, text: Span, name: &str, at: usize) -> Span {
    let written = format!("{{{name}}}");
    let inside = source.get(text.start..text.end).unwrap_or("");
    let rest = inside.get(at..).unwrap_or("");
    let is_there = rest.starts_with(&written);
    let found = is_there.then_some(at).or_else(|| inside.find(&written));
    found.map_or(text, |found| {
        Span::new(text.start + found, text.start + found + written.len())
    })
}
