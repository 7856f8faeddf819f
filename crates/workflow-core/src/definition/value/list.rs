//! Lists of texts, and maps of names to texts. Each text is checked as its key says.

use serde_json::{Value, json};

use super::map::List;
use super::text::{note_values, quoted};
use crate::definition::guard_text::{GuardText, TOOL_NAME, is_one_command};
use crate::definition::schema::{KeyType, Reader, Shape, Written, map_to, one_or_list};
use crate::definition::syntax::{Kind, Node, Span};
use crate::diagnostic::{Code, Finding, Severity, shown};
use crate::white_space::trim;

/// A list of texts.
pub(crate) struct Texts;
/// A list of texts that are not blank.
pub(crate) struct Choices;
/// A text or a list of texts.
pub(crate) struct TextOrTexts;
/// A name of a tool or a list of them, with `*` for any characters.
pub(crate) struct ToolPatterns;
/// A map of names to texts.
pub(crate) struct NamedTexts;

impl KeyType for Texts {
    type Value = Vec<String>;
    const SHAPE: Shape = Shape::new(
        || json!({"type": "array", "items": {"type": "string"}}),
        "list of texts",
    )
    .meant(|finding, written| written.in_form(finding, &format!("[{}]", written.short_text()?)));

    fn read(reader: &mut Reader<'_>, written: Written<'_>) -> Option<Vec<String>> {
        match written.kind() {
            Kind::List(_) => valid(reader, written).whole(),
            _ => reader.refuse(written.wrong_type("a list")),
        }
    }
}

impl KeyType for Choices {
    type Value = Vec<String>;
    const SHAPE: Shape = Shape::new(
        || json!({"type": "array", "minItems": 1, "items": {"type": "string", "pattern": "\\S"}}),
        Texts::SHAPE.described,
    )
    .meant(Texts::SHAPE.meant);

    fn read(reader: &mut Reader<'_>, written: Written<'_>) -> Option<Vec<String>> {
        let choices = Texts::read(reader, written)?;
        if choices.is_empty() || choices.iter().any(|choice| trim(choice).is_empty()) {
            let name = written.key.name;
            let message = format!("`{name}` needs at least one text, and none that is empty");
            return reader.refuse(written.empty(message));
        }
        Some(choices)
    }
}

impl KeyType for TextOrTexts {
    type Value = Vec<String>;
    const SHAPE: Shape = Shape::new(|| text_or_texts("\\S"), "text, or list of texts");

    fn read(reader: &mut Reader<'_>, written: Written<'_>) -> Option<Vec<String>> {
        let texts = one_or_more(reader, written)?.whole()?;
        if written.key.check == Some(GuardText::Command) && is_one_command(&texts) {
            let name = written.key.name;
            let message =
                format!("`{name}` is a list of patterns, and this is one command in pieces");
            let finding = Finding::error(Code::DeadCommandPattern, written.span(), message);
            let line = shown(&texts.join(" "));
            return reader.refuse(finding.help(format!("write `{name}: [\"{line}\"]`")));
        }
        Some(texts)
    }
}

impl KeyType for ToolPatterns {
    type Value = List<String>;
    const SHAPE: Shape = Shape::new(|| text_or_texts(TOOL_NAME), "tool, or list of tools");

    fn read(reader: &mut Reader<'_>, written: Written<'_>) -> Option<List<String>> {
        one_or_more(reader, written)
    }
}

impl KeyType for NamedTexts {
    type Value = Vec<(String, String)>;
    const SHAPE: Shape = Shape::new(
        || map_to(&json!({"type": "string", "pattern": "\\S"})),
        "map of texts",
    );

