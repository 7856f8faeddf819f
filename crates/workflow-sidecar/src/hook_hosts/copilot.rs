//! Copilot CLI. Observed with 1.0.102, with the names of events that Claude Code has.

use serde_json::json;

use super::answer::{Answer, Printed, Verdict};
use super::event::{EventName, Kind, Payload};
use super::host::{HookHost, ToolName};
use super::limits::{Limits, Results};

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
    injects: true,
    answers_prompts: true,
    changes_arguments: true,
    limits: Limits {
        results: Results::All,
        holes: &["A hook that takes longer than its time lets the call run."],
    },
    shows_notices: false,
    shell_marks: &[],
    event,
    answer,
};

fn event<'a>(name: EventName, payload: &'a Payload<'a>) -> Kind<'a> {
    payload.kind(name)
}

/// The flat form, which it prefers. It shows a person nothing but the reason of a blocked prompt.
fn answer(event: EventName, answer: &Answer) -> Printed {
    let mut printed = json!({});
    match &answer.verdict {
        Verdict::Deny(reason) => {
            let output =
                json!({ "permissionDecision": "deny", "permissionDecisionReason": reason });
            return Printed::blocked(&output, reason);
        }
        Verdict::Input(input) => printed["modifiedArgs"] = input.clone(),
        Verdict::Replace(text) => {
            printed["modifiedResult"] =
                json!({ "resultType": "success", "textResultForLlm": text });
        }
        Verdict::BlockPrompt(text) | Verdict::Continue(text) => {
            printed["decision"] = json!("block");
            printed["reason"] = json!(text);
        }
        Verdict::GoOn => {}
    }
    if let (Some(context), false) = (&answer.context, event == EventName::Stop) {
        printed["additionalContext"] = json!(context);
    }
    Printed::json(&printed)
}
