//! Tool results as the model reads them: redacted, cut, with appended text.
//!
//! A secret may be in any part of a result: hosts pass on whatever a tool returned. So redaction reads every string, number
//! and key, whatever the shape, and only skips the data of images and sound. Cutting and appending concern the texts
//! alone. The information whether the call failed never changes.

use std::cell::OnceCell;

use regex::{NoExpand, Regex};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

use crate::definition::{ResultKind, ResultRule};
use crate::pattern::secrets::{REDACTED, SECRETS, shapes};
use crate::pattern::{names_match, regex};
use crate::text;

/// The rules on results of all levels, outer first. All matching rules are applied, in order.
#[derive(Debug, Clone, Default)]
pub struct Results {
    rules: Vec<CompiledResultRule>,
}

#[derive(Debug, Clone)]
struct CompiledResultRule {
    rule: ResultRule,
    /// `None` is an invalid pattern: the whole text is redacted.
    redact: OnceCell<Option<Vec<Regex>>>,
}

impl Results {
    /// Creates the rules, outer first.
    pub fn new<'a>(rules: impl IntoIterator<Item = &'a ResultRule>) -> Self {
        let compiled = |rule: &ResultRule| CompiledResultRule {
            rule: rule.clone(),
            redact: OnceCell::new(),
        };
        Self {
            rules: rules.into_iter().map(compiled).collect(),
        }
    }

    /// Returns whether there are no rules.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Applies the rules to a result; `None` if it does not change.
    ///
    /// A result is a text or a list of parts; other shapes are redacted as well, but neither cut nor appended to.
    #[expect(
        clippy::missing_panics_doc,
        reason = "a value of JSON can be serialized"
    )]
    pub fn apply(&self, tool: &str, content: &RawValue, is_error: bool) -> Option<Box<RawValue>> {
        let applies = |rule: &&CompiledResultRule| rule.applies_to(tool, is_error);
        let mut rules = self.rules.iter().filter(applies).peekable();
        rules.peek()?;
        let Ok(before) = serde_json::from_str::<Value>(content.get()) else {
            // For example half a surrogate pair. A result that cannot be searched for secrets is withheld.
            let redacts = rules.any(|rule| rule.rule.redacts());
            return redacts.then(withheld);
        };
        let rules: Vec<&CompiledResultRule> = rules.collect();
        let mut after = before.clone();
        // Half of a secret matches no pattern, so all levels redact before any of them cuts.
        for rule in &rules {
            rule.redact(&mut after);
        }
        for rule in &rules {
            rule.shape(&mut after);
        }
        (after != before).then(|| to_raw_value(&after).expect("a value of JSON can be serialized"))
    }

    /// Redacts a text that is shown to the model as part of a result, such as the output of a gate's command.
    pub(crate) fn redact_text(&self, tool: &str, is_error: bool, text: &mut String) {
        let rules = self.rules.iter();
        for rule in rules.filter(|rule| rule.applies_to(tool, is_error)) {
            let mut content = Value::String(std::mem::take(text));
            rule.redact(&mut content);
            if let Value::String(redacted) = content {
                *text = redacted;
            }
        }
    }
}

impl CompiledResultRule {
    fn applies_to(&self, tool: &str, is_error: bool) -> bool {
        let kind = if is_error {
            ResultKind::Error
        } else {
            ResultKind::Ok
        };
        names_match(&self.rule.tools, tool) && self.rule.on.is_none_or(|on| on == kind)
    }

    fn redact(&self, content: &mut Value) {
        if self.rule.unread {
            let text = format!(
                "[withheld: the pattern at {} that redacts this result cannot be read]",
                self.rule.source
            );
            return withhold(content, &text);
        }
        let compile = || {
            let patterns = self.rule.redact.iter().map(|pattern| match &**pattern {
                SECRETS => Some(shapes().clone()),
                pattern => regex(pattern).ok(),
            });
            patterns.collect()
        };
        let with = self.rule.with.as_deref().unwrap_or(REDACTED);
        match self.redact.get_or_init(compile) {
            Some(patterns) => {
                for pattern in patterns {
                    redact_across(content, pattern, with);
                    redact_value(content, pattern, with);
                }
            }
            // It is not known what is secret.
            None => withhold(content, with),
        }
    }

    /// Cuts and appends.
    fn shape(&self, content: &mut Value) {
        if let Some(most) = self.rule.max_chars {
            let mut left = most as usize;
            for text in texts(content) {
                left = cut(text, left);
            }
        }
        if let Some(appended) = &self.rule.append {
            append(content, appended);
        }
    }
}

/// Replaces the matches in a text; true if there were any.
fn replace_matches(text: &mut String, pattern: &Regex, with: &str) -> bool {
    let is_match = pattern.is_match(text);
    if is_match {
        *text = pattern.replace_all(text, NoExpand(with)).into_owned();
    }
    is_match
}

/// Redacts every string, number and key of a value.
fn redact_value(value: &mut Value, pattern: &Regex, with: &str) {
    match value {
        Value::String(text) => {
            replace_matches(text, pattern, with);
        }
        Value::Number(number) => {
            let mut digits = number.to_string();
            if replace_matches(&mut digits, pattern, with) {
                *value = Value::String(digits);
            }
        }
        Value::Array(values) => {
            for value in values {
                redact_value(value, pattern, with);
            }
        }
        Value::Object(members) => {
            let is_media = is_media(members);
            for (key, member) in members.iter_mut() {
                if !is_kept(key, member, is_media) {
                    redact_value(member, pattern, with);
                }
            }
            redact_keys(members, pattern, with);
        }
        Value::Null | Value::Bool(_) => {}
    }
}

