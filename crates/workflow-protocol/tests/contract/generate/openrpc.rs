//! The `OpenRPC` document. It has both directions; a tag says which side calls.

use serde_json::{Map, Value, json};
use workflow_protocol::PROTOCOL_VERSION;

use super::schema::{Contract, Described, contains};
use crate::methods::{Direction, MethodKind};

/// The path of the definitions.
const SCHEMAS: &str = "/components/schemas";

/// The document.
pub(super) fn document() -> Value {
    let contract = Contract::under(SCHEMAS);
    let methods: Vec<Value> = contract
        .methods
        .iter()
        .map(|described| method(described, &contract))
        .collect();
    json!({
        "openrpc": "1.3.2",
        "info": {
            "title": "workflow-sidecar",
            "description": "Line-delimited JSON-RPC 2.0 over standard input and output. See protocol/README.md.",
            "version": format!("{PROTOCOL_VERSION}.0.0"),
            "license": { "name": "MIT" },
        },
        "methods": methods,
        "components": {
            "schemas": contract.definitions,
            "errors": errors(&contract),
            "tags": {
                "toSidecar": { "name": "toSidecar", "description": "The host calls the sidecar." },
                "toHost": { "name": "toHost", "description": "The sidecar calls the host." },
            },
        },
    })
}

fn method(described: &Described, contract: &Contract) -> Value {
    let tag = match described.method.direction {
        Direction::ToSidecar => "toSidecar",
        Direction::ToHost => "toHost",
    };
    let mut method = json!({
        "name": described.method.name,
        "summary": described.method.summary,
        "tags": [{ "$ref": format!("#/components/tags/{tag}") }],
        "paramStructure": "by-name",
        "params": params(described, contract),
    });
    // A method without a result is a notification in OpenRPC.
    if described.method.kind == MethodKind::Request {
        method["result"] = json!({ "name": "result", "schema": described.result });
    }
    method
}

/// The members of the parameters, each on its own.
fn params(described: &Described, contract: &Contract) -> Vec<Value> {
    let schema = resolve(&described.params, &contract.definitions);
    let Some(members) = schema["properties"].as_object() else {
        return Vec::new();
    };
    let descriptor = |(name, member): (&String, &Value)| json!({ "name": name, "required": contains(&schema["required"], name), "schema": member });
    members.iter().map(descriptor).collect()
}

/// The schema itself, or the one that it refers to.
pub(super) fn resolve<'a>(schema: &'a Value, definitions: &'a Map<String, Value>) -> &'a Value {
    let referred = schema["$ref"]
        .as_str()
        .and_then(|pointer| pointer.rsplit('/').next());
    referred
        .and_then(|name| definitions.get(name))
        .unwrap_or(schema)
}

fn errors(contract: &Contract) -> Map<String, Value> {
    let errors = contract.kinds().map(|(kind, name, meaning)| {
        let object = json!({
            "code": kind.code(),
            "message": meaning,
            "data": { "kind": kind },
        });
        (name.to_owned(), object)
    });
    errors.collect()
}