    fn read(reader: &mut Reader<'_>, written: Written<'_>) -> Option<Self::Value> {
        let is_variables = written.key.check == Some(GuardText::Variable);
        let item = if is_variables { "variable" } else { "field" };
        let expected = format!("a map of {item}s to texts");
        let empty = format!("`{}` has no {item}s", written.key.name);
        let (mut texts, mut is_sound) = (Vec::new(), true);
        for entry in written.entries(reader, &expected, empty)? {
            let (name, span) = (shown(&entry.key), entry.value.span);
            let is_sign = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let finding = match &entry.value.kind {
                _ if is_variables && (name.is_empty() || !entry.key.chars().all(is_sign)) => {
                    let message = format!("`{name}` is not a valid name of a variable");
                    let finding = Finding::error(Code::InvalidValue, entry.key_span, message);
                    Some(finding.help("use letters, digits and `_`"))
                }
                Kind::Text(text) => {
                    texts.push((entry.key.to_string(), text.to_string()));
                    note_values(reader, written.key.check, text, span);
                    written.key.check.and_then(|kind| kind.invalid(text, span))
                }
                kind => {
                    let message = format!("`{name}` must be text, not {}", kind.describe());
                    Some(Finding::error(Code::WrongType, span, message))
                }
            };
            is_sound &= reader.passes(finding);
        }
        is_sound.then_some(texts)
    }
}

/// The texts of a list, or the text alone.
pub(crate) fn items<'n>(node: &'n Node<'_>) -> impl Iterator<Item = (&'n str, Option<Span>)> {
    let items = nodes(node).iter();
    items.filter_map(|item| Some((item.kind.text()?, item.span)))
}

/// The items of a list, or another value alone.
pub(crate) fn nodes<'n, 's>(node: &'n Node<'s>) -> &'n [Node<'s>] {
    match &node.kind {
        Kind::List(items) => items,
        _ => std::slice::from_ref(node),
    }
}

/// A text, a number, true or false.
pub(crate) fn scalar(node: &Node<'_>) -> Option<Value> {
    match &node.kind {
        Kind::Text(_) | Kind::Bool(_) | Kind::Number(_) => Some(node.value()),
        Kind::Null | Kind::Tagged(_) | Kind::List(_) | Kind::Map(_) => None,
    }
}

/// The valid ones of a text or of the texts of a list, which has at least one.
fn one_or_more(reader: &mut Reader<'_>, written: Written<'_>) -> Option<List<String>> {
    match written.kind() {
        Kind::List(items) if items.is_empty() => {
            let message = format!("`{}` is empty", written.key.name);
            let finding = Finding::error(Code::MissingKey, written.span(), message);
            reader.refuse(finding.help("name at least one"))
        }
        Kind::List(_) | Kind::Text(_) => Some(valid(reader, written)),
        _ => reader.refuse(written.wrong_type("text or a list of texts")),
    }
}

/// The valid ones of a text or of the texts of a list.
fn valid(reader: &mut Reader<'_>, written: Written<'_>) -> List<String> {
    let mut read = List::default();
    for item in nodes(&written.entry.value) {
        let (text, finding) = match &item.kind {
            Kind::Text(text) => (Some(text), wrong_item(written, text, item.span)),
            kind => {
                let (name, end) = (written.key.name, written.key.consequence());
                let kind_name = kind.describe();
                let message = format!("an entry of `{name}` must be text, not {kind_name}{end}");
                let finding = written.wrong(Code::WrongType, item.span, message);
                (None, Some(quoted(finding, kind)))
            }
        };
        let is_wrong = |finding: &Finding| finding.severity == Severity::Error;
        if let Some(text) = text {
            note_values(reader, written.key.check, text, item.span);
        }
        match text.filter(|_| !finding.as_ref().is_some_and(is_wrong)) {
            Some(text) => read.all.push(text.to_string()),
            None => read.lost.push(item.span),
        }
        reader.passes(finding);
    }
    read
}

/// The finding about a text of a list. Of a list that has the right name of a tool as well, the wrong one does no harm.
fn wrong_item(written: Written<'_>, text: &str, span: Option<Span>) -> Option<Finding> {
    let kind = written.key.check?;
    if text == "workflow_step" && written.key.name == "blacklist" {
        let message = "`workflow_step` is always allowed";
        return Some(Finding::warning(Code::IdleRule, span, message));
    }
    let finding = kind.invalid(text, span)?;
    let meant = finding.fix.as_ref().map(|fix| &*fix.to);
    let is_meant = |meant| items(&written.entry.value).any(|(other, _)| other == meant);
    (!kind.is_tool() || !meant.is_some_and(is_meant)).then_some(finding)
}

fn text_or_texts(pattern: &str) -> Value {
    one_or_list(&json!({"type": "string", "pattern": pattern}))
}
