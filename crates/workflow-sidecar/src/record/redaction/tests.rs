//! Tests of the redaction.

use workflow_core::policy::gate_report::{CheckVerdict, Report};
use workflow_core::types::GateRunId;

use super::*;

const PARAMS_REFUSED: &str = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"S"}}"#;
const LINE_REFUSED: &str = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"S"}}"#;

fn redaction() -> Redaction {
    Redaction::new(true)
}

/// A line of the host as it is recorded, and how its answers are.
fn host_line(
    redaction: &mut Redaction,
    line: &str,
    answers: &[&str],
) -> (String, Option<&'static str>) {
    let (line, answers) = redaction.host_line(line.as_bytes(), answers, false);
    (String::from_utf8(line.into_owned()).unwrap(), answers)
}

fn gate_finished(tail: &str) -> PlatformEvent {
    PlatformEvent::GateFinished {
        gate: GateRunId(1),
        reports: vec![Report {
            what: "test".to_owned(),
            source: String::new(),
            verdict: CheckVerdict::Failed,
            reason: String::new(),
            exit: Some(1),
            signal: None,
            duration_ms: 0,
            tail: tail.to_owned(),
        }],
    }
}

#[test]
fn texts_of_tools_are_redacted_and_nothing_else() {
    for line in [
        r#"{"jsonrpc":"2.0","id":1,"method":"hook/tool_call","params":{"event":{"toolName":"bash","input":{"command":"S","n":[1,"S"],"type":"S"},"toolCallId":"c"}}}"#,
        r#"{"method":"hook/tool_result","params":{"event":{"content":[{"type":"text","text":"S"},"S"],"details":"S","isError":true}}}"#,
        r#"{"params":{"event":{"messages":[{"role":"assistant","stopReason":"stop","content":[{"type":"toolCall","name":"bash","arguments":{"a":"S"}},{"type":"text","text":"Done?"}]},{"role":"toolResult","toolName":"bash","content":[{"type":"text","text":"S"}],"details":{"a":"S"}},{"role":"user","content":"hello"},{"role":"bashExecution","command":"S","output":"S"}]}},"method":"hook/agent_end"}"#,
        r#"{"method":"tool/execute","params":{"name":"workflow_step","arguments":{"action":"next","why":"S"}}}"#,
        r#"{"method":"tool/execute","params":{"name":"workflow_step","arguments":["S","S"]}}"#,
        r#"{"params":{"event":{"message":{"content":[{"partialJson":"S","type":"toolCall","id":"c","name":"bash"}],"role":"assistant"}}},"method":"hook/turn_end"}"#,
        r#"{"method":"hook/session_start","params":{"context":{"branch":[{"type":"message","message":{"role":"toolResult","content":"S"}},{"type":"custom","data":{"a":"kept"}}]}}}"#,
        r#"{"method":"hook/session_start","params":{"context":{"branch":[{"type":"custom","customType":"workflow:gate","data":{"reports":[{"what":"test","tail":"S"}]}}]}}}"#,
        r#"[{"a":"S"}]"#,
        r#"{"method":"hook/agent_start","later":"S"}"#,
    ] {
        let expected: Value =
            serde_json::from_str(&line.replace("\"S\"", "\"[redacted]\"")).unwrap();
        let (redacted, answers) = host_line(&mut redaction(), line, &[]);
        assert_eq!(serde_json::from_str::<Value>(&redacted).unwrap(), expected);
        assert_eq!(answers, None);
        let kept = host_line(&mut Redaction::new(false), line, &[]);
        assert_eq!(kept, (line.to_owned(), None));
    }
}

