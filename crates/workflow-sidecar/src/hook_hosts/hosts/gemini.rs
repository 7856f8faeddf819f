//! Gemini CLI. Observed with 0.61.0.
//!
//! A denial in JSON counts whatever the exit code is, and another code than 0 shows a warning each time. `ask` is never
//! answered: without a terminal it waits for ever.

use super::super::answer::{AnswerForm, FORM, Member, Members, OUTPUT_EVENT};
use super::super::event::EventName;
use super::super::host::{HookHost, ToolName};

const DENY: Members = &[
    ("decision", Member::Is("deny")),
    ("reason", Member::Content),
];

pub(super) static HOST: HookHost = HookHost {
    name: "gemini",
    title: "Gemini CLI",
    command_file: None,
    version_variable: None,
    events: &[
        ("SessionStart", EventName::SessionStart),
        ("BeforeAgent", EventName::Prompt),
        ("BeforeTool", EventName::ToolCall),
        ("AfterTool", EventName::ToolResult),
        ("PreCompress", EventName::CompactionCheck),
        ("AfterAgent", EventName::Stop),
    ],
    tools: &[
        ("mcp_workflow_workflow_step", ToolName::Step),
        ("run_shell_command", ToolName::Shell),
        ("replace", ToolName::Is("edit")),
        ("write_file", ToolName::Is("write")),
        ("read_file", ToolName::Is("read")),
        ("read_many_files", ToolName::Is("read")),
        ("grep_search", ToolName::Is("grep")),
        ("search_file_content", ToolName::Is("grep")),
        ("glob", ToolName::Is("find")),
        ("list_directory", ToolName::Is("ls")),
    ],
    marks_prompts: false,
    process_variable: None,
    // It ends the work after 100 turns, in which tools are called as well.
    most_reminders: Some(20),
    shows_notices: true,
    asks: None,
    shell_file: None,
    // Extensions have hooks, and the text of a command counts as typed. In a trusted folder `.env` sets variables of the hooks'
    // shell (`BASH_ENV`) and says where settings are (`GEMINI_CLI_SYSTEM_SETTINGS_PATH`), which can turn hooks off.
    hook_files: &[
        ".gemini/settings.json",
        ".gemini/trustedFolders.json",
        ".gemini/extensions",
        ".gemini/commands",
        ".gemini/.env",
        ".env",
    ],
    user_hook_files: |user| {
        let trusted = user.gemini_trusted_folders.clone();
        (&user.gemini, vec![user.home.join(".env"), trusted])
    },
    form: AnswerForm {
        deny: DENY,
        deny_exits: false,
        input: &[
            (OUTPUT_EVENT, Member::Event),
            ("hookSpecificOutput/tool_input", Member::Content),
        ],
        replace: DENY,
        block: DENY,
        remind: DENY,
        ..FORM
    },
};
