//! The tables in `protocol/README.md`. The prose around them is written by hand.

use std::fmt::Write;

use serde_json::Value;

use super::openrpc::resolve;
use super::schema::{Contract, Described, contains};
use crate::error::Kind;
use crate::method::{Direction, MethodKind};

/// The text of an empty cell.
const NOTHING: &str = "–";

/// The README with its generated parts brought up to date.
///
/// A part goes from `<!-- generated:name -->` to `<!-- /generated:name -->`. A marker that is missing is an error that
/// names it.
pub fn in_readme(readme: &str) -> Result<String, String> {
    let contract = Contract::under("/$defs");
    let parts = [
        ("methods", methods(&contract, Direction::ToSidecar)),
        ("host-methods", methods(&contract, Direction::ToHost)),
        ("errors", errors()),
    ];
    parts
        .iter()
        .try_fold(readme.to_owned(), |text, (name, table)| {
            replaced(&text, name, table)
        })
}

fn replaced(text: &str, name: &str, table: &str) -> Result<String, String> {
    let (open, close) = (
        format!("<!-- generated:{name} -->"),
        format!("<!-- /generated:{name} -->"),
    );
    let before = text
        .find(&open)
        .ok_or_else(|| format!("`{open}` is missing"))?
        + open.len();
    let after = text[before..]
        .find(&close)
        .ok_or_else(|| format!("`{close}` is missing"))?
        + before;
    Ok(format!(
        "{}\n\n{table}\n{}",
        &text[..before],
        &text[after..]
    ))
}

/// The members of every call that belongs to a session.
const IN_EVERY_CALL: &[&str] = &["sessionId", "context"];

/// The members of every result.
const IN_EVERY_RESULT: &[&str] = &["actions", "diagnostics"];

fn methods(contract: &Contract, direction: Direction) -> String {
    let mut table =
        "| Method | Parameters | Answer | Description |\n| --- | --- | --- | --- |\n".to_owned();
    for Described {
        method,
        params,
        result,
    } in &contract.methods
    {
        if method.direction != direction {
            continue;
        }
        let params = members(params, IN_EVERY_CALL, contract);
        let answer = match method.kind {
            MethodKind::Request => members(result, IN_EVERY_RESULT, contract),
            MethodKind::Notification => "no answer".to_owned(),
        };
        writeln!(
            table,
            "| `{}` | {params} | {answer} | {} |",
            method.name, method.summary
        )
        .expect("writing to a string cannot fail");
    }
    table
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

fn errors() -> String {
    let mut table = "| Code | `error.data.kind` | Meaning |\n| --- | --- | --- |\n".to_owned();
    for kind in Kind::ALL {
        writeln!(
            table,
            "| {} | `{}` | {} |",
            kind.code(),
            kind.name(),
            kind.meaning()
        )
        .expect("writing to a string cannot fail");
    }
    table
}
