//! The JSON Schema of a map, made from its keys.

use serde_json::{Map, Value, json};

use super::key::{Default, Key};
use super::section::Section;
use crate::definition::guard_text::{GuardText, TOOL_NAME};
use crate::text::join;

/// The pattern of names of inputs, outputs and outcomes.
pub(crate) const NAME: &str = "^[A-Za-z0-9_-]+$";

/// A map with these keys and no others.
pub(crate) fn map_of<'k>(keys: impl IntoIterator<Item = &'k Key> + Clone) -> Value {
    let all = keys.clone().into_iter();
    let properties = all.map(|key| (key.name.to_owned(), property(key)));
    let properties: Map<String, Value> = properties.collect();
    let required = keys.into_iter().filter(|key| key.is_required());
    let required: Vec<&str> = required.map(|key| key.name).collect();
    let mut schema = json!({
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

fn property(key: &Key) -> Value {
    let mut schema = key.schema();
    if key.is_required() && schema["type"] == "string" {
        schema["pattern"] = json!(key.shape.pattern);
    }
    if key.check == Some(GuardText::Tool) {
        schema["items"]["pattern"] = json!(TOOL_NAME);
    }
    let mut about = key.summary.to_owned();
    if let Some(kind) = key.template {
        let dotted = kind.families().iter().map(|family| family.form());
        let names = kind.variables().iter().copied().chain(dotted);
        let variables = join(names.map(|name| format!("`{{{name}}}`")), " ");
        about = format!("{about}\n\nVariables: {variables}");
    }
    // Editors show the one as it is written, and the other as Markdown.
    schema["description"] = json!(about);
    schema["markdownDescription"] = json!(about);
    let default = match key.default {
        Default::Text(text) => Some(json!(text)),
        Default::Number(number) => Some(json!(number)),
        Default::True => Some(json!(true)),
        Default::Required | Default::RequiredToStart | Default::Described(_) => None,
    };
    if let Some(default) = default {
        schema["default"] = default;
    }
    let example: Value = serde_json::from_str(key.example).expect("a test reads every example");
    schema["examples"] = json!([example]);
    schema
}

/// A map, and what its keys need of each other.
pub(crate) fn schema_of(section: &Section) -> Value {
    let one_of = |keys: &[&str]| -> Vec<Value> {
        keys.iter().map(|key| json!({"required": [key]})).collect()
    };
    let mut schema = map_of(section.keys);
    if !section.alternatives.is_empty() {
        schema["oneOf"] = json!(one_of(section.alternatives));
    }
    if !section.effects.is_empty() {
        schema["anyOf"] = json!(one_of(section.effects));
    }
    if !section.companions.is_empty() {
        let companions = section.companions.iter();
        let companions = companions.map(|&(key, beside)| (key.to_owned(), json!([beside])));
        schema["dependencies"] = Value::Object(companions.collect());
    }
    (section.more)(&mut schema);
    schema
}

/// A map with this key alone.
pub(crate) fn only(key: &str, of: &Value) -> Value {
    let properties = json!({ key: of });
    json!({"type": "object", "properties": properties, "required": [key], "additionalProperties": false})
}

/// A map of any keys to such values, at least one.
pub(crate) fn map_to(of: &Value) -> Value {
    json!({"type": "object", "minProperties": 1, "additionalProperties": of})
}

/// The same with keys that can be names of inputs, outputs and outcomes.
pub(crate) fn named(of: &Value) -> Value {
    let mut schema = map_to(of);
    schema["propertyNames"] = json!({"pattern": NAME});
    schema
}

/// A value, or a list of at least one of them.
pub(crate) fn one_or_list(of: &Value) -> Value {
    json!({"anyOf": [of, {"type": "array", "minItems": 1, "items": of}]})
}