/// Replaces the matches in keys, except in those by which a host knows a part. Two members that get the same key are
/// both preserved.
fn redact_keys(members: &mut Map<String, Value>, pattern: &Regex, with: &str) {
    const KNOWN: [&str; 9] = [
        "type", "text", "thinking", "data", "mimeType", "source", "resource", "uri", "content",
    ];
    let is_redacted = |key: &str| !KNOWN.contains(&key) && pattern.is_match(key);
    if !members.keys().any(|key| is_redacted(key)) {
        return;
    }
    for (mut key, value) in std::mem::take(members) {
        if is_redacted(&key) {
            replace_matches(&mut key, pattern, with);
        }
        while members.contains_key(&key) {
            key.push('_');
        }
        members.insert(key, value);
    }
}

/// Redacts matches that begin in one text and end in a later one: the model reads them one after the other.
fn redact_across(content: &mut Value, pattern: &Regex, with: &str) {
    let mut texts = Vec::new();
    all_texts(content, &mut texts);
    if texts.len() < 2 {
        return;
    }
    let joined: String = texts.iter().map(|text| text.as_str()).collect();
    let found: Vec<_> = pattern.find_iter(&joined).collect();
    // From the end, so that the offsets before a replaced part remain valid.
    let mut end = joined.len();
    for text in texts.iter_mut().rev() {
        let start = end - text.len();
        for found in found.iter().rev() {
            let (from, to) = (found.start(), found.end());
            let is_within = start <= from && to <= end;
            if is_within || to <= start || end <= from {
                continue;
            }
            let with = if from < start { "" } else { with };
            text.replace_range(from.max(start) - start..to.min(end) - start, with);
        }
        end = start;
    }
}

/// Collects all strings that are texts, in the order of the result: elements of lists, and the usual members of parts.
fn all_texts<'a>(value: &'a mut Value, texts: &mut Vec<&'a mut String>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(values) => {
            for value in values {
                all_texts(value, texts);
            }
        }
        Value::Object(members) => {
            for (key, member) in members.iter_mut() {
                if matches!(&**key, "text" | "thinking" | "content" | "resource") {
                    all_texts(member, texts);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns whether a part is an image or sound.
fn is_media(members: &Map<String, Value>) -> bool {
    let named = |key| members.get(key).and_then(Value::as_str);
    matches!(named("type"), Some("image" | "audio" | "base64"))
}

/// Returns whether a member is not a text: the data of an image or sound, and the type of a part that hosts know.
fn is_kept(key: &str, member: &Value, is_media: bool) -> bool {
    const TYPES: [&str; 6] = [
        "text",
        "image",
        "audio",
        "base64",
        "resource",
        "resource_link",
    ];
    match key {
        "data" => is_media && member.is_string(),
        "type" => member.as_str().is_some_and(|kind| TYPES.contains(&kind)),
        _ => false,
    }
}

/// Replaces every text of a result, and every part that may contain text, by one text.
fn withhold(content: &mut Value, text: &str) {
    match content {
        Value::String(content) => text.clone_into(content),
        Value::Array(parts) => parts.iter_mut().for_each(|part| withhold_part(part, text)),
        Value::Object(_) | Value::Number(_) => {
            *content = Value::Array(vec![text_part(text)]);
        }
        Value::Null | Value::Bool(_) => {}
    }
}

fn withhold_part(part: &mut Value, text: &str) {
    match part {
        Value::String(part) => text.clone_into(part),
        Value::Object(members) if is_media(members) => retain_media(members),
        Value::Object(_) | Value::Array(_) | Value::Number(_) => *part = text_part(text),
        Value::Null | Value::Bool(_) => {}
    }
}

/// Removes everything from an image or sound that may be a text.
fn retain_media(members: &mut Map<String, Value>) {
    members.retain(|key, member| match (&**key, member) {
        ("source", Value::Object(source)) if is_media(source) => {
            retain_media(source);
            true
        }
        ("mimeType" | "media_type", Value::String(kind)) => {
            kind.starts_with("image/") || kind.starts_with("audio/")
        }
        (key, member) => is_kept(key, member, true),
    });
}

fn text_part(text: &str) -> Value {
    serde_json::json!({"type": "text", "text": text})
}

/// Returns the replacement for a result that cannot be parsed.
fn withheld() -> Box<RawValue> {
    let text = "[redacted: the result could not be read]";
    to_raw_value(&[text_part(text)]).expect("a value of JSON can be serialized")
}

/// Returns the texts of a result.
fn texts(content: &mut Value) -> Vec<&mut String> {
    match content {
        Value::String(text) => vec![text],
        Value::Array(parts) => parts.iter_mut().filter_map(text_of).collect(),
        _ => Vec::new(),
    }
}

fn text_of(part: &mut Value) -> Option<&mut String> {
    if part.get("type")? != "text" {
        return None;
    }
    match part.get_mut("text")? {
        Value::String(text) => Some(text),
        _ => None,
    }
}

/// Cuts the middle of a text. Returns the number of characters left for the next one.
pub(crate) fn cut(text: &mut String, most: usize) -> usize {
    let Some((head, left_out, tail)) = text::ends(text, most - most / 3, most / 3) else {
        return most - text.chars().count();
    };
    *text = format!("{head}\n[… {left_out} characters left out …]\n{tail}");
    0
}

/// Appends a text to the last one, or as a new part if there is none.
fn append(content: &mut Value, appended: &str) {
    match texts(content).pop() {
        Some(last) => {
            if !last.is_empty() && !last.ends_with('\n') {
                last.push('\n');
            }
            last.push_str(appended);
        }
        None => {
            if let Value::Array(parts) = content {
                parts.push(text_part(appended));
            }
        }
    }
}

#[cfg(test)]
mod tests;
