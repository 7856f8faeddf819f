use super::*;

fn parse(text: &str) -> anyhow::Result<Transcript> {
    Transcript::parse(Path::new("t.jsonl"), text.as_bytes())
}

fn wrong(text: &str) -> String {
    parse(text).unwrap_err().to_string()
}

const HEADER: &str = r#"{"transcript":3,"server":{"name":"s","version":"1"},"protocolVersion":1,"clock":{"now":5,"seed":7},"agentDir":"/a","home":"/h"}"#;

#[test]
fn a_line_is_read_by_its_member() {
    let text = [
        HEADER,
        r#"{"note":["any",1]}"#,
        r#"{"definitions":"ordinary"}"#,
        r#"{"definitions":{"/a":{"workflows/w/a.md":"A"}}}"#,
        r#"{"at":6,"in":{"id": 1.50}}"#,
        r#"{"in":"nope\n"}"#,
        r#"{"bytes":[255,0]}"#,
        r#"{"tooLong":64}"#,
        r#"{"out":"*"}"#,
        r#"{"at":7,"end":true}"#,
        r#"{"result":{"excerpt":"a"}}"#,
        r#"{"event":{"gateProgress":{"gate":1,"text":"a"}}}"#,
    ]
    .join("\n");
    let lines = parse(&text).unwrap().lines;
    let kinds: Vec<String> = lines
        .iter()
        .map(|line| format!("{:?}", line.entry))
        .collect();
    let begins = [
        "Header",
        "Note",
        "Definitions(Named",
        "Definitions(Embedded",
        "In(",
        "In(",
        "Bytes([255, 0]",
        "TooLong(64",
        "Out(",
        "End",
        "Result(Query(Excerpt(",
        "Event(PlatformReport",
    ];
    for (kind, begin) in kinds.iter().zip(begins) {
        assert!(kind.starts_with(begin), "{kind}");
    }
    assert_eq!(lines[4].at, Some(6));
    let line_at = |at: usize| match &lines[at].entry {
        TranscriptEntry::In(line) | TranscriptEntry::Out(line) => line.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(line_at(4).text(), r#"{"id": 1.50}"#);
    assert_eq!(line_at(5).text(), "nope\n");
    assert!(line_at(8).is_any() && !line_at(5).is_any());
}

#[test]
fn an_error_names_the_line_and_the_correct_form() {
    for (text, expected) in [
        ("", "t.jsonl: there is no line in it"),
        (
            "{\"note\":1}\n\nnope\n",
            "t.jsonl:3: expected ident, at character 2",
        ),
        ("{}", "t.jsonl:1: a line has one of `in`"),
        ("{\"in\":{},\"out\":{}}", "t.jsonl:1: a line has one of"),
        (
            "{\"inn\":{}}",
            "t.jsonl:1: unknown field `inn`, expected one of `at`, `in`",
        ),
        ("{\"bytes\":\"f\"}", "t.jsonl:1: `bytes` are numbers"),
        (
            "{\"definitions\":7}",
            "t.jsonl:1: `definitions` is the name",
        ),
        (
            "{\"result\":{\"excerpt\":\"a\"},\"in\":{}}",
            "t.jsonl:1: a line has one of",
        ),
        ("{\"result\":{\"a\":1}}", "t.jsonl:1: `result` is what"),
        ("{\"result\":7}", "t.jsonl:1: `result` is what"),
        ("{\"event\":{}}", "t.jsonl:1: `event` is what"),
        (
            "{\"event\":{\"gateFinished\":{\"gate\":-1,\"reports\":[]}}}",
            "t.jsonl:1: `event` is what",
        ),
        (
            "{\"gate\":{\"gate\":1}}",
            "t.jsonl:1: unknown field `gate`, expected one of `at`, `in`",
        ),
        ("{\"end\":false}", "t.jsonl:1: `end` is true"),
        (
            "{\"transcript\":4}",
            "t.jsonl:1: version 4 of transcripts is not known",
        ),
        (
            "{\"transcript\":1}",
            "t.jsonl:1: version 1 of transcripts is not known here",
        ),
        ("{\"transcript\":3}", "t.jsonl:1: missing field `server`"),
    ] {
        let found = wrong(text);
        assert!(found.starts_with(expected), "{text}: {found}");
    }
}

#[test]
fn only_the_last_line_of_a_sidecar_may_be_torn() {
    let torn = |text: &str| {
        let lines = parse(text).unwrap().lines;
        let torn = lines
            .iter()
            .filter(|line| matches!(line.entry, TranscriptEntry::Torn(_)));
        torn.map(|line| line.number).collect::<Vec<_>>()
    };
    assert_eq!(torn(&format!("{HEADER}\n{{\"in\":{{\"id\"")), [2]);
    assert_eq!(torn(&format!("{HEADER}\n{{\"in\":\n{HEADER}\n")), [2]);
    assert_eq!(torn(&format!("{HEADER}\n{{\"in\":1}}")), [0; 0]);
    assert!(wrong(&format!("{HEADER}\n{{\"in\":\n{{\"note\":1}}\n")).contains(":2: the line ends"));
    assert!(wrong("{\"in\":").contains(":1: the line ends amid"));
    let mut half = format!("{HEADER}\n{{\"note\":\"é").into_bytes();
    half.pop();
    assert!(Transcript::parse(Path::new("t"), &half).is_ok());
}

#[test]
fn deep_values_are_read_and_nonsense_is_refused() {
    let deep = "[".repeat(200_000);
    assert!(parse(&format!("{{\"in\":{deep}{}}}", "]".repeat(200_000))).is_ok());
    assert!(parse(&format!("{{\"definitions\":{deep}")).is_err());
    assert!(Transcript::parse(Path::new("t"), b"\xff\xfe\n").is_err());
}
