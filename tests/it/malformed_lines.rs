//! Malformed lines: too long, too deep, not text, without an end.

use serde_json::{Value, json};

use crate::connection::Process;
use crate::host::{TestHost, kind_of};

/// A `hook/tool_call` with a text of this many bytes in its input.
fn tool_call(id: u64, bytes: usize) -> String {
    let input = "x".repeat(bytes);
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"hook/tool_call","params":{{"event":{{"toolName":"edit","toolCallId":"c","input":{{"text":"{input}"}}}}}}}}"#
    )
}

#[test]
fn a_line_over_the_limit_is_refused_and_the_next_one_taken() {
    let mut host = TestHost::over(Process::start(&["--max-line", "2000"]));
    host.initialize_bare();
    host.start_session();
    host.send(tool_call(1, 3_000_000));
    let refused = host.receive();
    assert_eq!(kind_of(&refused), "lineTooLong");
    assert_eq!(refused["id"], Value::Null);
    host.send(tool_call(2, 1000));
    assert_eq!(
        host.receive(),
        json!({"jsonrpc": "2.0", "id": 2, "result": {}})
    );
}

#[test]
fn a_long_line_below_the_limit_is_taken() {
    let mut host = TestHost::over_pipes();
    host.initialize_bare();
    host.start_session();
    host.send(tool_call(1, 5_000_000));
    assert_eq!(
        host.receive(),
        json!({"jsonrpc": "2.0", "id": 1, "result": {}})
    );
}

/// A `hook/session_start` of this length.
fn session_start(id: u64, bytes: usize) -> String {
    let line = |text: &str| {
        let branch = json!([{"type": "custom", "customType": "notes", "data": text}]);
        json!({"jsonrpc": "2.0", "id": id, "method": "hook/session_start", "params": {"context": {"branch": branch}}}).to_string()
    };
    let missing = bytes - line("").len();
    line(&"x".repeat(missing))
}

#[test]
fn the_entries_of_a_session_are_what_fits_a_line() {
    const LONGEST: usize = 20_000;
    let mut host = TestHost::over(Process::start(&["--max-line", &LONGEST.to_string()]));
    host.initialize_bare();
    for (id, bytes, is_taken) in [
        (1, LONGEST - 1, true),
        (2, LONGEST, true),
        (3, LONGEST + 1, false),
    ] {
        let line = session_start(id, bytes);
        assert_eq!(line.len(), bytes);
        host.send(line);
        let answer = host.receive();
        if is_taken {
            assert_eq!(answer["id"], id, "{answer}");
            assert!(answer["result"].is_object(), "{answer}");
        } else {
            assert_eq!(kind_of(&answer), "lineTooLong");
        }
    }
}

#[test]
fn depth_uses_no_stack_in_any_field() {
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    let event = |field: &str| format!(r#"{{"toolName":"edit","{field}":{deep}}}"#);
    for mut host in [TestHost::over_pipes(), TestHost::in_memory()] {
        host.initialize_bare();
        host.start_session();
        for params in [
            format!(r#"{{"event":{}}}"#, event("input")),
            format!(r#"{{"event":{}}}"#, event("unknown")),
        ] {
            host.send(format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"hook/tool_call","params":{params}}}"#
            ));
            assert_eq!(
                host.receive(),
                json!({"jsonrpc": "2.0", "id": 1, "result": {}})
            );
        }
        for (line, kind) in [
            (deep.clone(), "invalidRequest"),
            ("[".repeat(1_000_000), "parseError"),
            (r#"{"a":"#.repeat(100_000), "parseError"),
            (
                format!(r#"{{"jsonrpc":"2.0","id":{deep},"method":"hook/turn_end"}}"#),
                "invalidRequest",
            ),
            (
                format!(r#"{{"jsonrpc":"2.0","id":1,"method":"hook/turn_end","params":{deep}}}"#),
                "invalidParams",
            ),
            (
                format!(
                    r#"{{"jsonrpc":"2.0","id":1,"method":"hook/turn_end","params":{{"sessionId":{deep}}}}}"#
                ),
                "invalidParams",
            ),
        ] {
            host.send(line);
            assert_eq!(kind_of(&host.receive()), kind);
        }
    }
}

#[test]
fn bytes_that_are_not_text_are_refused_and_the_session_continues() {
    for mut host in [TestHost::over_pipes(), TestHost::in_memory()] {
        host.initialize_bare();
        host.start_session();
        for line in [
            &b"\xff\xfe"[..],
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xc3\"}",
        ] {
            host.send(line);
            let refused = host.receive();
            assert_eq!(kind_of(&refused), "parseError");
            assert_eq!(refused["id"], Value::Null);
        }
        assert_eq!(host.result("hook/turn_start", &json!({})), json!({}));
    }
}

#[test]
fn lines_end_as_they_like_and_empty_ones_say_nothing() {
    let mut host = TestHost::over_pipes();
    host.send_bytes(b"\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\"}\r\n");
    host.send_bytes(b"\n\r\n  \t\n");
    host.send_bytes(b"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"a\\u2028\xe2\x80\xa8\"}\n");
    for id in [1, 2] {
        let answer = host.receive();
        assert_eq!(
            (kind_of(&answer), &answer["id"]),
            ("methodNotFound", &json!(id))
        );
    }
}

#[test]
fn many_requests_at_once_are_answered_in_their_order() {
    let mut host = TestHost::over_pipes();
    host.initialize_bare();
    host.start_session();
    let count = 5000;
    let lines: String = (0..count).map(|id| tool_call(id, 10) + "\n").collect();
    host.send_bytes(lines.as_bytes());
    for id in 0..count {
        assert_eq!(host.receive()["id"], id);
    }
}

#[test]
fn a_request_in_pieces_is_one_request() {
    let mut host = TestHost::over_pipes();
    for piece in [
        "{\"jsonrpc\":\"2.0\",",
        "\"id\":1,\"meth",
        "od\":\"x\"",
        "}\n{\"json",
    ] {
        host.send_bytes(piece.as_bytes());
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert_eq!(kind_of(&host.receive()), "methodNotFound");
    host.send_bytes(b"rpc\":\"2.0\",\"id\":2,\"method\":\"y\"}\n");
    assert_eq!(host.receive()["id"], 2);
}
