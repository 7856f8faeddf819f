use std::fs;

use serde_json::{Value, json};
use workflow_core::definition::NotifierAddress;

use super::super::requests::tests::request;
use super::*;
use crate::store::{Counts, RunNote, of_agent_dir};

fn address(setting: Value) -> NotifierAddress {
    match Notifier::read(setting).unwrap().remove(0) {
        Notifier::Address(address) => *address,
        other => panic!("{other:?}"),
    }
}

/// A question whose texts are hostile.
fn question() -> Notice {
    let mut asked = request("wf-1");
    asked.cwd = "/projects/shop".into();
    asked.workflow = "<!channel> \"W\"".to_owned();
    asked.phase = "Plan\u{1b}]0;x\u{7}".to_owned();
    asked.ask = "OK with ghp_0123456789abcdefghijABCDEFGHIJ456789?".to_owned();
    asked.task = "a secret task".to_owned();
    Notice::of_request(&asked, "K7QF-M2XD-9TRB".to_owned())
}

/// The body and the rest of a request.
fn sent(setting: Value) -> (String, Vec<String>) {
    let request = forms::request(&address(setting), &question());
    let (mut body, mut rest) = (String::new(), Vec::new());
    for line in request.lines() {
        let (name, value) = line.split_once(" = ").unwrap();
        let value = value.strip_prefix('"').unwrap().strip_suffix('"').unwrap();
        match name {
            "data-raw" => {
                let value = value.replace("\\\\", "\0").replace("\\n", "\n");
                body = value.replace("\\\"", "\"").replace('\0', "\\");
            }
            name => rest.push(format!("{name}: {value}")),
        }
    }
    (body, rest)
}

const PLACE: &str = "<!channel> \"W\" > Plan\\u{1b}]0;x\\u{7} waits for your approval";
const ANSWER: &str =
    "Answer in the host, or in a terminal: workflow-sidecar approve K7QF-M2XD-9TRB";

#[test]
fn each_template_has_its_form() {
    let of = |template: &str| {
        let link = "https://board.example/x/";
        sent(
            json!({"url": "https://h/x", "template": template, "link": link, "headers": {"X-Key": "a \"b\\"}}),
        )
    };
    let link = "https://board.example/x/a?run=wf-1&code=K7QF-M2XD-9TRB";
    let rest = |more: &[&str]| {
        let all = [
            &["url: https://h/x"][..],
            more,
            &["header: X-Key: a \\\"b\\\\"],
        ]
        .concat();
        all.into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let json_headers = rest(&["header: Content-Type: application/json"]);

    let (body, headers) = of("json");
    let expected = json!({
        "event": "waits", "run": "wf-1", "workflow": "<!channel> \"W\"", "phase": "Plan\\u{1b}]0;x\\u{7}",
        "project": "shop", "text": format!("{PLACE}\n{ANSWER}\n{link}\n"), "code": "K7QF-M2XD-9TRB", "link": link,
    });
    assert_eq!(serde_json::from_str::<Value>(&body).unwrap(), expected);
    assert_eq!(headers, json_headers);

    let (body, headers) = of("slack");
    let text = format!("{PLACE}\n{ANSWER}\n{link}\n");
    let escaped = text.replace('&', "&amp;").replace('<', "&lt;");
    let expected = json!({ "text": escaped.replace('>', "&gt;") });
    assert_eq!(serde_json::from_str::<Value>(&body).unwrap(), expected);
    assert_eq!(headers, json_headers);

    let (body, headers) = of("ntfy");
    assert_eq!(body, text);
    let more = [
        "header: Content-Type: text/plain",
        &format!("header: Click: {link}"),
    ];
    assert_eq!(headers, rest(&more));

    let (body, headers) = of("teams");
    let card: Value = serde_json::from_str(&body).unwrap();
    let content = &card["attachments"][0]["content"];
    assert_eq!(
        content["body"][0]["inlines"][0],
        json!({"type": "TextRun", "text": PLACE})
    );
    assert_eq!(content["body"][1]["inlines"][0]["text"], ANSWER);
    assert_eq!(content["actions"][0]["url"], link);
    assert_eq!(headers, json_headers);
}

#[test]
fn neither_task_nor_question_is_sent_unless_the_user_says_so_and_never_a_secret() {
    let of = |say: &str| sent(json!({"url": "https://h/x", "say": say})).0;
    let name = of("name");
    assert!(
        !name.contains("secret task") && !name.contains("OK with"),
        "{name}"
    );
    let task: Value = serde_json::from_str(&of("task")).unwrap();
    assert_eq!(task["task"], "a secret task");
    assert_eq!(task["asks"], "OK with [redacted]?");
}

#[test]
fn a_code_is_in_encrypted_links_alone_and_a_request_to_this_machine_stays_on_it() {
    let link = |link: &str| {
        let (body, rest) = sent(json!({"url": "http://localhost:1/x", "link": link}));
        assert!(rest.contains(&"noproxy: *".to_owned()), "{rest:?}");
        let body: Value = serde_json::from_str(&body).unwrap();
        body["link"].as_str().unwrap().to_owned()
    };
    assert_eq!(link("http://board"), "http://board/a?run=wf-1");
    assert!(link("https://board").ends_with("&code=K7QF-M2XD-9TRB"));
}

#[test]
fn what_a_terminal_gets_has_no_code_and_acts_only_as_the_notice() {
    let shown = question().of_terminal();
    let inner = shown.strip_prefix("\x1b]9;workflow-sidecar: ").unwrap();
    assert_eq!(inner.strip_suffix('\x07'), Some(PLACE));
}

#[test]
fn a_change_is_told_once_whichever_process_notes_it() {
    let agent = tempfile::tempdir().unwrap();
    let agent_dir = agent.path();
    fs::write(agent_dir.join("workflow-sidecar.json5"), "{notify: 'bell'}").unwrap();
    let store = of_agent_dir(agent_dir).unwrap();
    let told = |state: &str, waiting: &str, phase: &str| {
        let run = Run {
            task_id: "wf-1".to_owned(),
            workflow: "w".to_owned(),
            phase: phase.to_owned(),
            task: String::new(),
            status: String::new(),
            state: state.to_owned(),
            waiting: waiting.to_owned(),
            is_active: true,
        };
        let notice = Notice::of_change(agent_dir, &store, &run, Path::new("/p"));
        let note = RunNote {
            host: "pi".to_owned(),
            run: Some(run),
            memory: String::new(),
            cwd: "/p".into(),
            file: None,
            counts: Counts::default(),
            now: 1,
        };
        store.note_run(&note).unwrap();
        notice.map(|notice| notice.text(NoticeText::Name, None))
    };
    assert_eq!(told("active", "", "A"), None);
    assert_eq!(
        told("waits", "waiting for you", "A").unwrap(),
        "w > A: waiting for you\n"
    );
    assert_eq!(told("waits", "waiting for you", "A"), None);
    assert!(told("waits", "waiting for your consent: x", "A").is_some());
    assert_eq!(
        told("waits", "waiting for your approval", "A"),
        None,
        "it is told with its code"
    );
    assert!(told("stopped", "paused: reminder limit", "A").is_some());
    assert_eq!(told("closed", "session closed", "A"), None);
    assert_eq!(told("complete", "", "").unwrap(), "w > A: complete\n");
    assert_eq!(told("complete", "", ""), None);
}
