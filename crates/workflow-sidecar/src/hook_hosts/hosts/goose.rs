//! goose. Written from its documentation, and not run.
//!
//! Hooks can block a call and keep the agent from stopping, and nothing else: no text can be added to a prompt, no prompt can
//! be answered, no arguments can be changed. So texts wait for a call or for the stop, and the ticket of a call of
//! `workflow_step` is that of its session, which goose names in the call of the MCP server.

use serde_json::json;

use super::super::answer::{HookAnswer, HookDecision, Printed};
use super::super::event::{EventKind, EventName, EventPayload};
use super::super::host::{HookHost, ToolName};
use super::super::limits::{AGENTS_LOOK_ALIKE, ChangeableResults, HookLimits, NO_TEXT_IN_PROMPTS};

pub(super) static HOST: HookHost = HookHost {
    name: "goose",
    title: "goose",
    programs: &["goose"],
    tested: None,
    events: &[
        ("UserPromptSubmit", EventName::Prompt),
        ("PreToolUse", EventName::ToolCall),
        ("Stop", EventName::Stop),
    ],
    tools: &[
        ("developer__shell", ToolName::Shell),
        ("developer__write", ToolName::Is("write")),
        ("developer__edit", ToolName::Is("edit")),
        ("developer__text_editor", ToolName::Is("edit")),
        ("developer__tree", ToolName::Is("ls")),
        ("developer__read_image", ToolName::Is("read")),
        ("shell", ToolName::Shell),
        ("write", ToolName::Is("write")),
        ("edit", ToolName::Is("edit")),
        ("tree", ToolName::Is("ls")),
    ],
    step_tool: "workflow__workflow_step",
    // It ends the work at 8.
    most_reminders: Some(7),
    injects: false,
    answers_prompts: false,
    changes_arguments: false,
    limits: HookLimits {
        results: ChangeableResults::None,
        not_enforced: &[
            NO_TEXT_IN_PROMPTS,
            "A prompt cannot be answered without the model: the answer to `workflow status` comes through the agent.",
            "It does not say when a conversation was compacted, so the phase is not given again.",
            AGENTS_LOOK_ALIKE,
        ],
    },
    shows_notices: false,
    shell_marks: &[],
    hook_files: &[".agents/plugins/workflow-sidecar"],
    user_hook_files: |directories| vec![directories.goose_plugins().join("workflow-sidecar")],
    event,
    answer,
};

fn event<'a>(name: EventName, payload: &'a EventPayload<'a>) -> EventKind<'a> {
    match name {
        EventName::Prompt => EventKind::Prompt(payload.message.as_deref().unwrap_or_default()),
        _ => payload.kind(name),
    }
}

/// Its output is strict before a tool call: anything but nothing or a denial counts as a failure of the hook.
fn answer(event: EventName, answer: &HookAnswer) -> Printed {
    match &answer.decision {
        HookDecision::Deny(reason) => {
            Printed::blocked(&json!({ "decision": "block", "reason": reason }), reason)
        }
        HookDecision::Continue(text) if event == EventName::Stop => {
            Printed::json(&json!({ "decision": "block", "reason": text }))
        }
        HookDecision::Continue(_)
        | HookDecision::Input(_)
        | HookDecision::Replace(_)
        | HookDecision::BlockPrompt(_)
        | HookDecision::GoOn => Printed::default(),
    }
}
