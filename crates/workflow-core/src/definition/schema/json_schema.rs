//! The JSON Schema of a map, made from its keys.

use serde_json::{Map, Value, json};

use super::key::{Default, Key};
use super::section::Section;
use crate::definition::guard_text::{GuardText, TOOL_NAME};
use crate::text::join;

/// A map with these keys and no others.
pub(crate) fn map_of<'k>(keys: impl IntoIterator<Item = &'k Key> + Clone) -> Value {
    let properties: Map<String, Value> = keys
        .clone()
        .into_iter()
        .map(|key| (key.name.to_owned(), property(key)))
        .collect();
    let required: Vec<&str> = keys
        .into_iter()
        .filter(|key| key.default == Default::Required)
        .map(|key| key.name)
        .collect();
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
        let companions: Map<String, Value> = companions
            .map(|&(key, beside)| (key.to_owned(), json!([beside])))
            .collect();
        schema["dependencies"] = Value::Object(companions);
    }
    (section.more)(&mut schema);
    schema
}
