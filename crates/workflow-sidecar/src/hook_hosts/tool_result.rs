//! Results of tools, whose form each host chooses, as rules on results look at them.
//!
//! All of a result is redacted in its own form. Hosts replace a result by a text, so what is cut and appended to is the text
//! of the result.

use std::borrow::Cow;

use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

/// The members of a result that are no text of it.
const KINDS: [&str; 2] = ["type", "result_type"];
/// The members with the part of a result that is for the model.
const FOR_THE_MODEL: [&str; 2] = ["llmContent", "text_result_for_llm"];

/// A change of a result by rules; `None` if they change nothing.
type Rules<'r> = dyn FnMut(&RawValue) -> Option<Box<RawValue>> + 'r;

/// What the model gets instead of a result.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Replacement {
    /// Its text.
    pub(super) text: String,
    /// The result with what was redacted; `None` if only the text counts.
    pub(super) redacted: Option<Value>,
}

/// Returns what the model gets instead of a result, if a rule changes it.
pub(super) fn rewritten(result: &RawValue, rules: &mut Rules<'_>) -> Option<Replacement> {
    let result = for_the_model(result);
    // In a member, a result is redacted, but neither cut nor appended to.
    let redacted = rules(&within(&result));
    let is_redacted = redacted.is_some();
    let value = match redacted {
        Some(redacted) => without(&redacted),
        // No rule redacts, so a result that cannot be read stays as it is.
        None => serde_json::from_str(result.get()).ok()?,
    };
    let mut text = String::new();
    add_text(&value, &mut text);
    if text.is_empty() && is_redacted {
        text = value.to_string();
    }
    if text.is_empty() {
        return None;
    }
    let parts = to_raw_value(&json!([{ "type": "text", "text": text }]));
    match rules(&parts.expect("a JSON value is JSON")) {
        Some(parts) => Some(Replacement {
            text: joined(&parts),
            redacted: None,
        }),
        None => is_redacted.then_some(Replacement {
            text,
            redacted: Some(value),
        }),
    }
}

/// Returns the part of a result that is for the model: all of it, if none is marked or it cannot be read.
fn for_the_model(result: &RawValue) -> Cow<'_, RawValue> {
    let value: Value = serde_json::from_str(result.get()).unwrap_or_default();
    let part = FOR_THE_MODEL.iter().find_map(|key| value.get(key));
    part.map_or(Cow::Borrowed(result), |part| {
        Cow::Owned(to_raw_value(part).expect("a JSON value is JSON"))
    })
}

fn within(result: &RawValue) -> Box<RawValue> {
    let json = format!("{{\"content\":{}}}", result.get());
    RawValue::from_string(json).expect("the result is JSON")
}

/// Takes the result out of its member. One that was withheld is in none.
fn without(content: &RawValue) -> Value {
    let mut content: Value = serde_json::from_str(content.get()).unwrap_or_default();
    match content.get_mut("content") {
        Some(result) => result.take(),
        None => content,
    }
}

fn joined(parts: &RawValue) -> String {
    let parts: Vec<Value> = serde_json::from_str(parts.get()).unwrap_or_default();
    let texts = parts.iter().filter_map(|part| part["text"].as_str());
    texts.collect::<Vec<_>>().join("\n")
}

fn add_text(value: &Value, text: &mut String) {
    match value {
        Value::String(string) => {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str(string);
        }
        Value::Array(values) => values.iter().for_each(|value| add_text(value, text)),
        Value::Object(members) => {
            // The kind of a part is no text of the result.
            let members = members.iter();
            let members = members.filter(|(name, _)| !KINDS.contains(&name.as_str()));
            members.for_each(|(_, value)| add_text(value, text));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns a result in its own form with the texts of its replacement. If only one text counts, it stands for the longest one that
/// is no path, and the others are empty.
pub(super) fn in_its_form(mut result: Value, replacement: &Replacement) -> Value {
    let redacted = replacement.redacted.as_ref();
    if redacted.is_some_and(|redacted| redact(&mut result, redacted).is_some()) {
        return result;
    }
    let text = &replacement.text;
    let mut texts = Vec::new();
    collect_texts(&mut result, false, &mut texts);
    texts.sort_by_key(|(is_path, text)| (!is_path, text.len()));
    let longest = texts.pop();
    for (_, text) in texts {
        text.clear();
    }
    let Some((_, longest)) = longest else {
        return json!(text);
    };
    text.clone_into(longest);
    result
}

/// Takes the redacted texts. A number that was redacted is zero. `None` if the redacted result has another form.
fn redact(value: &mut Value, redacted: &Value) -> Option<()> {
    match (value, redacted) {
        (Value::String(text), Value::String(redacted)) => redacted.clone_into(text),
        (Value::Array(values), Value::Array(redacted)) if values.len() == redacted.len() => {
            let mut both = values.iter_mut().zip(redacted);
            return both.try_for_each(|(value, redacted)| redact(value, redacted));
        }
        (Value::Object(members), Value::Object(redacted)) if members.len() == redacted.len() => {
            let mut members = members.iter_mut();
            return members.try_for_each(|(name, value)| redact(value, redacted.get(name)?));
        }
        (value, redacted) if *value == *redacted => {}
        (value @ Value::Number(_), Value::String(_)) => *value = json!(0),
        _ => return None,
    }
    Some(())
}

/// Collects the texts of a result, each with whether it is a path. Numbers become zero.
fn collect_texts<'v>(value: &'v mut Value, is_path: bool, texts: &mut Vec<(bool, &'v mut String)>) {
    match value {
        Value::String(text) => texts.push((is_path, text)),
        Value::Array(values) => {
            for value in values {
                collect_texts(value, is_path, texts);
            }
        }
        Value::Object(members) => {
            for (name, value) in members {
                if !KINDS.contains(&name.as_str()) {
                    let is_path = name.to_ascii_lowercase().ends_with("path");
                    collect_texts(value, is_path, texts);
                }
            }
        }
        Value::Number(_) => *value = json!(0),
        Value::Null | Value::Bool(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_takes_the_place_of_the_texts_of_a_result() {
        for (result, expected) in [
            (
                json!({"stdout": "a", "stderr": "longer", "isImage": false}),
                json!({"stdout": "", "stderr": "new", "isImage": false}),
            ),
            (
                json!({"type": "text", "file": {"filePath": "/longest", "content": "all", "lines": 1}}),
                json!({"type": "text", "file": {"filePath": "", "content": "new", "lines": 0}}),
            ),
            (
                json!([{"type": "text", "text": "a"}]),
                json!([{"type": "text", "text": "new"}]),
            ),
            (json!("a"), json!("new")),
            (json!(null), json!("new")),
        ] {
            let replacement = Replacement {
                text: "new".to_owned(),
                redacted: None,
            };
            assert_eq!(in_its_form(result, &replacement), expected);
        }
    }

    #[test]
    fn a_redacted_result_keeps_its_form() {
        let result = json!({"stdout": "sk-1", "card": 4111, "lines": 2, "isImage": false});
        let redacted =
            json!({"stdout": "[redacted]", "card": "[redacted]", "lines": 2, "isImage": false});
        let replacement = Replacement {
            text: "[redacted]".to_owned(),
            redacted: Some(redacted),
        };
        assert_eq!(
            in_its_form(result, &replacement),
            json!({"stdout": "[redacted]", "card": 0, "lines": 2, "isImage": false})
        );
        let other = json!({"sk-1": 1});
        assert_eq!(in_its_form(other, &replacement), json!("[redacted]"));
    }
}
