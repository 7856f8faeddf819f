//! Written messages: results, actions, questions and errors, member by member.

use serde::Serialize;
use std::collections::BTreeMap;

use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use workflow_core::diagnostic::{Code, Excerpt, Location, Region};
use workflow_core::event::Entry;
use workflow_core::run::{Path, entry_type, restore};
use workflow_protocol::{
    Action, AgentEndMutation, AgentEndResult, BeforeAgentStartResult, Block, BlockKind,
    BranchMutation, BranchResult, Breadcrumb, ClockAdvanceResult, CommandCompleteResult,
    CommandDeclaration, CommandRunResult, Completion, ConfirmParams, Content, Delivery, Diagnostic,
    EntryType, Error, ExecParams, ExecResult, ExecutionMode, HookResult, HookSubscription,
    HostApplyParams, HostCancelParams, HostHints, HostMethod, InputDialogParams, Kind, Manifest,
    Message, MessageDisplay, MessageOptions, MessageType, PathSegment, PhaseSummary, PhaseView,
    Placement, Progress, Reminders, ResultType, RunFlow, SelectParams, ServerInfo,
    SessionStateResult, Severity, Show, Source, Thinking, ToolCallResult, ToolDeclaration,
    ToolExecuteResult, ToolResultMutation, ToolResultResult, VisibleTools, WorkflowListResult,
    WorkflowState, WorkflowSummary, method,
};

/// Something written, and what it has to be on the wire.
pub(crate) struct Written {
    /// The method whose result or parameters it is.
    pub(crate) method: &'static str,
    /// The written text.
    pub(crate) value: Value,
    expected: Value,
}

fn written(method: &'static str, value: &impl Serialize, expected: Value) -> Written {
    let text = serde_json::to_string(value).expect("a value that can be written");
    Written {
        method,
        value: serde_json::from_str(&text).expect("JSON"),
        expected,
    }
}

fn raw(value: &Value) -> Box<RawValue> {
    to_raw_value(value).expect("JSON")
}

fn state() -> WorkflowState {
    WorkflowState {
        active: true,
        workflow_key: "rpir".into(),
        current_path: Path::root("rpir", 2),
        global_step_count: 2,
        task_id: "wf-1747234567890-a3f9k2".into(),
        task_description: "Refactor authentication module".into(),
        started_at: 1_747_234_567_890,
        completion_notified: false,
        cancelled: false,
    }
}

/// Every action there is.
fn actions() -> Vec<Action> {
    vec![
        Action::AppendEntry {
            custom_type: "workflow:state",
            data: raw(&json!({ "active": true })),
        },
        Action::SendMessage {
            message: Message {
                custom_type: "workflow:complete",
                content: "Done".into(),
                display: true,
            },
            options: MessageOptions {
                trigger_turn: false,
            },
        },
        Action::SendUserMessage {
            content: "Go on".into(),
            deliver_as: None,
        },
        Action::SendUserMessage {
            content: "Stop".into(),
            deliver_as: Some(Delivery::FollowUp),
        },
        Action::SetSessionName {
            name: "Workflow: a".into(),
        },
        Action::SetStatus {
            key: "workflow",
            text: None,
        },
        Action::SetWidget {
            key: "w",
            lines: Some(vec!["3".into()]),
            placement: Placement::AboveEditor,
        },
        Action::SetHints {
            hints: Some(HostHints {
                model: None,
                thinking: Some(Thinking::Xhigh),
                tools: Some(VisibleTools {
                    allowed: None,
                    blocked: vec!["edit".into()],
                }),
            }),
        },
        Action::SetHints { hints: None },
        Action::Notify {
            message: "No".into(),
            level: Severity::Warning,
            secret: false,
        },
    ]
}

fn actions_on_the_wire() -> Value {
    json!([
        { "type": "appendEntry", "customType": "workflow:state", "data": { "active": true } },
        {
            "type": "sendMessage",
            "message": { "customType": "workflow:complete", "content": "Done", "display": true },
            "options": { "triggerTurn": false },
        },
        { "type": "sendUserMessage", "content": "Go on" },
        { "type": "sendUserMessage", "content": "Stop", "deliverAs": "followUp" },
        { "type": "setSessionName", "name": "Workflow: a" },
        { "type": "setStatus", "key": "workflow", "text": null },
        { "type": "setWidget", "key": "w", "lines": ["3"], "placement": "aboveEditor" },
        { "type": "setHints", "hints": { "thinking": "xhigh", "tools": { "blocked": ["edit"] } } },
        { "type": "setHints", "hints": null },
        { "type": "notify", "message": "No", "level": "warning" },
    ])
}

