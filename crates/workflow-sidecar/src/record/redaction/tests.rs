//! Tests of the redaction.

use workflow_core::approval::{Decision, Request};
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
fn what_tools_people_and_models_say_is_redacted_and_nothing_else() {
    for line in [
        r#"{"jsonrpc":"2.0","id":1,"method":"hook/tool_call","params":{"event":{"toolName":"bash","input":{"command":"S","n":[1,"S"],"type":"S"},"toolCallId":"c"}}}"#,
        r#"{"method":"hook/tool_result","params":{"event":{"content":[{"type":"text","text":"S"},"S"],"details":"S","isError":true}}}"#,
        r#"{"params":{"event":{"messages":[{"role":"assistant","stopReason":"stop","content":[{"type":"toolCall","name":"bash","arguments":{"a":"S"}},{"type":"text","text":"S"},{"type":"thinking","thinking":"S"}]},{"role":"toolResult","toolName":"bash","content":[{"type":"text","text":"S"}],"details":{"a":"S"}},{"role":"user","content":"S"},{"role":"bashExecution","command":"S","output":"S"}]}},"method":"hook/agent_end"}"#,
        r#"{"method":"hook/before_agent_start","params":{"event":{"prompt":"S","systemPrompt":"S","images":[{"data":"S"}]}}}"#,
        r#"{"method":"hook/input","params":{"event":{"source":"interactive","text":"S"}}}"#,
        r#"{"method":"tool/execute","params":{"name":"workflow_step","arguments":{"action":"next","outcome":"S","outputs":{"n":1,"a":["S"]},"why":"S"}}}"#,
        r#"{"method":"tool/execute","params":{"name":"workflow_step","arguments":["S","S"]}}"#,
        r#"{"params":{"event":{"message":{"content":[{"partialJson":"S","type":"toolCall","id":"c","name":"bash"}],"role":"assistant"}}},"method":"hook/turn_end"}"#,
        r#"{"method":"hook/session_start","params":{"context":{"branch":[{"type":"message","id":"1","message":{"role":"toolResult","content":"S"}},{"type":"custom","customType":"other","data":{"a":"S"}},{"type":"compaction","id":"2","summary":"S"}]}}}"#,
        r#"{"method":"hook/session_start","params":{"context":{"branch":[{"type":"custom","customType":"workflow:gate","data":{"phase":"a","reports":[{"what":"test","reason":"S","tail":"S"}]}}]}}}"#,
        r#"{"method":"hook/session_start","params":{"context":{"branch":[{"customType":"workflow:state","data":{"workflowKey":"w","taskDescription":"S"}},{"type":"custom","customType":"workflow:run","data":{"taskId":"t","data":{"handedOver":{"outcome":"done","outputs":{"a":"S"},"summary":"S"}}}}]}}}"#,
        r#"{"id":"s1","result":"S"}"#,
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
fn a_question_stays_a_question_and_a_reminder_is_no_prompt_of_the_user() {
    let mut redaction = redaction();
    let end = r#"{"method":"hook/agent_end","params":{"event":{"messages":[{"content":"S?*","role":"assistant"}]}}}"#;
    let (line, _) = host_line(&mut redaction, end, &[]);
    assert_eq!(line, end.replace("S?*", "[redacted]?"));
    let said = r#"{"method":"host/apply","params":{"actions":[{"content":"Go on: S","type":"sendUserMessage"}]}}"#;
    let hidden = said.replace("Go on: S", REDACTED);
    assert_eq!(redaction.sidecar_line(said), hidden);
    let start = |prompt: &str| {
        let event = serde_json::json!({ "prompt": prompt });
        let line =
            serde_json::json!({"method": "hook/before_agent_start", "params": {"event": event}});
        line.to_string()
    };
    let (line, _) = host_line(&mut redaction, &start("[user] Go on: S\n"), &[]);
    assert_eq!(line, start("x").replace("\"x\"", "null"));
    let (line, _) = host_line(&mut redaction, &start("Go on: T"), &[]);
    assert_eq!(line, start(REDACTED));
}

#[test]
fn names_of_the_definitions_stay_where_decisions_depend_on_them() {
    let mut redaction = redaction();
    let text = "commandName: fix\ninputs: {size: {choices: [s, m]}, ticket: {}}\n# the end";
    let file = (
        "workflows/w/plan.md".to_owned(),
        FileContent::Text(text.to_owned()),
    );
    redaction.note_names(&RecordedDirectory([file].into()));
    let question =
        r#"{"id":"s1","method":"ui/select","params":{"options":["Not yet"],"title":"S"}}"#;
    assert_eq!(
        redaction.sidecar_line(question),
        question.replace("\"S\"", "\"[redacted]\"")
    );
    for (method, name, written, expected) in [
        ("run", "workflow", "fix the end", "fix [redacted]"),
        (
            "run",
            "workflow",
            "fix size=m  ticket=A-1 the end",
            "fix size=m ticket=[redacted] [redacted]",
        ),
        (
            "run",
            "workflow",
            "fix --size m --ticket A-1 the end",
            "fix --size m --ticket [redacted] [redacted]",
        ),
        ("run", "workflow", "fx the end", "[redacted]"),
        ("run", "workflow-goto", "plan", "plan"),
        (
            "run",
            "workflow-approve",
            "revise It is wrong",
            "revise [redacted]",
        ),
        ("run", "workflow-resume", "+20 size", "+20 size"),
        ("run", "workflow-status", "", ""),
    ] {
        let line = serde_json::json!({"method": format!("command/{method}"), "params": {"arguments": written, "name": name}});
        let expected = line.to_string().replace(written, expected);
        assert_eq!(
            host_line(&mut redaction, &line.to_string(), &[]),
            (expected, None)
        );
    }
    for (answer, expected) in [
        ("\"Not yet\"", "\"Not yet\""),
        ("\"Not S\"", "\"[redacted]\""),
        ("true", "true"),
        ("7", "7"),
    ] {
        let line = |answer: &str| format!(r#"{{"id":"s1","result":{answer}}}"#);
        assert_eq!(
            host_line(&mut redaction, &line(answer), &[]).0,
            line(expected)
        );
    }
    let typed =
        r#"{"method":"command/complete","params":{"name":"workflow","prefix":"fix ticket=A"}}"#;
    let typed = host_line(&mut redaction, typed, &[]);
    assert!(!typed.0.contains("=A"), "{}", typed.0);
    assert_eq!(typed.1, Some(UNKNOWN));
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
fn what_the_sidecar_says_is_hidden_and_what_it_decides_stays() {
    for line in [
        r#"{"id":1,"jsonrpc":"2.0","result":{"content":[{"text":"S","type":"text"}],"details":{"active":true,"reports":[{"what":"S"}]},"isError":true}}"#,
        r#"{"id":1,"result":{"inject":{"content":"S","customType":"workflow:context","display":false}}}"#,
        r#"{"id":1,"result":{"active":true,"flow":{"inputs":{"a":"S"},"visit":"2 of 3"},"taskDescription":"S","workflowName":"W"}}"#,
        r#"{"method":"host/apply","params":{"actions":[{"level":"info","message":"S","type":"notify"},{"message":{"content":"S","customType":"workflow:x"},"type":"sendMessage"},{"name":"S","type":"setSessionName"},{"key":"workflow","text":"W > A","type":"setStatus"}],"sessionId":"s"}}"#,
        r#"{"method":"host/apply","params":{"actions":[{"customType":"workflow:values","data":{"answers":{"w/a":{"comment":"S"}},"inputs":{"n":3},"outputs":{"w/a":{"x":"S"}},"taskId":"t"},"type":"appendEntry"}]}}"#,
        r#"{"method":"host/apply","params":{"actions":[{"customType":"workflow:definition","data":{"workflows":[{"name":"W"}]},"type":"appendEntry"}]}}"#,
        r#"{"id":"s1","method":"ui/confirm","params":{"message":"S","title":"S"}}"#,
    ] {
        let expected = line.replace("\"S\"", "\"[redacted]\"");
        assert_eq!(redaction().sidecar_line(line), expected);
        assert_eq!(Redaction::new(false).sidecar_line(line), line);
    }
}

#[test]
fn reports_of_the_platform_are_hidden() {
    let mut redaction = redaction();
    let PlatformEvent::GateFinished { reports, .. } = redaction.event(&gate_finished("S\n")) else {
        panic!("another event");
    };
    assert_eq!([&*reports[0].tail, &*reports[0].reason], [REDACTED, ""]);
    let text = "It says: S".to_owned();
    let event = redaction.event(&PlatformEvent::Triggered { text });
    assert!(matches!(event, PlatformEvent::Triggered { text } if text == REDACTED));
    let decision = Decision {
        choice: "revise".to_owned(),
        comment: Some("S".to_owned()),
        asked: Some(Request::default()),
        ..Decision::default()
    };
    let read = PlatformEvent::ApprovalRead {
        decision: Some(Box::new(decision)),
        is_outdated: false,
    };
    let PlatformEvent::ApprovalRead {
        decision: Some(decision),
        ..
    } = redaction.event(&read)
    else {
        panic!("another event");
    };
    assert_eq!(
        (&*decision.choice, decision.comment.as_deref()),
        ("revise", Some(REDACTED))
    );
    assert_eq!(decision.asked, None);
    let excerpt = PlatformResult::Query(QueryResult::Excerpt(" S\n".to_owned()));
    let excerpt = redaction.result(excerpt).unwrap();
    let hidden = QueryResult::Excerpt(REDACTED.to_owned());
    assert_eq!(excerpt.query(), Some(&hidden));
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

#[test]
fn secrets_are_in_no_line_however_deep_and_the_rest_is_as_it_was() {
    let key = format!("ghp_{}", "a1B2".repeat(9));
    let deep = format!("{}\"{key}\"{}", "[".repeat(200), "]".repeat(200));
    for line in [
        format!(r#"{{"a":["{key}",{{"b {key}":1}}]}}"#),
        format!("{{\"{key}\":\"\\n{key}\"}}"),
        format!("\"nope {key}\""),
        deep,
    ] {
        let safe = line_without_secrets(&line);
        assert!(!safe.contains("a1B2"), "{safe}");
        assert!(serde_json::from_str::<&RawValue>(&safe).is_ok(), "{safe}");
    }
    for line in ["{\"b\": 1.50,\"a\":2}", "\"\\ud800\"", "7"] {
        assert_eq!(line_without_secrets(line), line);
    }
}

#[test]
fn an_answer_that_may_depend_on_a_secret_is_not_compared() {
    let mut plain = Redaction::new(false);
    let call =
        |text: &str| format!(r#"{{"id":7,"method":"hook/tool_call","params":{{"a":"{text}"}}}}"#);
    let answer = r#"{"id":7,"result":{}}"#;
    for (text, expected) in [("ls", answer), ("curl redis://:s3cret@host", UNKNOWN)] {
        plain.host_line(call(text).as_bytes(), &[], true);
        assert_eq!(plain.sidecar_line(answer), expected);
    }
}
