//! Reading shell lines, held by a corpus of what agents run.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test reads files, and the environment says if it writes them"
)]

mod paths;
mod patterns;

mod properties;

use serde::Deserialize;
use workflow_core::guard::shell::{Writes, read};

#[derive(Debug, Deserialize)]
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

#[test]
fn no_line_stands_twice_in_the_corpus() {
    let mut lines: Vec<String> = corpus().into_iter().map(|entry| entry.line).collect();
    lines.sort();
    for pair in lines.windows(2) {
        assert_ne!(pair[0], pair[1]);
    }
}

/// What the reader says for people, of each write or of why it cannot tell.
fn told(line: &str) -> Vec<String> {
    match read(line).writes {
        Writes::No => Vec::new(),
        Writes::Yes(writes) => writes.into_iter().map(|write| write.how).collect(),
        Writes::Unreadable(why) => vec![why.to_string()],
    }
}

#[test]
fn what_is_told_holds_no_control_characters_and_is_short() {
    let long = format!("\"{}$X\" y", "z".repeat(5000));
    let lines = [
        "git $'\\e[2J\\a' x",
        "git -c $'\\e]0;pager=x' log",
        "npm $'\\e[31m'",
        "$'\\e[2J'$X y",
        "echo x \u{7} ( \u{1b}",
        "f \u{1b}[2J ) \u{202e}",
        "sh -c \u{1b}[2J$X",
        "npm run $'\\e[2Jx'",
        long.as_str(),
    ];
    for line in lines {
        let told = told(line);
        assert!(!told.is_empty(), "{line:?} is not told of");
        for text in told {
            let visible = !text.contains(char::is_control) && !text.contains('\u{202e}');
            assert!(visible && text.chars().count() < 200, "{line:?}: {text:?}");
        }
    }
}

#[test]
fn a_path_stays_as_the_line_names_it() {
    let Writes::Yes(writes) = read("rm $'a\\eb'").writes else {
        panic!("it writes");
    };
    assert_eq!(writes[0].path.as_deref(), Some("a\u{1b}b"));
}

#[test]
fn what_runs_is_listed_behind_wrappers_and_in_substitutions() {
    let line = read("sudo env A=1 rm x; echo $(git push) | xargs -n1 sh -c 'npm publish'");
    let programs: Vec<_> = line
        .commands
        .iter()
        .filter_map(|simple| simple.words.first()?.text())
        .collect();
    let expected = ["sudo", "env", "rm", "git", "echo", "xargs", "sh", "npm"];
    assert_eq!(programs, expected);
}