/// Results of the host's calls.
pub(crate) fn results() -> Vec<Written> {
    [
        hook_results(),
        work_results(),
        view_results(),
        vec![manifest()],
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// A diagnostic, and how it looks on the wire.
fn diagnostic() -> (Diagnostic, Value) {
    let diagnostic = Diagnostic {
        help: None,
        ..Diagnostic::new(
            Code::UnknownGuardKey,
            Severity::Error,
            "unknown key `whitlist`",
        )
        .at(Location {
            file: "a.md".into(),
            region: Some(Region {
                line: 6,
                column: 3,
                end_line: 6,
                end_column: 11,
                excerpt: Excerpt {
                    text: "  whitlist: [read]".into(),
                    start: 2,
                    end: 10,
                },
            }),
        })
    };
    let on_the_wire = json!({
        "code": "WF012", "severity": "error", "message": "unknown key `whitlist`", "file": "a.md", "line": 6, "column": 3,
    });
    (diagnostic, on_the_wire)
}

fn hook_results() -> Vec<Written> {
    let (diagnostic, on_the_wire) = diagnostic();
    vec![
        written("hook/turn_end", &HookResult::default(), json!({})),
        written(
            "hook/session_start",
            &HookResult {
                guarded: Some(true),
                actions: actions(),
                diagnostics: vec![diagnostic],
            },
            json!({ "guarded": true, "actions": actions_on_the_wire(), "diagnostics": [on_the_wire] }),
        ),
        written(
            "hook/before_agent_start",
            &BeforeAgentStartResult {
                inject: Some(Message {
                    custom_type: "workflow:context",
                    content: "…".into(),
                    display: false,
                }),
                ..Default::default()
            },
            json!({ "inject": { "customType": "workflow:context", "content": "…", "display": false } }),
        ),
        written("hook/tool_call", &ToolCallResult::default(), json!({})),
        written(
            "hook/tool_call",
            &ToolCallResult {
                block: Some(Block {
                    reason: "No.".into(),
                    kind: BlockKind::Policy,
                }),
                ..Default::default()
            },
            json!({ "block": { "reason": "No.", "kind": "policy" } }),
        ),
        written(
            "hook/tool_result",
            &ToolResultResult {
                mutation: Some(ToolResultMutation {
                    content: raw(&json!([])),
                }),
                ..Default::default()
            },
            json!({ "mutation": { "content": [] } }),
        ),
        written(
            "hook/agent_end",
            &AgentEndResult::default(),
            json!({ "mutation": { "unload": false, "persist": false } }),
        ),
        written(
            "hook/agent_end",
            &AgentEndResult {
                mutation: AgentEndMutation {
                    unload: true,
                    persist: true,
                },
                ..Default::default()
            },
            json!({ "mutation": { "unload": true, "persist": true } }),
        ),
        written(
            "hook/branch",
            &BranchResult {
                mutation: Some(BranchMutation {
                    skip_conversation_restore: true,
                }),
                ..Default::default()
            },
            json!({ "mutation": { "skipConversationRestore": true } }),
        ),
    ]
}

fn work_results() -> Vec<Written> {
    vec![
        written(
            "tool/execute",
            &ToolExecuteResult {
                content: vec![Content::Text { text: "✓".into() }],
                details: Some(raw(&json!({ "advanced": true }))),
                result_type: Some(ResultType::Complete),
                is_error: None,
                ..Default::default()
            },
            json!({ "content": [{ "type": "text", "text": "✓" }], "details": { "advanced": true }, "resultType": "complete" }),
        ),
        written("command/run", &CommandRunResult::default(), json!({})),
        written(
            "command/complete",
            &CommandCompleteResult::default(),
            json!({ "items": null }),
        ),
        written(
            "command/complete",
            &CommandCompleteResult {
                items: Some(vec![Completion {
                    value: "a".into(),
                    label: "a".into(),
                    description: Some("A".into()),
                }]),
                ..Default::default()
            },
            json!({ "items": [{ "value": "a", "label": "a", "description": "A" }] }),
        ),
        written("clock/advance", &ClockAdvanceResult::default(), json!({})),
        written("shutdown", &(), json!(null)),
    ]
}

fn view_results() -> Vec<Written> {
    let segment = PathSegment {
        workflow_key: "w".into(),
        phase_index: 0,
    };
    let crumb = Breadcrumb {
        workflow_key: "w".into(),
        name: "W".into(),
        phase_name: "A".into(),
        emoji: "🔍".into(),
    };
    vec![
        written(
            "workflow/list",
            &WorkflowListResult {
                workflows: vec![WorkflowSummary {
                    key: "w".into(),
                    name: "W".into(),
                    command_name: Some("w".into()),
                    show: Show::User,
                    source: Source::Project,
                    phases: vec![
                        PhaseSummary::Phase {
                            id: "a".into(),
                            name: "A".into(),
                            emoji: "🔍".into(),
                        },
                        PhaseSummary::Subworkflow {
                            subworkflow: "s".into(),
                        },
                    ],
                    shadows: Some(Source::Global),
                }],
                ..Default::default()
            },
            json!({ "workflows": [{
                "key": "w", "name": "W", "commandName": "w", "show": "user", "source": "project",
                "phases": [{ "id": "a", "name": "A", "emoji": "🔍" }, { "subworkflow": "s" }], "shadows": "global",
            }] }),
        ),
        written(
            "session/state",
            &SessionStateResult::default(),
            json!({ "active": false, "stale": false, "paused": null }),
        ),
        written(
            "session/state",
            &SessionStateResult {
                active: true,
                workflow_key: Some("w".into()),
                workflow_name: Some("W".into()),
                task_id: Some("wf-1-aaaaaa".into()),
                task_description: Some("Fix it".into()),
                path: vec![segment],
                breadcrumb: vec![crumb],
                phase: Some(PhaseView {
                    id: "a".into(),
                    name: "A".into(),
                    emoji: "🔍".into(),
                }),
                progress: Some(Progress {
                    current: 1,
                    total: 2,
                }),
                global_step_count: Some(0),
                status: Some("W > 🔍 A [1/2]".into()),
                reminders: Some(Reminders {
                    count: 8,
                    max: Some(8),
                    stale: 0,
                    max_stale: None,
                }),
                paused: Some("8 reminders without an advance".into()),
                flow: Some(RunFlow {
                    inputs: [("version".to_owned(), "1.2.0".to_owned())].into(),
                    visit: Some("2 of 3".into()),
                    ..Default::default()
                }),
                ..Default::default()
            },
            json!({
                "active": true, "stale": false, "workflowKey": "w", "workflowName": "W", "taskId": "wf-1-aaaaaa",
                "taskDescription": "Fix it", "path": [{ "workflowKey": "w", "phaseIndex": 0 }],
                "breadcrumb": [{ "workflowKey": "w", "name": "W", "phaseName": "A", "emoji": "🔍" }],
                "phase": { "id": "a", "name": "A", "emoji": "🔍" }, "progress": { "current": 1, "total": 2 },
                "globalStepCount": 0, "status": "W > 🔍 A [1/2]", "reminders": { "count": 8, "max": 8, "stale": 0 },
                "paused": "8 reminders without an advance", "flow": { "inputs": { "version": "1.2.0" }, "visit": "2 of 3" },
            }),
        ),
    ]
}

fn manifest() -> Written {
    let manifest = Manifest {
        protocol_version: 1,
        server: ServerInfo {
            name: "workflow-sidecar",
            version: "0.1.0",
        },
        hooks: vec![HookSubscription {
            name: "tool_call",
            event: &["toolName"],
            context: &[],
        }],
        tools: vec![ToolDeclaration {
            name: "workflow_step",
            label: "Workflow Step",
            description: "…",
            parameters: raw(&json!({ "type": "object" })),
            prompt_snippet: None,
            prompt_guidelines: &["…"],
            execution_mode: ExecutionMode::Sequential,
        }],
        commands: vec![CommandDeclaration {
            name: "workflow",
            description: "…",
            completes: true,
            immediate: true,
        }],
        message_types: vec![MessageType {
            custom_type: "workflow:context",
            display: MessageDisplay {
                prefix: Some("🔄 "),
                prefix_color: Some("accent"),
                color: "dim",
                bold: false,
                text: None,
            },
            to_model: true,
        }],
        entry_types: vec![EntryType {
            custom_type: "workflow:state",
            description: "…",
        }],
        ..Default::default()
    };
    written(
        "initialize",
        &manifest,
        json!({
            "protocolVersion": 1,
            "server": { "name": "workflow-sidecar", "version": "0.1.0" },
            "hooks": [{ "name": "tool_call", "event": ["toolName"] }],
            "tools": [{
                "name": "workflow_step", "label": "Workflow Step", "description": "…",
                "parameters": { "type": "object" }, "promptGuidelines": ["…"], "executionMode": "sequential",
            }],
            "commands": [{ "name": "workflow", "description": "…", "completes": true, "immediate": true }],
            "messageTypes": [{
                "customType": "workflow:context",
                "display": { "prefix": "🔄 ", "prefixColor": "accent", "color": "dim", "bold": false },
                "toModel": true,
            }],
            "entryTypes": [{ "customType": "workflow:state", "description": "…" }],
        }),
    )
}

/// Parameters of the sidecar's calls.
pub(crate) fn questions() -> Vec<Written> {
    let (title, session_id) = ("Sure?".to_owned(), "a".to_owned());
    vec![
        written(
            "host/apply",
            &HostApplyParams {
                session_id: String::new(),
                actions: actions(),
            },
            json!({ "sessionId": "", "actions": actions_on_the_wire() }),
        ),
        written(
            "ui/confirm",
            &ConfirmParams {
                session_id: String::new(),
                title: title.clone(),
                message: "Really?".into(),
            },
            json!({ "title": "Sure?", "message": "Really?" }),
        ),
        written(
            "ui/select",
            &SelectParams {
                session_id: session_id.clone(),
                title: title.clone(),
                options: vec!["Yes".into()],
            },
            json!({ "sessionId": "a", "title": "Sure?", "options": ["Yes"] }),
        ),
        written(
            "ui/input",
            &InputDialogParams {
                session_id,
                title,
                placeholder: Some("name".into()),
            },
            json!({ "sessionId": "a", "title": "Sure?", "placeholder": "name" }),
        ),
        written(
            "host/exec",
            &ExecParams {
                session_id: String::new(),
                command: "git".into(),
                args: vec!["status".into()],
                cwd: None,
                timeout_ms: Some(1000),
                env: BTreeMap::from([("CI".to_owned(), "1".to_owned())]),
                max_output: Some(4096),
            },
            json!({ "command": "git", "args": ["status"], "timeoutMs": 1000, "env": { "CI": "1" }, "maxOutput": 4096 }),
        ),
        written(
            "host/cancel",
            &HostCancelParams { id: "s1".into() },
            json!({ "id": "s1" }),
        ),
    ]
}

#[test]
fn results_are_written_member_by_member_and_empty_members_left_out() {
    for Written {
        method,
        value,
        expected,
    } in results()
    {
        assert_eq!(value, expected, "{method}");
    }
}

#[test]
fn questions_to_the_host_are_written_member_by_member() {
    for Written {
        method,
        value,
        expected,
    } in questions()
    {
        assert_eq!(value, expected, "{method}");
    }
}

#[test]
fn a_stored_state_has_the_members_of_the_document_in_their_order() {
    let stored = serde_json::to_string(&state()).expect("a state");
    let expected = concat!(
        r#"{"active":true,"workflowKey":"rpir","currentPath":[{"workflowKey":"rpir","phaseIndex":2}],"#,
        r#""globalStepCount":2,"taskId":"wf-1747234567890-a3f9k2","taskDescription":"Refactor authentication module","#,
        r#""startedAt":1747234567890,"completionNotified":false,"cancelled":false}"#,
    );
    assert_eq!(stored, expected);
    let stored = RawValue::from_string(stored).expect("JSON");
    let entry = Entry {
        custom_type: entry_type::STATE,
        data: Some(&stored),
    };
    assert_eq!(restore(&[entry]).state, Some(state()));
}

#[test]
fn answers_of_the_host_are_read() {
    fn answer<M: HostMethod>(text: &str) -> M::Result {
        serde_json::from_str(text).expect(text)
    }
    assert!(answer::<method::UiConfirm>("true"));
    assert_eq!(answer::<method::UiSelect>(r#""Yes""#), Some("Yes".into()));
    assert_eq!(answer::<method::UiInput>("null"), None);
    let result =
        answer::<method::HostExec>(r#"{"stdout":"a","stderr":"","code":1,"killed":false}"#);
    assert_eq!(
        result,
        ExecResult {
            stdout: "a".into(),
            stderr: String::new(),
            code: 1,
            killed: false,
            truncated: false,
        }
    );
    let bare = answer::<method::HostExec>(r#"{"stdout":"","stderr":"","code":0}"#);
    assert!(!bare.killed && !bare.truncated, "the documents' result");
}

#[test]
fn an_error_says_its_kind_and_what_helps() {
    let unsupported = Error::new(Kind::UnsupportedVersion, "version 2 is not spoken here");
    assert_eq!(
        json!(unsupported.data()),
        json!({ "kind": "unsupportedVersion", "supported": [1] })
    );
    let mut invalid = Error::new(Kind::InvalidParams, "unknown field `a`");
    assert_eq!(json!(invalid.data()), json!({ "kind": "invalidParams" }));
    invalid.path = Some("event.a".into());
    assert_eq!(
        json!(invalid.data()),
        json!({ "kind": "invalidParams", "path": "event.a" })
    );
    assert_eq!(invalid.to_string(), "event.a: unknown field `a`");
}
