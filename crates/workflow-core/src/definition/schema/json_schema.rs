//! The JSON Schemas of the files that people write, made from the rows of the language.
//!
//! Draft 7, which every editor reads. Keys beside a `$ref` have no meaning: a reference
//! is alone in an `anyOf`.

use serde_json::{Map, Value, json};

use super::key::{Default, Key, ValueType};
use super::section::Section;
use crate::definition::model::SETTINGS_FILE;

/// A file that has a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemaFile {
    /// A definition.
    Workflow,
    /// The frontmatter of a phase file.
    Phase,
    /// A settings file.
    Settings,
}

impl SchemaFile {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Workflow, Self::Phase, Self::Settings];

    /// The path of its schema, from the repository's root.
    #[must_use]
    pub fn path(self) -> &'static str {
        match self {
            Self::Workflow => "schemas/workflow.schema.json",
            Self::Phase => "schemas/phase.schema.json",
            Self::Settings => "schemas/settings.schema.json",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::Workflow => "Workflow",
            Self::Phase => "Phase",
            Self::Settings => "Settings of workflow-sidecar",
        }
    }

    fn summary(self) -> String {
        match self {
            Self::Workflow => "A workflow: `workflow.yaml` or `workflow.json5`.".to_owned(),
            Self::Phase => {
                "The frontmatter of a phase file. What follows it are the instructions.".to_owned()
            }
            Self::Settings => format!(
                "Settings: `{SETTINGS_FILE}` in `~/.pi/agent`, or in the `.pi` of a project."
            ),
        }
    }

    /// Its schema.
    #[must_use]
    pub fn schema(self) -> Value {
        let mut schema = match self {
            Self::Workflow => workflow(),
            Self::Phase => frontmatter(),
            Self::Settings => map(Section::Settings.keys()),
        };
        let head = [
            ("$schema", json!("http://json-schema.org/draft-07/schema#")),
            ("title", json!(self.title())),
            ("description", json!(self.summary())),
        ];
        for (key, value) in head {
            schema.insert(key.to_owned(), value);
        }
        let definitions = definitions(&Value::Object(schema.clone()).to_string());
        if !definitions.is_empty() {
            schema.insert("definitions".to_owned(), Value::Object(definitions));
        }
        Value::Object(schema)
    }
}

/// The sections that a text refers to, directly or through others.
fn definitions(text: &str) -> Map<String, Value> {
    let mut found = Map::new();
    for (name, section) in [
        ("phase", Section::Phase),
        ("reference", Section::Reference),
        ("continue", Section::Continue),
    ] {
        let all = format!("{text}{}", Value::Object(found.clone()));
        if all.contains(&format!("#/definitions/{name}\"")) {
            found.insert(name.to_owned(), Value::Object(map(section.keys())));
        }
    }
    found
}

fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/definitions/{name}")})
}

/// A workflow: one that a person starts needs more than one that is only a part of others.
fn workflow() -> Map<String, Value> {
    let keys = Section::Workflow.keys();
    let to_start: Vec<&Key> = keys
        .iter()
        .filter(|key| key.default == Default::RequiredToStart)
        .collect();
    let names: Vec<&str> = to_start.iter().map(|key| key.name).collect();
    let demands: Map<String, Value> = to_start
        .iter()
        .map(|key| (key.name.to_owned(), json!({"pattern": pattern(key.value)})))
        .collect();
    let mut schema = map(keys);
    schema.insert(
        "if".to_owned(),
        json!({"required": ["show"], "properties": {"show": {"const": "workflows"}}}),
    );
    schema.insert(
        "else".to_owned(),
        json!({"required": names, "properties": demands}),
    );
    schema
}

/// A phase with instructions outside of its keys.
fn frontmatter() -> Map<String, Value> {
    let keys = Section::Phase.keys().iter();
    map(keys.filter(|key| key.name != "instructions"))
}

/// A map with these keys and no others.
fn map<'k>(keys: impl IntoIterator<Item = &'k Key> + Clone) -> Map<String, Value> {
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
    let schema = json!({
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    });
    let Value::Object(mut schema) = schema else {
        unreachable!("it is written as an object")
    };
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    schema
}

