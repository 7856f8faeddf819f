//! Codex CLI. Observed with 0.169.0.
//!
//! Its output is strict: an unknown key makes the hook fail, and a failed hook lets the tool run. So every answer has the
//! fewest keys that do.

use super::super::answer::FORM;
use super::super::event::EventName;
use super::super::host::{HookHost, ToolName};

pub(super) static HOST: HookHost = HookHost {
    name: "codex",
    title: "Codex",
    command_file: None,
    version_variable: None,
    events: &[
        ("SessionStart", EventName::SessionStart),
        ("UserPromptSubmit", EventName::Prompt),
        ("PreToolUse", EventName::ToolCall),
        ("PostToolUse", EventName::ToolResult),
        ("Stop", EventName::Stop),
        ("Interrupt", EventName::Interrupt),
    ],
    tools: &[
        ("mcp__workflow__workflow_step", ToolName::Step),
        ("Bash", ToolName::Shell),
        ("apply_patch", ToolName::Patch),
        ("view_image", ToolName::Is("read")),
    ],
    marks_prompts: false,
    process_variable: None,
    most_reminders: None,
    shows_notices: true,
    asks: None,
    shell_file: None,
    // Plugins have hooks, agents have settings. Skills have neither.
    hook_files: &[
        ".codex/hooks.json",
        ".codex/config.toml",
        ".codex/agents",
        ".codex/plugins",
        ".agents/plugins",
    ],
    user_hook_files: |user| (&user.codex, vec![user.home.join(".agents/plugins")]),
    form: FORM,
};
