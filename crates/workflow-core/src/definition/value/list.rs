//! Lists of texts, and maps of names to texts. Each text is checked as its key says.

use serde_json::{Value, json};

use super::text::quoted;
use crate::definition::guard_text::{GuardText, is_one_command};
use crate::definition::schema::{KeyType, Reader, Shape, Written};
use crate::definition::syntax::{Kind, Node, Span};
use crate::diagnostic::{Code, Finding, Severity, shown};
use crate::white_space::trim;

/// The valid ones of several texts.
#[derive(Debug, Default)]
pub(crate) struct Partial {
    pub(crate) all: Vec<String>,
    /// True if one is not valid.
    pub(crate) is_lost: bool,
}

impl Partial {
    /// All of them, if all are valid.
    fn whole(self) -> Option<Vec<String>> {
        (!self.is_lost).then_some(self.all)
    }
}

/// A list of texts.
pub(crate) struct Texts;
/// A list of texts that are not blank.
pub(crate) struct Choices;
/// A text or a list of texts.
pub(crate) struct TextOrTexts;
/// A list of names of tools.
pub(crate) struct ToolNames;
/// A name of a tool or a list of them, with `*` for any characters.
pub(crate) struct ToolPatterns;
/// A map of names to texts.
pub(crate) struct NamedTexts;

impl KeyType for Texts {
    type Value = Vec<String>;
    const SHAPE: Shape = Shape::new(
        || json!({"type": "array", "items": {"type": "string"}}),
        || "list of texts".to_owned(),
    )
    .meant(|finding, written| written.in_form(finding, &format!("[{}]", written.short_text()?)));

    fn read(reader: &mut Reader<'_>, written: Written<'_>) -> Option<Vec<String>> {
        let Kind::List(_) = written.kind() else {
            reader.report(written.wrong_type("a list"));
            return None;
        };
        valid(reader, written).whole()
    }
}

impl KeyType for Choices {
    type Value = Vec<String>;
    const SHAPE: Shape = Shape::new(
        || json!({"type": "array", "minItems": 1, "items": {"type": "string", "pattern": "\\S"}}),
        Texts::SHAPE.describe,
    )
    .meant(Texts::SHAPE.meant);

    fn read(reader: &mut Reader<'_>, written: Written<'_>) -> Option<Vec<String>> {
        let choices = Texts::read(reader, written)?;
        if choices.is_empty() || choices.iter().any(|choice| trim(choice).is_empty()) {
            let name = written.key.name;
            let message = format!("`{name}` needs at least one text, and none that is empty");
            reader.report(written.empty(message));
            return None;
        }
        Some(choices)
    }
}

impl KeyType for TextOrTexts {
    type Value = Vec<String>;
    const SHAPE: Shape = Shape::new(
        || text_or_texts("\\S"),
        || "text, or list of texts".to_owned(),
    );

    fn read(reader: &mut Reader<'_>, written: Written<'_>) -> Option<Vec<String>> {
        let texts = one_or_more(reader, written)?.whole()?;
        if written.key.check == Some(GuardText::Command) && is_one_command(&texts) {
            let name = written.key.name;
            let message =
                format!("`{name}` is a list of patterns, and this is one command in pieces");
            let finding = Finding::error(Code::DeadCommandPattern, written.span(), message);
            let line = shown(&texts.join(" "));
            reader.report(finding.help(format!("write `{name}: [\"{line}\"]`")));
            return None;
        }
        Some(texts)
    }
}

/// A name of a tool without white space at its ends.
const TOOL_NAME: &str = "^\\S([\\s\\S]*\\S)?$";

impl KeyType for ToolNames {
    type Value = Vec<String>;
    const SHAPE: Shape = Shape::new(
        || json!({"type": "array", "items": {"type": "string", "pattern": TOOL_NAME}}),
        Texts::SHAPE.describe,
    )
    .meant(Texts::SHAPE.meant);

    fn read(reader: &mut Reader<'_>, written: Written<'_>) -> Option<Vec<String>> {
        Texts::read(reader, written)
    }
}

impl KeyType for ToolPatterns {
    type Value = Partial;
    const SHAPE: Shape = Shape::new(
        || text_or_texts(TOOL_NAME),
        || "tool, or list of tools".to_owned(),
    );

    fn read(reader: &mut Reader<'_>, written: Written<'_>) -> Option<Partial> {
        one_or_more(reader, written)
    }
}

impl KeyType for NamedTexts {
    type Value = Vec<(String, String)>;
    const SHAPE: Shape = Shape::new(
        || {
            json!({
                "type": "object",
                "minProperties": 1,
                "additionalProperties": {"type": "string", "pattern": "\\S"},
            })
        },
        || "map of texts".to_owned(),
    );

    fn read(reader: &mut Reader<'_>, written: Written<'_>) -> Option<Self::Value> {
        let is_variables = written.key.check == Some(GuardText::Variable);
        let item = if is_variables { "variable" } else { "field" };
        let Kind::Map(map) = written.kind() else {
            reader.report(written.wrong_type(&format!("a map of {item}s to texts")));
            return None;
        };
        if map.entries.is_empty() {
            let message = format!("`{}` has no {item}s", written.key.name);
            reader.report(Finding::error(Code::MissingKey, written.span(), message));
            return None;
        }
        let (mut texts, mut is_sound) = (Vec::new(), true);
        for entry in &map.entries {
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
    nodes(node).iter().filter_map(|item| match &item.kind {
        Kind::Text(text) => Some((&**text, item.span)),
        _ => None,
    })
}

fn nodes<'n, 's>(node: &'n Node<'s>) -> &'n [Node<'s>] {
    match &node.kind {
        Kind::List(items) => items,
        _ => std::slice::from_ref(node),
    }
}

/// The valid ones of a text or of the texts of a list, which has at least one.
fn one_or_more(reader: &mut Reader<'_>, written: Written<'_>) -> Option<Partial> {
    let finding = match written.kind() {
        Kind::List(items) if items.is_empty() => {
            let message = format!("`{}` is empty", written.key.name);
            let finding = Finding::error(Code::MissingKey, written.span(), message);
            finding.help("name at least one")
        }
        Kind::List(_) | Kind::Text(_) => return Some(valid(reader, written)),
        _ => written.wrong_type("text or a list of texts"),
    };
    reader.report(finding);
    None
}

/// The valid ones of a text or of the texts of a list.
fn valid(reader: &mut Reader<'_>, written: Written<'_>) -> Partial {
    let mut read = Partial::default();
    for item in nodes(written.node) {
        let finding = match &item.kind {
            Kind::Text(text) => {
                read.all.push(text.to_string());
                wrong_item(written, text, item.span)
            }
            kind => {
                read.is_lost = true;
                let message = format!(
                    "an entry of `{}` must be text, not {}{}",
                    written.key.name,
                    kind.describe(),
                    written.key.consequence()
                );
                Some(quoted(
                    written.wrong(Code::WrongType, item.span, message),
                    kind,
                ))
            }
        };
        let Some(finding) = finding else { continue };
        if finding.severity == Severity::Error && matches!(item.kind, Kind::Text(_)) {
            read.is_lost = true;
            read.all.pop();
        }
        reader.report(finding);
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
    let is_meant = |meant| items(written.node).any(|(other, _)| other == meant);
    (!kind.is_tool() || !meant.is_some_and(is_meant)).then_some(finding)
}

fn text_or_texts(pattern: &str) -> Value {
    let text = json!({"type": "string", "pattern": pattern});
    json!({"anyOf": [text, {"type": "array", "minItems": 1, "items": text}]})
}
