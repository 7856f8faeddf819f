//! The manifest: the hooks, tools, commands and messages that a host forwards, registers and shows.
//!
//! A host that interprets it needs no knowledge of workflows, so that a new tool or message type needs no new host.

use serde_json::Value;
use serde_json::value::to_raw_value;
use workflow_core::effect::message_type;
use workflow_core::policy::STEP_TOOL;
use workflow_core::run::entry_type;
use workflow_core::session::Control;
use workflow_protocol::{
    CommandDeclaration, EntryType, ExecutionMode, HookSubscription, Manifest, MessageDisplay,
    MessageType, PROTOCOL_VERSION, ServerInfo, ToolDeclaration,
};

/// The command that starts a run.
pub(crate) const START_COMMAND: &str = "workflow";
/// The command that starts the built-in workflow.
pub(super) const QUICK_COMMAND: &str = "workflow-quick";
/// The command that cancels a run.
pub(super) const CANCEL_COMMAND: &str = "cancel-workflow";

/// What the hooks that restore a run need of the session's context.
const RESTORING: &[&str] = &["cwd", "hasUI", "projectTrusted", "sessionFile", "branch"];

/// The hooks to forward, and the fields of each event and of the context that are read.
#[rustfmt::skip] // A row a line.
const HOOKS: [(&str, &[&str], &[&str]); 14] = [
    ("session_start", &[], RESTORING),
    ("session_tree", &[], RESTORING),
    ("session_switch", &[], RESTORING),
    ("session_compact", &[], &[]),
    ("session_shutdown", &[], &[]),
    ("before_agent_start", &["prompt"], &[]),
    ("agent_start", &[], &[]),
    ("turn_start", &["turnIndex"], &[]),
    ("tool_call", &["toolName", "toolCallId", "input"], &[]),
    ("tool_result", &["toolName", "toolCallId", "content", "isError"], &[]),
    ("turn_end", &["tokens", "microUsd"], &[]),
    // The last message of the assistant is enough.
    ("agent_end", &["messages"], &[]),
    ("input", &["source"], &[]),
    ("branch", &["targetTurnIndex"], &["branch"]),
];

/// The answer to `initialize`.
pub(super) fn manifest() -> Manifest {
    Manifest {
        protocol_version: PROTOCOL_VERSION,
        server: ServerInfo {
            name: env!("CARGO_PKG_NAME"),
            version: env!("CARGO_PKG_VERSION"),
        },
        hooks: HOOKS
            .map(|(name, event, context)| HookSubscription {
                name,
                event,
                context,
            })
            .to_vec(),
        tools: vec![step_tool()],
        commands: commands(),
        message_types: message_types(),
        entry_types: entry_type::ALL
            .map(|(custom_type, description)| EntryType {
                custom_type,
                description,
            })
            .to_vec(),
        ..Manifest::default()
    }
}

pub(crate) fn step_tool() -> ToolDeclaration {
    let parameters: Value =
        serde_json::from_str(include_str!("step_tool.json")).expect("it is JSON");
    ToolDeclaration {
        name: STEP_TOOL,
        label: "Workflow Step",
        description: "Controls the active workflow. 'next' finishes the current phase and enters the next one, \
            'status' shows the current phase and its rules, 'loop' starts the current scope again at its first phase, \
            and 'cancel' ends the workflow after a second call has confirmed it.",
        parameters: to_raw_value(&parameters).expect("a JSON value is JSON"),
        prompt_snippet: Some(
            "Finish a workflow phase, show the current phase, start again, or cancel",
        ),
        prompt_guidelines: &[
            "Call workflow_step with action='next' only after you have done everything that the current phase asks for.",
            "Call workflow_step alone, and wait for its answer before you work on the next phase.",
            "Call workflow_step with action='status' if you are not sure which phase is active.",
            "Use action='loop' to repeat the current scope, and action='cancel' only if the user wants to end the workflow.",
        ],
        execution_mode: ExecutionMode::Sequential,
    }
}

/// The commands that a person gives.
pub(crate) fn commands() -> Vec<CommandDeclaration> {
    let command = |name, description, completes, immediate| CommandDeclaration {
        name,
        description,
        completes,
        immediate,
    };
    let start = "Start a workflow: /workflow {name} {description}";
    let quick = "Start a run of one phase, for a small change: /workflow-quick {description}";
    let mut commands = vec![
        command(START_COMMAND, start, true, false),
        command(QUICK_COMMAND, quick, false, false),
        command(CANCEL_COMMAND, "Cancel the active workflow", false, true),
    ];
    commands.extend(Control::ALL.map(|control| {
        let (name, description) = (control.word(), control.description());
        command(name, description, control.completes(), true)
    }));
    commands
}

/// hook-lifecycle: "Message Custom Types". Only the context message is for the model.
fn message_types() -> Vec<MessageType> {
    let shown = |custom_type, prefix: Option<_>, color| MessageType {
        custom_type,
        display: MessageDisplay {
            prefix,
            prefix_color: prefix.map(|_| "accent"),
            color,
            bold: false,
            text: None,
        },
        to_model: false,
    };
    let mut context = shown(message_type::CONTEXT, Some("🔄 "), "dim");
    context.display.text = Some("[Workflow Context injected]");
    context.to_model = true;
    let mut complete = shown(message_type::COMPLETE, None, "success");
    complete.display.bold = true;
    let countdown = shown(message_type::COUNTDOWN, Some("⏳ "), "dim");
    let paused = shown(message_type::PAUSED, None, "warning");
    vec![context, complete, countdown, paused]
}
