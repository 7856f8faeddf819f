//! Claude Code. Written from the types of its agent SDK 0.3.330, and not run.

use serde_json::json;

use super::super::answer::{HookAnswer, HookDecision, Printed, claude_family};
use super::super::event::{EventKind, EventName, EventPayload};
use super::super::host::{HookHost, ToolName};

pub(super) static HOST: HookHost = HookHost {
    name: "claude",
    title: "Claude Code",
    programs: &["claude"],
    tested: None,
    events: EVENTS,
    tools: &[
        ("Bash", ToolName::Shell),
        ("Edit", ToolName::Is("edit")),
        ("MultiEdit", ToolName::Is("edit")),
        ("NotebookEdit", ToolName::Is("edit")),
        ("Write", ToolName::Is("write")),
        ("Read", ToolName::Is("read")),
        ("Grep", ToolName::Is("grep")),
        ("Glob", ToolName::Is("find")),
        ("LS", ToolName::Is("ls")),
    ],
    step_tool: "mcp__workflow__workflow_step",
    // It ends the work at 8.
    most_reminders: Some(7),
    not_enforced: &[
        "Files that you mention with `@` are read without a hook.",
        "A shell that was started in the background continues in the next phase.",
        "Before version 2.1.295 a hook that takes longer than its time lets the call run.",
    ],
    shows_notices: true,
    shell_marks: &[],
    hook_files: &[".claude/settings.json", ".claude/settings.local.json"],
    user_hook_files: |directories| {
        ["settings.json", "settings.local.json"]
            .map(|file| directories.claude().join(file))
            .to_vec()
    },
    event,
    answer,
};

const EVENTS: &[(&str, EventName)] = &[
    ("SessionStart", EventName::SessionStart),
    ("UserPromptSubmit", EventName::Prompt),
    ("PreToolUse", EventName::ToolCall),
    ("PostToolUse", EventName::ToolResult),
    ("Stop", EventName::Stop),
];

fn event<'a>(name: EventName, payload: &'a EventPayload<'a>) -> EventKind<'a> {
    match payload.kind(name) {
        // It stops for now, and continues when the work in the background is done.
        EventKind::Stop { .. } if !payload.background_tasks.is_empty() => EventKind::Unused,
        kind => kind,
    }
}

fn answer(event: EventName, answer: &HookAnswer) -> Printed {
    if let HookDecision::Replace(text) = &answer.decision {
        return Printed::json(&json!({ "hookSpecificOutput": {
            "hookEventName": event.of(EVENTS),
            "updatedToolOutput": text,
        } }));
    }
    claude_family(event, event.of(EVENTS), answer)
}
