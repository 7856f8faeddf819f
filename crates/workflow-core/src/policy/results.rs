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
use crate::pattern::{names_match, regex};

/// The replacement for redacted text, unless the rule sets one.
const REDACTED: &str = "[redacted]";

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
    #[must_use]
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
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Applies the rules to a result; `None` if it does not change.
    ///
    /// A result is a text or a list of parts; other shapes are redacted as well, but neither cut nor appended to.
    #[must_use]
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
            let redacts = rules.any(|rule| rule.rule.unread || !rule.rule.redact.is_empty());
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
}

impl Results {
    /// Redacts a text that is shown to the model as part of a result, such as the output of a gate's command.
    pub(crate) fn redact_text(&self, tool: &str, is_error: bool, text: &mut String) {
        let rules = self.rules.iter();
        for rule in rules.filter(|rule| rule.applies_to(tool, is_error)) {
            rule.redact_text(text);
        }
    }
}

/// What a rule does to texts.
enum Redaction<'a> {
    /// Matches are replaced.
    Matches {
        patterns: &'a [Regex],
        with: &'a str,
    },
    /// It is not known what is secret, so all text is replaced.
    All(String),
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
        match self.redaction() {
            Redaction::Matches { patterns, with } => {
                for pattern in patterns {
                    redact_across(content, pattern, with);
                    redact_value(content, pattern, with);
                }
            }
            Redaction::All(text) => withhold(content, &text),
        }
    }

    fn redact_text(&self, text: &mut String) {
        match self.redaction() {
            Redaction::Matches { patterns, with } => {
                for pattern in patterns {
                    replace_matches(text, pattern, with);
                }
            }
            Redaction::All(replacement) => *text = replacement,
        }
    }

    fn redaction(&self) -> Redaction<'_> {
        if self.rule.unread {
            return Redaction::All(format!(
                "[withheld: the pattern at {} that redacts this result cannot be read]",
                self.rule.source
            ));
        }
        // A pattern that cannot be compiled redacts the whole text.
        let compile = || {
            self.rule
                .redact
                .iter()
                .map(|pattern| regex(pattern).ok())
                .collect()
        };
        let with = self.rule.with.as_deref().unwrap_or(REDACTED);
        match self.redact.get_or_init(compile) {
            Some(patterns) => Redaction::Matches { patterns, with },
            None => Redaction::All(with.to_owned()),
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
    let found: Vec<(usize, usize)> = pattern
        .find_iter(&joined)
        .map(|found| (found.start(), found.end()))
        .collect();
    // From the end, so that the offsets before a replaced part remain valid.
    let mut end = joined.len();
    for text in texts.iter_mut().rev() {
        let start = end - text.len();
        for &(from, to) in found.iter().rev() {
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

/// Returns whether a member is no text: the data of an image or sound, and the type of a part that hosts know.
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
    let length = text.chars().count();
    if length <= most {
        return most - length;
    }
    let (head, tail) = (most - most / 3, most / 3);
    let at = |index: usize| {
        text.char_indices()
            .nth(index)
            .map_or(text.len(), |(at, _)| at)
    };
    let (head, tail) = (at(head), at(length - tail));
    let left_out = length - most;
    *text = format!(
        "{}\n[… {left_out} characters left out …]\n{}",
        &text[..head],
        &text[tail..]
    );
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
mod tests {
    use serde_json::json;

    use super::*;

    fn rule(said: &Value) -> ResultRule {
        let mut rule = json!({"tools": ["*"]});
        for (key, value) in said.as_object().expect("a rule is a map") {
            rule[key] = value.clone();
        }
        serde_json::from_value(rule).expect("it is a rule")
    }

    fn applied(rules: &[Value], tool: &str, content: &Value, is_error: bool) -> Option<Value> {
        let rules: Vec<ResultRule> = rules.iter().map(rule).collect();
        let content = to_raw_value(content).expect("a value is JSON");
        let applied = Results::new(&rules).apply(tool, &content, is_error)?;
        Some(serde_json::from_str(applied.get()).expect("it is JSON"))
    }

    #[test]
    fn secrets_are_replaced_in_every_text() {
        let content = json!([
            {"type": "text", "text": "key sk-1234 and sk-5678"},
            {"type": "image", "data": "sk-1234"},
            {"type": "text", "text": "$1 sk-9"},
        ]);
        let rules = [json!({"redact": ["sk-[0-9]+"], "with": "$0"})];
        let expected = json!([
            {"type": "text", "text": "key $0 and $0"},
            {"type": "image", "data": "sk-1234"},
            {"type": "text", "text": "$1 $0"},
        ]);
        assert_eq!(applied(&rules, "bash", &content, false), Some(expected));
    }

    #[test]
    fn a_long_text_keeps_its_start_and_its_end() {
        let text = format!("{}{}", "a".repeat(20), "z".repeat(20));
        let found = applied(&[json!({"maxChars": 9})], "bash", &json!(text), false);
        let expected = "aaaaaa\n[… 31 characters left out …]\nzzz";
        assert_eq!(found, Some(json!(expected)));
        assert_eq!(
            applied(&[json!({"maxChars": 40})], "bash", &json!(text), false),
            None
        );
    }

    #[test]
    fn no_level_cuts_before_all_have_redacted() {
        let rules = [
            json!({"maxChars": 9}),
            json!({"redact": ["sk-[0-9]{8}"], "with": "*"}),
        ];
        let text = format!("abcd sk-12345678 {}", "z".repeat(20));
        let found = applied(&rules, "bash", &json!(text), false).expect("it is changed");
        assert!(!found.to_string().contains("sk-"), "{found}");
    }

    #[test]
    fn an_unreadable_rule_withholds_the_text_only() {
        let rules = [json!({"unread": true, "source": "f:3"})];
        let content = json!([{"type": "text", "text": "sk-1"}, {"type": "image", "data": "i"}]);
        let found = applied(&rules, "bash", &content, false).expect("it is changed");
        let text = found[0]["text"].as_str().expect("it is text");
        assert!(text.contains("f:3") && !text.contains("sk-1"), "{text}");
        assert_eq!(found[1], content[1]);
    }

    #[test]
    fn only_matching_results_are_changed() {
        let rules = [json!({"tools": ["ba*"], "on": "error", "append": "Read it."})];
        let content = json!([{"type": "text", "text": "failed"}]);
        let expected = json!([{"type": "text", "text": "failed\nRead it."}]);
        assert_eq!(applied(&rules, "bash", &content, true), Some(expected));
        assert_eq!(applied(&rules, "bash", &content, false), None);
        assert_eq!(applied(&rules, "read", &content, true), None);
    }

    #[test]
    fn an_invalid_pattern_redacts_everything() {
        let found = applied(&[json!({"redact": ["("]})], "bash", &json!("secret"), false);
        assert_eq!(found, Some(json!("[redacted]")));
    }

    #[test]
    fn an_invalid_result_is_withheld_if_a_rule_redacts() {
        let content = RawValue::from_string(r#""sk-1 \ud83d""#.to_owned()).expect("it is JSON");
        let applied = |said: Value| {
            let applied = Results::new(&[rule(&said)]).apply("bash", &content, false);
            applied.map(|applied| applied.get().to_owned())
        };
        let redacted = applied(json!({"redact": ["sk-[0-9]"]})).expect("it is replaced");
        assert!(!redacted.contains("sk-1"), "{redacted}");
        assert_eq!(applied(json!({"append": "b"})), None);
    }

    #[test]
    fn content_without_text_is_neither_cut_nor_appended_to() {
        let rules = [json!({"maxChars": 1, "append": "b"})];
        for content in [json!(null), json!({"a": "aaa"}), json!(1)] {
            assert_eq!(applied(&rules, "bash", &content, false), None, "{content}");
        }
    }

    /// Every shape in which a host may pass on a text.
    fn shapes_with(key: &str) -> Vec<Value> {
        let said = format!("the key is {key}.");
        vec![
            json!(said),
            json!({"text": said}),
            json!({"content": said}),
            json!({"content": [{"type": "text", "text": said}]}),
            json!({"type": "text", "text": said}),
            json!([said]),
            json!([1, said]),
            json!([[said]]),
            json!([{"type": "text", "text": "a"}, said]),
            json!([{"type": "text", "text": [said]}]),
            json!([{"type": "text", "text": {"value": said}}]),
            json!([{"type": "text", "value": said}]),
            json!([{"type": "text", "text": "a", "annotations": {"title": said}}]),
            json!([{"type": "Text", "text": said}]),
            json!([{"type": ["text"], "text": said}]),
            json!([{"text": said}]),
            json!([{"content": said}]),
            json!([{"type": "content", "content": {"type": "text", "text": said}}]),
            json!([{"type": "thinking", "thinking": said}]),
            json!([{"type": "thinking", "thinking": "a", "signature": said}]),
            json!([{"type": "redacted_thinking", "data": said}]),
            json!([{"type": "json", "data": said}]),
            json!([{"type": "json", "json": {"a": [{"b": said}]}}]),
            json!([{"type": "tool_result", "content": [{"type": "text", "text": said}]}]),
            json!([{"type": "tool_use", "input": {"command": said}}]),
            json!([{"type": "structured", "structuredContent": {"value": said}}]),
            json!([{"type": "resource", "resource": {"uri": "file:///a", "text": said}}]),
            json!([{"type": "resource", "resource": {"uri": format!("file:///{key}"), "text": "a"}}]),
            json!([{"type": "resource", "resource": {"uri": "file:///a", "blob": key}}]),
            json!([{"type": "resource", "resource": {"mimeType": key}}]),
            json!([{"type": "resource_link", "uri": format!("file:///{key}"), "name": "a"}]),
            json!([{"type": "resource_link", "uri": "file:///a", "name": said}]),
            json!([{"type": "resource_link", "uri": "file:///a", "name": "a", "title": said}]),
            json!([{"type": "resource_link", "uri": "file:///a", "name": "a", "description": said}]),
            json!([{"type": "image", "data": "aaaa", "mimeType": key}]),
            json!([{"type": "image", "data": "aaaa", "alt": said}]),
            json!([{"type": "image", "data": [said]}]),
            json!([{"type": "image", "url": format!("https://example.com/{key}")}]),
            json!([{"type": "image", "source": {"type": "url", "url": key}}]),
            json!([{"type": "audio", "data": "aaaa", "transcript": said}]),
            json!([{"type": "error", "message": said, "stack": said}]),
            json!([{"type": key}]),
            json!([{(key): "a"}]),
            json!({(key): {(key): true}}),
            json!([{"type": "text", "text": "a", "_meta": {(key): null}}]),
            json!([{"type": "text", "text": "a"}, null, true, {"x": {"y": {"z": [[[said]]]}}}]),
        ]
    }

    #[test]
    fn a_secret_is_redacted_in_every_shape_of_a_result() {
        let key = "sk-abcdefghijklmnopqrstuvwxyz";
        let rules = [json!({"redact": ["sk-[A-Za-z0-9]{20,}"]})];
        for content in shapes_with(key) {
            let found = applied(&rules, "bash", &content, false);
            let found = found.unwrap_or_else(|| panic!("unchanged: {content}"));
            assert!(!found.to_string().contains("sk-"), "{content}: {found}");
            assert!(
                found.to_string().contains(REDACTED),
                "{content}: only the secret is replaced: {found}"
            );
        }
    }

    #[test]
    fn every_shape_is_withheld_where_it_is_not_known_what_is_secret() {
        let key = "sk-abcdefghijklmnopqrstuvwxyz";
        for rule in [json!({"unread": true}), json!({"redact": ["("]})] {
            for content in shapes_with(key) {
                let found = applied(std::slice::from_ref(&rule), "bash", &content, false);
                let found = found.unwrap_or_else(|| panic!("unchanged: {content}"));
                assert!(!found.to_string().contains("sk-"), "{content}: {found}");
            }
        }
    }

    #[test]
    fn a_number_that_is_a_secret_becomes_a_redacted_text() {
        let rules = [json!({"redact": ["[0-9]{16}"]})];
        let content = json!([{"type": "json", "card": 4_111_111_111_111_111_u64, "count": 3}]);
        let expected = json!([{"type": "json", "card": "[redacted]", "count": 3}]);
        assert_eq!(applied(&rules, "pay", &content, false), Some(expected));
    }

    #[test]
    fn members_whose_keys_become_equal_are_both_preserved() {
        let rules = [json!({"redact": ["sk-[0-9]"]})];
        let content = json!({"sk-1": "a", "sk-2": "b"});
        let expected = json!({"[redacted]": "a", "[redacted]_": "b"});
        assert_eq!(applied(&rules, "bash", &content, false), Some(expected));
    }

    #[test]
    fn a_secret_that_is_split_over_texts_is_redacted() {
        let rules = [json!({"redact": ["sk-[a-z]{20,}"], "with": "*"})];
        let text = |text: &str| json!({"type": "text", "text": text});
        let split = |parts: Vec<Value>| applied(&rules, "bash", &json!(parts), false);
        let key = ["x sk-abcdefgh", "ijklmnopqrst", "uvwxyz. y"];
        assert_eq!(
            split(key.map(text).to_vec()),
            Some(json!([text("x *"), text(""), text(". y")]))
        );
        assert_eq!(
            split(vec![json!(key[0]), text(key[1]), json!(key[2])]),
            Some(json!(["x *", text(""), ". y"]))
        );
        // The longer match counts, although the first part matches by itself.
        let long = [
            "sk-abcdefghijklmnopqrstuvwxyz",
            "abc. sk-abcdefghijklmnopqrstu",
        ];
        assert_eq!(
            split(long.map(text).to_vec()),
            Some(json!([text("*"), text(". *")]))
        );
        assert_eq!(split(vec![text("sk-abc"), text(" def")]), None);
    }

    #[test]
    fn images_and_types_of_parts_are_unchanged() {
        let rules = [json!({"redact": ["text", "image", "iVBOR", "resource"]})];
        let content = json!([
            {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "a/b"},
            {"type": "image", "source": {"type": "base64", "data": "iVBORw0KGgo="}},
            {"type": "text", "text": "a"},
            {"type": "audio", "data": "iVBORw0KGgo="},
        ]);
        assert_eq!(applied(&rules, "read", &content, false), None);
    }
}
