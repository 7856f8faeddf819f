//! Results of tools, whose form each host chooses, as rules on results look at them.
//!
//! All of a result is redacted in its own form. Hosts replace a result by a text, so what is cut and appended to is the text
//! of the result.

use std::borrow::Cow;

use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

/// The members with the part of a result that is for the model.
const FOR_THE_MODEL: [&str; 2] = ["llmContent", "text_result_for_llm"];

/// A change of a result by rules; `None` if they change nothing.
type Rules<'r> = dyn FnMut(&RawValue) -> Option<Box<RawValue>> + 'r;

/// Returns the text that the model reads instead of a result, if a rule changes it.
pub(super) fn rewritten(result: &RawValue, rules: &mut Rules<'_>) -> Option<String> {
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
        Some(parts) => Some(joined(&parts)),
        None => is_redacted.then_some(text),
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
    let texts: Vec<&str> = parts
        .iter()
        .filter_map(|part| part["text"].as_str())
        .collect();
    texts.join("\n")
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
            let members = members.filter(|(name, _)| !["type", "result_type"].contains(&&***name));
            members.for_each(|(_, value)| add_text(value, text));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
