//! Read messages: strict parameters, lenient events.

use workflow_protocol::{Clock, Context, Kind, Method, SessionBound, method};

use crate::rows::read;

/// Calls as hosts make them.
pub(crate) const ACCEPTED: &[(&str, &str)] = &[
    (
        "initialize",
        r#"{"protocolVersion":1,"host":{"name":"pi","version":"1.5.2"},"cwd":"/p"}"#,
    ),
    (
        "initialize",
        r#"{"protocolVersion":1,"host":{"name":"pi","version":"1"},"cwd":"C:\\p","agentDir":null,
            "capabilities":{"dialogs":true,"sixel":"no"},"clock":"system"}"#,
    ),
    (
        "initialize",
        r#"{"protocolVersion":1,"host":{"name":"t","version":"0"},"cwd":"/","agentDir":"/a",
            "capabilities":{"widgets":true,"settle":true,"exec":true},
            "clock":{"virtual":{"now":1747234567890,"seed":7}}}"#,
    ),
    (
        "initialize",
        r#"{"protocolVersion":1,"host":{"name":"t","version":"0"},"cwd":"/","clock":{"virtual":{"now":0}}}"#,
    ),
    (
        "hook/session_start",
        r#"{"sessionId":"a","event":{"type":"session_start","reason":"startup"},
            "context":{"cwd":"/p","hasUI":true,"sessionFile":null,"branch":[{"type":"custom"},7]}}"#,
    ),
    ("hook/session_start", "{}"),
    (
        "hook/session_tree",
        r#"{"event":{"newLeafId":"2","oldLeafId":null},"context":{"branch":[]}}"#,
    ),
    (
        "hook/session_switch",
        r#"{"event":{"reason":"switch","newSessionFile":"b"},"context":{"branch":null}}"#,
    ),
    (
        "hook/session_compact",
        r#"{"event":{"compactionEntry":{"a":[1]}}}"#,
    ),
    ("hook/session_shutdown", r#"{"event":{"reason":"quit"}}"#),
    (
        "hook/before_agent_start",
        r#"{"event":{"prompt":"Say \"hi\"\n","images":[]}}"#,
    ),
    ("hook/before_agent_start", r#"{"event":{}}"#),
    ("hook/agent_start", r#"{"event":{"anything":1}}"#),
    (
        "hook/turn_start",
        r#"{"event":{"turnIndex":0,"timestamp":1747234567890}}"#,
    ),
    (
        "hook/tool_call",
        r#"{"event":{"toolName":"bash","toolCallId":"c1","input":{"command":"ls"},"parentToolCallId":"x"}}"#,
    ),
    (
        "hook/tool_call",
        r#"{"event":{"toolName":"bash","input":null}}"#,
    ),
    (
        "hook/tool_result",
        r#"{"event":{"toolName":"read","toolCallId":"c1","input":{},"content":[{"type":"text","text":"a"}],
            "details":{},"isError":false}}"#,
    ),
    (
        "hook/turn_end",
        r#"{"event":{"turnIndex":3,"message":{"role":"assistant"},"toolResults":[]}}"#,
    ),
    (
        "hook/agent_end",
        r#"{"event":{"messages":[{"role":"assistant","content":"Done.","stopReason":"stop"}]}}"#,
    ),
    ("hook/agent_end", "{}"),
    (
        "hook/input",
        r#"{"event":{"text":"go on","source":"interactive"}}"#,
    ),
    (
        "hook/branch",
        r#"{"event":{"targetTurnIndex":2,"entries":[]}}"#,
    ),
    (
        "tool/execute",
        r#"{"name":"workflow_step","toolCallId":"c1","arguments":{"action":"next"},"context":{"hasUI":false}}"#,
    ),
    ("tool/cancel", r#"{"toolCallId":"t1"}"#),
    (
        "command/run",
        r#"{"name":"workflow","arguments":"bugfix Fix it"}"#,
    ),
    ("command/run", r#"{"name":"cancel-workflow"}"#),
    ("command/complete", r#"{"name":"workflow","prefix":"bu"}"#),
    ("workflow/list", "{}"),
    ("session/state", r#"{"sessionId":"b"}"#),
    ("clock/advance", r#"{"ms":3000}"#),
    ("shutdown", "{}"),
];

/// Calls that do not fit: the method, the parameters, where it is wrong and what the error says.
pub(crate) const REFUSED: &[(&str, &str, Option<&str>, &str)] = &[
    (
        "initialize",
        r#"{"protocolVersion":"1","host":{"name":"t","version":"0"},"cwd":"/"}"#,
        Some("protocolVersion"),
        r#"invalid type: string "1", expected a whole number from 0 on"#,
    ),
    (
        "initialize",
        r#"{"protocolVersion":1,"host":{"name":"t","version":"0"}}"#,
        None,
        "missing field `cwd`",
    ),
    (
        "initialize",
        r#"{"protocolVersion":1,"host":{"name":"t"},"cwd":"/"}"#,
        Some("host"),
        "missing field `version`",
    ),
    (
        "initialize",
        r#"{"protocolVersion":1,"host":{"name":"t","version":"0"},"cwd":"/","clock":{"virtual":{"now":1,"sed":2}}}"#,
        Some("clock.virtual.sed"),
        "unknown field `sed`, expected `now` or `seed`",
    ),
    (
        "initialize",
        r#"{"protocolVersion":1,"host":{"name":"t","version":"0"},"cwd":"/","clock":"sundial"}"#,
        Some("clock"),
        "unknown variant `sundial`, expected `system` or `virtual`",
    ),
    (
        "hook/session_start",
        r#"{"context":{"hasUi":true}}"#,
        Some("context.hasUi"),
        "unknown field `hasUi`, expected one of `cwd`, `hasUI`, `projectTrusted`, `sessionFile`, `branch`",
    ),
    (
        "hook/session_start",
        r#"{"context":{"branch":{}}}"#,
        Some("context.branch"),
        "invalid type: map, expected an array of session entries",
    ),
    (
        "hook/tool_call",
        r#"{"event":{"toolName":"edit"},"session":"a"}"#,
        Some("session"),
        "unknown field `session`, expected one of `sessionId`, `context`, `event`",
    ),
    (
        "hook/tool_call",
        r#"{"event":{"toolCallId":"c1","input":{}}}"#,
        Some("event"),
        "missing field `toolName`",
    ),
    ("hook/tool_call", "{}", None, "missing field `event`"),
    (
        "hook/tool_call",
        r#"{"event":"edit"}"#,
        Some("event"),
        r#"invalid type: string "edit", expected an object"#,
    ),
    (
        "hook/tool_call",
        r#"{"event":{"input":{},"toolName":7}}"#,
        Some("event.toolName"),
        "invalid type: integer `7`, expected a string",
    ),
    (
        "hook/tool_result",
        r#"{"event":{"toolName":null,"content":[]}}"#,
        Some("event.toolName"),
        "invalid type: null, expected a string",
    ),
    (
        "hook/tool_result",
        r#"{"event":{"tool\u004eame":["a"]}}"#,
        Some("event.toolName"),
        "invalid type: sequence, expected a string",
    ),
    (
        "hook/tool_result",
        r#"{"event":{"content":[]}}"#,
        Some("event"),
        "missing field `toolName`",
    ),
    (
        "hook/tool_call",
        r#"{"event":null}"#,
        Some("event"),
        "missing field `event`",
    ),
    (
        "hook/turn_start",
        r#"{"event":7}"#,
        Some("event"),
        "invalid type: integer `7`, expected an object",
    ),
    (
        "hook/input",
        r#"{"event":["interactive"]}"#,
        Some("event"),
        "invalid type: sequence, expected an object",
    ),
    (
        "hook/turn_start",
        r#"{"context":7}"#,
        Some("context"),
        "invalid type: integer `7`, expected struct Context",
    ),
    (
        "hook/turn_start",
        r#"{"context":{"hasUI":"yes"}}"#,
        Some("context.hasUI"),
        r#"invalid type: string "yes", expected a boolean"#,
    ),
    (
        "hook/tool_call",
        r#"{"sessionId":7,"event":{"toolName":"edit"}}"#,
        Some("sessionId"),
        "invalid type: integer `7`, expected a string",
    ),
    (
        "tool/execute",
        r#"{"name":"workflow_step","args":{}}"#,
        Some("args"),
        "unknown field `args`, expected one of `sessionId`, `context`, `name`, `toolCallId`, `arguments`",
    ),
    (
        "command/run",
        r#"{"name":"workflow","arguments":["a"]}"#,
        Some("arguments"),
        "invalid type: sequence, expected a string",
    ),
    (
        "command/run",
        r#"{"name":"workflow","arguments":null}"#,
        Some("arguments"),
        "invalid type: null, expected a string",
    ),
    (
        "clock/advance",
        r#"{"ms":-1}"#,
        Some("ms"),
        "invalid value: integer `-1`, expected a whole number from 0 on",
    ),
    (
        "shutdown",
        r#"{"now":true}"#,
        Some("now"),
        "unknown field `now`, there are no fields",
    ),
    (
        "workflow/list",
        r#"["a",{}]"#,
        None,
        "parameters are an object with named members",
    ),
    (
        "workflow/list",
        "null",
        None,
        "parameters are an object with named members",
    ),
];

#[test]
fn calls_as_hosts_make_them_are_accepted() {
    for (method, params) in ACCEPTED {
        let read = read(method, params).expect("a row");
        assert_eq!(read, Ok(()), "{method} {params}");
    }
}

#[test]
fn a_call_of_the_wrong_shape_is_refused_with_the_location() {
    for (method, params, place, message) in REFUSED {
        let error = read(method, params).expect("a row").expect_err(params);
        assert_eq!(
            (error.kind, error.path.as_deref()),
            (Kind::InvalidParams, *place),
            "{method} {params}"
        );
        assert_eq!(error.message, *message, "{method} {params}");
    }
}

#[test]
fn without_parameters_a_call_is_read_as_an_empty_object() {
    assert!(method::WorkflowList::read(None).is_ok());
    assert!(method::HookToolCall::read(None).is_err());
}

#[test]
fn every_row_has_an_example() {
    for name in workflow_protocol::METHODS {
        assert!(ACCEPTED.iter().any(|(method, _)| method == name), "{name}");
    }
}

#[test]
fn a_tool_call_is_borrowed_from_its_line() {
    let line = r#"{"event":{"toolName":"edit","input":{"path": "a.rs",
        "n":1e2},"toolCallId":"c\u0031"}}"#;
    let params = method::HookToolCall::read(Some(line)).expect("parameters");
    assert_eq!(
        params.event.input.expect("an input").get(),
        "{\"path\": \"a.rs\",\n        \"n\":1e2}"
    );
    assert_eq!(
        (params.event.tool_call_id.as_deref(), params.session_id()),
        (Some("c1"), "")
    );
}

#[test]
fn the_context_is_what_the_host_knows() {
    let line = r#"{"sessionId":"s","context":{"cwd":"/p","hasUI":false,"projectTrusted":false,"sessionFile":"f","branch":[
        {"type":"custom","customType":"workflow:state","data":{}},"odd"]}}"#;
    let params = method::HookSessionTree::read(Some(line)).expect("parameters");
    let Context {
        cwd,
        has_ui,
        project_trusted,
        session_file,
        branch,
    } = params.context();
    assert_eq!(
        (cwd.as_deref(), *has_ui, session_file.as_deref()),
        (Some("/p"), Some(false), Some("f"))
    );
    assert_eq!(*project_trusted, Some(false));
    let branch = branch.as_ref().expect("a branch");
    assert_eq!(
        (branch.entries.len(), branch.malformed, params.session_id()),
        (1, 1, "s")
    );
}

#[test]
fn what_a_host_leaves_out_of_initialize_is_the_least() {
    let line = r#"{"protocolVersion":1,"host":{"name":"pi","version":"1"},"cwd":"/p"}"#;
    let params = method::Initialize::read(Some(line)).expect("parameters");
    let flags = params.capabilities;
    assert!(!(flags.dialogs || flags.widgets.is_some() || flags.settle || flags.exec));
    assert_eq!((params.clock, params.agent_dir), (Clock::System, None));
}

#[test]
fn odd_messages_do_not_lose_the_end_of_a_run() {
    for messages in ["null", "7", "{}", r#""x""#, r#"[null,{"role":7}]"#] {
        let line = format!(r#"{{"event":{{"messages":{messages}}}}}"#);
        let params = method::HookAgentEnd::read(Some(&line)).expect("parameters");
        assert_eq!(params.event.messages.last_assistant, None, "{messages}");
    }
}
