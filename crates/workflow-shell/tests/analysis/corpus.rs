//! Verdicts on the lines of the corpus.

use serde::Deserialize;
use workflow_shell::{Writes, analyze};

/// A line with its expected verdict.
#[derive(Debug, Deserialize)]
pub(crate) struct Entry {
    pub(crate) line: String,
    /// `true`, `false` or `"unreadable"`.
    pub(crate) writes: serde_json::Value,
    #[serde(default)]
    paths: Vec<Option<String>>,
    pub(crate) why: String,
}

pub(crate) fn entries() -> Vec<Entry> {
    include_str!("../corpus/commands.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).expect(line))
        .collect()
}

#[test]
fn each_line_has_the_expected_verdict() {
    let entries = entries();
    let (mut false_alarms, mut misses, mut wrong) = (0, 0, Vec::new());
    for entry in &entries {
        let found = analyze(&entry.line).writes;
        let expected = entry.writes != false;
        match (expected, found.any()) {
            (false, true) => false_alarms += 1,
            (true, false) => misses += 1,
            _ => {}
        }
        let is_right = match &found {
            Writes::No => !expected,
            Writes::Yes(writes) => {
                let paths: Vec<_> = writes.iter().map(|write| write.path.clone()).collect();
                entry.writes == true && paths == entry.paths
            }
            Writes::Unreadable(_) => entry.writes == "unreadable",
        };
        if !is_right {
            wrong.push(format!("{:?} ({}): {found:?}", entry.line, entry.why));
        }
    }
    println!(
        "{} lines, {false_alarms} false alarms, {misses} misses",
        entries.len()
    );
    assert!(
        wrong.is_empty(),
        "{} wrong, {false_alarms} false alarms, {misses} misses:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn each_line_is_in_the_corpus_once() {
    let mut lines: Vec<String> = entries().into_iter().map(|entry| entry.line).collect();
    lines.sort();
    for pair in lines.windows(2) {
        assert_ne!(pair[0], pair[1]);
    }
}

#[test]
fn commands_behind_wrappers_and_in_substitutions_are_listed() {
    let analysis = analyze("sudo env A=1 rm x; echo $(git push) | xargs -n1 sh -c 'npm publish'");
    let programs: Vec<_> = analysis
        .commands
        .iter()
        .filter_map(|command| command.words.first()?.text())
        .collect();
    let expected = ["sudo", "env", "rm", "git", "echo", "xargs", "sh", "npm"];
    assert_eq!(programs, expected);
}

#[test]
fn a_path_keeps_its_control_characters() {
    let Writes::Yes(writes) = analyze("rm $'a\\eb'").writes else {
        panic!("it writes");
    };
    assert_eq!(writes[0].path.as_deref(), Some("a\u{1b}b"));
}
