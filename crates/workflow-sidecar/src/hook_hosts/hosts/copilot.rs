//! Copilot CLI. Observed with 1.0.102, with the names of events that Claude Code has.

use super::super::answer::{AnswerForm, FORM, Member};
use super::super::event::EventName;
use super::super::host::{HookHost, ToolName};

/// The names of events that Claude Code has, and one for a compaction, which these hosts announce.
pub(super) const EVENTS: &[(&str, EventName)] = &[
    ("SessionStart", EventName::SessionStart),
    ("UserPromptSubmit", EventName::Prompt),
    ("PreToolUse", EventName::ToolCall),
    ("PostToolUse", EventName::ToolResult),
    ("PreCompact", EventName::Compaction),
    ("Stop", EventName::Stop),
];

pub(super) static HOST: HookHost = HookHost {
    name: "copilot",
    title: "Copilot CLI",
    command_file: None,
    version_variable: Some("COPILOT_CLI_BINARY_VERSION"),
    events: EVENTS,
    tools: &[
        ("workflow-workflow_step", ToolName::Step),
        ("Bash", ToolName::Shell),
        ("Edit", ToolName::Is("edit")),
        ("Write", ToolName::Is("write")),
        ("apply_patch", ToolName::Patch),
        ("Read", ToolName::Is("read")),
        ("Grep", ToolName::Is("grep")),
        ("Glob", ToolName::Is("find")),
    ],
    marks_prompts: false,
    process_variable: None,
    // It ends the work at 8.
    most_reminders: Some(7),
    shows_notices: false,
    asks: None,
    shell_file: None,
    // It runs the hooks of Claude Code as well.
    hook_files: &[
        ".copilot/hooks",
        ".github/hooks",
        ".github/copilot/settings.json",
        ".github/copilot/settings.local.json",
        ".claude/settings.json",
        ".claude/settings.local.json",
    ],
    user_hook_files: |user| (&user.copilot, Vec::new()),
    // The flat form, which it prefers. It shows a user nothing but the reason of a blocked prompt.
    form: AnswerForm {
        deny: &[
            ("permissionDecision", Member::Is("deny")),
            ("permissionDecisionReason", Member::Content),
        ],
        input: &[("modifiedArgs", Member::Content)],
        replace: &[
            ("modifiedResult/resultType", Member::Is("success")),
            ("modifiedResult/textResultForLlm", Member::Content),
        ],
        context: &[("additionalContext", Member::Content)],
        ..FORM
    },
};
