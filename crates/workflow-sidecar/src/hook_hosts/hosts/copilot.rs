//! Copilot CLI. Observed with 1.0.102, with the names of events that Claude Code has.

use serde_json::json;

use super::super::answer::{HookAnswer, HookDecision, Printed};
use super::super::event::{EventKind, EventName, EventPayload};
use super::super::host::{HookHost, ToolName};

pub(super) static HOST: HookHost = HookHost {
    name: "copilot",
    title: "Copilot CLI",
    programs: &["copilot"],
    tested: Some("1.0.102"),
    events: &[
        ("SessionStart", EventName::SessionStart),
        ("UserPromptSubmit", EventName::Prompt),
        ("PreToolUse", EventName::ToolCall),
        ("PostToolUse", EventName::ToolResult),
        ("Stop", EventName::Stop),
    ],
    tools: &[
        ("Bash", ToolName::Shell),
        ("Edit", ToolName::Is("edit")),
        ("Write", ToolName::Is("write")),
        ("apply_patch", ToolName::Patch),
        ("Read", ToolName::Is("read")),
        ("Grep", ToolName::Is("grep")),
        ("Glob", ToolName::Is("find")),
    ],
    step_tool: "workflow-workflow_step",
    // It ends the work at 8.
    most_reminders: Some(7),
    not_enforced: &["A hook that takes longer than its time lets the call run."],
    shows_notices: false,
    shell_marks: &[],
    hook_files: &[".copilot/hooks", ".github/hooks"],
    user_hook_files: |directories| vec![directories.copilot().join("hooks")],
    event,
    answer,
};

fn event<'a>(name: EventName, payload: &'a EventPayload<'a>) -> EventKind<'a> {
    payload.kind(name)
}

/// The flat form, which it prefers. It shows a person nothing but the reason of a blocked prompt.
fn answer(event: EventName, answer: &HookAnswer) -> Printed {
    let mut printed = json!({});
    match &answer.decision {
        HookDecision::Deny(reason) => {
            let output =
                json!({ "permissionDecision": "deny", "permissionDecisionReason": reason });
            return Printed::blocked(&output, reason);
        }
        HookDecision::Input(input) => printed["modifiedArgs"] = input.clone(),
        HookDecision::Replace(text) => {
            printed["modifiedResult"] =
                json!({ "resultType": "success", "textResultForLlm": text });
        }
        HookDecision::BlockPrompt(text) | HookDecision::Continue(text) => {
            printed["decision"] = json!("block");
            printed["reason"] = json!(text);
        }
        HookDecision::GoOn => {}
    }
    if let (Some(context), false) = (&answer.context, event == EventName::Stop) {
        printed["additionalContext"] = json!(context);
    }
    Printed::json(&printed)
}
