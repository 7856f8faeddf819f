//! Timelines of torn, damaged, hostile and later files.

use std::fmt::Write;
use std::path::Path;

use proptest::prelude::*;

use super::run::FlowNotes;
use super::timeline::TimelineEvent;
use super::*;
use crate::record::Transcript;
use crate::sessions::SessionFile;

const SESSION: &[u8] = include_bytes!("../../../../tests/sessions/blocked-tool-in-pi-1.5.2.jsonl");
const RECORDING: &[u8] = include_bytes!("../../../../tests/transcripts/a-whole-session.jsonl");

fn session(bytes: &[u8]) -> Timeline {
    of_session(&SessionFile::parse(bytes), None)
}

fn recording(bytes: &[u8]) -> Vec<Timeline> {
    let transcript = Transcript::parse(Path::new("t"), bytes);
    let sessions = transcript.map(|transcript| of_recording(&transcript, None));
    sessions.unwrap_or_default().into_values().collect()
}

fn names(timeline: &Timeline) -> Vec<String> {
    let events = timeline.events.iter();
    events
        .map(|event| {
            serde_json::to_value(event).unwrap()["event"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect()
}

#[test]
fn a_recording_and_a_session_file_give_the_same_timeline() {
    let recorded = recording(RECORDING);
    let [recorded] = &*recorded else {
        panic!("one session")
    };
    let entries = RECORDING.split(|byte| *byte == b'\n').filter_map(|line| {
        let line: serde_json::Value = serde_json::from_slice(line).ok()?;
        Some(line["out"]["result"]["actions"].as_array()?.clone())
    });
    // The entries of `appendEntry` actions, as pi stores them.
    let mut stored = "{\"type\":\"session\"}\n".to_owned();
    for action in entries
        .flatten()
        .filter(|action| action["type"] == "appendEntry")
    {
        let entry = serde_json::json!({ "type": "custom", "customType": action["customType"], "data": action["data"] });
        writeln!(stored, "{entry}").unwrap();
    }
    let is_stored = |name: &String| {
        ["started", "entered", "reminded", "paused", "completed"].contains(&name.as_str())
    };
    let timeline_events: Vec<String> = names(recorded).into_iter().filter(is_stored).collect();
    assert_eq!(timeline_events, names(&session(stored.as_bytes())));
    assert!(
        timeline_events.contains(&"completed".to_owned()),
        "{timeline_events:?}"
    );
}

#[test]
fn the_end_of_a_run_appears_once() {
    // The last two entries of a run differ in whether its end was announced.
    let ends = names(&session(SESSION))
        .iter()
        .filter(|name| *name == "completed")
        .count();
    assert_eq!(ends, 1);
}

#[test]
fn a_truncated_file_gives_a_prefix_of_the_timeline() {
    let whole = names(&session(SESSION));
    for end in (0..SESSION.len()).step_by(97) {
        let part = names(&session(&SESSION[..end]));
        assert!(whole.starts_with(&part), "{end}: {part:?}");
    }
    for end in (0..RECORDING.len()).step_by(97) {
        recording(&RECORDING[..end]);
    }
}

#[test]
fn values_of_a_wrong_type_are_skipped() {
    for line in [
        r#"{"type":"custom","customType":"workflow:state","data":{"active":true,"workflowKey":"w","currentPath":[],"startedAt":1}}"#,
        r#"{"type":"custom","customType":"workflow:state"}"#,
        r#"{"type":"custom","customType":"workflow:definition","data":{"version":1,"taskId":7}}"#,
        r#"{"type":"custom","customType":"workflow:run","data":[]}"#,
        r#"{"type":"custom","customType":"workflow:later","data":{}}"#,
        r#"{"type":"custom_message","customType":"workflow:context","content":7}"#,
        r#"{"type":"message","message":{"role":"assistant","content":[7,{"type":"toolCall"},{"type":"toolCall","name":"workflow_step","arguments":{"action":7}}]}}"#,
        r#"{"type":"message","message":{"role":"toolResult","isError":true}}"#,
        r#"{"type":"message","message":{"role":7}}"#,
        r#"{"type":"message"}"#,
    ] {
        let started = r#"{"type":"custom","customType":"workflow:state","data":{"active":true,"workflowKey":"w","currentPath":[{"workflowKey":"w","phaseIndex":0}],"startedAt":1,"taskId":"t"}}"#;
        let timeline_events = names(&session(format!("{started}\n{line}\n").as_bytes()));
        assert_eq!(timeline_events, ["started", "entered"], "{line}");
    }
    for message in [
        "7",
        "null",
        "[]",
        "{}",
        r#"{"id":{},"method":7}"#,
        r#"{"method":"hook/session_start","params":{"context":{"branch":[7,{"customType":7}]}}}"#,
    ] {
        recording(format!("{{\"in\":{message}}}\n{{\"out\":{message}}}\n").as_bytes());
    }
}

#[test]
fn impossible_times_are_accepted() {
    let at = |at: i64, active: bool| {
        let data = format!(
            r#"{{"active":{active},"workflowKey":"w","currentPath":[{{"workflowKey":"w","phaseIndex":0}}],"startedAt":-8640000000000000,"taskId":"t"}}"#
        );
        let entry =
            format!(r#"{{"type":"appendEntry","customType":"workflow:state","data":{data}}}"#);
        format!(
            "{{\"at\":{at},\"out\":{{\"method\":\"host/apply\",\"params\":{{\"sessionId\":\"\",\"actions\":[{entry}]}}}}}}\n"
        )
    };
    let timeline_events =
        recording((at(i64::MAX, true) + &at(0, true) + &at(i64::MAX, false)).as_bytes());
    assert_eq!(
        names(&timeline_events[0]),
        ["started", "entered", "completed"]
    );
}

proptest! {
    #![proptest_config(crate::drawn::config(200))]

    #[test]
    fn damaged_files_never_panic(at in proptest::collection::vec((0..RECORDING.len(), any::<u8>()), 1..12)) {
        for original in [SESSION, RECORDING] {
            let mut bytes = original.to_vec();
            for (at, byte) in &at {
                let at = at % bytes.len();
                bytes[at] = *byte;
            }
            session(&bytes);
            recording(&bytes);
        }
    }
}

/// The events of phases that were entered: the phase, and what the flow says of the way into it.
fn entered(transcript: &[u8]) -> Vec<(String, serde_json::Value)> {
    let timelines = recording(transcript);
    let events = timelines.iter().flat_map(|timeline| &timeline.events);
    events
        .filter_map(|event| match &event.what {
            TimelineEvent::Entered { phase, flow, .. } => {
                Some((phase.clone(), serde_json::to_value(flow).unwrap()))
            }
            _ => None,
        })
        .collect()
}

#[test]
fn a_phase_is_shown_with_the_outcome_the_visit_and_the_comment_that_led_to_it() {
    let entered = entered(include_bytes!(
        "../../../../tests/transcripts/answer-leads-elsewhere-with-a-comment.jsonl"
    ));
    let json = |text: &str| -> serde_json::Value { serde_json::from_str(text).unwrap() };
    let expected = [
        ("📝 Plan", "{}"),
        ("🔨 Build", "{}"),
        ("🔍 Review", "{}"),
        ("📦 Release", r#"{"outcome": "ok"}"#),
        (
            "🔨 Build",
            r#"{"visit": 2, "comment": "name the errors as well", "userCommand": "approve"}"#,
        ),
        ("🔍 Review", r#"{"visit": 2}"#),
        ("📦 Release", r#"{"outcome": "ok", "visit": 2}"#),
    ];
    let expected = expected.map(|(phase, flow)| (phase.to_owned(), json(flow)));
    assert_eq!(entered, expected);
}

#[test]
fn a_skipped_phase_is_shown_with_the_one_that_was_entered_instead() {
    let entered = entered(include_bytes!(
        "../../../../tests/transcripts/phase-is-skipped-if-its-condition-does-not-hold.jsonl"
    ));
    let (phase, flow) = entered.last().unwrap();
    assert_eq!(phase, "📦 Release");
    assert_eq!(flow["skipped"], serde_json::json!(["review"]));
}

#[test]
fn what_the_user_did_is_marked_and_a_message_of_the_extension_is_not_the_users() {
    let state = |step: u32, phase: u32| {
        format!(
            r#"{{"type":"custom","customType":"workflow:state","data":{{"active":true,"workflowKey":"w","currentPath":[{{"workflowKey":"w","phaseIndex":{phase}}}],"globalStepCount":{step},"startedAt":1,"taskId":"t","taskDescription":"it"}}}}"#
        )
    };
    let lines = [
        state(0, 0),
        r#"{"type":"custom","customType":"workflow:run","data":{"version":1,"taskId":"t","reminders":0,"stale":0,"paused":null,"movedBy":{"by":"user","command":"goto","step":1,"overrode":["the gate `make test`"]}}}"#.to_owned(),
        state(1, 1),
        r#"{"type":"message","message":{"role":"user","content":"[workflow] The user moved the workflow: a → b"}}"#.to_owned(),
        r#"{"type":"message","message":{"role":"assistant","content":[{"type":"toolCall","name":"workflow_step","arguments":{"action":"next"}}]}}"#.to_owned(),
        state(2, 0),
        r#"{"type":"message","message":{"role":"toolResult","toolName":"workflow_step","content":[],"isError":false,"details":{"advanced":true,"approval":"revise","comment":"shorter"}}}"#.to_owned(),
        r#"{"type":"message","message":{"role":"user","content":"Go on."}}"#.to_owned(),
    ];
    let timeline = session(lines.join("\n").as_bytes());
    let phase = |number: u32, by: Option<&str>, flow: FlowNotes| TimelineEvent::Entered {
        phase: format!("w [{number}]"),
        path: Vec::new(),
        by: by.map(str::to_owned),
        lasted: None,
        flow: Box::new(flow),
    };
    let by_user = FlowNotes {
        user_command: Some("goto".to_owned()),
        overrode: vec!["the gate `make test`".to_owned()],
        ..FlowNotes::default()
    };
    let expected = [
        TimelineEvent::Started {
            workflow: "w".to_owned(),
            task: "it".to_owned(),
        },
        phase(1, None, FlowNotes::default()),
        phase(2, None, by_user),
        TimelineEvent::Answered {
            choice: "revise".to_owned(),
            comment: Some("shorter".to_owned()),
        },
        phase(1, Some("next"), FlowNotes::default()),
        TimelineEvent::UserMessage {
            text: "Go on.".to_owned(),
        },
    ];
    let events: Vec<_> = timeline
        .events
        .into_iter()
        .map(|event| event.what)
        .collect();
    assert_eq!(events, expected);
    assert_eq!(timeline.totals.messages, 1);
}
