//! Names of tools, globs, paths, patterns of commands, regular expressions, and maps of them.

use std::marker::PhantomData;

use serde_json::{Value, json};

use super::guard_text::{GuardText, is_one_command};
use super::text::{FilledText, Texts};
use crate::definition::schema::{KeyType, Reader, Shape, Written};
use crate::definition::syntax::{Kind, Node, Span};
use crate::diagnostic::{Code, Finding, Severity, shown};
use crate::pattern::{ProjectGlob, check_glob, regex};
use crate::white_space::trim;

/// The valid ones of several values.
#[derive(Debug)]
pub(crate) struct Partial<T> {
    pub(crate) all: Vec<T>,
    pub(crate) is_sound: bool,
}

impl<T> Default for Partial<T> {
    fn default() -> Self {
        Self {
            all: Vec::new(),
            is_sound: true,
        }
    }
}

impl<T> Partial<T> {
    /// What is read of a wrong value.
    pub(crate) fn lost() -> Self {
        Self {
            all: Vec::new(),
            is_sound: false,
        }
    }

    /// Adds a value, or reports what is wrong with it.
    fn add(&mut self, reader: &mut Reader<'_>, checked: Result<T, Finding>) {
        match checked {
            Ok(value) => self.all.push(value),
            Err(finding) => {
                self.is_sound = false;
                reader.report(finding);
            }
        }
    }
}

impl<T> From<Partial<T>> for Vec<T> {
    fn from(read: Partial<T>) -> Self {
        read.all
    }
}

/// A kind of text that is checked.
pub(crate) trait Checked: 'static {
    const KIND: GuardText;
}

/// A regular expression.
pub(crate) struct Regex;
/// A glob of files.
pub(crate) struct Glob;
/// A pattern of commands.
pub(crate) struct CommandPattern;
/// The path of a file of the project, or a glob.
pub(crate) struct Files;
/// The path of one file of the project.
pub(crate) struct File;
/// The path of a directory of the project.
pub(crate) struct Directory;

impl Checked for Regex {
    const KIND: GuardText = GuardText::Regex;
}

impl Checked for Glob {
    const KIND: GuardText = GuardText::Path;
}

impl Checked for CommandPattern {
    const KIND: GuardText = GuardText::Command;
}

impl Checked for Files {
    const KIND: GuardText = GuardText::Files;
}

impl Checked for File {
    const KIND: GuardText = GuardText::File;
}

impl Checked for Directory {
    const KIND: GuardText = GuardText::Directory;
}

/// A text that is checked.
pub(crate) struct One<T>(PhantomData<T>);

impl<T: Checked> KeyType for One<T> {
    type Value = String;
    const SHAPE: Shape = FilledText::SHAPE;

    fn read(reader: &mut Reader<'_>, written: Written<'_>) -> Option<String> {
        let text = FilledText::read(reader, written)?;
        match invalid(&text, written.span(), T::KIND) {
            None => Some(text),
            Some(finding) => {
                reader.report(finding);
                None
            }
        }
    }
}

/// A text or a list of texts, all of which are checked.
pub(crate) struct Many<T>(PhantomData<T>);

impl<T: Checked> KeyType for Many<T> {
    type Value = Vec<String>;
    const SHAPE: Shape = Shape::new(
        || text_or_texts("\\S"),
        || "text, or list of texts".to_owned(),
    );

    fn read(reader: &mut Reader<'_>, written: Written<'_>) -> Option<Vec<String>> {
        let wrong = |text: &str, span| invalid(text, span, T::KIND);
        let read = some_or_all(reader, written, wrong)?;
        read.is_sound.then_some(read.all)
    }
}

/// Patterns of commands.
pub(crate) struct Commands;

impl KeyType for Commands {
    type Value = Vec<String>;
    const SHAPE: Shape = Many::<CommandPattern>::SHAPE;

    fn read(reader: &mut Reader<'_>, written: Written<'_>) -> Option<Vec<String>> {
        let patterns = Many::<CommandPattern>::read(reader, written)?;
        if is_one_command(&patterns) {
            let name = written.key.name;
            let message =
                format!("`{name}` is a list of patterns, and this is one command in pieces");
            let finding = Finding::error(Code::DeadCommandPattern, written.span(), message);
            let line = shown(&patterns.join(" "));
            reader.report(finding.help(format!("write `{name}: [\"{line}\"]`")));
            return None;
        }
        Some(patterns)
    }
}

/// A name of a tool without white space at its ends.
const TOOL_NAME: &str = "^\\S([\\s\\S]*\\S)?$";

/// A list of names of tools.
pub(crate) struct ToolNames;

impl KeyType for ToolNames {
    type Value = Vec<String>;
    const SHAPE: Shape = Shape::new(
        || json!({"type": "array", "items": {"type": "string", "pattern": TOOL_NAME}}),
        Texts::SHAPE.describe,
    )
    .meant(Texts::SHAPE.meant);