fn property(key: &Key) -> Value {
    let mut schema = taken(key.value);
    let schema_of = schema
        .as_object_mut()
        .expect("the schema of a value is written as an object");
    if key.default == Default::Required
        && schema_of.get("type").is_some_and(|name| name == "string")
    {
        schema_of.insert("pattern".to_owned(), json!(pattern(key.value)));
    }
    let mut about = key.summary.to_owned();
    if let ValueType::Template(kind) = key.value {
        let variables: Vec<String> = kind
            .variables()
            .iter()
            .map(|name| format!("`{{{name}}}`"))
            .chain(
                kind.families()
                    .iter()
                    .map(|family| format!("`{{{}}}`", family.form())),
            )
            .collect();
        about = format!("{about}\n\nVariables: {}", variables.join(" "));
    }
    // Editors show the one as it is written, and the other as Markdown.
    schema_of.insert("description".to_owned(), json!(about));
    schema_of.insert("markdownDescription".to_owned(), json!(about));
    let default = match key.default {
        Default::Text(text) => Some(json!(text)),
        Default::Number(number) => Some(json!(number)),
        Default::True => Some(json!(true)),
        Default::Required | Default::RequiredToStart | Default::Described(_) => None,
    };
    if let Some(default) = default {
        schema_of.insert("default".to_owned(), default);
    }
    let example: Value = serde_json::from_str(key.example).expect("a test reads every example");
    schema_of.insert("examples".to_owned(), json!([example]));
    schema
}

/// The pattern of a required text.
fn pattern(value: ValueType) -> &'static str {
    match value {
        ValueType::CommandName => "^[A-Za-z0-9_-]+$",
        _ => "\\S",
    }
}

fn taken(value: ValueType) -> Value {
    match value {
        ValueType::Text | ValueType::CommandName | ValueType::Template(_) => {
            json!({"type": "string"})
        }
        ValueType::FilledText => json!({"type": "string", "pattern": "\\S"}),
        ValueType::Flag => json!({"type": "boolean"}),
        ValueType::OneOf(words) => {
            let (words, about): (Vec<&str>, Vec<&str>) = words.iter().copied().unzip();
            json!({"type": "string", "enum": words, "markdownEnumDescriptions": about})
        }
        ValueType::Whole(from, to) => {
            let mut schema = json!({"type": "integer", "minimum": from});
            if let Some(to) = to {
                schema["maximum"] = json!(to);
            }
            schema
        }
        ValueType::Bound => {
            json!({"anyOf": [{"type": "integer", "minimum": 0}, {"const": "unlimited"}]})
        }
        ValueType::Texts => json!({"type": "array", "items": {"type": "string"}}),
        ValueType::ToolNames => {
            json!({"type": "array", "items": {"type": "string", "pattern": TOOL_NAME}})
        }
        ValueType::Phases => json!({
            "type": "array",
            "minItems": 1,
            "items": {"anyOf": [
                {"type": "string", "description": "A phase file, from the workflow's directory."},
                reference("reference"),
                reference("phase"),
            ]},
        }),
        ValueType::Map(section) => Value::Object(entry(section)),
        ValueType::Tools => tools(),
        ValueType::ReadOnlyOrTools => json!({"anyOf": [
            {"const": "read-only", "description": "Nothing is changed, except what `writable` and `run` open."},
            tools(),
        ]}),
        ValueType::ListOf(section) => {
            json!({"type": "array", "items": Value::Object(entry(section))})
        }
        ValueType::ToolPatterns => text_or_texts(TOOL_NAME),
        ValueType::Patterns => text_or_texts("\\S"),
        ValueType::Fields | ValueType::Targets => json!({
            "type": "object",
            "minProperties": 1,
            "additionalProperties": {"type": "string", "pattern": "\\S"},
        }),
        // A list, or with `shell` a line: what belongs to a check of this kind says which.
        ValueType::CommandLine => json!({"type": ["array", "string"], "items": {"type": "string"}}),
        ValueType::Duration => json!({"anyOf": [
            {"type": "integer", "minimum": 1, "maximum": 86400},
            {"type": "string", "pattern": "^0*([1-9][0-9]{0,3}|[1-7][0-9]{4}|8[0-5][0-9]{3}|86[0-3][0-9]{2}|86400)s$"},
            {"type": "string", "pattern": "^0*([1-9][0-9]{0,2}|1[0-3][0-9]{2}|14[0-3][0-9]|1440)m$"},
            {"type": "string", "pattern": "^0*([1-9]|1[0-9]|2[0-4])h$"},
        ]}),
        ValueType::ExitCode => json!({"anyOf": [
            {"type": "integer", "minimum": 0, "maximum": 255},
            {"const": "nonzero"},
        ]}),
        ValueType::Choices => json!({
            "type": "array",
            "minItems": 1,
            "items": {"type": "string", "pattern": "\\S"},
        }),
        ValueType::ChoicesOrTargets
        | ValueType::Conditions
        | ValueType::Named(_)
        | ValueType::ParameterType
        | ValueType::Any
        | ValueType::RuleSets
        | ValueType::Money => flow(value),
        ValueType::WaitOr(_) => json!({"anyOf": [
            {"const": "wait", "description": "The phase waits for the user, nothing is pushed."},
            reference("continue"),
        ]}),
    }
}

