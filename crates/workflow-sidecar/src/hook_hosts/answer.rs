//! Answers to events, and what is printed for them.

use serde_json::{Value, json};

use super::event::EventName;

/// The exit code that blocks, in the hosts that know one.
pub(super) const BLOCKED: u8 = 2;

/// The answer to an event.
#[derive(Debug, Default, PartialEq)]
pub(super) struct HookAnswer {
    pub(super) decision: HookDecision,
    /// A text that the model reads.
    pub(super) context: Option<String>,
    /// A text that only the person reads.
    pub(super) notice: Option<String>,
}

/// The decision of an answer.
#[derive(Debug, Default, PartialEq)]
pub(super) enum HookDecision {
    /// The host continues as it would.
    #[default]
    GoOn,
    /// The tool call must not run; the reason for the model.
    Deny(String),
    /// The tool call runs with these arguments.
    Input(Value),
    /// The model reads this instead of the result.
    Replace(String),
    /// The prompt does not reach the model; the text that the person reads.
    BlockPrompt(String),
    /// The agent must not stop; the text for the model.
    Continue(String),
}

impl HookAnswer {
    pub(super) fn of(decision: HookDecision) -> Self {
        Self {
            decision,
            ..Self::default()
        }
    }

    /// The answer to a command of the person that cannot be carried out.
    pub(super) fn not_done(reason: &str) -> Self {
        Self::of(HookDecision::BlockPrompt(format!(
            "Nothing was done: {reason}. Fix this, then give the command again."
        )))
    }

    /// The answer if no decision can be made: closed where a guard is at stake, open elsewhere.
    pub(super) fn closed(event: EventName, reason: &str) -> Self {
        Self::of(match event {
            EventName::ToolCall | EventName::Unknown => HookDecision::Deny(format!(
                "[workflow] This call is blocked, because it could not be judged: {reason}. Tell the user."
            )),
            EventName::ToolResult => HookDecision::Replace(format!(
                "[workflow] The result of this call is withheld, because it could not be checked: {reason}. Tell the user."
            )),
            EventName::SessionStart
            | EventName::Prompt
            | EventName::Stop
            | EventName::Interrupt
            | EventName::Unused => HookDecision::GoOn,
        })
    }
}

/// The output of a hook, and its exit code.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Printed {
    pub(super) stdout: String,
    pub(super) stderr: String,
    pub(super) code: u8,
}

impl Printed {
    /// Prints a JSON object; nothing if it is empty.
    pub(super) fn json(value: &Value) -> Self {
        let is_empty = value.as_object().is_some_and(serde_json::Map::is_empty);
        Self {
            stdout: if is_empty {
                String::new()
            } else {
                value.to_string()
            },
            ..Self::default()
        }
    }

    /// Blocks in every way that a host of the family of Claude Code understands.
    pub(super) fn blocked(value: &Value, reason: &str) -> Self {
        Self {
            stderr: reason.to_owned(),
            code: BLOCKED,
            ..Self::json(value)
        }
    }
}

/// The answer of the family of Claude Code: only keys that the strictest of them accepts.
pub(super) fn claude_family(event: EventName, name: &str, answer: &HookAnswer) -> Printed {
    let mut printed = json!({});
    match &answer.decision {
        HookDecision::Deny(reason) => {
            let output = json!({ "hookSpecificOutput": {
                "hookEventName": name,
                "permissionDecision": "deny",
                "permissionDecisionReason": reason,
            } });
            let output = if event == EventName::ToolCall {
                output
            } else {
                json!({})
            };
            return Printed::blocked(&output, reason);
        }
        HookDecision::Input(input) => {
            printed["hookSpecificOutput"] = json!({
                "hookEventName": name,
                "permissionDecision": "allow",
                "updatedInput": input,
            });
        }
        HookDecision::Replace(text)
        | HookDecision::BlockPrompt(text)
        | HookDecision::Continue(text) => {
            printed["decision"] = json!("block");
            printed["reason"] = json!(text);
        }
        HookDecision::GoOn => {}
    }
    if let (Some(context), true) = (&answer.context, takes_context(event)) {
        printed["hookSpecificOutput"] =
            json!({ "hookEventName": name, "additionalContext": context });
    }
    if let Some(notice) = &answer.notice {
        printed["systemMessage"] = json!(notice);
    }
    Printed::json(&printed)
}

/// True if the answer to the event can have a text for the model.
fn takes_context(event: EventName) -> bool {
    matches!(
        event,
        EventName::SessionStart | EventName::Prompt | EventName::ToolResult
    )
}
