//! The generated schemas say what the types do.

use jsonschema::Validator;
use serde_json::{Value, json};

use crate::answers::{Written, questions, results};
use crate::generate;
use crate::reading::{ACCEPTED, REFUSED};

fn generated(path: &str) -> Value {
    let file = generate::files()
        .into_iter()
        .find(|file| file.path == path)
        .expect(path);
    serde_json::from_str(&file.text).expect("JSON")
}

fn validator(schema: &Value) -> Validator {
    jsonschema::draft202012::meta::validate(schema).expect("a schema of the draft");
    jsonschema::validator_for(schema).expect("a schema")
}

/// Returns the defects of a call, by its schema in the bundle.
fn call(calls: &Validator, method: &str, params: &Value) -> Vec<String> {
    let line = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    calls
        .iter_errors(&line)
        .map(|error| error.to_string())
        .collect()
}

#[test]
fn calls_are_accepted_and_refused_as_they_are_read() {
    let calls = validator(&generated("schemas/protocol.schema.json"));
    for (method, params) in ACCEPTED {
        let params = serde_json::from_str(params).expect("JSON");
        assert_eq!(call(&calls, method, &params), [""; 0], "{method} {params}");
    }
    for (method, params, ..) in REFUSED {
        let params = serde_json::from_str(params).expect("JSON");
        assert_ne!(call(&calls, method, &params), [""; 0], "{method} {params}");
    }
    assert_ne!(call(&calls, "hook/no_such_hook", &json!({})), [""; 0]);
}

#[test]
fn questions_to_the_host_fit_their_schema() {
    let calls = validator(&generated("schemas/protocol.schema.json"));
    for Written { method, value, .. } in questions() {
        assert_eq!(call(&calls, method, &value), [""; 0], "{method}");
    }
}

#[test]
fn results_fit_their_schema() {
    let document = generated("protocol/openrpc.json");
    for Written { method, value, .. } in results() {
        let methods = document["methods"].as_array().expect("methods");
        let row = methods
            .iter()
            .find(|row| row["name"] == method)
            .expect(method);
        let mut schema = row["result"]["schema"].clone();
        schema["components"] = document["components"].clone();
        let result = jsonschema::validator_for(&schema).expect("a schema");
        let errors: Vec<String> = result
            .iter_errors(&value)
            .map(|error| error.to_string())
            .collect();
        assert_eq!(errors, [""; 0], "{method} {value}");
    }
}

#[test]
fn a_stored_state_fits_its_schema_and_a_broken_one_does_not() {
    let states = validator(&generated("schemas/state.schema.json"));
    let state = json!({
        "active": true, "workflowKey": "rpir", "currentPath": [{ "workflowKey": "rpir", "phaseIndex": 2 }],
        "globalStepCount": 2, "taskId": "wf-1747234567890-a3f9k2", "taskDescription": "Refactor",
        "startedAt": 1_747_234_567_890_u64, "completionNotified": false, "cancelled": false, "later": [1],
    });
    assert!(states.is_valid(&state));
    let broken = [
        ("currentPath", json!([])),
        ("startedAt", json!("now")),
        ("active", json!(null)),
    ];
    for (member, value) in broken {
        let mut state = state.clone();
        state[member] = value;
        assert!(!states.is_valid(&state), "{member}");
    }
    let mut state = state.clone();
    state["currentPath"][0]["phaseIndex"] = json!(-1);
    assert!(!states.is_valid(&state));
}

#[test]
fn every_reference_leads_somewhere_and_every_description_is_one_line() {
    for path in [
        "schemas/protocol.schema.json",
        "schemas/state.schema.json",
        "protocol/openrpc.json",
    ] {
        let document = generated(path);
        walk(&document, &mut |value| {
            if let Some(Value::String(reference)) = value.get("$ref") {
                assert!(
                    document.pointer(&reference[1..]).is_some(),
                    "{path}: {reference}"
                );
            }
            if let Some(Value::String(description)) = value.get("description") {
                assert!(!description.contains('\n'), "{path}: {description}");
            }
        });
    }
}

fn walk(value: &Value, visit: &mut impl FnMut(&Value)) {
    visit(value);
    match value {
        Value::Array(values) => values.iter().for_each(|value| walk(value, visit)),
        Value::Object(members) => members.values().for_each(|value| walk(value, visit)),
        _ => {}
    }
}
