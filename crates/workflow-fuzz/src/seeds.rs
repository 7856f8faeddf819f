//! Seeds: inputs from the tests of this repository.
//!
//! Lines that are not JSON are skipped: some tests contain them on purpose. A target without seeds fails a test.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::definition::FILE;

/// A definition with all keys of flow.
const FLOW_DEFINITION: &str = include_str!("../seeds/flow-definition.txt");
/// The entries of a run with flow.
const FLOW_ENTRIES: &str = include_str!("../seeds/flow-entries.jsonl");

/// Maximum length of an input: shorter inputs find the same problems faster.
const MAX_LENGTH: usize = 48 << 10;

fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests")
}

/// Returns the entries of a directory, sorted by name.
fn entries(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// Returns the texts of the `jsonl` files of a directory of the tests.
fn texts(directory: &str) -> Vec<String> {
    let mut files = entries(&tests().join(directory));
    files.retain(|path| path.extension().is_some_and(|found| found == "jsonl"));
    let text = |path| fs::read_to_string(path).expect("a file of the tests is text");
    files.into_iter().map(text).collect()
}

/// Returns the lines that are JSON; the files also contain other text.
fn json_lines(text: &str) -> impl Iterator<Item = Value> {
    text.lines()
        .filter_map(|line| serde_json::from_str(line).ok())
}

/// Returns all files below a directory, by relative path.
fn tree(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut pending = vec![directory.to_path_buf()];
    while let Some(at) = pending.pop() {
        for path in entries(&at) {
            if path.is_dir() {
                pending.push(path);
            } else if let (Ok(name), Ok(content)) = (path.strip_prefix(directory), fs::read(&path))
            {
                files.insert(name.to_string_lossy().into_owned(), content);
            }
        }
    }
    files
}

fn short(mut seeds: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    seeds.retain(|seed| !seed.is_empty() && seed.len() <= MAX_LENGTH);
    seeds
}

/// Returns directories of definitions, each as one input.
pub fn definitions() -> Vec<Vec<u8>> {
    let kinds = [
        "definitions/valid",
        "definitions/invalid",
        "transcripts/definitions",
    ];
    let cases = kinds.iter().flat_map(|kind| entries(&tests().join(kind)));
    let as_input = |case: PathBuf| {
        let files = tree(&case).into_iter().map(|(path, content)| {
            let mut file = [format!("{FILE}{path}\n").as_bytes(), &content].concat();
            if !file.ends_with(b"\n") {
                file.push(b'\n');
            }
            file
        });
        files.collect::<Vec<_>>().concat()
    };
    let written = [FLOW_DEFINITION.as_bytes().to_vec()];
    short(cases.map(as_input).chain(written).collect())
}

/// Returns definitions of the transcripts as a line of a transcript.
fn embedded(name: &str) -> Value {
    let mut directories: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    let roots = [("agent/", "$AGENT"), ("project/.pi/", "$CWD/.pi")];
    for (path, content) in tree(&tests().join("transcripts/definitions").join(name)) {
        let text = String::from_utf8_lossy(&content).into_owned();
        for (root, named) in roots {
            if let Some(path) = path.strip_prefix(root) {
                let files = directories.entry(named.to_owned()).or_default();
                files.insert(path.to_owned(), text.clone());
            }
        }
    }
    serde_json::json!({ "definitions": directories })
}

/// Returns the transcripts, with their definitions embedded.
pub fn transcripts() -> Vec<Vec<u8>> {
    let with_definitions = |text: String| {
        let lines = text.lines().map(|line| {
            let value: Value = serde_json::from_str(line).unwrap_or_default();
            let name = value["definitions"].as_str();
            name.map_or_else(|| line.to_owned(), |name| embedded(name).to_string())
        });
        lines.collect::<Vec<_>>().join("\n").into_bytes()
    };
    let texts = texts("transcripts").into_iter();
    short(texts.map(with_definitions).collect())
}

/// Returns the host's side of the transcripts: its lines and the results of effects.
pub fn sessions() -> Vec<Vec<u8>> {
    let half = |text: Vec<u8>| {
        let text = String::from_utf8_lossy(&text);
        let lines = text.lines().filter_map(|line| {
            let value: Value = serde_json::from_str(line).ok()?;
            if value.get("out").is_some() || value.get("note").is_some() {
                return None;
            }
            let request = value.get("in").filter(|request| request.is_object());
            Some(request.map_or_else(|| line.to_owned(), Value::to_string))
        });
        lines.collect::<Vec<_>>().join("\n").into_bytes()
    };
    transcripts().into_iter().map(half).collect()
}

/// The lines of those sessions, and lines with lists.
pub fn lines() -> Vec<Vec<u8>> {
    let written = [
        r#"{"jsonrpc":"2.0","id":1,"method":"hook/agent_end","params":{"context":{"hasUI":true},"event":{"messages":[{"role":"user","content":"é\n"},{"role":"assistant","stopReason":"stop","content":[{"type":"text","text":"a — b"}]}, {"role":"toolResult","content":[1,-2.5e+3,true,null,{}]},{"role":"assistant","content":"\ud83d"},7,[]],"more":[1]},"sessionId":"s"}}"#,
        r#"{"jsonrpc":"2.0","id":"a","method":"hook/session_start","params":{"sessionId":"","context":{"hasUI":false,"branch":[{"type":"message","message":{"content":"😀"}},{"type":"custom","customType":"workflow:state","data":{"a":[{}]}},null,{"type":"custom","customType":"other","data":0.5},{"type":"cust\u006fm","customType":"workflow:run"}],"cwd":"/a"}}}"#,
        r#"{ "params" : { "context" : { "branch" : [ {"type" : "x"} , {} ] } } }"#,
        r#"{"params":{"event":{"messages":[1,"a", ]}}} "#,
        "{\"params\":{\"event\":{\"messages\":[1,\t]}}}",
        "{\"params\":{\"context\":{\"branch\":[{},\r]}}}",
        r#"{"params":{"context":{"branch":[{"type":"message"},"\ud83d",{}]}}}"#,
        r#"{"params":{"event":{"messages":[],"messages":[{}]},"context":{"branch":[[1,2],"a",-0,01]}}}"#,
    ];
    let written = written.iter().map(|line| line.as_bytes().to_vec());
    let sessions = sessions().join(&b'\n');
    let said = sessions.split(|byte| *byte == b'\n').step_by(7);
    short(written.chain(said.map(<[u8]>::to_vec)).collect())
}

/// Returns the lines of the shell corpus.
pub fn shell_lines() -> Vec<Vec<u8>> {
    let texts = texts("../crates/workflow-shell/tests/corpus");
    let values = texts.iter().flat_map(|text| json_lines(text));
    let lines = values.filter_map(|value| Some(value["line"].as_str()?.to_owned()));
    lines.map(String::into_bytes).collect()
}

/// Returns the texts of the definitions, each with values.
pub fn templates() -> Vec<Vec<u8>> {
    let written = [
        "{a}{b}",
        "Fix {description} in {phase_1}: {{a}}",
        "{a",
        "{ a}",
        "{}",
        "{unknown}{a}",
    ];
    let written = written.iter().map(|text| (*text).as_bytes().to_vec());
    let files = definitions()
        .into_iter()
        .filter(|text| text.contains(&b'{'));
    let seeds = written.chain(files).map(|mut text| {
        text.extend_from_slice(b"\0one\0{a}$&\0what is to be done\0\xc3\xa4");
        text
    });
    short(seeds.collect())
}

/// Returns the entries of sessions: of pi's session files, and of the transcripts.
pub fn entries_of_sessions() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    let written = [FLOW_ENTRIES.to_owned()];
    let texts = [texts("sessions"), texts("transcripts"), written.to_vec()];
    for text in texts.iter().flatten() {
        let mut found = Vec::new();
        for value in json_lines(text) {
            collect(&value, &mut found);
        }
        // Every prefix of a session is a session.
        let step = found.len() / 6 + 1;
        for end in (step..=found.len()).step_by(step) {
            seeds.push(found[..end].join("\n").into_bytes());
        }
    }
    short(seeds)
}

/// Collects the entries in a value: objects with a custom type and data.
fn collect(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            let custom_type = members.get("customType");
            if let Some((custom_type, data)) = custom_type.zip(members.get("data")) {
                let entry = serde_json::json!({ "customType": custom_type, "data": data });
                found.push(entry.to_string());
                return;
            }
            members.values().for_each(|member| collect(member, found));
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        _ => {}
    }
}
