//! Pages of runs: nothing in them acts, nothing loads, and they are short enough.

use std::fs;
use std::path::Path;

use super::*;
use crate::record::Transcript;
use crate::sessions::SessionFile;

/// Texts that would be more than text on a page that does not escape them.
const HOSTILE: [&str; 9] = [
    "a \\|![x](https://example.org/x.png)| b",
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "</pre></details><h1>passed</h1>",
    "```\n# heading\n![x](https://example.org/x.png) @everyone",
    "`code` | cell | <b>bold</b>\n| row |",
    "{{ style|safe }} {% include \"x\" %}",
    "\u{202e}desrever \u{1b}[31mred \u{200b}\0",
    "]]> --> <!-- <style>*{display:none}</style>",
];

fn transcripts() -> Vec<(String, Vec<u8>)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/transcripts");
    let files = fs::read_dir(directory).unwrap().map(Result::unwrap);
    let files = files.filter(|file| {
        file.file_name()
            .to_string_lossy()
            .starts_with("ready-made-")
    });
    files
        .map(|file| {
            let name = file.file_name().to_string_lossy().into_owned();
            (name, fs::read(file.path()).unwrap())
        })
        .collect()
}

fn timelines(bytes: &[u8]) -> Timelines {
    let transcript = Transcript::parse(Path::new("t"), bytes).unwrap();
    Timelines::of_recording(&transcript, None)
}

/// A session of pi with a run whose texts are all this one.
fn hostile(text: &str) -> Timelines {
    let mut lines = vec![serde_json::json!({ "type": "session", "cwd": text })];
    for (number, kind, data) in [
        (
            1,
            "workflow:state",
            serde_json::json!({
                "taskId": "wf-1", "workflowKey": text, "taskDescription": text, "active": true, "cancelled": false,
                "startedAt": 1, "globalStepCount": 1,
                "currentPath": [{ "workflowKey": text, "phaseIndex": 0 }],
            }),
        ),
        (
            2,
            "workflow:values",
            serde_json::json!({ "version": 1, "taskId": "wf-1", "inputs": { text: text }, "outputs": { "w/p": { text: [text] } } }),
        ),
        (
            3,
            "workflow:gate",
            serde_json::json!({
                "version": 1, "taskId": "wf-1", "phase": "p",
                "reports": [{ "what": text, "source": text, "verdict": "failed", "reason": text, "durationMs": 1, "tail": text }],
            }),
        ),
    ] {
        lines.push(serde_json::json!({
            "type": "custom", "id": number.to_string(), "customType": kind, "data": data,
            "timestamp": "2026-01-01T00:00:00.000Z",
        }));
    }
    lines.push(
        serde_json::json!({ "type": "message", "message": { "role": "user", "content": text } }),
    );
    let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
    Timelines::of_session(&SessionFile::parse(lines.join("\n").as_bytes()), None, true)
}

/// The elements of a page, by the XML reader, which also says that they are well-formed.
fn elements(html: &str) -> Vec<String> {
    let html = html.replace("<!doctype html>", "");
    let html = regex::Regex::new("<meta ([^>]*)>")
        .unwrap()
        .replace_all(&html, "<meta $1/>");
    let document =
        roxmltree::Document::parse(&html).unwrap_or_else(|error| panic!("{error}\n{html}"));
    let nodes = document.descendants().filter(roxmltree::Node::is_element);
    nodes
        .map(|node| node.tag_name().name().to_owned())
        .collect()
}

#[test]
fn every_ready_made_run_is_a_page_without_requests() {
    let all = transcripts();
    assert!(all.len() >= 7, "{}", all.len());
    for (name, bytes) in all {
        let html = timelines(&bytes).html().unwrap();
        assert!(html.len() <= 300_000, "{name}: {}", html.len());
        for request in [
            "src=",
            "href=",
            "url(",
            "<script",
            "<link",
            "@import",
            "javascript:",
        ] {
            assert!(!html.contains(request), "{name} has {request}");
        }
        let elements = elements(&html);
        assert!(
            elements.contains(&"svg".to_owned()),
            "{name} has no picture"
        );
        let markdown = timelines(&bytes).markdown().unwrap();
        assert!(
            markdown.len() <= 60_000 && markdown.contains("```mermaid"),
            "{name}"
        );
    }
}

