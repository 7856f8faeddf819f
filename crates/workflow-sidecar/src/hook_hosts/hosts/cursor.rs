//! Cursor. Written from its documentation, and not run.
//!
//! A prompt can be refused, and no text can be added to it. So the context of a phase is the reason of a refusal: that of the
//! first tool call after the prompt, which the agent then repeats.

use std::borrow::Cow;

use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

use super::super::answer::{HookAnswer, HookDecision, Printed};
use super::super::event::{EventKind, EventName, EventPayload};
use super::super::host::{HookHost, ToolName};
use super::super::limits::{AGENTS_LOOK_ALIKE, ChangeableResults, HookLimits, NO_TEXT_IN_PROMPTS};

pub(super) static HOST: HookHost = HookHost {
    name: "cursor",
    title: "Cursor",
    programs: &["cursor-agent", "cursor"],
    tested: None,
    events: &[
        ("sessionStart", EventName::SessionStart),
        ("preCompact", EventName::Compaction),
        ("beforeSubmitPrompt", EventName::Prompt),
        ("preToolUse", EventName::ToolCall),
        ("postToolUse", EventName::ToolResult),
        ("stop", EventName::Stop),
    ],
    tools: &[
        ("Shell", ToolName::Shell),
        ("Write", ToolName::Is("write")),
        ("Delete", ToolName::Is("write")),
        ("Read", ToolName::Is("read")),
        ("Grep", ToolName::Is("grep")),
    ],
    step_tool: "MCP:workflow_step",
    // It ends the work at 5.
    most_reminders: Some(4),
    injects: false,
    answers_prompts: true,
    changes_arguments: true,
    limits: HookLimits {
        results: ChangeableResults::OfMcp,
        not_enforced: &[
            NO_TEXT_IN_PROMPTS,
            "Cloud agents have no stop hook, so they are not reminded.",
            AGENTS_LOOK_ALIKE,
        ],
    },
    shows_notices: false,
    shell_marks: &[],
    hook_files: &[".cursor/hooks.json"],
    user_hook_files: |directories| vec![directories.home.join(".cursor/hooks.json")],
    event,
    answer,
};

fn event<'a>(name: EventName, payload: &'a EventPayload<'a>) -> EventKind<'a> {
    match name {
        EventName::ToolResult => {
            let tool = payload.tool_name.as_deref().unwrap_or_default();
            // Nothing but the result of an MCP server can be changed.
            if !tool.starts_with("MCP:") {
                return EventKind::Unused;
            }
            let output = payload.tool_output.as_deref();
            EventKind::ToolResult {
                tool,
                result: output.map(|output| Cow::Owned(result_of(output))),
                is_error: false,
            }
        }
        EventName::Stop => match payload.status.as_deref() {
            Some("aborted") => EventKind::Interrupt,
            // A failure of the provider is no early stop.
            Some("error") => EventKind::Unused,
            _ => payload.kind(name),
        },
        _ => payload.kind(name),
    }
}

/// The result that is JSON in a text.
fn result_of(output: &str) -> Box<RawValue> {
    let result = RawValue::from_string(output.to_owned());
    result.unwrap_or_else(|_| to_raw_value(output).expect("a text is JSON"))
}

fn answer(event: EventName, answer: &HookAnswer) -> Printed {
    let printed = match &answer.decision {
        HookDecision::Deny(reason) => {
            let output = json!({
                "permission": "deny",
                "user_message": reason,
                "agent_message": reason,
            });
            if event == EventName::ToolCall {
                // With an exit code that blocks, the reason may not reach the agent.
                return Printed::json(&output);
            }
            return Printed::blocked(&output, reason);
        }
        HookDecision::Input(input) => json!({ "permission": "allow", "updated_input": input }),
        HookDecision::Replace(text) => {
            let content = json!([{ "type": "text", "text": text }]);
            json!({ "updated_mcp_tool_output": { "content": content } })
        }
        HookDecision::BlockPrompt(text) => json!({ "continue": false, "user_message": text }),
        HookDecision::Continue(text) => json!({ "followup_message": text }),
        // A permission would skip the question that the person has configured.
        HookDecision::GoOn if event == EventName::Prompt => json!({ "continue": true }),
        HookDecision::GoOn => json!({}),
    };
    Printed::json(&printed)
}
