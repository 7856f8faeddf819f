//! The messages of the transcripts against the published contract.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::Path;

use jsonschema::Validator;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use workflow_protocol::{Kind, METHODS};

use crate::transcripts::transcripts;

/// The published contract: a validator a method's result, and one for what it is called with.
struct Contract {
    methods: HashMap<String, Checks>,
}

struct Checks {
    params: Validator,
    result: Option<Validator>,
}

impl Contract {
    fn read() -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../protocol/openrpc.json");
        let contract: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        let components = &contract["components"];
        let methods = contract["methods"].as_array().unwrap().iter();
        let methods = methods.map(|method| {
            let checks = Checks {
                params: validator(&params_schema(&method["params"]), components),
                result: method
                    .get("result")
                    .map(|result| validator(&result["schema"], components)),
            };
            (method["name"].as_str().unwrap().to_owned(), checks)
        });
        Self {
            methods: methods.collect(),
        }
    }

    fn check_result(&self, method: &str, result: &Value) {
        let check = self.methods[method].result.as_ref();
        fits(check.expect("the method is answered"), result, method);
    }

    fn check_params(&self, method: &str, params: &Value) {
        fits(&self.methods[method].params, params, method);
    }
}

/// The parameters of a method as one object.
fn params_schema(params: &Value) -> Value {
    let params = params.as_array().unwrap();
    let named = |param: &Value| {
        (
            param["name"].as_str().unwrap().to_owned(),
            param["schema"].clone(),
        )
    };
    let properties: Map<String, Value> = params.iter().map(named).collect();
    let required = params.iter().filter(|param| param["required"] == true);
    let required: Vec<&Value> = required.map(|param| &param["name"]).collect();
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

fn validator(schema: &Value, components: &Value) -> Validator {
    jsonschema::validator_for(&json!({"allOf": [schema], "components": components})).unwrap()
}

fn fits(validator: &Validator, value: &Value, method: &str) {
    let errors: Vec<String> = validator
        .iter_errors(value)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{method}: {errors:#?}\n{value}");
}

/// The lines of a transcript that are JSON, and whether the sidecar says them.
fn lines(path: &Path) -> Vec<(bool, Value)> {
    let text = fs::read_to_string(path).unwrap();
    let lines = text.lines().filter_map(|line| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        let said = line.get_mut("out").map(|out| (true, out.take()));
        said.or_else(|| Some((false, line.get_mut("in").map(parsed)?)))
    });
    lines.filter(|(_, line)| line.is_object()).collect()
}

/// The message of the host; text may be anything.
fn parsed(line: &mut Value) -> Value {
    let text = line.as_str().map(serde_json::from_str);
    text.map_or_else(|| line.take(), Result::unwrap_or_default)
}

#[test]
fn what_the_sidecar_says_fits_the_contract() {
    let contract = Contract::read();
    let mut answered = BTreeSet::new();
    for path in transcripts() {
        let mut asked = HashMap::new();
        for (is_ours, line) in lines(&path) {
            let id = line.get("id").map(Value::to_string);
            match (is_ours, line.get("method").and_then(Value::as_str)) {
                (false, Some(method)) => {
                    asked.insert(id, method.to_owned());
                }
                (false, None) => {}
                (true, Some(method)) => contract.check_params(method, &line["params"]),
                (true, None) if line.get("error").is_some() => check_error(&line["error"]),
                (true, None) => {
                    let method = &asked[&id];
                    contract.check_result(method, &line["result"]);
                    answered.insert(method.clone());
                }
            }
        }
    }
    let names = METHODS.iter().map(|method| (*method).to_owned());
    let missing: Vec<String> = names.filter(|name| !answered.contains(name)).collect();
    assert!(missing.is_empty(), "no transcript answers {missing:?}");
}

fn check_error(error: &Value) {
    let kind = Kind::deserialize(&error["data"]["kind"]).unwrap();
    assert_eq!(error["code"], kind.code(), "{error}");
}
