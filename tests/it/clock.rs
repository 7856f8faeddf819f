//! The system clock and the virtual clock.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::host::TestHost;
use crate::questions::{project, start};

/// The session and the actions of the next `host/apply`.
fn applied(host: &mut TestHost) -> (String, Value) {
    let message = host.receive();
    assert_eq!(message["method"], "host/apply", "{message}");
    assert!(message.get("id").is_none());
    let session = message["params"]["sessionId"].as_str().unwrap().to_owned();
    (session, message["params"]["actions"].clone())
}

#[test]
fn a_countdown_takes_three_seconds_and_other_calls_are_answered_meanwhile() {
    let directory = project();
    let mut host = TestHost::over_pipes();
    host.initialize(directory.path(), &json!("system"));
    start(&mut host, "a");
    start(&mut host, "b");
    let end = json!({"sessionId": "a", "event": {"messages": [{"role": "assistant", "stopReason": "stop"}]}});
    let started = Instant::now();
    let widget = host.result("hook/agent_end", &end);
    assert!(
        widget["actions"][0]["lines"][0]
            .as_str()
            .unwrap()
            .contains("3s")
    );
    for left in ["2s", "1s"] {
        let (session, actions) = applied(&mut host);
        assert_eq!(session, "a");
        assert!(
            actions[0]["lines"][0].as_str().unwrap().contains(left),
            "{actions}"
        );
        host.result("hook/turn_start", &json!({"sessionId": "b"}));
    }
    let (session, actions) = applied(&mut host);
    let took = started.elapsed();
    assert_eq!(session, "a");
    let reminder = actions.as_array().unwrap().last().unwrap();
    assert_eq!(reminder["type"], "sendUserMessage");
    assert!(
        (Duration::from_millis(2990)..Duration::from_secs(6)).contains(&took),
        "it took {took:?}"
    );
}

#[test]
fn a_countdown_that_was_stopped_says_nothing_more() {
    let directory = project();
    let mut host = TestHost::over_pipes();
    host.initialize(directory.path(), &json!("system"));
    start(&mut host, "a");
    host.result("hook/agent_end", &json!({"sessionId": "a"}));
    host.result("hook/agent_start", &json!({"sessionId": "a"}));
    assert_eq!(host.receive_within(Duration::from_millis(1300)), None);
}
