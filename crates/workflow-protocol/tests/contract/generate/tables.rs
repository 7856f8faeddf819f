//! The tables in `protocol/README.md`. The prose around them is written by hand.

use serde_json::Value;

use super::openrpc::resolve;
use super::schema::{Contract, contains};
use crate::methods::{Direction, MethodKind};

/// The text of an empty cell.
const NOTHING: &str = "–";

/// The README with its generated parts brought up to date.
///
/// A part goes from `<!-- generated:name -->` to `<!-- /generated:name -->`. A marker that is missing is an error that
/// names it.
pub(crate) fn in_readme(readme: &str) -> Result<String, String> {
    let contract = Contract::under("/$defs");
    let parts = [
        ("methods", methods(&contract, Direction::ToSidecar)),
        ("host-methods", methods(&contract, Direction::ToHost)),
        ("errors", errors(&contract)),
    ];
    parts
        .iter()
        .try_fold(readme.to_owned(), |text, (name, table)| {
            replaced(&text, name, table)
        })
}

fn replaced(text: &str, name: &str, table: &str) -> Result<String, String> {
    let open = format!("<!-- generated:{name} -->");
    let close = format!("<!-- /generated:{name} -->");
    let missing = |marker: &str| format!("`{marker}` is missing");
    let (before, rest) = text.split_once(&open).ok_or_else(|| missing(&open))?;
    let (_, after) = rest.split_once(&close).ok_or_else(|| missing(&close))?;
    Ok(format!("{before}{open}\n\n{table}\n{close}{after}"))
}

/// The members of every call that belongs to a session.
const IN_EVERY_CALL: &[&str] = &["sessionId", "context"];

/// The members of every result.
const IN_EVERY_RESULT: &[&str] = &["actions", "diagnostics"];

fn methods(contract: &Contract, direction: Direction) -> String {
    let methods = contract.methods.iter();
    let methods = methods.filter(|described| described.method.direction == direction);
    let rows = methods.map(|described| {
        let method = described.method;
        let params = members(&described.params, IN_EVERY_CALL, contract);
        let answer = match method.kind {
            MethodKind::Request => members(&described.result, IN_EVERY_RESULT, contract),
            MethodKind::Notification => "no answer".to_owned(),
        };
        let (name, summary) = (method.name, method.summary);
        format!("| `{name}` | {params} | {answer} | {summary} |\n")
    });
    let head = "| Method | Parameters | Answer | Description |\n| --- | --- | --- | --- |\n";
    head.to_owned() + &rows.collect::<String>()
}

/// The members of an object that are its own, or the type of what is no object.
fn members(schema: &Value, common: &[&str], contract: &Contract) -> String {
    let schema = resolve(schema, &contract.definitions);
    let Some(members) = schema["properties"].as_object() else {
        return plain(schema);
    };
    let own = members
        .iter()
        .filter(|(name, _)| !common.contains(&name.as_str()));
    let names: Vec<String> = own
        .map(|(name, member)| with_fields(name, member, schema, contract))
        .collect();
    if names.is_empty() {
        NOTHING.to_owned()
    } else {
        names.join(", ")
    }
}

/// A member's name, and for an object what is in it.
fn with_fields(name: &str, member: &Value, of: &Value, contract: &Contract) -> String {
    let name = optional(name, of);
    let referred = resolve(member, &contract.definitions);
    match referred["properties"].as_object() {
        Some(fields) if !fields.is_empty() => {
            let fields: Vec<String> = fields
                .keys()
                .map(|field| optional(field, referred))
                .collect();
            format!("`{name} {{{}}}`", fields.join(", "))
        }
        _ => format!("`{name}`"),
    }
}

fn optional(name: &str, of: &Value) -> String {
    if contains(&of["required"], name) {
        name.to_owned()
    } else {
        format!("{name}?")
    }
}

/// The type of what has no members.
fn plain(schema: &Value) -> String {
    match &schema["type"] {
        Value::String(name) if name == "object" => NOTHING.to_owned(),
        Value::String(name) => name.clone(),
        Value::Array(names) => names
            .iter()
            .filter_map(Value::as_str)
            .collect::<Vec<_>>()
            .join(" or "),
        _ => NOTHING.to_owned(),
    }
}

fn errors(contract: &Contract) -> String {
    let rows = contract.kinds().map(|(kind, name, meaning)| {
        let code = kind.code();
        format!("| {code} | `{name}` | {meaning} |\n")
    });
    let head = "| Code | `error.data.kind` | Meaning |\n| --- | --- | --- |\n";
    head.to_owned() + &rows.collect::<String>()
}
