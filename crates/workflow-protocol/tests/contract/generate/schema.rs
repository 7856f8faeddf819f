//! JSON Schema of the protocol's types, draft 2020-12.
//!
//! Parameters are described as their reader accepts them, results as their writer makes them.

use schemars::Schema;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use workflow_protocol::{ErrorData, Kind, WorkflowState};

use crate::methods::{Direction, HOST_METHODS, METHODS, MethodInfo};

/// The dialect of every schema.
const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";

/// A method with the schemas of its parameters and its result.
pub(super) struct Described {
    pub(super) method: &'static MethodInfo,
    pub(super) params: Value,
    pub(super) result: Value,
}

/// The schemas of all methods, and the definitions they refer to.
pub(crate) struct Contract {
    pub(super) methods: Vec<Described>,
    pub(super) definitions: Map<String, Value>,
}

impl Contract {
    /// The contract, its definitions under a JSON pointer, for example `/$defs`.
    pub(crate) fn under(definitions_path: &'static str) -> Self {
        let mut read = reader(definitions_path).into_generator();
        let mut written = writer(definitions_path).into_generator();
        let methods = METHODS.iter().chain(HOST_METHODS).map(|method| {
            let (params, result) = match method.direction {
                Direction::ToSidecar => (&mut read, &mut written),
                Direction::ToHost => (&mut written, &mut read),
            };
            Described {
                method,
                params: (method.params)(params).to_value(),
                result: (method.result)(result).to_value(),
            }
        });
        let methods = methods.collect();
        written.subschema_for::<ErrorData>();
        let definitions = merged(read.take_definitions(true), written.take_definitions(true));
        Self {
            methods,
            definitions,
        }
    }

    /// The kinds of errors, each with its name and its meaning.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = (Kind, &str, &str)> {
        let kinds = self.definitions["ErrorKind"]["oneOf"].as_array();
        kinds.expect("a list").iter().map(|kind| {
            let read = Kind::deserialize(&kind["const"]).expect("a kind");
            let text = |member: &str| kind[member].as_str().expect("a text");
            (read, text("const"), text("description"))
        })
    }
}

/// The description of what the sidecar reads: a member with a default may be left out.
fn reader(definitions_path: &'static str) -> SchemaSettings {
    plain(definitions_path).for_deserialize()
}

/// The description of what the sidecar writes: a member that it leaves out is never null.
fn writer(definitions_path: &'static str) -> SchemaSettings {
    plain(definitions_path)
        .for_serialize()
        .with_transform(RecursiveTransform(plain_optionals))
}

fn plain(definitions_path: &'static str) -> SchemaSettings {
    SchemaSettings::draft2020_12()
        .with(|settings| settings.definitions_path = definitions_path.into())
        .with_transform(RecursiveTransform(plain_values))
}

/// One set of definitions; a type that both sides write must look the same from both.
fn merged(mut left: Map<String, Value>, right: Map<String, Value>) -> Map<String, Value> {
    for (name, schema) in right {
        let known = left.insert(name.clone(), schema.clone());
        assert!(
            known.is_none_or(|known| known == schema),
            "`{name}` looks different read and written"
        );
    }
    left
}

/// Takes out Rust's names for number formats, which no other tool knows, and joins the lines of a description.
fn plain_values(schema: &mut Schema) {
    let rust = schema
        .get("format")
        .and_then(Value::as_str)
        .is_some_and(|format| format.contains("int"));
    if rust {
        schema.remove("format");
    }
    if let Some(Value::String(description)) = schema.get_mut("description") {
        *description = description.split_whitespace().collect::<Vec<_>>().join(" ");
    }
}

/// Takes null out of members that may be left out.
fn plain_optionals(schema: &mut Schema) {
    let required = schema.get("required").cloned().unwrap_or_default();
    let Some(Value::Object(members)) = schema.get_mut("properties") else {
        return;
    };
    for (name, member) in members {
        if let Value::Object(member) = member
            && !contains(&required, name)
        {
            without_null(member);
        }
    }
}

/// Tells whether a JSON value is a list of names with this name.
pub(super) fn contains(names: &Value, name: &str) -> bool {
    names
        .as_array()
        .is_some_and(|names| names.iter().any(|known| known == name))
}

/// `["string", "null"]` becomes `"string"`, and a reference beside null becomes the reference.
fn without_null(member: &mut Map<String, Value>) {
    if let Some([only, Value::String(null)]) = list(member, "type")
        && null == "null"
    {
        let only = only.clone();
        member.insert("type".to_owned(), only);
    }
    if let Some([Value::Object(only), null]) = list(member, "anyOf")
        && *null == json!({ "type": "null" })
    {
        let only = only.clone();
        member.remove("anyOf");
        member.extend(only);
    }
}

fn list<'a>(schema: &'a Map<String, Value>, keyword: &str) -> Option<&'a [Value]> {
    schema.get(keyword)?.as_array().map(Vec::as_slice)
}

/// Every type of the contract, and what a call looks like on its line.
pub(super) fn bundle() -> Value {
    let contract = Contract::under("/$defs");
    let call = |described: &Described| {
        json!({
            "title": described.method.name,
            "description": described.method.summary,
            "properties": { "method": { "const": described.method.name }, "params": described.params },
        })
    };
    json!({
        "$schema": DRAFT,
        "title": "workflow-sidecar protocol, version 1: a call",
        "description": "A request or a notification of either side. The definitions contain every type of the contract.",
        "type": "object",
        "required": ["jsonrpc", "method"],
        "properties": { "jsonrpc": { "const": "2.0" }, "id": { "type": ["string", "number", "null"] } },
        "oneOf": contract.methods.iter().map(call).collect::<Vec<_>>(),
        "$defs": contract.definitions,
    })
}

/// The data of a `workflow:state` entry.
pub(super) fn state() -> Value {
    let mut schema = writer("/$defs")
        .into_generator()
        .into_root_schema_for::<WorkflowState>();
    schema.insert("title".to_owned(), "workflow:state".into());
    schema.to_value()
}