    fn read(reader: &mut Reader<'_>, written: Written<'_>) -> Option<Vec<String>> {
        let names = Texts::read(reader, written)?;
        let mut is_sound = true;
        for (name, span) in items(written.node) {
            if name == "workflow_step" && written.key.name == "blacklist" {
                let message = "`workflow_step` is always allowed";
                reader.report(Finding::warning(Code::IdleRule, span, message));
            } else if let Some(finding) = tool_finding(GuardText::Tool, name, span, written.node) {
                is_sound &= finding.severity != Severity::Error;
                reader.report(finding);
            }
        }
        is_sound.then_some(names)
    }
}

/// A name of a tool or a list of them, with `*` for any characters.
pub(crate) struct ToolPatterns;

impl KeyType for ToolPatterns {
    type Value = Partial<String>;
    const SHAPE: Shape = Shape::new(
        || text_or_texts(TOOL_NAME),
        || "tool, or list of tools".to_owned(),
    );

    fn read(reader: &mut Reader<'_>, written: Written<'_>) -> Option<Partial<String>> {
        some_or_all(reader, written, |name, span| {
            tool_finding(GuardText::ToolPattern, name, span, written.node)
        })
    }
}

/// The finding about a name of a tool. Of a list that has the right name as well, the wrong one does no harm.
fn tool_finding(
    kind: GuardText,
    name: &str,
    span: Option<Span>,
    list: &Node<'_>,
) -> Option<Finding> {
    let finding = kind.finding(name, span)?;
    let meant = finding.fix.as_ref().map(|fix| &*fix.to);
    let is_meant = meant.is_some_and(|meant| items(list).any(|(other, _)| other == meant));
    (!is_meant).then_some(finding)
}

/// The texts of a list, or the text alone.
pub(crate) fn items<'n>(node: &'n Node<'_>) -> impl Iterator<Item = (&'n str, Option<Span>)> {
    let items = match &node.kind {
        Kind::List(items) => &**items,
        _ => std::slice::from_ref(node),
    };
    items.iter().filter_map(|item| match &item.kind {
        Kind::Text(text) => Some((&**text, item.span)),
        _ => None,
    })
}

/// A map of names of fields to patterns. Some of them may be wrong.
pub(crate) struct Fields;

impl KeyType for Fields {
    type Value = Partial<(String, String)>;
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
        read_map_of_texts(reader, written, "field", |pattern, span| {
            invalid(pattern, span, GuardText::Regex)
        })
    }
}

/// A map of names of environment variables to their values.
pub(crate) struct Variables;

impl KeyType for Variables {
    type Value = Partial<(String, String)>;
    const SHAPE: Shape = Fields::SHAPE;

    fn read(reader: &mut Reader<'_>, written: Written<'_>) -> Option<Self::Value> {
        read_map_of_texts(reader, written, "variable", |value, span| {
            let message = "the value of a variable cannot contain a null character";
            let has_null = value.contains('\0');
            has_null.then(|| Finding::error(Code::InvalidValue, span, message))
        })
    }
}

fn read_map_of_texts(
    reader: &mut Reader<'_>,
    written: Written<'_>,
    item: &str,
    wrong: impl Fn(&str, Option<Span>) -> Option<Finding>,
) -> Option<Partial<(String, String)>> {
    let Kind::Map(fields) = written.kind() else {
        reader.report(written.wrong_type(&format!("a map of {item}s to texts")));
        return None;
    };
    if fields.entries.is_empty() {
        let message = format!("`{}` has no {item}s", written.key.name);
        reader.report(Finding::error(Code::MissingKey, written.span(), message));
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

/// The valid ones of a text or a list of texts.
fn some_or_all(
    reader: &mut Reader<'_>,
    written: Written<'_>,
    wrong: impl Fn(&str, Option<Span>) -> Option<Finding>,
) -> Option<Partial<String>> {
    let name = written.key.name;
    let items = match written.kind() {
        Kind::List(items) => &**items,
        Kind::Text(_) => std::slice::from_ref(written.node),
        _ => {
            reader.report(written.wrong_type("text or a list of texts"));
            return None;
        }
    };
    if items.is_empty() {
        let message = format!("`{name}` is empty");
        let finding = Finding::error(Code::MissingKey, written.span(), message);
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
                let kind = kind.describe();
                let message = format!("an entry of `{name}` must be text, not {kind}");
                Err(Finding::error(Code::WrongType, item.span, message))
            }
        };
        read.add(reader, checked);
    }
    Some(read)
}

fn text_or_texts(pattern: &str) -> Value {
    let text = json!({"type": "string", "pattern": pattern});
    json!({"anyOf": [text, {"type": "array", "minItems": 1, "items": text}]})
}

/// The finding about a pattern that is invalid.
fn invalid(text: &str, span: Option<Span>, kind: GuardText) -> Option<Finding> {
    if trim(text).is_empty() {
        let message = "an empty pattern matches nothing";
        return Some(Finding::error(Code::InvalidValue, span, message));
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