#[test]
fn hostile_texts_stay_texts() {
    let plain = elements(&hostile("plain").html().unwrap());
    for text in HOSTILE {
        let html = hostile(text).html().unwrap();
        let extra: Vec<String> = elements(&html)
            .into_iter()
            .filter(|name| !plain.contains(name))
            .collect();
        assert!(extra.is_empty(), "{text}: {extra:?}");
        assert!(!html.contains(['\u{202e}', '\u{1b}', '\u{200b}']), "{text}");
    }
}

#[test]
fn markdown_has_every_text_in_code() {
    for text in HOSTILE {
        let markdown = hostile(text).markdown().unwrap();
        let mut fence: Option<String> = None;
        for line in markdown.lines() {
            let trimmed = line.trim_start();
            match &fence {
                Some(end) => {
                    if trimmed == end {
                        fence = None;
                    }
                }
                None if trimmed.starts_with("```") => {
                    fence = Some(trimmed.chars().take_while(|c| *c == '`').collect());
                }
                None => {
                    let outside = outside_of_code(line);
                    for sign in [
                        "<script",
                        "<img",
                        "<h1",
                        "<b>",
                        "<style",
                        "![",
                        "@everyone",
                        "# heading",
                    ] {
                        assert!(!outside.contains(sign), "{sign} in {line}");
                    }
                    let bars = line.matches('|').count();
                    assert!(!line.starts_with('|') || bars == 3 || bars == 6, "{line}");
                }
            }
        }
        assert_eq!(fence, None, "{markdown}");
    }
}

/// A line of Markdown without its code.
fn outside_of_code(line: &str) -> String {
    let (mut outside, mut rest) = (String::new(), line);
    while let Some(at) = rest.find('`') {
        outside += &rest[..at];
        let marks: String = rest[at..].chars().take_while(|c| *c == '`').collect();
        let inner = &rest[at + marks.len()..];
        // The end has as many marks.
        let mut end = None;
        let mut from = 0;
        while let Some(found) = inner[from..].find('`') {
            let run = inner[from + found..]
                .chars()
                .take_while(|c| *c == '`')
                .count();
            if run == marks.len() {
                end = Some(from + found + run);
                break;
            }
            from += found + run;
        }
        rest = &inner[end.unwrap_or_else(|| panic!("code does not end: {line}"))..];
    }
    outside + rest
}

#[test]
fn a_long_run_is_cut_and_says_so() {
    let mut long = hostile("plain");
    let events = &mut long.sessions[0].events;
    let message = |number: usize| TimedEvent {
        at: Some(2),
        what: timeline::TimelineEvent::UserMessage {
            text: format!("{number} {}", "long ".repeat(2_000)),
        },
    };
    events.extend((0..2_000).map(message));
    let html = long.html().unwrap();
    assert!(html.len() <= 300_000, "{}", html.len());
    assert!(html.contains("in the middle are left out"), "{html}");
    assert!(html.contains("cut short"), "{html}");
}

#[test]
fn a_secret_is_on_no_page_and_redaction_leaves_no_word() {
    let secret = format!("ghp_{}", "a1B2".repeat(9));
    let text = format!("the token is {secret}");
    for page in [
        hostile(&text).html().unwrap(),
        hostile(&text).markdown().unwrap(),
    ] {
        assert!(!page.contains(&secret), "{page}");
        assert!(page.contains("the token is"), "{page}");
    }
    let mut redacted = timelines(&transcripts()[0].1);
    let words = redacted.sessions[0].runs[0].state.task_description.clone();
    assert!(words.len() > 5, "{words}");
    redacted.redact();
    assert!(!redacted.html().unwrap().contains(&words));
}

#[test]
fn a_run_that_gave_way_to_another_is_not_there_any_more() {
    let mut two = hostile("plain");
    let [first] = &*two.sessions[0].runs else {
        panic!("one run")
    };
    assert!(first.state.active);
    let page = two.html().unwrap();
    assert!(page.contains("aria-current"), "{page}");
    two = hostile("plain");
    let mut second = hostile("plain");
    second.sessions[0].runs[0].first_event = two.sessions[0].events.len();
    two.sessions[0].runs.append(&mut second.sessions[0].runs);
    let page = two.html().unwrap();
    assert!(page.contains("left before its end"), "{page}");
}

#[test]
fn a_phase_says_how_often_the_run_was_there() {
    let (name, bytes) = transcripts().into_iter().next().unwrap();
    let html = timelines(&bytes).html().unwrap();
    assert!(html.contains("1 visit"), "{name}: {html}");
}
