//! The JSON Schemas of the files that people write, made from the rows of the language.
//!
//! Draft 7, which every editor reads. Keys beside a `$ref` have no meaning: a reference
//! is alone in an `anyOf`.

use serde_json::{Map, Value, json};

use super::model::{ContinueRule, Phase, SETTINGS_FILE, Subworkflow, TierSettings, Workflow};
use super::schema::{Declared, Default, map_of};
use super::value::VALUE_OF_RUN;

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
    pub fn path(self) -> &'static str {
        match self {
            Self::Workflow => "schemas/workflow.schema.json",
            Self::Phase => "schemas/phase.schema.json",
            Self::Settings => "schemas/settings.schema.json",
        }
    }

    /// Its schema.
    pub fn schema(self) -> Value {
        let (title, summary, mut schema) = match self {
            Self::Workflow => (
                "Workflow",
                "A workflow: `workflow.yaml` or `workflow.json5`.".to_owned(),
                workflow(),
            ),
            Self::Phase => (
                "Phase",
                "The frontmatter of a phase file. What follows it are the instructions.".to_owned(),
                frontmatter(),
            ),
            Self::Settings => (
                "Settings of workflow-sidecar",
                format!(
                    "Settings: `{SETTINGS_FILE}` in `~/.pi/agent`, or in the `.pi` of a project."
                ),
                map_of(TierSettings::SECTION.keys),
            ),
        };
        if matches!(self, Self::Settings) {
            leave_out_values(&mut schema);
        }
        schema["$schema"] = json!("http://json-schema.org/draft-07/schema#");
        schema["title"] = json!(title);
        schema["description"] = json!(summary);
        let definitions = definitions(&schema.to_string());
        if !definitions.is_empty() {
            schema["definitions"] = Value::Object(definitions);
        }
        schema
    }
}

/// The sections that a text refers to, directly or through others.
fn definitions(text: &str) -> Map<String, Value> {
    let mut found = Map::new();
    for (name, section) in [
        ("phase", Phase::SECTION),
        ("reference", Subworkflow::SECTION),
        ("continue", ContinueRule::SECTION),
    ] {
        let all = format!("{text}{}", Value::Object(found.clone()));
        if all.contains(&format!("#/definitions/{name}\"")) {
            found.insert(name.to_owned(), map_of(section.keys));
        }
    }
    found
}

/// A workflow: one that a person starts needs more than one that is only a part of others.
fn workflow() -> Value {
    let keys = Workflow::SECTION.keys.iter();
    let to_start: Map<String, Value> = keys
        .filter(|key| key.default == Default::RequiredToStart)
        .map(|key| (key.name.to_owned(), json!({"pattern": key.shape.pattern})))
        .collect();
    let names: Vec<&String> = to_start.keys().collect();
    let mut schema = map_of(Workflow::SECTION.keys);
    schema["if"] = json!({"required": ["show"], "properties": {"show": {"const": "workflows"}}});
    schema["else"] = json!({"required": names, "properties": to_start});
    schema
}

/// Leaves out the values of a run, which no setting has.
fn leave_out_values(schema: &mut Value) {
    match schema {
        Value::Array(forms) => {
            forms.retain(|form| form["pattern"] != VALUE_OF_RUN);
            forms.iter_mut().for_each(leave_out_values);
        }
        Value::Object(map) => map.values_mut().for_each(leave_out_values),
        _ => {}
    }
}

/// A phase with instructions outside of its keys.
fn frontmatter() -> Value {
    let keys = Phase::SECTION.keys.iter();
    map_of(keys.filter(|key| key.name != "instructions"))
}
