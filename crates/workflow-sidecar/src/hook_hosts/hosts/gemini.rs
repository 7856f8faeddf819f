//! Gemini CLI. Observed with 0.61.0.
//!
//! A denial in JSON counts whatever the exit code is, and another code than 0 shows a warning each time. `ask` is never
//! answered: without a terminal it waits for ever.

use serde_json::json;

use super::super::answer::{HookAnswer, HookDecision, Printed};
use super::super::event::EventName;
use super::super::host::{HookHost, ToolName};

pub(super) static HOST: HookHost = HookHost {
    name: "gemini",
    title: "Gemini CLI",
    programs: &["gemini"],
    tested: Some("0.61.0"),
    events: EVENTS,
    tools: &[
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
    step_tool: "mcp_workflow_workflow_step",
    // It ends the work after 100 turns, in which tools are called as well.
    most_reminders: Some(20),
    not_enforced: &[
        "In editors (ACP) it runs no hooks at all, and none in a folder that it does not trust.",
        "It does not say which agent makes a call, so sub-agents can call `workflow_step`.",
        "A hook that is killed or takes longer than its time lets the call run.",
    ],
    shows_notices: true,
    shell_marks: &["GEMINI_CLI_SHELL"],
    hook_files: &[".gemini/settings.json", ".gemini/trustedFolders.json"],
    user_hook_files: |directories| {
        vec![
            directories.gemini().join("settings.json"),
            directories.gemini_trusted_folders(),
        ]
    },
    event: |name, payload| payload.kind(name),
    answer,
};

const EVENTS: &[(&str, EventName)] = &[
    ("SessionStart", EventName::SessionStart),
    ("BeforeAgent", EventName::Prompt),
    ("BeforeTool", EventName::ToolCall),
    ("AfterTool", EventName::ToolResult),
    ("AfterAgent", EventName::Stop),
];

fn answer(event: EventName, answer: &HookAnswer) -> Printed {
    let mut printed = json!({});
    match &answer.decision {
        HookDecision::Deny(text)
        | HookDecision::Replace(text)
        | HookDecision::BlockPrompt(text)
        | HookDecision::Continue(text) => {
            printed["decision"] = json!("deny");
            printed["reason"] = json!(text);
        }
        HookDecision::Input(input) => {
            let name = event.of(EVENTS);
            printed["hookSpecificOutput"] = json!({ "hookEventName": name, "tool_input": input });
        }
        HookDecision::GoOn => {}
    }
    if let Some(context) = &answer.context {
        let name = event.of(EVENTS);
        printed["hookSpecificOutput"] =
            json!({ "hookEventName": name, "additionalContext": context });
    }
    if let Some(notice) = &answer.notice {
        printed["systemMessage"] = json!(notice);
    }
    Printed::json(&printed)
}
