//! Lenient events: members that are not needed may be anything.

use workflow_protocol::{AgentEndParams, Method, Text, method};

use crate::rows::read;

/// Values that are not a text.
const NO_TEXT: &[&str] = &["null", "7", "-1.5", "true", "{}", r#"{"a":[1]}"#, "[]"];

/// Values that are not a count of turns.
const NO_COUNT: &[&str] = &["null", r#""1""#, "-1", "1.5", "1e999", "false", "{}", "[1]"];

/// Values that are not a flag.
const NO_FLAG: &[&str] = &["null", "0", r#""true""#, "{}", "[]"];

/// Members that nobody needs: the method, the parameters with a place for the value, the values that do not fit.
const NOT_NEEDED: &[(&str, &str, &[&str])] = &[
    ("hook/session_start", r#"{"event":{"reason":_}}"#, NO_TEXT),
    (
        "hook/before_agent_start",
        r#"{"event":{"prompt":_}}"#,
        NO_TEXT,
    ),
    ("hook/agent_start", r#"{"event":{"any":_}}"#, NO_TEXT),
    ("hook/turn_start", r#"{"event":{"turnIndex":_}}"#, NO_COUNT),
    ("hook/turn_end", r#"{"event":{"turnIndex":_}}"#, NO_COUNT),
    (
        "hook/tool_call",
        r#"{"event":{"toolCallId":_,"toolName":"edit"}}"#,
        NO_TEXT,
    ),
    (
        "hook/tool_call",
        r#"{"event":{"toolName":"edit","input":_}}"#,
        NO_TEXT,
    ),
    (
        "hook/tool_result",
        r#"{"event":{"toolName":"edit","toolCallId":_}}"#,
        NO_TEXT,
    ),
    (
        "hook/tool_result",
        r#"{"event":{"toolName":"edit","isError":_}}"#,
        NO_FLAG,
    ),
    (
        "hook/tool_result",
        r#"{"event":{"toolName":"edit","content":_}}"#,
        NO_TEXT,
    ),
    ("hook/agent_end", r#"{"event":{"messages":_}}"#, NO_TEXT),
    ("hook/input", r#"{"event":{"source":_}}"#, NO_TEXT),
    (
        "hook/branch",
        r#"{"event":{"targetTurnIndex":_}}"#,
        NO_COUNT,
    ),
    ("hook/turn_end", r#"{"context":{"sessionFile":_}}"#, NO_TEXT),
];

#[test]
fn a_member_that_is_not_needed_may_be_anything() {
    for (method, params, values) in NOT_NEEDED {
        for value in *values {
            let params = params.replace('_', value);
            assert_eq!(read(method, &params), Some(Ok(())), "{method} {params}");
        }
    }
}

#[test]
fn an_event_or_a_context_of_null_counts_as_missing() {
    for name in workflow_protocol::METHODS {
        let without = read(name, "{}").expect("a row");
        if without.is_ok() && name.starts_with("hook/") {
            let params = r#"{"event":null,"context":null}"#;
            assert_eq!(read(name, params), Some(Ok(())), "{name}");
        }
    }
    let bound = [
        (
            "hook/tool_call",
            r#"{"event":{"toolName":"a"},"context":null}"#,
        ),
        ("command/run", r#"{"name":"a","context":null}"#),
        ("session/state", r#"{"context":null}"#),
    ];
    for (method, params) in bound {
        assert_eq!(read(method, params), Some(Ok(())), "{method}");
    }
}

#[test]
fn a_member_of_a_wrong_type_is_read_as_left_out() {
    let result =
        r#"{"event":{"toolName":"a","toolCallId":7,"isError":"no"},"context":{"sessionFile":7}}"#;
    let result = method::HookToolResult::read(Some(result)).expect("parameters");
    assert_eq!(result.event.tool_call_id, None);
    assert_eq!(result.event.is_error, None);
    assert_eq!(result.context.session_file, None);
    let turn = method::HookTurnEnd::read(Some(r#"{"event":{"turnIndex":"1"}}"#));
    assert_eq!(turn.expect("parameters").event.turn_index, None);
    let input = method::HookInput::read(Some(r#"{"event":{"source":7}}"#));
    assert_eq!(input.expect("parameters").event.source, None);
}

#[test]
fn a_member_of_the_right_type_is_read() {
    let result = r#"{"event":{"isError":true,"toolName":"a","toolCallId":"c"},"context":{"sessionFile":"f"}}"#;
    let result = method::HookToolResult::read(Some(result)).expect("parameters");
    assert_eq!(result.event.tool_call_id.as_deref(), Some("c"));
    assert_eq!(result.event.is_error, Some(true));
    assert_eq!(result.context.session_file.as_deref(), Some("f"));
    let turn = method::HookTurnEnd::read(Some(r#"{"event":{"turnIndex":3}}"#));
    assert_eq!(turn.expect("parameters").event.turn_index, Some(3));
    let branch = method::HookBranch::read(Some(r#"{"event":{"targetTurnIndex":2}}"#));
    assert_eq!(branch.expect("parameters").event.target_turn_index, Some(2));
}

/// Strings with half a character, as they are written and as they are read.
const HALVES: &[(&str, &str)] = &[
    (r"\ud83d", "\u{fffd}"),
    (r"\uDE00", "\u{fffd}"),
    (r"cut \ud83d", "cut \u{fffd}"),
    (r"\ude00 cut", "\u{fffd} cut"),
    (r"\ud83d\ud83d\ude00\ude00", "\u{fffd}\u{1f600}\u{fffd}"),
    (r#"\ud83d\n\"\\é"#, "\u{fffd}\n\"\\é"),
    (r"\\ud83d\ud83d", "\\ud83d\u{fffd}"),
];

#[test]
fn half_a_character_is_read_as_the_replacement_character() {
    for (written, expected) in HALVES {
        let line = format!(r#"{{"sessionId":"{written}","event":{{"prompt":"{written}"}}}}"#);
        let params = method::HookBeforeAgentStart::read(Some(&line)).expect(&line);
        assert_eq!(params.event.prompt.as_deref(), Some(*expected), "{line}");
        assert_eq!(&*params.session_id, *expected, "{line}");
        let line = format!(r#"{{"name":"workflow","arguments":"{written}"}}"#);
        let params = method::CommandRun::read(Some(&line)).expect(&line);
        assert_eq!(&*params.arguments, *expected, "{line}");
        let line = format!(r#"{{"name":"workflow","prefix":"{written}"}}"#);
        let params = method::CommandComplete::read(Some(&line)).expect(&line);
        assert_eq!(&*params.prefix, *expected, "{line}");
        let json = format!("\"{written}\"");
        let text: Text<'_> = serde_json::from_str(&json).expect(&json);
        assert_eq!(text.as_str(), *expected, "{json}");
    }
}

#[test]
fn a_text_without_escapes_is_borrowed_from_its_line() {
    let line = r#"{"event":{"prompt":"Schöne Grüße 🙂"},"sessionId":"a"}"#;
    let params = method::HookBeforeAgentStart::read(Some(line)).expect("parameters");
    let prompt = params.event.prompt.expect("a prompt");
    let line = line.as_bytes().as_ptr_range();
    assert!(line.contains(&prompt.as_ptr()) && line.contains(&params.session_id.as_ptr()));
}

#[test]
fn half_a_character_is_carried_where_it_is_not_read() {
    for (method, params) in [
        (
            "hook/tool_call",
            r#"{"event":{"toolName":"a","input":{"\ud83d":"\ud83d"}}}"#,
        ),
        (
            "hook/tool_result",
            r#"{"event":{"toolName":"a","content":["\ud83d"]}}"#,
        ),
        ("hook/turn_end", r#"{"event":{"\ud83d":{"\ud83d":1}}}"#),
        ("hook/input", r#"{"event":{"\ud83d":1,"source":"rpc"}}"#),
        (
            "tool/execute",
            r#"{"name":"a","arguments":{"\ud83d":"\ud83d"}}"#,
        ),
    ] {
        assert_eq!(read(method, params), Some(Ok(())), "{method} {params}");
    }
}

#[test]
fn a_tool_name_after_a_name_with_half_a_character_is_found() {
    let line = r#"{"event":{"\ud83d":{"a":1},"tool\u004eame":"edit"}}"#;
    let params = method::HookToolCall::read(Some(line)).expect("parameters");
    assert_eq!(&*params.event.tool_name, "edit");
}

#[test]
fn entries_with_half_a_character_do_not_lose_the_session() {
    for entry in [
        r#"{"type":"\ud83d"}"#,
        r#"{"type":"custom","customType":"\ud83d","data":{}}"#,
        r#"{"type":"message","\ud83d":1}"#,
        r#"{"\ud83d":{"\ud83d":["\ud83d"]},"type":"message"}"#,
        r#"{"type":"custom","customType":"other","data":{"\ud83d":"\ud83d"}}"#,
    ] {
        let line = format!(
            r#"{{"context":{{"branch":[{entry},{{"type":"custom","customType":"workflow:state","data":{{}}}}]}}}}"#
        );
        let params = method::HookSessionStart::read(Some(&line)).expect(&line);
        let branch = params.context.branch.expect("a branch");
        assert_eq!((branch.entries.len(), branch.malformed), (1, 0), "{entry}");
    }
}

#[test]
fn our_own_entry_is_kept_beside_a_name_with_half_a_character() {
    let line = r#"{"context":{"branch":[{"\ud83d":1,"type":"custom","customType":"workflow:state","data":{"a":"\ud83d"}}]}}"#;
    let params = method::HookSessionStart::read(Some(line)).expect("parameters");
    let branch = params.context.branch.expect("a branch");
    assert_eq!(branch.entries[0].custom_type, "workflow:state");
    assert_eq!(
        branch.entries[0].data.expect("data").get(),
        r#"{"a":"\ud83d"}"#
    );
}

/// The end of the last message.
fn ending(line: &str) -> (Option<String>, String) {
    let params: AgentEndParams<'_> = method::HookAgentEnd::read(Some(line)).expect(line);
    let last = params.event.messages.last_assistant.expect(line);
    (last.stop_reason.map(Text::into_owned), last.text_tail)
}

#[test]
fn messages_with_half_a_character_do_not_lose_the_end_of_a_run() {
    let stop = Some("stop".to_owned());
    for (messages, expected) in [
        (
            r#"{"role":"assistant","stopReason":"stop","content":"All done? \ud83d"}"#,
            (stop.clone(), "All done? \u{fffd}"),
        ),
        (
            r#"{"role":"assistant","stopReason":"stop","content":[{"type":"text","\ud83d":1,"text":"Ok \ud83d?"}]}"#,
            (stop.clone(), "Ok \u{fffd}?"),
        ),
        (
            r#"{"role":"assistant","stopReason":"stop","content":[{"type":"\ud83d","text":"no"},{"type":"text","text":"yes"}]}"#,
            (stop.clone(), "yes"),
        ),
        (
            r#"{"role":"assistant","stopReason":"\ud83d","content":"a"}"#,
            (Some("\u{fffd}".to_owned()), "a"),
        ),
        (
            r#"{"role":"assistant","stopReason":"stop","content":"a"},{"role":"\ud83d","content":"b"}"#,
            (stop.clone(), "a"),
        ),
        (
            r#"{"\ud83d":{"\ud83d":1},"role":"assistant","stopReason":"stop","content":"a"}"#,
            (stop, "a"),
        ),
    ] {
        let line = format!(r#"{{"event":{{"messages":[{messages}]}}}}"#);
        let (reason, tail) = ending(&line);
        assert_eq!((reason, &*tail), expected, "{messages}");
    }
}

#[test]
fn a_long_text_with_half_a_character_keeps_its_end() {
    let words = r"word \ud83d ".repeat(10_000);
    let line = format!(
        r#"{{"event":{{"messages":[{{"role":"assistant","content":"{words}Shall I go on?"}}]}}}}"#
    );
    let (_, tail) = ending(&line);
    assert!(tail.ends_with("\u{fffd} Shall I go on?"), "{tail}");
}

#[test]
fn invalid_json_is_refused_at_any_position() {
    for params in [
        "{\"event\":{\"prompt\":\"a\tb\"}}",
        r#"{"event":{"prompt":"\ud83"}}"#,
        r#"{"event":{"prompt":"\ud83d"#,
        r#"{"event":{"\q":1}}"#,
        r#"{"event":{"prompt":01}}"#,
    ] {
        let read = read("hook/before_agent_start", params).expect("a row");
        assert!(read.is_err(), "{params}");
    }
}
