//! Claude Code. Observed with 2.1.330 and 2.1.197.
//!
//! A result is replaced in the form of its tool: Claude Code drops any other, and the model reads the original.

use super::super::answer::{AnswerForm, CONTEXT, FORM, Member, OUTPUT_EVENT};
use super::super::event::EventName;
use super::super::host::{HookHost, ToolName, Variables};
use crate::measured::numbers;

pub(super) static HOST: HookHost = HookHost {
    name: "claude",
    title: "Claude Code",
    command_file: Some("commands/workflow.md"),
    // `claude-code_2-1-330_harness`.
    version_variable: Some("AI_AGENT"),
    events: &[
        ("SessionStart", EventName::SessionStart),
        ("UserPromptSubmit", EventName::Prompt),
        ("PreToolUse", EventName::ToolCall),
        ("PostToolUse", EventName::ToolResult),
        ("Stop", EventName::Stop),
    ],
    tools: &[
        ("mcp__workflow__workflow_step", ToolName::Step),
        // Of the plugin.
        (
            "mcp__plugin_workflow-sidecar_workflow__workflow_step",
            ToolName::Step,
        ),
        ("Bash", ToolName::Shell),
        ("Edit", ToolName::Is("edit")),
        ("MultiEdit", ToolName::Is("edit")),
        ("NotebookEdit", ToolName::Is("edit")),
        ("Write", ToolName::Is("write")),
        ("Read", ToolName::Is("read")),
        ("Grep", ToolName::Is("grep")),
        ("Glob", ToolName::Is("find")),
        ("LS", ToolName::Is("ls")),
        ("ToolSearch", ToolName::Free),
        ("SubagentHandback", ToolName::Free),
    ],
    marks_prompts: false,
    process_variable: None,
    // It ends the work at 8.
    most_reminders: Some(7),
    shows_notices: true,
    asks: Some(asks),
    shell_file: Some("CLAUDE_ENV_FILE"),
    // Skills, agents and plugins have hooks of their own. A scheduled prompt may count as typed.
    hook_files: &[
        ".claude/settings.json",
        ".claude/settings.local.json",
        ".claude/skills",
        ".claude/agents",
        ".claude/commands",
        ".claude/plugins",
        ".claude/hooks",
        ".claude/scheduled_tasks.json",
        ".mcp.json",
    ],
    user_hook_files: |user| (&user.claude, vec![user.claude_servers.clone()]),
    // A reminder as a context, which it shows without the word error; versions before 2.1.163 ignore it.
    form: AnswerForm {
        deny_exits: false,
        remind: CONTEXT,
        replace: &[
            (OUTPUT_EVENT, Member::Event),
            ("hookSpecificOutput/updatedToolOutput", Member::Result),
        ],
        ..FORM
    },
};

/// The first version in which `ask` holds in every mode, also where it otherwise decides by itself.
const ASKS_SINCE: &str = "2.1.211";

/// It asks in its terminal interface.
fn asks(version: &str, variable: &Variables<'_>) -> bool {
    let is_terminal = variable("CLAUDE_CODE_ENTRYPOINT").is_some_and(|it| it == "cli");
    is_terminal && numbers(version) >= numbers(ASKS_SINCE)
}