/// The values of the flow.
fn flow(value: ValueType) -> Value {
    match value {
        ValueType::ChoicesOrTargets => {
            json!({"anyOf": [taken(ValueType::Choices), taken(ValueType::Fields)]})
        }
        ValueType::Conditions => {
            let value = json!({"type": ["string", "number", "boolean"]});
            let values =
                json!({"anyOf": [value, {"type": "array", "minItems": 1, "items": value}]});
            json!({
                "type": "object",
                "minProperties": 1,
                "propertyNames": {"pattern": "^(inputs\\.[A-Za-z0-9_-]+|outputs\\.[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+|visits\\.[A-Za-z0-9_-]+)$"},
                "additionalProperties": {"anyOf": [values, {
                    "type": "object",
                    "properties": {"not": values},
                    "required": ["not"],
                    "additionalProperties": false,
                }]},
            })
        }
        ValueType::Named(section) => json!({
            "type": "object",
            "minProperties": 1,
            "propertyNames": {"pattern": "^[A-Za-z0-9_-]+$"},
            "additionalProperties": Value::Object(entry(section)),
        }),
        ValueType::ParameterType => json!({"anyOf": [
            {"enum": ["text", "number", "flag", "list"]},
            {
                "type": "object",
                "properties": {"oneOf": taken(ValueType::Choices)},
                "required": ["oneOf"],
                "additionalProperties": false,
            },
        ]}),
        ValueType::Any => json!({"type": ["string", "number", "boolean", "array"]}),
        ValueType::RuleSets => json!({
            "type": "object",
            "minProperties": 1,
            "additionalProperties": {"type": "array", "minItems": 1, "items": Value::Object(entry(Section::Rule))},
        }),
        ValueType::Money => json!({"type": "number", "exclusiveMinimum": 0}),
        _ => unreachable!("the others are no values of the flow"),
    }
}

/// `tools` as a map.
fn tools() -> Value {
    let mut schema = map(Section::Tools.keys());
    schema.insert("minProperties".to_owned(), json!(1));
    schema.insert(
        "not".to_owned(),
        json!({"required": ["blacklist", "whitelist"]}),
    );
    Value::Object(schema)
}

/// A name without white space at its ends.
const TOOL_NAME: &str = "^\\S([\\s\\S]*\\S)?$";

fn text_or_texts(pattern: &str) -> Value {
    let text = json!({"type": "string", "pattern": pattern});
    json!({"anyOf": [text, {"type": "array", "minItems": 1, "items": text}]})
}

/// A map, and what its keys need of each other.
fn entry(section: Section) -> Map<String, Value> {
    let one_of = |keys: &[&str]| -> Vec<Value> {
        keys.iter().map(|key| json!({"required": [key]})).collect()
    };
    let mut schema = map(section.keys());
    if !section.alternatives().is_empty() {
        schema.insert("oneOf".to_owned(), json!(one_of(section.alternatives())));
    }
    if !section.effects().is_empty() {
        schema.insert("anyOf".to_owned(), json!(one_of(section.effects())));
    }
    if !section.companions().is_empty() {
        let companions = section.companions().iter();
        let companions: Map<String, Value> = companions
            .map(|&(key, beside)| (key.to_owned(), json!([beside])))
            .collect();
        schema.insert("dependencies".to_owned(), Value::Object(companions));
    }
    if section == Section::Gate {
        // `run` is a list, and with `shell` a line.
        schema.insert(
            "if".to_owned(),
            json!({"required": ["shell"], "properties": {"shell": {"const": true}}}),
        );
        schema.insert(
            "then".to_owned(),
            json!({"properties": {"run": {"type": "string", "pattern": "\\S"}}}),
        );
        let list = json!({"type": "array", "minItems": 1, "items": [{"pattern": "\\S"}]});
        schema.insert("else".to_owned(), json!({"properties": {"run": list}}));
    }
    schema
}
