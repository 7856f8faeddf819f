//! Free text in messages: a table of the strings that come from tools and people.
//!
//! Everything that the table does not know is free text.

use serde_json::Value;
use workflow_protocol::METHODS;

/// Replaces the strings of a message that are free text of tools.
pub(super) fn replace_free_text(message: &mut Value, replace: &dyn Fn(&mut String)) {
    let Value::Object(members) = message else {
        return All.apply(message, replace);
    };
    let method = members.get("method").and_then(Value::as_str);
    let params = FreeText::of_method(method);
    for (name, value) in members {
        let rule = match name.as_str() {
            "result" if value.is_object() => &EXECUTED,
            "jsonrpc" | "id" | "method" | "result" => &Nothing,
            "params" => params,
            _ => &All,
        };
        rule.apply(value, replace);
    }
}

/// The strings of a value that are free text.
enum FreeText {
    /// None.
    Nothing,
    /// All.
    All,
    /// A list with these strings in each element.
    Each(&'static FreeText),
    /// An object with these strings in its members, and none in the others.
    Only(&'static [Member]),
    /// An object with all strings but the values of these members, and with these strings in some.
    Except(&'static [&'static str], &'static [Member]),
    /// An object with its kind in this member: the strings of the kinds, and of all others.
    ByKind(&'static str, &'static [Member], &'static FreeText),
}

/// The name of a member or a kind, and the strings in it.
type Member = (&'static str, &'static FreeText);

use FreeText::{All, ByKind, Each, Except, Nothing, Only};

/// The content of a tool's result.
static CONTENT: FreeText = Each(&Except(&["type", "mimeType"], &[]));
/// A block of an assistant's message: the name of a called tool is shown.
static BLOCK: FreeText = ByKind(
    "type",
    &[("toolCall", &CALL), ("tool_use", &CALL)],
    &Only(&[("arguments", &All), ("input", &All)]),
);
/// The result of a command that the host ran.
static EXECUTED: FreeText = Only(&[("stdout", &All), ("stderr", &All)]);
static CALL: FreeText = Except(&["type", "id", "name"], &[]);
static MESSAGE: FreeText = ByKind(
    "role",
    &[
        ("assistant", &ASSISTANT),
        ("toolResult", &TOOL_RESULT),
        ("bashExecution", &BASH),
    ],
    &Nothing,
);
static MESSAGES: FreeText = Each(&MESSAGE);
/// The blocks of an assistant's message. Its last sentence may be a question, which stops the run: text is shown.
static ASSISTANT: FreeText = Only(&[("content", &Each(&BLOCK))]);
static TOOL_RESULT: FreeText = Only(&[("content", &CONTENT), ("details", &All), ("isError", &All)]);
static BASH: FreeText = Only(&[("command", &All), ("output", &All)]);
/// An entry of the session: a message, or an entry of ours with the reports of a gate.
static ENTRY: FreeText = Only(&[
    ("message", &MESSAGE),
    ("data", &Only(&[("reports", &REPORTS)])),
]);
static REPORTS: FreeText = Each(&Only(&[("tail", &All)]));
static CONTEXT: FreeText = Only(&[("branch", &Each(&ENTRY))]);
/// The parameters of a hook on a tool.
static TOOL_HOOK: FreeText = Except(
    &["sessionId"],
    &[("context", &CONTEXT), ("event", &TOOL_EVENT)],
);
static TOOL_EVENT: FreeText = Except(
    &["type", "toolName", "toolCallId"],
    &[("content", &CONTENT)],
);
/// The parameters of `tool/execute`: the answer depends on the action.
static EXECUTE: FreeText = Only(&[
    ("context", &CONTEXT),
    ("arguments", &Except(&["action"], &[])),
]);
/// The parameters of any other method.
static PARAMS: FreeText = Only(&[("context", &CONTEXT), ("event", &EVENT)]);
static EVENT: FreeText = Only(&[
    ("message", &MESSAGE),
    ("messages", &MESSAGES),
    ("toolResults", &MESSAGES),
]);

impl FreeText {
    /// The rule for the parameters of a method.
    fn of_method(method: Option<&str>) -> &'static Self {
        match method {
            Some(method) if !METHODS.iter().any(|known| known.name == method) => &All,
            Some("tool/execute") => &EXECUTE,
            Some(method) if method.starts_with("hook/tool_") => &TOOL_HOOK,
            Some(_) => &PARAMS,
            None => &All,
        }
    }

    /// Replaces the strings that are free text. A value of an unexpected type has nothing else.
    fn apply(&self, value: &mut Value, replace: &dyn Fn(&mut String)) {
        let find = |rules: &[Member], name: &str| {
            let found = rules.iter().find(|(known, _)| *known == name);
            found.map(|(_, rule)| *rule)
        };
        match (self, value) {
            (Nothing, _) => {}
            (Each(rule), Value::Array(elements)) => {
                for element in elements {
                    rule.apply(element, replace);
                }
            }
            (Only(rules), Value::Object(members)) => {
                for (name, value) in members {
                    find(rules, name).unwrap_or(&Nothing).apply(value, replace);
                }
            }
            (Except(names, rules), Value::Object(members)) => {
                for (name, value) in members {
                    let is_name = value.is_string() && names.contains(&&**name);
                    let others = if is_name { &Nothing } else { &All };
                    find(rules, name).unwrap_or(others).apply(value, replace);
                }
            }
            (ByKind(member, rules, others), value @ Value::Object(_)) => {
                match value.get(member) {
                    Some(Value::String(kind)) => find(rules, kind).unwrap_or(others),
                    Some(_) | None => &All,
                }
                .apply(value, replace);
            }
            (_, value) => each_string("", value, &mut |_, text| replace(text)),
        }
    }
}

/// Visits all strings of a value that are not names, with the name of the member that they are the value of.
pub(super) fn each_string(name: &str, value: &mut Value, visit: &mut dyn FnMut(&str, &mut String)) {
    match value {
        Value::String(text) => visit(name, text),
        Value::Array(elements) => {
            for element in elements {
                each_string("", element, visit);
            }
        }
        Value::Object(members) => {
            for (name, value) in members {
                each_string(name, value, visit);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
