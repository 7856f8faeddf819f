//! Qwen Code. Observed with 0.24.4.
//!
//! It ignores arguments that a hook changes, so the ticket of a call is in the name of its process. It has a hook for each
//! request to the model, with an empty prompt after results of tools; only `submitted_prompt` is from the user. A result is
//! replaced by an error.

use super::super::answer::{AnswerForm, FORM, Member};
use super::super::host::{HookHost, ToolName};
use super::copilot;

pub(super) static HOST: HookHost = HookHost {
    name: "qwen",
    title: "Qwen Code",
    command_file: None,
    version_variable: Some("QWEN_CODE_STARTUP_VERSION"),
    events: copilot::EVENTS,
    tools: &[
        ("mcp__workflow__workflow_step", ToolName::Step),
        ("run_shell_command", ToolName::Shell),
        ("monitor", ToolName::Shell),
        ("edit", ToolName::Is("edit")),
        ("notebook_edit", ToolName::Is("edit")),
        ("write_file", ToolName::Is("write")),
        ("read_file", ToolName::Is("read")),
        ("grep_search", ToolName::Is("grep")),
        ("glob", ToolName::Is("find")),
        ("list_directory", ToolName::Is("ls")),
    ],
    marks_prompts: true,
    process_variable: Some("QWEN_CODE_LAUNCHER_PID"),
    // It ends the work at 8.
    most_reminders: Some(7),
    shows_notices: false,
    asks: None,
    shell_file: None,
    hook_files: &[
        ".qwen/settings.json",
        ".qwen/skills",
        ".qwen/agents",
        ".qwen/extensions",
        ".qwen/commands",
        ".qwen/.env",
        ".env",
    ],
    user_hook_files: |user| {
        let trusted = user.qwen_trusted_folders.clone();
        (&user.qwen, vec![user.home.join(".env"), trusted])
    },
    form: AnswerForm {
        replace: &[("continue", Member::False), ("stopReason", Member::Content)],
        ..FORM
    },
};
