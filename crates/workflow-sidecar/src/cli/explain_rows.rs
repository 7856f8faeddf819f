//! The rows of `explain`, for people and as JSON.

use serde::{Serialize, Serializer};
use workflow_core::definition::Tier;
use workflow_core::diagnostic::{shown, visible};
use workflow_core::explain::{Origin, OriginKind, Row, Topic, Value};

use crate::present::{DIMMED, Page, TITLE, block, count};

/// Rows, section by section.
pub(super) struct Sections<'a>(pub(super) &'a [Row]);

/// Width of the column of keys.
const KEYS: usize = 20;

impl Sections<'_> {
    /// Each section with its rows, if it has any.
    fn each(&self) -> impl Iterator<Item = (Topic, Vec<&Row>)> {
        let rows_of = |topic| self.0.iter().filter(|row| row.topic == topic).collect();
        let all = Topic::ALL
            .into_iter()
            .map(move |topic| (topic, rows_of(topic)));
        all.filter(|(_, rows): &(_, Vec<_>)| !rows.is_empty())
    }

    /// Adds them for people.
    pub(super) fn text(&self, page: &mut Page) {
        for (topic, rows) in self.each() {
            page.line(format_args!("\n{TITLE}{}{TITLE:#}", topic.title()));
            for row in rows {
                add_row(page, row);
            }
        }
    }
}

fn add_row(page: &mut Page, row: &Row) {
    let value = match &row.value {
        Value::Text(text) if text.is_empty() => "empty".to_owned(),
        Value::Text(text) => count(text.chars().count(), "character"),
        other => inline(other),
    };
    let origin = row.origin.as_ref().map(from);
    let origin = origin.map_or_else(String::new, |from| format!("  {DIMMED}← {from}{DIMMED:#}"));
    page.line(format_args!(
        "  {:KEYS$} {value}{origin}",
        in_words(row.key)
    ));
    if let Value::Text(text) = &row.value {
        page.0.push_str(&block("    ", text));
    }
}

/// A name for programs as people write it: `inForce` is "in force".
fn in_words(key: &str) -> String {
    let mut words = String::with_capacity(key.len());
    for c in key.chars() {
        if c.is_ascii_uppercase() {
            words.push(' ');
        }
        words.push(c.to_ascii_lowercase());
    }
    words
}

/// Formats a value in one line.
pub(super) fn inline(value: &Value) -> String {
    match value {
        Value::None => "none".to_owned(),
        Value::Flag(true) => "yes".to_owned(),
        Value::Flag(false) => "no".to_owned(),
        Value::Count(count) => count.to_string(),
        Value::Label(word) => visible(word),
        Value::Names(names) if names.is_empty() => "none".to_owned(),
        Value::Names(names) => visible(&names.join(", ")),
        Value::Text(text) | Value::Part(text) => shown(text.lines().next().unwrap_or_default()),
    }
}

/// Formats the source of a value.
fn from(origin: &Origin) -> String {
    match (&origin.location, &origin.kind) {
        (Some(location), _) => location.clone(),
        (None, OriginKind::Default) => "default".to_owned(),
        (None, OriginKind::BuiltIn) => "built in".to_owned(),
        (None, OriginKind::Settings(_)) => "settings".to_owned(),
        (None, OriginKind::Workflow(key)) => format!("workflow {}", shown(key)),
        (None, OriginKind::Phase) => "the phase".to_owned(),
    }
}

/// Keys that can occur several times; their values are always a list.
#[rustfmt::skip] // Names that belong together.
const REPEATED: [&str; 16] = [
    "input", "output", "outcome", "when", "budget", "allowedAround", "writable", "commands", "unknown", "onRepeat", "allow", "ask", "block",
    "results", "gate", "trigger",
];

/// As nested maps: sections, keys, and the value with its source.
impl Serialize for Sections<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(
            self.each()
                .map(|(topic, rows)| (topic.name(), OneSection(rows))),
        )
    }
}

struct OneSection<'a>(Vec<&'a Row>);

impl Serialize for OneSection<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let with_key = |key| self.0.iter().filter(move |row| row.key == key);
        let of = |at| {
            let row: &Row = self.0[at];
            let is_first = !self.0[..at].iter().any(|other| other.key == row.key);
            let rows = if !REPEATED.contains(&row.key) {
                OneOrMany::One(OneRow::of(row))
            } else if is_first {
                OneOrMany::Many(with_key(row.key).map(|row| OneRow::of(row)).collect())
            } else {
                return None;
            };
            Some((row.key, rows))
        };
        serializer.collect_map((0..self.0.len()).filter_map(of))
    }
}

#[derive(Serialize)]
#[serde(untagged)]
enum OneOrMany<'a> {
    One(OneRow<'a>),
    Many(Vec<OneRow<'a>>),
}

#[derive(Serialize)]
struct OneRow<'a> {
    value: &'a Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tier: Option<Tier>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
}

impl<'a> OneRow<'a> {
    fn of(row: &'a Row) -> Self {
        let kind = row.origin.as_ref().map(|origin| &origin.kind);
        let location = row
            .origin
            .as_ref()
            .and_then(|origin| origin.location.as_deref());
        let line = location.and_then(|location| {
            let (file, line) = location.rsplit_once(':')?;
            Some((file, line.parse().ok()?))
        });
        Self {
            value: &row.value,
            from: kind.map(OriginKind::name),
            tier: match kind {
                Some(OriginKind::Settings(tier)) => Some(*tier),
                _ => None,
            },
            file: line.map(|(file, _)| file).or(location),
            line: line.map(|(_, line)| line),
        }
    }
}
