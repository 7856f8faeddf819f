//! The JSON Schemas of the files that people write, made from the rows of the language.
//!
//! Draft 7, which every editor reads. Keys beside a `$ref` have no meaning: a reference
//! is alone in an `anyOf`.

use serde_json::{Map, Value, json};

use super::model::{ContinueRule, Phase, SETTINGS_FILE, Subworkflow, TierSettings, Workflow};
use super::schema::{Declared, Default, Key, map_of};

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

    fn title_and_summary(self) -> (&'static str, String) {
        match self {
            Self::Workflow => (
                "Workflow",
                "A workflow: `workflow.yaml` or `workflow.json5`.".to_owned(),
            ),
            Self::Phase => (
                "Phase",
                "The frontmatter of a phase file. What follows it are the instructions.".to_owned(),
            ),
            Self::Settings => (
                "Settings of workflow-sidecar",
                format!(
                    "Settings: `{SETTINGS_FILE}` in `~/.pi/agent`, or in the `.pi` of a project."
                ),
            ),
        }
    }

    /// Its schema.
    #[must_use]
    pub fn schema(self) -> Value {
        let mut schema = match self {
            Self::Workflow => workflow(),
            Self::Phase => frontmatter(),
            Self::Settings => map_of(TierSettings::SECTION.keys),
        };
        let (title, summary) = self.title_and_summary();
        let head = [
            ("$schema", json!("http://json-schema.org/draft-07/schema#")),
            ("title", json!(title)),
            ("description", json!(summary)),
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
        ("phase", Phase::SECTION),
        ("reference", Subworkflow::SECTION),
        ("continue", ContinueRule::SECTION),
    ] {
        let all = format!("{text}{}", Value::Object(found.clone()));
        if all.contains(&format!("#/definitions/{name}\"")) {
            found.insert(name.to_owned(), Value::Object(map_of(section.keys)));
        }
    }
    found
}

/// A workflow: one that a person starts needs more than one that is only a part of others.
fn workflow() -> Map<String, Value> {
    let keys = Workflow::SECTION.keys;
    let to_start: Vec<&Key> = keys
        .iter()
        .filter(|key| key.default == Default::RequiredToStart)
        .collect();
    let names: Vec<&str> = to_start.iter().map(|key| key.name).collect();
    let demands: Map<String, Value> = to_start
        .iter()
        .map(|key| (key.name.to_owned(), json!({"pattern": key.shape.pattern})))
        .collect();
    let mut schema = map_of(keys);
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
    let keys = Phase::SECTION.keys.iter();
    map_of(keys.filter(|key| key.name != "instructions"))
}
