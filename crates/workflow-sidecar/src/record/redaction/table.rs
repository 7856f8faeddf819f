//! The table of free text in messages: what comes from tools, people and models. Everything that it does not know is free text.

use serde_json::Value;
use workflow_core::run::entry_type as entry;
use workflow_protocol::METHODS;

use super::free_text::{FreeText, Replace};
use super::free_text::FreeText::{ByKind, Chosen, Each, Except, Nothing, Only, Said, Tool};

/// Replaces the free text of a message of the host. Its answer to a question is chosen.
pub(super) fn of_host(message: &mut Value, replace: Replace<'_>) {
    let Value::Object(members) = message else {
        return Tool.apply(message, replace);
    };
    let method = members.get("method").and_then(Value::as_str);
    let params = of_method(method);
    for (name, value) in members {
        let rule = match name.as_str() {
            "result" if value.is_object() => &EXECUTED,
            "result" => &Chosen,
            "jsonrpc" | "id" | "method" => &Nothing,
            "params" => params,
            _ => &Tool,
        };
        rule.apply(value, replace);
    }
}

/// Replaces the free text of a message of the sidecar.
pub(super) fn of_sidecar(message: &mut Value, replace: Replace<'_>) {
    SIDECAR.apply(message, replace);
}

/// The rule for the parameters of a method.
fn of_method(method: Option<&str>) -> &'static FreeText {
    match method {
        Some(method) if !METHODS.contains(&method) => &Tool,
        Some("tool/execute") => &EXECUTE,
        Some(method) if method.starts_with("hook/tool_") => &TOOL_HOOK,
        Some(_) => &PARAMS,
        None => &Tool,
    }
}

/// Tools: the content of a result, a call in a message, the result of a command that the host ran.
static CONTENT: FreeText = Each(&Except(&["type", "mimeType"], &[], &Tool));
static CALL: FreeText = Except(&["type", "id", "name"], &[], &Tool);
static EXECUTED: FreeText = Only(&[("stdout", &Tool), ("stderr", &Tool)]);

/// Messages, by their roles, and the blocks of those of the user and the assistant.
static MESSAGE: FreeText = ByKind("role", &[("toolResult", &TOOL_RESULT), ("bashExecution", &Except(&["role"], &[], &Tool))], &SPOKEN);
static MESSAGES: FreeText = Each(&MESSAGE);
static TOOL_RESULT: FreeText = Except(&["role", "toolName", "toolCallId"], &[("content", &CONTENT)], &Tool);
static SPOKEN: FreeText = Except(&["role", "stopReason"], &[("content", &Each(&BLOCK))], &Said);
static BLOCK: FreeText = ByKind("type", &[("toolCall", &CALL), ("tool_use", &CALL)], &OTHER_BLOCK);
static OTHER_BLOCK: FreeText = Except(&["type"], &[("arguments", &Tool), ("input", &Tool)], &Said);

/// Entries of the session: messages, ours, and those of others. Of ours the names and numbers stay, and the definitions.
static ENTRY: FreeText = ByKind("type", &[("message", &Except(ENTRY_NAMES, &[("message", &MESSAGE)], &Said))], &STORED);
const ENTRY_NAMES: &[&str] = &["type", "id", "parentId", "timestamp", "customType"];
static STORED: FreeText = ByKind("customType", &[
    (entry::STATE, &Only(&[("data", &RUN)])),
    (entry::RUN, &Only(&[("data", &Only(&[("data", &RUN)]))])),
    (entry::VALUES, &Only(&[("data", &Only(&[("inputs", &Chosen), ("outputs", &Chosen), ("answers", &Chosen)]))])),
    (entry::GATE, &Only(&[("data", &Only(&[("reports", &Each(&Only(&[("tail", &Tool), ("reason", &Tool)])))]))])),
    (entry::DEFINITION, &Nothing), (entry::BUDGET, &Nothing), (entry::TALLY, &Nothing), (entry::CHECKPOINT, &Nothing),
], &Except(ENTRY_NAMES, &[], &Said));
/// The task of a run, what its user and its agent hand over, and who ordered the last move elsewhere.
static RUN: FreeText = Only(&[("taskDescription", &Said), ("handedOver", &HANDED_OVER), ("movedBy", &Only(&[("approver", &Said)]))]);
static HANDED_OVER: FreeText = Only(&[("outputs", &Chosen), ("summary", &Said)]);

/// Parameters of the host: of hooks on tools, of the tool, whose answer depends on its action, and of any other method.
static TOOL_HOOK: FreeText = Except(&["sessionId"], &[("context", &CONTEXT), ("event", &TOOL_EVENT)], &Tool);
static TOOL_EVENT: FreeText = Except(&["type", "toolName", "toolCallId"], &[("content", &CONTENT)], &Tool);
static EXECUTE: FreeText = Only(&[("context", &CONTEXT), ("arguments", &ARGUMENTS)]);
static ARGUMENTS: FreeText = Except(&["action"], &[("outcome", &Chosen), ("outputs", &Chosen)], &Tool);
static PARAMS: FreeText = Only(&[("context", &CONTEXT), ("event", &EVENT)]);
static EVENT: FreeText = Except(&["type", "reason", "source"], &SPOKEN_IN, &Said);
static SPOKEN_IN: [(&str, &FreeText); 3] = [("message", &MESSAGE), ("messages", &MESSAGES), ("toolResults", &MESSAGES)];
static CONTEXT: FreeText = Only(&[("branch", &Each(&ENTRY))]);

/// Messages of the sidecar: questions, answers, actions. Statuses and widgets have names and numbers only.
static SIDECAR: FreeText = Only(&[("params", &ASKED), ("result", &ANSWER)]);
static ASKED: FreeText = Only(&[("title", &Said), ("message", &Said), ("placeholder", &Said), ("actions", &ACTIONS)]);
static ANSWER: FreeText = Only(&[
    ("actions", &ACTIONS), ("inject", &MESSAGE_OF_OURS), ("content", &Each(&Except(&["type"], &[], &Said))), ("details", &Said),
    ("mutation", &Only(&[("content", &Tool)])), ("taskDescription", &Said), ("flow", &Only(&[("inputs", &Chosen)])),
]);
static MESSAGE_OF_OURS: FreeText = Except(&["customType"], &[], &Said);
static ACTIONS: FreeText = Each(&ByKind("type", &[
    ("appendEntry", &STORED), ("setHints", &Nothing), ("setStatus", &Nothing), ("setWidget", &Nothing),
], &Except(&["type", "deliverAs", "level"], &[("message", &MESSAGE_OF_OURS)], &Said)));
