//! Claude Code. Observed with 2.1.330 and 2.1.197.
//!
//! A result is replaced in the form of its tool: Claude Code drops any other, and the model reads the original.

use super::super::answer::{AnswerForm, FORM, Member, OUTPUT_EVENT};
use super::super::event::EventName;
use super::super::host::{HookHost, ToolName};

/// The events of Claude Code, by its names.
pub(super) const EVENTS: &[(&str, EventName)] = &[
    ("SessionStart", EventName::SessionStart),
    ("UserPromptSubmit", EventName::Prompt),
    ("PreToolUse", EventName::ToolCall),
    ("PostToolUse", EventName::ToolResult),
    ("Stop", EventName::Stop),
];

pub(super) static HOST: HookHost = HookHost {
    name: "claude",
    title: "Claude Code",
    programs: &["claude"],
    // `claude-code_2-1-330_harness`.
    version_variable: Some("AI_AGENT"),
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
    marks_prompts: false,
    process_variable: None,
    step_tool: "mcp__workflow__workflow_step",
    // It ends the work at 8.
    most_reminders: Some(7),
    shows_notices: true,
    shell_marks: &[],
    hook_files: &[".claude/settings.json", ".claude/settings.local.json"],
    user_hook_files: |directories| {
        ["settings.json", "settings.local.json"]
            .map(|file| directories.claude.join(file))
            .to_vec()
    },
    form: AnswerForm {
        replace: &[
            (OUTPUT_EVENT, Member::Event),
            ("hookSpecificOutput/updatedToolOutput", Member::Result),
        ],
        ..FORM
    },
};