#[test]
fn values_of_unexpected_types_are_redacted() {
    for line in [
        r#"{"method":"hook/tool_call","params":{"event":"S"}}"#,
        r#"{"method":"hook/tool_call","params":["S"]}"#,
        r#"{"method":"hook/agent_end","params":"S"}"#,
        r#"{"method":"hook/agent_end","params":{"event":["S"]}}"#,
        r#"{"method":"hook/tool_call","params":{"input":"S"}}"#,
        r#"{"method":"hook/tool_call","params":{"event":{"toolName":{"a":"S"},"later":"S","\ud800":"S"}}}"#,
        r#"{"method":"hook/tool_result","params":{"event":{"toolName":"bash","isError":"S"}}}"#,
        r#"{"method":"hook/tool_result","params":{"event":{"content":[{"type":["S"]}]}}}"#,
        r#"{"method":"hook/tool_later","params":{"event":{"toolName":"S"}}}"#,
        r#"{"method":"later","params":{"event":{"input":"S"}}}"#,
        r#"{"params":{"event":{"input":"S"}}}"#,
        r#"{"method":"hook/session_start","params":{"context":"S"}}"#,
        r#"{"method":"hook/session_start","params":{"context":{"branch":"S"}}}"#,
        r#"{"method":"hook/session_start","params":{"context":{"branch":["S",{"message":"S","data":"S"}]}}}"#,
        r#"{"method":"hook/agent_end","params":{"event":{"messages":"S","message":"S"}}}"#,
        r#"{"method":"hook/agent_end","params":{"event":{"messages":["S",{"content":"S"},{"role":["S"]}]}}}"#,
        r#"{"method":"hook/agent_end","params":{"event":{"messages":[{"role":"assistant","content":{"arguments":"S"}}]}}}"#,
        r#"{"method":"hook/agent_end","params":{"event":{"messages":[{"role":"toolResult","isError":"S"}]}}}"#,
        r#"{"method":"tool/execute","params":{"name":"workflow_step","arguments":"S"}}"#,
    ] {
        let (redacted, _) = host_line(&mut redaction(), line, &[]);
        assert!(!redacted.contains("\"S\""), "{redacted}");
    }
}

#[test]
fn a_refused_line_is_left_out_and_its_refusal_is_any_line() {
    for (line, refusal, expected) in [
        ("S", LINE_REFUSED, REDACTED),
        (
            r#"{"method":"hook/tool_call","method":"session/state","params":"S"}"#,
            LINE_REFUSED,
            REDACTED,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"hook/tool_call","params":["S"]}"#,
            PARAMS_REFUSED,
            r#"{"jsonrpc":"2.0","id":1,"method":"hook/tool_call","params":"[redacted]"}"#,
        ),
    ] {
        let redacted = host_line(&mut redaction(), line, &[refusal]);
        assert_eq!(redacted, (expected.to_owned(), Some(ANY)));
    }
    let mut redaction = redaction();
    let (line, _) = redaction.host_line(b"a\xff", &[LINE_REFUSED], false);
    assert_eq!(*line, *REDACTED.as_bytes());
}

