//! Every transcript, replayed by the product.

use std::path::{Path, PathBuf};
use std::sync::Once;

use serde_json::Value;

use crate::connection::{Connection, Process};

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/transcripts")
}

/// The transcripts by name. `UPDATE=1` first writes the present answers into them.
pub(crate) fn transcripts() -> Vec<PathBuf> {
    static BLESSED: Once = Once::new();
    BLESSED.call_once(|| {
        if std::env::var_os("UPDATE").is_some() {
            replay(&[&directory().display().to_string(), "--bless"]).unwrap();
        }
    });
    let entries = directory().read_dir().unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut found: Vec<PathBuf> = paths.filter(|path| path.is_file()).collect();
    found.sort();
    assert!(!found.is_empty());
    found
}

/// `replay` with these arguments; what it prints if it does not end well.
pub(crate) fn replay(arguments: &[&str]) -> Result<String, String> {
    let output = Process::command().arg("replay").args(arguments).output();
    let output = output.unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let printed = text(output.stdout);
    if output.status.success() {
        return Ok(printed);
    }
    Err(printed + &text(output.stderr))
}

#[test]
fn transcripts_replay() {
    transcripts();
    replay(&[&directory().display().to_string()]).unwrap_or_else(|output| panic!("\n{output}"));
}

/// The binary takes the lines of each transcript over pipes, and answers every request once.
#[test]
fn requests_over_pipes_are_answered_once() {
    let root = tempfile::tempdir().unwrap();
    let here = |line: &str| {
        let root = root.path().to_str().unwrap();
        line.replace("$CWD", root).replace("$AGENT", root)
    };
    for path in transcripts() {
        let mut process = Process::start(&[]);
        let mut open = Vec::new();
        for line in std::fs::read_to_string(&path).unwrap().lines() {
            let line: Value = serde_json::from_str(&here(line)).unwrap();
            let message = &line["in"];
            if message["method"].is_string() {
                let id = message.get("id").filter(|id| id.is_string() || id.is_u64());
                open.extend(id.cloned());
                process.send(format!("{message}\n").as_bytes());
            }
            if message["method"] == "shutdown" {
                break;
            }
        }
        for line in process.finish() {
            let answer: Value = serde_json::from_str(&line).unwrap();
            if answer.get("method").is_none() && !answer["id"].is_null() {
                let at = open.iter().position(|id| *id == answer["id"]);
                open.remove(at.unwrap_or_else(|| panic!("{}: {answer}", path.display())));
            }
        }
        assert_eq!(open, Vec::<Value>::new(), "{}", path.display());
    }
}

#[test]
fn every_line_of_a_transcript_is_as_its_schema_says() {
    let schema = directory().join("../../schemas/transcript.schema.json");
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(schema).unwrap()).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    for path in transcripts() {
        let text = std::fs::read_to_string(&path).unwrap();
        for (at, line) in text.lines().enumerate() {
            let line: Value = serde_json::from_str(line).unwrap();
            if let Err(error) = schema.validate(&line) {
                panic!("{}:{}: {error}", path.display(), at + 1);
            }
        }
    }
}

/// A mistake in a transcript is reported with its line, and violates the schema.
#[test]
fn what_is_no_line_of_a_transcript_is_refused_by_the_schema_too() {
    let schema = directory().join("../../schemas/transcript.schema.json");
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(schema).unwrap()).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    for line in [
        r"{}",
        r#"{"in":{},"out":{}}"#,
        r#"{"inn":{}}"#,
        r#"{"bytes":"f"}"#,
        r#"{"at":"now","in":{}}"#,
        r#"{"end":false}"#,
        r#"{"definitions":7}"#,
        r#"{"definitions":{"/p/.pi":{"workflows/w/a.md":7}}}"#,
        r#"{"transcript":1}"#,
        r#"{"result":{}}"#,
        r#"{"result":{"gateNotTrusted":"yes"}}"#,
        r#"{"result":{"path":{"written":"a","forms":[{}]}}}"#,
        r#"{"gate":{"gate":1,"reports":[]}}"#,
        r#"{"event":{"session":"a"}}"#,
        r#"{"event":{"gateProgress":{"gate":1}}}"#,
        r#"{"event":{"gateFinished":{"gate":1,"reports":[{"what":"a","verdict":"so","durationMs":1}]}}}"#,
        r#"{"transcript":3,"server":{"name":"a"}}"#,
    ] {
        let value: Value = serde_json::from_str(line).unwrap();
        assert!(!schema.is_valid(&value), "{line}");
        std::fs::write(file.path(), line).unwrap();
        let output = replay(&[&file.path().display().to_string()]).unwrap_err();
        assert!(output.contains(":1: "), "{line}: {output}");
    }
}

#[test]
fn no_transcript_crashes_a_replay_or_leaves_its_directory() {
    const HEADER: &str = r#"{"transcript":3,"server":{"name":"s","version":"1"},"protocolVersion":1,"clock":{"now":5,"seed":7},"agentDir":"/a","home":"/h"}"#;
    const INTRODUCTION: &str = r#"{"at":6,"in":{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"host":{"name":"h","version":"1"},"cwd":"/c","agentDir":"/a"}}}"#;
    let root = tempfile::tempdir().unwrap();
    let evil = root.path().join("evil").display().to_string();
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    let files = [
        format!("{INTRODUCTION}\n{{\"out\":{deep}}}\n{{\"in\":{deep}}}"),
        format!("{{\"definitions\":{{\"/a\":{{\"../../../..{evil}\":\"\"}}}}}}\n{INTRODUCTION}"),
        format!("{{\"definitions\":{{\"/a\":{{\"{evil}\":\"\"}}}}}}\n{INTRODUCTION}"),
        format!(
            "{HEADER}\n{INTRODUCTION}\n{{\"at\":18446744073709551615,\"out\":1}}\n{{\"at\":3,\"end\":true}}"
        ),
        "\0\n".to_owned(),
        format!(
            "{{\"event\":{{\"session\":\"?\",\"gateFinished\":{{\"gate\":9,\"reports\":[]}}}}}}\n{{\"result\":{{\"baselineTaken\":{{\"baseline\":{deep}}}}}}}\n{INTRODUCTION}\n{{\"event\":{{\"gateProgress\":{{\"gate\":1,\"text\":\"\"}}}}}}\n{{\"out\":1}}"
        ),
        format!("{HEADER}\n{INTRODUCTION}\n{{\"tooLong\":{}}}", u64::MAX),
    ];
    for (at, text) in files.iter().enumerate() {
        let file = root.path().join(format!("{at}.jsonl"));
        std::fs::write(&file, text).unwrap();
        let file = file.display().to_string();
        let output = replay(&[&file]).unwrap_or_else(|output| output);
        assert!(
            !output.contains("unexpectedly") && !output.contains("panicked"),
            "{output}"
        );
    }
    assert!(!Path::new(&evil).exists());
}
