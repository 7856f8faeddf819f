//! Reading shell lines, held by a corpus of what agents run.

use serde::Deserialize;
use workflow_core::guard::shell::{Writes, read};

#[derive(Deserialize)]
struct Entry {
    line: String,
    writes: serde_json::Value,
    #[serde(default)]
    paths: Vec<Option<String>>,
    why: String,
}

fn corpus() -> Vec<Entry> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/shell/commands.jsonl"
    );
    let text = std::fs::read_to_string(path).expect("the corpus is readable");
    text.lines()
        .map(|line| serde_json::from_str(line).expect(line))
        .collect()
}

#[test]
fn the_corpus_is_judged_as_people_would() {
    let corpus = corpus();
    let (mut false_alarms, mut misses, mut wrong) = (0, 0, Vec::new());
    for entry in &corpus {
        let read = read(&entry.line).writes;
        let expected = entry.writes != false;
        match (expected, read.any()) {
            (false, true) => false_alarms += 1,
            (true, false) => misses += 1,
            _ => {}
        }
        let right = match &read {
            Writes::No => !expected,
            Writes::Yes(writes) => {
                let paths: Vec<_> = writes.iter().map(|write| write.path.clone()).collect();
                entry.writes == true && paths == entry.paths
            }
            Writes::Unreadable(_) => entry.writes == "unreadable",
        };
        if !right {
            wrong.push(format!("{:?} ({}): {read:?}", entry.line, entry.why));
        }
    }
    println!(
        "{} lines, {false_alarms} false alarms, {misses} misses",
        corpus.len()
    );
    assert!(
        wrong.is_empty(),
        "{} wrong, {false_alarms} false alarms, {misses} misses:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