#[test]
fn a_line_that_is_too_deep_keeps_its_envelope() {
    let deep = "[".repeat(200) + "\"S\"" + &"]".repeat(200);
    let line = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"hook/tool_call","params":{{"event":{{"input":{deep}}}}}}}"#
    );
    let expected = r#"{"jsonrpc":"2.0","id":1,"method":"hook/tool_call","params":"[redacted]"}"#;
    let redacted = host_line(&mut redaction(), &line, &[r#"{"id":1,"result":{}}"#]);
    assert_eq!(redacted, (expected.to_owned(), Some(UNKNOWN)));
}

#[test]
fn long_strings_of_tools_lose_their_middle() {
    let long = format!("a{}é{}b", "ä".repeat(10_000), "ö".repeat(10_000));
    let line = serde_json::json!({"method": "hook/tool_call", "params": {"event": {"toolName": "t", "input": {"a": long}}}});
    let mut kept = Redaction::new(false);
    let (text, _) = host_line(&mut kept, &line.to_string(), &[]);
    let value: Value = serde_json::from_str(&text).unwrap();
    let text = value["params"]["event"]["input"]["a"].as_str().unwrap();
    assert!(text.starts_with("aä") && text.ends_with("öb"));
    assert!(text.contains("bytes left out"), "{text}");
    assert!(text.len() <= MAX_STRING + 64);
    let prompt = serde_json::json!({"method": "hook/input", "params": {"event": {"text": long}}});
    let prompt = prompt.to_string();
    assert_eq!(host_line(&mut kept, &prompt, &[]).0, prompt);
    let line = line.to_string();
    let (whole, _) = kept.host_line(line.as_bytes(), &[], true);
    assert_eq!(*whole, *line.as_bytes());
    let nonsense = "S".repeat(2 * MAX_STRING);
    let (text, answers) = host_line(&mut kept, &nonsense, &[LINE_REFUSED]);
    assert!(text.len() < 100, "{text}");
    assert_eq!(answers, Some(ANY));
}

#[test]
fn the_output_of_a_gate_is_hidden_wherever_it_is_quoted() {
    let mut redaction = redaction();
    let PlatformEvent::GateFinished { reports, .. } = redaction.event(&gate_finished("S\n")) else {
        panic!("another event");
    };
    assert_eq!(reports[0].tail, REDACTED);
    let line = r#"{"a":[{"tail":"S\n"}],"text":"✗ test\n```\nS\n```\n\nS"}"#;
    let expected = r#"{"a":[{"tail":"[redacted]"}],"text":"✗ test\n```\n[redacted]\n```\n\nS"}"#;
    assert_eq!(redaction.sidecar_line(line), expected);
    redaction.event(&gate_finished("```"));
    let line = r#"{"tail":"```","text":"\n~~~~\n```\n~~~~"}"#;
    let expected = r#"{"tail":"[redacted] ```","text":"\n~~~~\n[redacted] ```\n~~~~"}"#;
    assert_eq!(redaction.sidecar_line(line), expected);
}

#[test]
fn an_answer_that_depends_on_arguments_becomes_a_line_that_is_not_compared() {
    let mut redaction = redaction();
    let call = r#"{"id":7,"method":"hook/tool_call","params":{}}"#;
    let answer = r#"{"id":7,"result":{}}"#;
    host_line(&mut redaction, call, &[]);
    assert_eq!(redaction.sidecar_line(answer), answer);
    redaction.host_line(call.as_bytes(), &[], true);
    let question = r#"{"id":"s1","method":"ui/confirm"}"#;
    assert_eq!(redaction.sidecar_line(question), UNKNOWN);
    redaction.host_line(br#"{"id":"s1","result":true}"#, &[], true);
    let action = r#"{"method":"host/apply"}"#;
    assert_eq!(redaction.sidecar_line(action), action);
    assert_eq!(redaction.sidecar_line(answer), UNKNOWN);
    assert_eq!(redaction.sidecar_line(answer), answer);
}

#[test]
fn the_message_of_a_trigger_is_hidden_in_both_directions() {
    let mut redaction = redaction();
    let text = "It says: S".to_owned();
    let event = redaction.event(&PlatformEvent::Triggered { text });
    assert!(matches!(event, PlatformEvent::Triggered { text } if text == REDACTED));
    let line = r#"{"content":"It says: S","x":"It says: S"}"#;
    let expected = r#"{"content":"[redacted]","x":"It says: S"}"#;
    assert_eq!(redaction.sidecar_line(line), expected);
    let line = format!(r#"{{"message":"{NOT_DELIVERED}It says"}}"#);
    let expected = format!(r#"{{"message":"{NOT_DELIVERED}[redacted]"}}"#);
    assert_eq!(redaction.sidecar_line(&line), expected);
    let prompt =
        r#"{"method":"hook/before_agent_start","params":{"event":{"prompt":"It says: S"}}}"#;
    let (redacted, _) = host_line(&mut redaction, prompt, &[]);
    assert!(!redacted.contains("It says"), "{redacted}");
}

#[test]
fn a_shown_file_is_hidden_in_the_question() {
    let mut redaction = redaction();
    let excerpt = PlatformResult::Query(QueryResult::Excerpt(" S\n".to_owned()));
    let excerpt = redaction.result(excerpt).unwrap();
    let hidden = QueryResult::Excerpt(REDACTED.to_owned());
    assert_eq!(excerpt.query(), Some(&hidden));
    let line = r#"{"message":"S","options":["S"],"title":"OK?\n\nS"}"#;
    let expected = r#"{"message":"[redacted]","options":["S"],"title":"OK?\n\n[redacted]"}"#;
    assert_eq!(redaction.sidecar_line(line), expected);
}

#[test]
fn a_token_of_a_trigger_is_left_out_however_it_is_written() {
    for (text, expected) in [
        (
            "{token: 'S', tokenEnv: 'E'}",
            r#"{token: "[redacted]", tokenEnv: 'E'}"#,
        ),
        (r#"{"token" : "a\"S"}"#, r#"{"token" : "[redacted]"}"#),
        (
            "{'token': /* S */ // S\n'S\\\nS'}",
            "{'token': /* S */ // S\n\"[redacted]\"}",
        ),
        ("{ broken token: 'S'", "{ broken token: \"[redacted]\""),
        ("{maxTokens: 1}", "{maxTokens: 1}"),
    ] {
        assert_eq!(without_tokens(text), expected);
    }
}
