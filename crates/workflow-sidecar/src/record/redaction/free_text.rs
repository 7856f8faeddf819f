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
    /// All, unless the value is a string itself.
    AllButString,
    /// All.
    All,
    /// A list with these strings in each element.
    Each(&'static FreeText),
    /// An object with these strings in its members, and in all others.
    Members(
        &'static [(&'static str, &'static FreeText)],
        &'static FreeText,
    ),
    /// An object with its kind in this member: the strings of the kinds, and of all others.
    ByKind(
        &'static str,
        &'static [(&'static str, &'static FreeText)],
        &'static FreeText,
    ),
}

use FreeText::{All, AllButString, ByKind, Each, Members, Nothing};

/// The content of a tool's result.
static CONTENT: FreeText = Each(&Members(
    &[("type", &AllButString), ("mimeType", &AllButString)],
    &All,
));
/// A block of an assistant's message: the name of a called tool is shown.
static BLOCK: FreeText = ByKind(
    "type",
    &[("toolCall", &CALL), ("tool_use", &CALL)],
    &Members(&[("arguments", &All), ("input", &All)], &Nothing),
);
/// The result of a command that the host ran.
static EXECUTED: FreeText = Members(&[("stdout", &All), ("stderr", &All)], &Nothing);
static CALL: FreeText = Members(
    &[("type", &Nothing), ("id", &Nothing), ("name", &Nothing)],
    &All,
);
/// The blocks of an assistant's message. Its last sentence may be a question, which stops the run: text is shown.
static BLOCKS: FreeText = Each(&BLOCK);
static MESSAGE: FreeText = ByKind(
    "role",
    &[
        ("assistant", &ASSISTANT),
        (
            "toolResult",
            &Members(
                &[("content", &CONTENT), ("details", &All), ("isError", &All)],
                &Nothing,
            ),
        ),
        (
            "bashExecution",
            &Members(&[("command", &All), ("output", &All)], &Nothing),
        ),
    ],
    &Nothing,
);
static ASSISTANT: FreeText = Members(&[("content", &BLOCKS)], &Nothing);
/// An entry of the session: a message, or an entry of ours with the reports of a gate.
static ENTRY: FreeText = Members(
    &[
        ("message", &MESSAGE),
        ("data", &Members(&[("reports", &Each(&REPORT))], &Nothing)),
    ],
    &Nothing,
);
static REPORT: FreeText = Members(&[("tail", &All)], &Nothing);
static CONTEXT: FreeText = Members(&[("branch", &Each(&ENTRY))], &Nothing);
/// The parameters of a hook on a tool.
static TOOL_HOOK: FreeText = Members(
    &[
        ("sessionId", &Nothing),
        ("context", &CONTEXT),
        (
            "event",
            &Members(
                &[
                    ("type", &AllButString),
                    ("toolName", &AllButString),
                    ("toolCallId", &AllButString),
                    ("content", &CONTENT),
                ],
                &All,
            ),
        ),
    ],
    &All,
);
/// The parameters of `tool/execute`: the answer depends on the action.
static EXECUTE: FreeText = Members(
    &[
        ("context", &CONTEXT),
        ("arguments", &Members(&[("action", &Nothing)], &All)),
    ],
    &Nothing,
);
/// The parameters of any other method.
static PARAMS: FreeText = Members(
    &[
        ("context", &CONTEXT),
        (
            "event",
            &Members(
                &[
                    ("message", &MESSAGE),
                    ("messages", &Each(&MESSAGE)),
                    ("toolResults", &Each(&MESSAGE)),
                ],
                &Nothing,
            ),
        ),
    ],
    &Nothing,
);

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
        let find = |rules: &[(&str, &'static Self)], name: &str| {
            let found = rules.iter().find(|(known, _)| *known == name);
            found.map(|(_, rule)| *rule)
        };
        match (self, value) {
            (Nothing, _) | (AllButString, Value::String(_)) => {}
            (Each(rule), Value::Array(elements)) => {
                for element in elements {
                    rule.apply(element, replace);
                }
            }
            (Members(rules, others), Value::Object(members)) => {
                for (name, value) in members {
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
